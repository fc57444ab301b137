// results: converts a results file, of waza or of the original, into the
// server's format, so that an opened file looks like any other run.

function mean(list) {
	return list.reduce((a, b) => a + b, 0) / (list.length || 1);
}

// The original does not write a trial's score: it is the mean of its verdicts.
export function trialScore(trial) {
	return trial.score ??
	    mean(Object.values(trial.validations || {}).filter(Boolean)
		.map((v) => v.score));
}

// The names of the graders that failed in any trial; advisory ones do not count.
function failedGraders(runs) {
	return [...new Set(runs.flatMap((r) => Object.entries(r.validations || {})
		.filter(([, v]) => v && !v.passed && !v.skipped && !v.advisory)
		.map(([name, v]) => v.identifier || name)))];
}

function summarize(task) {
	const runs = task.runs || [], stats = task.stats || {};
	return {
		id: task.test_id, name: task.display_name || task.test_id,
		status: task.status, trials: runs.length,
		score: stats.avg_score ?? mean(runs.map(trialScore)),
		durationMs: stats.avg_duration_ms ??
		    mean(runs.map((r) => r.duration_ms || 0)),
		errorClass: task.error_class,
		error: task.error_msg || task.skip_reason ||
		    runs.map((r) => r.error_msg).find(Boolean),
		passed: runs.filter((r) => r.status === 'passed').length,
		failedGraders: failedGraders(runs),
		suspect: task.status === 'passed' ? undefined :
		    runs.map((r) => r.suspect).find(Boolean),
	};
}

// The summary of the file; missing members are counted.
function summaryOf(file) {
	const n = (...words) => file.tasks.filter((t) =>
		words.includes(t.status)).length;
	const total = file.tasks.length, passed = n('passed');
	return { total_tests: total, succeeded: passed, failed: n('failed'),
		skipped: n('skipped'), errors: total - n('passed', 'failed', 'skipped'),
		success_rate: total > 0 ? passed / total : 0, ...file.summary };
}

// Totals that lack some trials, whose usage is not known.
function leastOf(unknown) {
	const { input_tokens: input, output_tokens: output, cost } = unknown || {};
	return { tokens: input > 0 || output > 0, cost: cost > 0 };
}

// asRun FILE ID PATH: throws if it is not a results file
export function asRun(file, id, path) {
	const config = (file && file.config) || {};
	if (!file || !Array.isArray(file.tasks))
		throw new Error('not a results file: "tasks" is missing');
	const s = summaryOf(file), u = s.usage;
	const ok = ['passed', 'failed'].includes(file.status) ?
	    file.status === 'passed' : s.succeeded === s.total_tests;
	return {
		runId: id, name: file.eval_name || '(no name)', skill: file.skill,
		path, source: 'window', ok,
		status: ['cancelled', 'running'].includes(file.status) ?
		    'cancelled' : 'completed',
		executor: config.engine_type, model: config.model_id,
		stop: config.stop,
		startedAt: file.timestamp, durationMs: s.duration_ms,
		tokens: u ? u.input_tokens + u.output_tokens : null,
		cost: u && u.cost, tasks: file.tasks.map(summarize),
		atLeast: leastOf(u && u.unknown_trials),
		passThreshold: config.pass_threshold, metrics: file.metrics,
		triggers: file.trigger_metrics, controls: file.controls,
		matrix: file.matrix,
		summary: { total: s.total_tests, passed: s.succeeded, ok,
			failed: s.failed, errors: s.errors, skipped: s.skipped,
			passRate: s.success_rate, score: s.aggregate_score },
	};
}

function row(a, b) {
	const graded = (t) => t && t.status !== 'skipped';
	const passed = [a, b].map((t) => t && t.status === 'passed');
	const both = graded(a) && graded(b);
	return {
		task_id: (a || b).id, display_name: (a || b).name,
		scores: [a, b].map((t) => graded(t) ? t.score : null),
		statuses: [a && a.status, b && b.status],
		score_delta: both ? b.score - a.score : null,
		flip: both && passed[0] !== passed[1] &&
		    (passed[1] ? 'fail_to_pass' : 'pass_to_fail'),
	};
}

// compare A B: the server's comparison without statistics, for files that the
// server does not have
export function compare(a, b) {
	const first = new Set(a.tasks.map((t) => t.id));
	const second = new Map(b.tasks.map((t) => [t.id, t]));
	const rows = [...a.tasks.map((t) => row(t, second.get(t.id))),
		...b.tasks.filter((t) => !first.has(t.id)).map((t) => row(null, t))];
	return {
		task_deltas: rows, warnings: [], verdict: '',
		aggregate_score_delta: b.summary.score - a.summary.score,
		success_rate_delta: b.summary.passRate - a.summary.passRate,
		summary: 'not available for opened files; "waza compare" prints it.',
	};
}
