// run: one run, running or finished.
import { announce, badge, bar, button, dim, go, h, slowly, title, to } from './dom.js';
import { cost, count, duration, exactly, few, percent, plural, runState, score, tally,
	taskState, time } from './format.js';
import { eventTypes, Live } from './live.js';
import { get, getText, listen, path, remove } from './api.js';
import { getResult, getRun, isLocal } from './store.js';
import { List } from './list.js';
import { plainTable } from './table.js';
import { rateBar } from './runs.js';
import { TaskMap } from './map.js';

const ANNOUNCE_MS = 5000, DRAW_MS = 200;
const rank = ['failed', 'error', 'running', 'cancelled', 'pending', 'skipped',
	'passed'];

export function crumbs(...steps) {
	return h('nav.crumbs', { 'aria-label': 'Breadcrumbs' },
	    h('ol', [['Runs', '#/'], ...steps].map(([word, href]) =>
		h('li', href ? h('a', { href }, word) : word))));
}

export function tile(label, value, more) {
	return h('div.tile', h('dt', label),
	    h('dd', value, more && h('small', more)));
}

export function isOver(run) {
	return run.status !== 'running' && run.status !== 'pending';
}

function ended(task) {
	return isOver(task) || null;
}

// Why a task did not pass: its error, or the graders that failed.
function note(t) {
	const names = t.failedGraders || [];
	return t.error || (names.length > 0 ? `failed: ${names.join(', ')}` : '');
}

// How many trials passed, once the task is over.
function trials(t) {
	return t.status === 'running' ? `${t.done || 0} / ${t.trials}` :
	    ended(t) && t.passed !== undefined && t.trials > 0 ?
		`${count(t.passed)}/${count(t.trials)}` : count(t.trials);
}

const columns = (id) => [
	{ id: 'state', label: 'Status',
		value: (t) => rank.indexOf(taskState(t.status)),
		cell: (t) => badge(taskState(t.status)) },
	{ id: 'name', label: 'Task', value: (t) => t.name,
		cell: (t) => [h('a', { href: to('run', id, 'task', t.id) }, t.name), ' ',
			t.name !== t.id && h('small', t.id)] },
	{ id: 'note', label: 'Note', cell: (t) => note(t) && h('span.note',
		{ title: note(t) }, note(t)) },
	{ id: 'trials', label: 'Trials', tag: 'trials', number: true,
		value: (t) => (t.passed ?? t.trials) / (t.trials || 1), cell: trials },
	{ id: 'score', label: 'Score', tag: 'score', number: true,
		value: (t) => ended(t) && t.score, show: score },
	{ id: 'took', label: 'Duration', number: true,
		value: (t) => ended(t) && t.durationMs, show: duration },
];

const kinds = [['all', 'All'], ...['failed', 'error', 'passed', 'skipped',
	'running', 'cancelled'].map((s) => [s, s[0].toUpperCase() + s.slice(1),
	(t) => taskState(t.status) === s])];

// The log stays scrolled to its end, unless the user has scrolled up.
class Log {
	constructor(live) {
		this.live = live;
		this.lines = h('ol.log', { role: 'log', 'aria-live': 'off',
			'aria-label': 'Log', tabindex: '0' });
		this.element = h('details', { open: true },
		    h('summary', 'Log'), this.lines);
	}

	draw() {
		const { log, lines } = this.live, box = this.lines;
		const low = box.scrollTop + box.clientHeight > box.scrollHeight - 8;
		this.element.hidden = lines === 0;
		if (lines === this.shown)
			return;
		this.shown = lines;
		box.replaceChildren(...log.map((l) => h('li', { class: l.kind },
		    h('time', { title: exactly(new Date(l.at * 1000)) },
			new Date(l.at * 1000).toLocaleTimeString()),
		    ` ${l.text}`)));
		if (low)
			box.scrollTop = box.scrollHeight;
	}
}

// Rows are expected skills, columns the skills that were used.
function confusion(cells) {
	const names = [...new Set(cells.flatMap((c) => [c.expected, c.used]))]
		.sort((a, b) => (a === null) - (b === null));
	const at = (e, u) => (cells.find((c) => c.expected === e && c.used === u) ||
	    { count: 0 }).count;
	return h('div.scroll', plainTable(['Expected \\ used', ...names.map(
	    (n) => n ?? 'none')], names.filter((e) => cells.some((c) =>
		c.expected === e)).map((e) => [e ?? 'none',
		...names.map((u) => count(at(e, u)))])));
}

