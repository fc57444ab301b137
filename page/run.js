// run: one run, running or finished.
import { announce, badge, bar, button, go, h, plain, slowly, title,
	to } from './dom.js';
import { cost, count, duration, few, percent, plural, runState, score, tally,
	taskState, time } from './format.js';
import { eventTypes, Live } from './live.js';
import { get, getText, listen, path, remove } from './api.js';
import { crumbs, tile } from './tile.js';
import { getRun, isLocal } from './store.js';
import { List } from './list.js';
import { Log } from './log.js';
import { rateBar } from './runs.js';
import { required, why } from './why.js';
import { TaskMap } from './map.js';
import { matrix } from './matrix.js';
import { controls, controlTile } from './controls.js';
import { triggers, triggerTile } from './triggers.js';

// Passes of the same file without skills, or with those of a revision.
function armTiles(run) {
	return (run.arms || []).map((a) => tile(a.words[0].toUpperCase() +
	    a.words.slice(1), percent(a.passRate), h('a', { href: to('compare', a.id,
		run.runId) }, 'Compare')));
}

const ANNOUNCE_MS = 5000, DRAW_MS = 200;
const MAPPED = 20;	/* fewer finished tasks are visible in the list */
const rank = ['failed', 'error', 'running', 'cancelled', 'pending', 'skipped',
	'passed'];

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
	{ id: 'note', label: 'Reason', cell: (t) => note(t) && h('span.note',
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

// The shards of a run elsewhere, which have sent their results or are missing.
function shardTile(s) {
	return s && tile('Shards', `${count(s.ended)} of ${count(s.total)}`,
	    s.missing.length > 0 ? `missing: ${s.missing.join(', ')}` +
		(s.total - s.begun > s.missing.length ? ' …' : '') :
		s.refused ? s.refused.join('; ') : 'all have begun');
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
		this.why = h('div');
		this.extra = h('div');
		root.append(crumbs([run.name]), this.head, this.problem, this.tiles,
		    this.meter, this.why, this.map.element, this.list.element,
		    this.extra, this.log.element);
		this.drawEnd();
		this.later = slowly(() => this.draw(), DRAW_MS);
	}

	complain(e) {
		this.problem.hidden = false;
		this.problem.textContent = plain(e.message);
	}

	// The parts that only a finished run has.
	drawEnd() {
		const reasons = why(this.run, (name) => this.find(name));
		this.why.hidden = !reasons;
		this.why.replaceChildren(...reasons ? [reasons] : []);
		const extra = !isOver(this.run) ? [] : [
			matrix(this.run.matrix, this.id),
			controls(this.run.controls, this.id),
			this.run.triggers && triggers(this.id)].filter(Boolean);
		this.extra.hidden = extra.length === 0;
		this.extra.replaceChildren(...extra);
	}

	find(grader) {
		this.list.search.value = grader;
		this.list.change({ q: grader, show: 'all' });
		this.list.search.focus();
		this.list.element.scrollIntoView({ block: 'start' });
	}

	actions() {
		const r = this.run, act = (word, fn, name) => button(word, () =>
			fn.call(this).catch((e) => this.complain(e)), { class: name });
		if (!isOver(r))
			return r.source === 'live' &&
			    act('Cancel', this.cancel, 'danger');
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
			r.model, r.executor && `executor ${r.executor}`,
			r.stop && `stop ${r.stop}`]
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
			tile('Pass rate', percent(s.passRate),
			    [tally(s), required(r)]),
			...armTiles(r),
			tile('Score', score(s.score)),
			triggerTile(r.triggers),
			controlTile(r.controls),
			tile('Duration', duration(r.durationMs)),
			tile('Tokens', few(r.tokens), least.tokens && partly),
			tile('Cost', cost(r.cost), least.cost && partly),
		].filter(Boolean) : [
			tile('Done', `${count(n.done)} of ${count(total)}`, left),
			shardTile(r.shards),
			tile('Passed', count(n.passed)), tile('Failed', count(n.failed)),
			tile('Errors', count(n.error)), tile('Running', count(n.running)),
			tile('Duration', duration(took)),
		].filter(Boolean));
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
		this.map.element.hidden = isOver(this.run) && total < MAPPED;
		this.map.draw(total, words);
		this.list.set(this.live.tasks.filter(Boolean));
		this.log.draw();
		if (this.run.error)
			this.complain({ message: this.run.error });
		if (isOver(this.run))
			return;
		document.title = plain(`${n.done}/${total} ${this.run.name} · waza`);
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
		if (this.run.source === 'file') {
			this.followFile();
			return;
		}
		this.unlisten = listen(`${path('runs', this.id)}/stream`,
		    Object.fromEntries(eventTypes.map((t) => [t, receive(t)])),
		    { lost: () => this.checkEnd() });
	}

	// A run elsewhere has no events here: its file is read when it changes.
	followFile() {
		const read = () => getRun(this.id).then((run) => {
			if (this.stopped || isOver(run))
				return this.stopped || this.checkEnd();
			this.run = run;
			this.since = performance.now();
			this.live.take(run);
			return this.later();
		}, () => undefined);
		this.unlisten = listen('events', {
			run: (r) => r.runId === this.id && read() },
		{ pauses: true, opened: read });
	}

	async checkEnd() {
		const run = await getRun(this.id).catch(() => null);
		if (!run || !isOver(run) || this.stopped)
			return false;
		this.stop();
		this.run = run;
		this.live.take(run);
		this.drawEnd();
		this.draw();
		document.title = plain(`${run.name} ${runState(run)} · waza`);
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
