// tile: a figure with its name, and the way back to the list of runs.
import { h } from './dom.js';

export function crumbs(...steps) {
	return h('nav.crumbs', { 'aria-label': 'Breadcrumbs' },
	    h('ol', [['Runs', '#/'], ...steps].map(([word, href]) =>
		h('li', href ? h('a', { href }, word) : word))));
}

export function tile(label, value, more) {
	return h('div.tile', h('dt', label),
	    h('dd', value, more && h('small', more)));
}