function triggerTests(file) {
	const m = file.trigger_metrics, word = (did) => did ? 'trigger' : 'not';
	return !m ? dim('No trigger tests.') : h('div.block',
	    h('dl.tiles.small', ['accuracy', 'precision', 'recall',
		'f1'].map((k) => tile(k[0].toUpperCase() + k.slice(1),
		percent(m[k])))),
	    m.confusion && m.confusion.length > 0 && confusion(m.confusion),
	    plainTable(['Prompt', 'Should', 'Did', 'Verdict'],
		(file.trigger_results || []).map((t) => [t.prompt,
			word(t.should_trigger), t.error_msg || word(t.did_trigger),
			badge(t.error_msg ? 'error' : t.should_trigger ===
			    t.did_trigger ? 'passed' : 'failed')])));
}

// Only the results file has them; it may be large, so it is loaded on demand.
function triggers(id) {
	const box = h('details', { ontoggle: async () => {
		if (box.children.length === 1)
			box.append(triggerTests(await getResult(id).catch(() => ({}))));
	} }, h('summary', 'Trigger tests'));
	return box;
}

// The previous run of the same suite.
async function previousRun(run) {
	const { runs } = await get(
	    `runs?limit=50&suite=${encodeURIComponent(run.name)}`);
	return runs.find((r) => r.name === run.name && r.summary &&
	    Date.parse(r.startedAt) < Date.parse(run.startedAt));
}

class RunView {
	constructor(root, at, run) {
		const open = (t) => t && to('run', run.runId, 'task', t.id);
		Object.assign(this, { run, id: run.runId, live: new Live(run),
			since: performance.now(), announced: 0 });
		this.head = h('div.title');
		this.tiles = h('dl.tiles');
		this.meter = h('div.meter', { role: 'progressbar',
			'aria-label': 'Tasks done', 'aria-valuemin': '0' });
		this.problem = h('p.fault', { role: 'alert', hidden: true });
		this.map = new TaskMap((i) => taskState((this.live.tasks[i] ||
		    { status: 'pending' }).status),
		(i) => (this.live.tasks[i] || {}).name,
		(i) => go(open(this.live.tasks[i])));
		this.list = new List({ at, title: 'Tasks', label: 'tasks', kinds,
			start: 'all', columns: columns(this.id), href: open,
			key: (t) => t.id, stamp: (t) => JSON.stringify(t),
			words: (t) => `${t.id} ${t.name} ${note(t)}`,
			sort: isOver(run) ? 'state' : '', empty: 'No matching tasks.',
			order: 'Suite order' });
		this.log = new Log(this.live);
		this.extra = h('div', isOver(run) && run.hasTriggers !== false &&
		    triggers(this.id));
		root.append(crumbs([run.name]), this.head, this.problem, this.tiles,
		    this.meter, this.map.element, this.list.element, this.extra,
		    this.log.element);
		this.later = slowly(() => this.draw(), DRAW_MS);
	}

	complain(e) {
		this.problem.hidden = false;
		this.problem.textContent = e.message;
	}

	actions() {
		const r = this.run, act = (word, fn, name) => button(word, () =>
			fn.call(this).catch((e) => this.complain(e)), { class: name });
		if (!isOver(r))
			return act('Cancel', this.cancel, 'danger');
		return !isLocal(this.id) && [
			act('Compare with previous run', this.compare),
			r.source === 'live' && h('a.button', { href: '#/new?' +
			    new URLSearchParams({ path: r.path || '',
				    model: r.model || '', executor: r.executor || '' }) },
			'Run again'),
			r.summary && act('Download results', this.download)];
	}

	async cancel() {
		await remove(path('runs', this.id));
		announce('The run is being cancelled.');
	}

	async compare() {
		const other = await previousRun(this.run);
		if (!other)
			throw new Error('This suite has no previous run.');
		go(to('compare', other.runId, this.id));
	}

	// A link cannot send the token.
	async download() {
		const text = await getText(path('runs', this.id, 'result'));
		const href = URL.createObjectURL(new Blob([text],
		    { type: 'application/json' }));
		h('a', { href, download: `${this.id}.json` }).click();
		setTimeout(() => URL.revokeObjectURL(href), 10000);
	}

	drawHead() {
		const r = this.run, drawn = JSON.stringify([r.status, r.ok]);
		if (drawn === this.drawn)
			return;
		this.drawn = drawn;
		this.head.replaceChildren(h('div',
		    title(r.name, ' ', badge(runState(r))),
		    h('p.dim.meta', [r.skill && `skill ${r.skill}`,
			r.model, r.executor && `executor ${r.executor}`]
			.filter(Boolean).map((w) => `${w} · `), time(r.startedAt),
		    ' · ', h('span.mono',
			isLocal(this.id) ? r.path : this.id))),
		h('p.row', this.actions()));
	}

