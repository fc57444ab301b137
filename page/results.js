// results: a results file, ours or the original's, as the server's answers
// tell it, so that a file that was opened here looks like any other run.

function mean(list) {
	return list.reduce((a, b) => a + b, 0) / (list.length || 1);
}

// The original writes no score of a trial: it is the mean of its verdicts'.
export function trialScore(trial) {
	return trial.score ??
	    mean(Object.values(trial.validations || {}).map((v) => v.score));
}

function listed(task) {
	const runs = task.runs || [], stats = task.stats || {};
	return {
		id: task.test_id, name: task.display_name || task.test_id,
		status: task.status, trials: runs.length,
		score: stats.avg_score ?? mean(runs.map(trialScore)),
		durationMs: stats.avg_duration_ms ??
		    mean(runs.map((r) => r.duration_ms || 0)),
		errorClass: task.error_class, error: task.error_msg,
	};
}

// asRun FILE ID PATH: throws where it is no results file
export function asRun(file, id, path) {
	const s = file && file.summary, config = (file && file.config) || {};
	if (!s || !Array.isArray(file.tasks))
		throw new Error('this is no results file: no "tasks", no "summary"');
	const ok = s.succeeded === s.total_tests, u = s.usage;
	return {
		runId: id, name: file.eval_name || '(no name)', skill: file.skill,
		path, source: 'window', status: 'completed', ok,
		executor: config.engine_type, model: config.model_id,
		startedAt: file.timestamp, durationMs: s.duration_ms,
		tokens: u ? u.input_tokens + u.output_tokens : null,
		cost: u && u.cost, tasks: file.tasks.map(listed),
		summary: { total: s.total_tests, passed: s.succeeded, ok,
			failed: s.failed, errors: s.errors, skipped: s.skipped,
			passRate: s.success_rate, score: s.aggregate_score },
	};
}

function row(a, b) {
	const passed = [a, b].map((t) => t && t.status === 'passed');
	return {
		task_id: (a || b).id, display_name: (a || b).name,
		scores: [a && a.score, b && b.score],
		statuses: [a && a.status, b && b.status],
		score_delta: a && b ? b.score - a.score : null,
		flip: a && b && passed[0] !== passed[1] &&
		    (passed[1] ? 'fail_to_pass' : 'pass_to_fail'),
	};
}

// compare A B: what the server says of two of its runs, but for the
// statistics; for files that it does not have
export function compare(a, b) {
	const first = new Set(a.tasks.map((t) => t.id));
	const second = new Map(b.tasks.map((t) => [t.id, t]));
	const rows = [...a.tasks.map((t) => row(t, second.get(t.id))),
		...b.tasks.filter((t) => !first.has(t.id)).map((t) => row(null, t))];
	return {
		task_deltas: rows, warnings: [], verdict: '',
		aggregate_score_delta: b.summary.score - a.summary.score,
		success_rate_delta: b.summary.passRate - a.summary.passRate,
		summary: 'the server works this out for runs that it has; these ' +
		    'are files that were opened here.',
	};
}
