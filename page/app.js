// app: views, keyboard shortcuts and dropped files. A view is a function that
// fills an element and returns { title, table, search, keys, drawn, stop }; all
// but the title are optional.
import { announce, button, byId, go, h, plain, title, to } from './dom.js';
import { countLocal, inside, openFile } from './store.js';
import { showClients } from './clients.js';
import { showCompare } from './compare.js';
import { showNew } from './new.js';
import { showRun } from './run.js';
import { showRuns } from './runs.js';
import { showTask } from './task.js';
import { showTrends } from './trends.js';

const views = { __proto__: null, '': showRuns, trends: showTrends,
	compare: showCompare, clients: showClients, new: showNew, run: showRun,
	task: showTask };
const main = byId('main');
const scrolls = new Map();	/* scroll position of each view */
let view = {}, turn = 0, shown = '', linked = false;

// "#/run/ID?q=x" as { parts: ['run', 'ID'], query }
function route() {
	const [where, q] = location.hash.slice(1).split('?');
	const query = new URLSearchParams(q || '');
	return { query,
		parts: where.split('/').slice(1).map((p) => {
			try {
				return decodeURIComponent(p);
			} catch {
				return p;
			}
		}),
		// stores a view's settings in the address
		keep(changes) {
			for (const [k, v] of Object.entries(changes)) {
				query.set(k, v);
				if (v === '')
					query.delete(k);
			}
			history.replaceState(null, '', `#${where || '/'}?${query}`);
			shown = location.hash;
		} };
}

function fault(e) {
	announce(e.message);
	return h('section.fault', title('Something went wrong'), h('p', e.message),
	    h('p.row', button('Try again', show),
		h('a.button', { href: '#/' }, 'All runs')));
}

function current(name) {
	for (const a of document.querySelectorAll('[data-view]'))
		if (a.dataset.view === name)
			a.setAttribute('aria-current', 'page');
		else
			a.removeAttribute('aria-current');
}

async function show() {
	const mine = ++turn, at = route(), [first = '', , third] = at.parts;
	const fn = views[first === 'run' && third === 'task' ? third : first];
	const root = h('div', { class: `view in-${first || 'runs'}` });
	const moved = shown !== location.hash;
	const back = linked ? 0 : scrolls.get(location.hash) || 0;
	let next;

	shown = location.hash;
	linked = false;
	if (view.stop)
		view.stop();
	view = {};
	current(first === 'run' ? '' : first);
	main.setAttribute('aria-busy', 'true');
	try {
		if (!fn)
			throw new Error('This view does not exist.');
		next = await fn(root, at);
	} catch (e) {
		if (e instanceof TypeError)
			console.error(e);
		root.replaceChildren(fault(e));
		next = { title: 'Error' };
	}
	if (mine !== turn) {
		if (next.stop)
			next.stop();
		return;
	}
	view = next;
	main.removeAttribute('aria-busy');
	main.replaceChildren(root);
	document.title = plain(`${view.title} · waza`);
	if (view.drawn)
		view.drawn();
	scrollTo(0, back);
	if (moved && mine > 1)
		root.querySelector('h1').focus({ preventScroll: true });
}

/*
 * Keys
 */
let prefix = '';
const going = { r: '#/', t: '#/trends', c: '#/clients' };
const keys = {
	'/': () => view.search && view.search.focus(),
	'?': () => byId('help-box').showModal(),
	u() {
		const { parts } = route();
		go(parts[2] === 'task' ? to('run', parts[1]) : '#/');
	},
	n: () => go('#/new'),
	o: () => byId('file').click(),
	j: () => view.table && view.table.move(1),
	k: () => view.table && view.table.move(-1),
	'[': () => view.table && view.table.turn(-1),
	']': () => view.table && view.table.turn(1),
	Enter() {
		linked = true;
		go(view.table.href(view.table.current()));
	},
};

function onKey(e) {
	const on = e.target, was = prefix;
	if (e.ctrlKey || e.metaKey || e.altKey || on.closest('dialog[open]'))
		return;
	if (on.matches('input:not([type=checkbox]), select')) {
		if (e.key === 'Escape')
			on.blur();
		return;
	}
	prefix = e.key === 'g' ? 'g' : '';
	const fn = was && going[e.key] ? () => go(going[e.key]) :
	    (view.keys || {})[e.key] || keys[e.key];
	if (!fn || (e.key === 'Enter' && !on.matches('tr[data-href]')))
		return;
	e.preventDefault();
	fn();
}

/*
 * Files
 */
async function openFiles(files) {
	try {
		const ids = [];
		for (const file of files)
			ids.push(await openFile(file));
		go(ids.length === 2 ? to('compare', ...ids) :
		    ids.length === 1 ? to('run', ids[0]) : '#/');
	} catch (e) {
		main.replaceChildren(fault(e));
	}
}

function onDrag(e) {
	if (![...e.dataTransfer.types].includes('Files'))
		return;
	e.preventDefault();
	byId('drop').hidden = e.type !== 'dragover';
	if (e.type === 'drop')
		openFiles([...e.dataTransfer.files]);
}

function nameTheme(name) {
	byId('theme-name').textContent = name[0].toUpperCase() + name.slice(1);
	if (view.drawn)
		view.drawn();
}

byId('theme').onclick = () => nameTheme(window.wazaTheme.next());
byId('help').onclick = keys['?'];
byId('open-file').onclick = keys.o;
byId('file').onchange = (e) => {
	openFiles([...e.target.files]);
	e.target.value = '';
};
// a link to "#main" would open a view
byId('skip').onclick = (e) => {
	e.preventDefault();
	main.focus();
};
matchMedia('(prefers-color-scheme: dark)').onchange =
    () => nameTheme(window.wazaTheme.name);
for (const type of ['dragover', 'drop'])
	addEventListener(type, onDrag);
addEventListener('dragleave', (e) => {
	byId('drop').hidden = byId('drop').hidden || !e.relatedTarget;
});
addEventListener('keydown', onKey);
addEventListener('click', (e) => {
	linked = Boolean(e.target.closest('a, tr'));
}, true);
addEventListener('hashchange', () => {
	scrolls.set(shown, scrollY);
	show();
});
history.scrollRestoration = 'manual';
if (inside.length > 0) {
	const { classList } = document.documentElement;
	classList.add('report');
	classList.toggle('single', countLocal() === 1);
	delete views.clients;
	delete views.new;
	delete views.trends;
	delete keys.n;
	delete going.t;
	delete going.c;
	if (inside.length === 1 && !location.hash)
		history.replaceState(null, '', to('run', inside[0]));
}
nameTheme(window.wazaTheme.name);
show();