	drawTiles(n, took) {
		const r = this.run, s = r.summary, { total } = this.live;
		const least = r.atLeast || {}, partly = 'at least: some are unknown';
		// an estimate, after a few tasks
		const left = n.done > 2 && n.done < total && `about ${duration(
		    Math.ceil(took / n.done * (total - n.done) / 1000) * 1000)} left`;
		this.tiles.replaceChildren(...isOver(r) && s ? [
			tile('Pass rate', percent(s.passRate), tally(s)),
			tile('Score', score(s.score)),
			tile('Duration', duration(r.durationMs)),
			tile('Tokens', few(r.tokens), least.tokens && partly),
			tile('Cost', cost(r.cost), least.cost && partly),
		] : [
			tile('Done', `${count(n.done)} of ${count(total)}`, left),
			tile('Passed', count(n.passed)), tile('Failed', count(n.failed)),
			tile('Errors', count(n.error)), tile('Running', count(n.running)),
			tile('Duration', duration(took)),
		]);
	}

	drawMeter(n, words) {
		const { total } = this.live, s = isOver(this.run) && this.run.summary;
		this.meter.setAttribute('aria-valuemax', total);
		this.meter.setAttribute('aria-valuenow', n.done);
		this.meter.setAttribute('aria-valuetext', words);
		this.meter.replaceChildren(s ? rateBar(s) : bar(['passed', 'failed',
			'error', 'running'].map((k) => [k, n[k] / (total || 1)]), words));
	}

	draw() {
		const n = this.live.counts(), { total } = this.live;
		const took = isOver(this.run) ? this.run.durationMs :
		    (this.run.durationMs || 0) + performance.now() - this.since;
		const words = `${n.done} of ${plural(total, 'task')} done, ${n.passed} ` +
		    `passed, ${n.failed} failed, ${plural(n.error, 'error')}`;
		this.drawHead();
		this.drawTiles(n, took);
		this.drawMeter(n, words);
		this.map.draw(total, words);
		this.list.set(this.live.tasks.filter(Boolean));
		this.log.draw();
		if (this.run.error)
			this.complain({ message: this.run.error });
		if (isOver(this.run))
			return;
		document.title = `${n.done}/${total} ${this.run.name} · waza`;
		if (Date.now() - this.announced > ANNOUNCE_MS) {
			this.announced = Date.now();
			announce(words);
		}
	}

	// Receives events until the run is over, which a lost stream may mean.
	follow() {
		const receive = (type) => (e) => {
			this.live.receive(type, e);
			if (this.run.status === 'pending')
				this.run = { ...this.run, status: 'running' };
			this.later();
			if (type === 'eval_complete')
				this.finish();
		};
		this.clock = setInterval(this.later, 1000);
		this.unlisten = listen(`${path('runs', this.id)}/stream`,
		    Object.fromEntries(eventTypes.map((t) => [t, receive(t)])),
		    { lost: () => this.checkEnd() });
	}

	async checkEnd() {
		const run = await getRun(this.id).catch(() => null);
		if (!run || !isOver(run) || this.stopped)
			return false;
		this.stop();
		this.run = run;
		this.live.take(run);
		this.extra.replaceChildren(triggers(this.id));
		this.draw();
		document.title = `${run.name} ${runState(run)} · waza`;
		announce(`Run finished: ${runState(run)}. ${tally(run.summary)}`);
		return true;
	}

	// Waits until the server has the results, which replace the events.
	async finish() {
		for (let i = 0; i < 40 && !this.stopped && !await this.checkEnd(); i++)
			await new Promise((done) => setTimeout(done, 250));
	}

	stop() {
		this.stopped = true;
		clearInterval(this.clock);
		this.later.stop();
		if (this.unlisten)
			this.unlisten();
	}
}

export async function showRun(root, at) {
	const view = new RunView(root, at, await getRun(at.parts[1]));
	if (!isOver(view.run))
		view.follow();
	return { title: view.run.name, table: view.list.table,
		search: view.list.search, drawn: () => view.draw(),
		keys: { c: () => isOver(view.run) && !isLocal(view.id) &&
		    view.compare().catch((e) => view.complain(e)) },
		stop: () => {
			view.stop();
			view.map.watch.disconnect();
		} };
}
