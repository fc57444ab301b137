// table: rows in pages, sortable by column, with keys j and k. Only one page of
// rows is in the document, so ten thousand rows cost no more than a hundred. An
// unchanged row keeps its element, and so its focus.
import { count } from './format.js';
import { button, go, h, swap } from './dom.js';

const PAGE = 100;
const names = new Intl.Collator(undefined, { numeric: true });

function none(x) {
	return x === null || x === undefined || x === '';
}

// Missing values are last in both directions.
function order(a, b, down) {
	if (none(a) || none(b))
		return none(a) - none(b);
	if (down)
		return order(b, a);
	return typeof a === 'number' && typeof b === 'number' ? a - b :
	    names.compare(a, b);
}

// plainTable HEADS ROWS: a static table
export function plainTable(heads, rows) {
	return h('table', h('thead', h('tr', heads.map((w) =>
		h('th', { scope: 'col' }, w)))),
	h('tbody', rows.map((cells) => h('tr', cells.map((c) => h('td', c))))));
}

/*
 * columns: { id, label, quiet, number, tag, value(row), show(value), cell(row) }.
 * A column without value cannot be sorted; one without cell shows its value; the
 * label of a quiet one is for screen readers; the tag is shown before the value on a phone. key(row) identifies a row,
 * stamp(row) changes when its cells do, href(row) is the link of the row. sort:
 * "id", "-id", or '' for the given order, which `order` names. empty: a text or
 * an element, shown if there are no rows.
 */
export class Table {
	constructor(options) {
		Object.assign(this, { sort: '', empty: 'Nothing here.', page: 0,
			rows: [], shown: [], all: [], made: new Map() }, options);
		this.active = null;	/* key of the row that j and k move */
		this.heads = new Map(this.columns.map((c) => [c.id, this.head(c)]));
		this.body = h('tbody');
		this.pager = h('nav.pager', { 'aria-label': `Pages of ${this.label}` });
		this.note = h('div');
		this.table = h('table', { class: `list ${this.name || ''}`,
			'aria-label': this.label },
		h('thead', h('tr', [...this.heads.values()])), this.body);
		this.element = h('div', this.chooser(), this.table, this.note,
		    this.pager);
		this.showSort();
	}

	head(c) {
		return h('th', { scope: 'col',
			class: `c-${c.id}${c.number ? ' number' : ''}` },
		c.value ? button(c.label, () => this.press(c)) :
		    h('span', { class: c.quiet ? 'hidden' : 'head' }, c.label));
	}

	// Replaces the column heads on a phone.
	chooser() {
		this.select = h('select', { onchange: () =>
			this.sortBy(this.select.value) },
		h('option', { value: '' }, this.order || 'Default order'),
		this.columns.filter((c) => c.value).map((c) => ['', '-'].map((m) =>
			h('option', { value: m + c.id },
			    `${c.label} ${m ? '↓' : '↑'}`))));
		return h('label.chooser', 'Sort by ', this.select);
	}

	press(c) {
		const [first, then] = c.number ? [`-${c.id}`, c.id] :
		    [c.id, `-${c.id}`];
		this.sortBy(this.sort === first ? then : first);
	}

	sortBy(sort) {
		this.sort = sort;
		this.page = 0;
		this.showSort();
		this.draw();
		if (this.onsort)
			this.onsort(sort);
	}

	showSort() {
		const id = this.sort.replace('-', '');
		this.select.value = this.sort;
		for (const th of this.heads.values())
			th.removeAttribute('aria-sort');
		if (this.heads.has(id))
			this.heads.get(id).setAttribute('aria-sort',
			    this.sort === id ? 'ascending' : 'descending');
	}

	set(rows) {
		this.rows = rows;
		this.draw();
	}

	ordered() {
		const id = this.sort.replace('-', '');
		const c = this.columns.find((k) => k.id === id);
		if (!c || !c.value)
			return this.rows;
		return this.rows.map((row) => [c.value(row), row])
			.sort((a, b) => order(a[0], b[0], this.sort !== id))
			.map((pair) => pair[1]);
	}

	draw() {
		this.all = this.ordered();
		this.drawPage();
	}

	drawPage() {
		const had = this.body.contains(document.activeElement) &&
		    document.activeElement.closest('tr').dataset.key;
		const old = this.made;

		this.pages = Math.max(1, Math.ceil(this.all.length / PAGE));
		this.page = Math.max(0, Math.min(this.page, this.pages - 1));
		this.shown = this.all.slice(this.page * PAGE, (this.page + 1) * PAGE);
		this.made = new Map(this.shown.map((row) => {
			const key = this.key(row), stamp = this.stamp(row);
			const made = old.get(key);
			return [key, made && made.stamp === stamp ? { ...made, row } :
			    { stamp, row, tr: this.row(row, key) }];
		}));
		const rows = [...this.made.values()].map((m) => m.tr);
		if (rows.length !== this.body.children.length ||
		    rows.some((tr, i) => tr !== this.body.children[i]))
			this.body.replaceChildren(...rows);
		this.mark();
		if (had && this.made.has(had))
			this.made.get(had).tr.focus({ preventScroll: true });
		this.note.hidden = rows.length > 0;
		this.note.replaceChildren(this.empty instanceof Node ? this.empty :
		    h('p.empty', this.empty));
		this.table.hidden = this.select.parentNode.hidden = rows.length === 0;
		this.drawPager();
	}

	row(row, key) {
		return h('tr', { 'data-key': key,
			'data-href': this.href && this.href(row),
			onclick: (e) => this.clicked(e, row),
			onfocusin: () => this.mark(key) },
		this.columns.map((c) => h('td', { 'data-label': c.tag,
			class: `c-${c.id}${c.number ? ' number' : ''}` },
		c.cell ? c.cell(row) : c.show(c.value(row)))));
	}

	// A click anywhere in a row opens its link, unless text is selected.
	clicked(e, row) {
		if (this.href && !e.target.closest('a, button, input') &&
		    String(getSelection()) === '')
			go(this.href(row));
	}

	drawPager() {
		const from = this.page * PAGE, turn = (by, word) => button(word,
		    () => this.turn(by), { disabled: !this.all[from + by * PAGE] });

		this.pager.hidden = this.pages < 2;
		swap(this.pager, turn(-1, '‹ Previous'), h('span.number', `${count(from + 1)}–` +
		    `${count(from + this.shown.length)} of ${count(this.all.length)}`),
		turn(1, 'Next ›'));
	}

	turn(by) {
		if (!this.all[(this.page + by) * PAGE])
			return false;
		this.page += by;
		this.drawPage();
		this.table.scrollIntoView({ block: 'start' });
		return true;
	}

	mark(key = this.active) {
		this.active = key;
		for (const [k, { tr }] of this.made) {
			tr.tabIndex = k === key ? 0 : -1;
			tr.classList.toggle('active', k === key);
		}
	}

	// Moves the active row, across pages.
	move(by) {
		const at = this.shown.findIndex((r) => this.key(r) === this.active);
		let next = at === -1 && by < 0 ? -1 : at + by;

		if (!this.shown[next]) {
			if (this.all.length === 0 || !this.turn(by))
				return;
			next = by > 0 ? 0 : this.shown.length - 1;
		}
		this.mark(this.key(this.shown[next]));
		this.made.get(this.active).tr.focus();
	}

	current() {
		return (this.made.get(this.active) || {}).row;
	}
}
