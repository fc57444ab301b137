// list: a table with a search and a filter, whose settings are kept in the
// address, so that the back button restores them.
import { count } from './format.js';
import { button, h, swap } from './dom.js';
import { Table } from './table.js';

// chips LABEL CHOICES CHOSEN CHOOSE: toggle buttons for one of several choices;
// a choice is [value, word, count]
export function chips(label, choices, chosen, choose) {
	return h('div.chips', { role: 'group', 'aria-label': label },
	    choices.map(([value, word, n]) => button([word, n !== undefined &&
		h('small', count(n))], () => choose(value),
	    { 'aria-pressed': String(value === chosen) })));
}

export function search(label, oninput, value = '') {
	return h('input', { type: 'search', placeholder: `Search ${label} …`,
		'aria-label': `Search ${label}`, oninput, value,
		onfocus: (e) => e.target.select() });
}

// finds TEXT QUERY: whether the text contains each word of the query
export function finds(text, query) {
	const t = text.toLowerCase();
	return query.toLowerCase().split(/\s+/).every((w) => t.includes(w));
}

/*
 * kinds: a list of [id, word, fits(row)]; kinds without rows are not shown.
 * words(row) is the searched text, also(row) an extra condition. All other
 * options are the table's.
 */
export class List {
	constructor({ at, title, kinds, words, also, start = '', more, ...table }) {
		const { query } = at;
		Object.assign(this, { at, kinds, words, also,
			kind: query.get('show') ?? start, rows: [] });
		this.search = search(table.label,
		    () => this.change({ q: this.search.value }), query.get('q') || '');
		this.chips = h('div');
		this.table = new Table({ ...table,
			sort: query.get('sort') ?? table.sort,
			onsort: (sort) => at.keep({ sort }) });
		this.toolbar = h('div.toolbar', title && h('h2', title),
		    this.search, this.chips, more);
		this.element = h('section', { 'aria-label': table.label },
		    this.toolbar, this.table.element);
	}

	change(what) {
		this.kind = what.show ?? this.kind;
		this.at.keep(what);
		this.table.page = 0;
		this.draw();
	}

	set(rows) {
		this.rows = rows;
		this.draw();
	}

	draw() {
		const q = this.search.value, { also, words } = this;
		const all = this.rows.filter((r) => (!also || also(r)) &&
		    (!q || finds(words(r), q)));
		const kinds = this.kinds.map(([id, word, fits]) => [id, word,
			id === 'all' ? all.length : all.filter(fits).length])
			.filter(([id, , n]) => n > 0 || id === this.kind || id === 'all');
		const fits = (this.kinds.find((k) => k[0] === this.kind) || [])[2];
		const drawn = JSON.stringify([kinds, this.kind]);
		if (drawn !== this.drawn)
			swap(this.chips, chips('Show', kinds, this.kind,
			    (show) => this.change({ show })));
		this.drawn = drawn;
		this.table.set(fits ? all.filter(fits) : all);
	}
}
