// live: the tasks and the log of a run, from its events.
import { duration, plural, score } from './format.js';

const LOG_MAX = 300;

// Events only have the status "failed"; error_class says whether the agent or
// something else failed.
function word(e) {
	return !e.error_class ? e.status :
	    e.error_class === 'cancelled' ? 'cancelled' : 'error';
}

const errorText = (e) => e.error ? `; ${e.error}` : '';

// What each event changes, and the line that it adds to the log.
const events = {
	eval_start: (run, e) => ['', `${e.eval}: ${plural(e.tasks, 'task')}, ` +
	    `${plural(e.trials, 'trial')} each, executor ${e.executor}`],
	task_start(run, e) {
		const t = run.task(e);
		t.status = t.status === 'pending' ? 'running' : t.status;
	},
	task_progress: (run, e) => ['dim', `${run.task(e).name}: ` +
	    [e.step, e.detail].filter(Boolean).join(' ')],
	trial_complete(run, e) {
		const t = run.task(e), state = word(e);
		t.done = (t.done || 0) + 1;
		return e.trials > 1 && [state === 'passed' ? 'dim' : state,
			`${t.name}, trial ${e.trial}: ${state} ${score(e.score)}, ` +
			duration(e.took_ms) + errorText(e)];
	},
	task_complete(run, e) {
		const t = Object.assign(run.task(e), { status: word(e),
			score: e.score, durationMs: e.took_ms, error: e.error });
		return [t.status, `${t.name}: ${t.status} ${score(e.score)}` +
			errorText(e)];
	},
	trigger_complete: (run, e) => [e.status,
		`trigger: ${e.prompt}: ${e.status}`],
	error: (run, e) => ['error', [e.file, e.message].filter(Boolean).join(': ')],
	eval_complete: (run, e) => [e.status, `finished: ${e.status}, ${e.passed} ` +
	    `of ${e.total} passed in ${duration(e.duration_sec * 1000)}`],
};

export const eventTypes = Object.keys(events);

export class Live {
	constructor(run) {
		this.log = [];
		this.lines = 0;		/* including removed ones */
		this.take(run);
	}

	// Replaces the state from events by the server's.
	take(run) {
		this.tasks = (run.tasks || []).slice();
		this.byId = new Map(this.tasks.map((t) => [t.id, t]));
		this.total = Math.max(this.tasks.length,
		    (run.progress || {}).total || 0, (run.summary || {}).total || 0);
	}

	// The task of an event, at its place in the suite.
	task(e) {
		const t = this.byId.get(e.task) || { id: e.task, status: 'pending',
			name: e.name || e.task, trials: e.trials };
		const old = this.tasks[e.idx] === t ? -1 : this.tasks.indexOf(t);
		if (old >= 0)
			delete this.tasks[old];
		this.tasks[e.idx] = t;
		this.byId.set(t.id, t);
		this.total = Math.max(this.total, e.total || 0);
		return t;
	}

	receive(type, e) {
		const line = events[type](this, e);
		this.total = Math.max(this.total, e.tasks || 0);
		if (!line)
			return;
		this.lines++;
		this.log.push({ kind: line[0], text: line[1], at: e.timestamp });
		this.log.splice(0, this.log.length - LOG_MAX);
	}

	counts() {
		const n = { __proto__: null, done: 0, passed: 0, failed: 0, error: 0,
			cancelled: 0, skipped: 0, running: 0, pending: 0 };
		for (const t of this.tasks.filter(Boolean)) {
			n[t.status in n ? t.status : 'error']++;
			n.done += t.status !== 'running' && t.status !== 'pending';
		}
		n.pending = this.total - n.done - n.running;
		return n;
	}
}
