// app: which view is shown, the keys, and files that are dropped.  A view is
// a function that fills an element and gives { title, table, search, keys,
// stop }, of which it may leave out any.
import { announce, button, byId, go, h, title, to } from './dom.js';
import { openFile } from './store.js';
import { showClients } from './clients.js';
import { showCompare } from './compare.js';
import { showNew } from './new.js';
import { showRun } from './run.js';
import { showRuns } from './runs.js';
import { showTask } from './task.js';
import { showTrends } from './trends.js';

const views = {
	'': ['runs', showRuns], runs: ['runs', showRuns],
	trends: ['trends', showTrends], compare: ['compare', showCompare],
	clients: ['clients', showClients], new: ['new', showNew],
	run: ['runs', showRun],
};
const main = byId('main');
let view = {}, turn = 0;
const scrolls = new Map();	/* where each view was left */
let shown = location.hash, linked = false;

// "#/run/ID?q=x" as { parts: ['run', 'ID'], query }
function route() {
	const [where, query] = location.hash.slice(1).split('?');
	return {
		parts: where.split('/').slice(1).map((p) => {
			try {
				return decodeURIComponent(p);
			} catch {
				return p;
			}
		}),
		query: new URLSearchParams(query || ''),
		// what a view wants to find again when somebody comes back
		keep(changes) {
			for (const [k, v] of Object.entries(changes))
				if (v)
					this.query.set(k, v);
				else
					this.query.delete(k);
			const q = String(this.query);
			history.replaceState(null, '', `#${where}${q ? `?${q}` : ''}`);
			shown = location.hash;
		},
	};
}

function fault(e) {
	return h('section.fault', { role: 'alert' },
	    title('That did not work'), h('p', e.message),
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
	const mine = ++turn, at = route(), [first, , third] = at.parts;
	const [name, fn] = views[first || ''] || ['', () => {
		throw new Error('There is no such view.');
	}];
	const root = h('div', { class: `view in-${first || 'runs'}` });
	const back = linked ? 0 : scrolls.get(location.hash) || 0;

	linked = false;
	if (view.stop)
		view.stop();
	view = {};
	current(name);
	main.setAttribute('aria-busy', 'true');
	let next;
	try {
		next = await (third === 'task' ? showTask : fn)(root, at) || {};
	} catch (e) {
		if (!(e.status >= 0) && !(e instanceof Error && e.constructor === Error))
			console.error(e);
		root.replaceChildren(fault(e));
		next = { title: 'Trouble' };
	}
	if (mine !== turn) {
		if (next.stop)
			next.stop();
		return;
	}
	view = next;
	main.removeAttribute('aria-busy');
	main.replaceChildren(root);
	document.title = view.title ? `${view.title} · waza` : 'waza';
	if (view.drawn)
		view.drawn();
	scrollTo(0, back);
	const head = root.querySelector('h1');
	if (head && document.activeElement === document.body)
		head.focus({ preventScroll: true });
}

/*
 * Keys
 */
let prefix = '';
const going = { r: '#/', t: '#/trends', c: '#/clients' };

function search() {
	const field = view.search;
	if (field) {
		field.focus();
		field.select();
	}
}

function up() {
	const { parts } = route();
	go(parts[2] === 'task' ? to('run', parts[1]) : '#/');
}

const keys = {
	'/': search, u: up,
	'?': () => byId('help-box').showModal(),
	n: () => go('#/new'),
	o: () => byId('file').click(),
	j: () => view.table && view.table.move(1),
	k: () => view.table && view.table.move(-1),
	'[': () => view.table && view.table.turn(-1),
	']': () => view.table && view.table.turn(1),
	g: () => {
		prefix = 'g';
		setTimeout(() => {
			prefix = '';
		}, 1500);
	},
};

function inField(el) {
	return el.matches('input:not([type=checkbox]), textarea, select');
}

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]'))
		return;
	if (inField(e.target)) {
		if (e.key === 'Escape')
			e.target.blur();
		return;
	}
	if (e.key === 'Enter' && e.target.matches('tr') && view.table) {
		const row = view.table.current();
		if (row) {
			linked = true;
			go(view.table.href(row));
		}
		return;
	}
	if (prefix === 'g' && going[e.key]) {
		prefix = '';
		go(going[e.key]);
		return;
	}
	const fn = (view.keys || {})[e.key] || keys[e.key];
	if (fn) {
		e.preventDefault();
		fn();
	}
}

/*
 * Files
 */
async function openFiles(files) {
	const ids = [];
	for (const file of files)
		try {
			ids.push(await openFile(file));
		} catch (e) {
			main.replaceChildren(fault(e));
			announce(e.message);
			return;
		}
	go(ids.length === 2 ? to('compare', ...ids) :
	    ids.length === 1 ? to('run', ids[0]) : '#/');
}

function watchDrops() {
	const sheet = byId('drop');
	const has = (e) => [...e.dataTransfer.types].includes('Files');

	addEventListener('dragover', (e) => {
		if (!has(e))
			return;
		e.preventDefault();
		sheet.hidden = false;
	});
	addEventListener('dragleave', (e) => {
		if (!e.relatedTarget)
			sheet.hidden = true;
	});
	addEventListener('drop', (e) => {
		sheet.hidden = true;
		if (!has(e))
			return;
		e.preventDefault();
		openFiles([...e.dataTransfer.files]);
	});
}

function nameTheme(name) {
	byId('theme-name').textContent = name[0].toUpperCase() + name.slice(1);
}

byId('theme').addEventListener('click', () => {
	nameTheme(window.wazaTheme.next());
	if (view.drawn)
		view.drawn();
});
byId('help').addEventListener('click', () => byId('help-box').showModal());
byId('open-file').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', (e) => {
	openFiles([...e.target.files]);
	e.target.value = '';
});
// "#main" would be a view
byId('skip').addEventListener('click', (e) => {
	e.preventDefault();
	main.focus();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
    () => view.drawn && view.drawn());
addEventListener('keydown', onKey);
addEventListener('click', (e) => {
	linked = Boolean(e.target.closest && e.target.closest('a, tr'));
}, true);
addEventListener('hashchange', () => {
	scrolls.set(shown, scrollY);
	shown = location.hash;
	show();
});
history.scrollRestoration = 'manual';
nameTheme(window.wazaTheme.name);
watchDrops();
show();
