// task: one task of a run: its trials with prompt, answer, tool calls and
// verdicts.
import { badge, button, dim, go, h, icon, swap, title, to } from './dom.js';
import { chips } from './list.js';
import { cost, count, duration, exactly, few, percent, plural, points, score,
	taskState } from './format.js';
import { crumbs, tile } from './tile.js';
import { taskControls } from './controls.js';
import { getRun, getTask } from './store.js';
import { isOver } from './run.js';
import { patch, pre, rich, value } from './text.js';
import { suspect } from './why.js';
import { trialScore } from './results.js';

const STEPS = 300, CHIPS = 24, PASSED = 1, AGAIN_MS = 2000;

function section(name, ...kids) {
	return h('section.block', h('h2', name), kids);
}

/*
 * The steps of the agent. Transcripts of the original contain the start and the
 * end of each call, those of waza only the end; results files without a
 * transcript have only the calls.
 */
function steps(trial) {
	const out = [], begun = new Map();
	const tool = (name, args) => {
		out.push({ name, args });
		return out[out.length - 1];
	};
	const text = (v) => typeof v === 'string' ? v : JSON.stringify(v);
	const read = { __proto__: null,
		'tool.execution_start': (e) =>
			begun.set(e.tool_call_id, tool(e.tool_name, e.arguments)),
		'tool.execution_complete': (e) => Object.assign(
		    begun.get(e.tool_call_id) || tool(e.tool_name, e.arguments),
		    { result: e.tool_result, success: e.success }),
	};
	for (const who of ['skill.invoked', 'session.error', 'user.message',
		'assistant.message'])
		read[who] = (e) => out.push({ who: who.split('.')[0],
			says: text(e.content || e.message || e.tool_name || '') });

	for (const e of trial.transcript || [])
		if (read[e.type])
			read[e.type](e);
	const tools = out.filter((s) => s.name);
	const calls = trial.tool_events ||
	    (trial.session_digest || {}).tool_calls || [];
	calls.forEach((c, i) => {
		const step = tools.length === 0 ? tool(c.tool_name || c.name,
		    c.args || c.arguments) : tools[i] || {};
		step.result = step.result ?? c.result;
		step.success = step.success ?? c.success;
		step.tool = c.tool;
		step.mock = c.mock;
		step.canonical = c.canonical;
	});
	// the last message is the answer, which is shown above
	const last = out[out.length - 1];
	if (last && last.who === 'assistant' &&
	    last.says.trim() === (trial.final_output || '').trim())
		out.pop();
	return out.filter((s) => s.name || s.says);
}

// The most informative argument, on one line.
function gist(args, canonical = {}) {
	const a = args || {}, best = canonical.command || canonical.path ||
	    canonical.url || (typeof a === 'string' ? a : a.command ||
	    a.path || a.file_path || a.pattern || a.query || a.url || a.skill ||
	    Object.values(a).find((v) => typeof v === 'string') || '');
	return String(best).replace(/\s+/g, ' ').slice(0, 300);
}

// Whether the gist, which is on the line above, is all of the arguments.
function isGist(args, line) {
	const all = typeof args === 'string' ? [args] : Object.values(args);
	return all.length === 1 && all[0] === line;
}

function step(s) {
	const bad = s.success === false, line = gist(s.args, s.canonical);
	if (!s.name)
		return h('li.step', h('span.dot'),
		    h('div', h('small', s.who), pre(s.says, 'said')));
	return h('li.step', icon(bad ? 'failed' : 'passed',
	    bad ? 'failed' : 'succeeded'), h('details',
	h('summary', h('b', s.name), ' ', s.tool && s.tool !== 'other' &&
	    s.tool !== s.name && [h('small', s.tool), ' '],
	s.mock && [h('small', `mock of ${s.mock}`), ' '],
	h('code', line)),
	s.args && !isGist(s.args, line) && [h('h3', 'Arguments'), value(s.args)],
	s.result !== undefined && s.result !== '' &&
	    [h('h3', 'Result'), value(s.result)]));
}

// Calls of mocked commands; one without a response is an error of the suite.
function mocked(trial) {
	const all = trial.command_invocations || [];
	return all.length > 0 && section(`Mocked commands (${count(all.length)})`,
	    h('ol', all.slice(0, STEPS).map((c) => {
		const bad = c.response_index < 0 && !c.passthrough;
		return h('li.step', icon(bad ? 'failed' : 'passed',
		    bad ? 'no response' : 'answered'), h('div',
		h('code', [c.command, ...c.args || []].join(' ')), ' ',
		h('small', bad ? 'no response fits' : `exit status ${c.exit_code}`,
		    c.passthrough && ' of the real command')));
	})));
}

function timeline(trial) {
	const all = steps(trial), tools = all.filter((s) => s.name).length;
	const list = h('ol', all.slice(0, STEPS).map(step));
	const more = button(`Show all ${count(all.length)} steps`, () => {
		list.append(...all.slice(STEPS).map(step));
		more.remove();
	});
	return all.length > 0 && section(tools > 0 ?
	    `Tool calls (${count(tools)})` : 'Messages', list,
	all.length > STEPS && more);
}

// Diffs that are not in the feedback.
function moreDiffs(v) {
	const files = (v.details || {}).expected_files;
	return (Array.isArray(files) ? files : []).filter((f) => f && f.diff &&
	    !(v.feedback || '').includes(f.diff.trim())).map((f) => rich(f.diff));
}

function verdict([name, v]) {
	const state = v.skipped ? 'skipped' : v.error ? 'error' :
	    v.passed ? 'passed' : 'failed';
	return h('details', { class: `verdict ${state}`, open: state !== 'passed' },
	    h('summary', icon(state, state), h('b', v.identifier || name),
		dim(v.type, v.advisory && ', advisory', (v.weight ?? 1) !== 1 &&
		    `, weight ${v.weight}`),
		h('span.number', v.skipped ? 'skipped' : score(v.score))),
	    h('div.said-of-it', rich(v.error), rich(v.feedback),
		moreDiffs(v), v.details && h('details.more',
		    h('summary', 'Details'), value(v.details))));
}

function verdicts(trial) {
	const all = Object.entries(trial.validations || {});
	const good = ([, v]) => v.passed && !v.error && !v.skipped;
	const passed = all.filter(good).map(verdict);
	return section('Verdicts', all.length === 0 &&
	    dim('This trial was not graded.'),
	all.filter((x) => !good(x)).map(verdict),
	passed.length <= PASSED ? passed : h('details.verdict.passed',
	    h('summary', icon('passed'), h('b', `${count(passed.length)} passed`)),
	    h('div.said-of-it', passed)));
}

function facts(trial) {
	const digest = trial.session_digest || {}, u = digest.usage || trial.usage;
	const unknown = (key) => !u || (u.unknown || []).includes(key);
	const free = trial.cached ? 'the cache' : trial.replayed ? 'a recording' : '';
	const judges = trial.judge_usage;
	const rows = [['Attempts', trial.attempts > 1 && trial.attempts],
		['Started', trial.started_at && exactly(trial.started_at)],
		['Grading', trial.grading_ms > 0 && duration(trial.grading_ms)],
		['Turns', u && u.turns > 0 && u.turns],
		['Tokens', unknown('input_tokens') ? '–' :
			`${few(u.input_tokens)} in, ${few(u.output_tokens)} out`],
		['Cost', unknown('cost') || u.cost === undefined ? '–' : free ?
			`${cost(0)} (had cost ${cost(u.cost)})` : cost(u.cost)],
		['Judges', judges && `${few(judges.input_tokens)} tokens in, ` +
		    `${few(judges.output_tokens)} out` +
		    (judges.cost > 0 ? `, ${cost(judges.cost)}` : '')],
		['Answer from', free],
		['Exit status', trial.exit_status > 0 && trial.exit_status],
		['Skills', (trial.skills || []).join(', ')],
		['Workspace', trial.workspace], ['Session', digest.session_id],
		['Note', trial.note]].filter(([, v]) => v);
	return rows.length > 0 && h('dl.facts',
	    rows.map(([k, v]) => [h('dt', k), h('dd', v)]));
}

function transcript(trial) {
	const box = h('details.more', { ontoggle: () => {
		if (box.children.length === 1)
			box.append(value(trial.transcript));
	} }, h('summary', 'Raw transcript'));
	return (trial.transcript || []).length > 0 && box;
}

function showTrial(trial) {
	const turns = trial.turns || [];
	return h('div.columns', h('div.column',
	    trial.prompt && section('Prompt', pre(trial.prompt, 'asked')),
	    section('Answer', trial.final_output ? pre(trial.final_output) :
		dim('No answer.'), trial.truncated && dim('Truncated.'),
	    trial.refused && h('p.fault', 'The model refused to answer.')),
	    turns.length > 1 && section('Turns', h('ol.turns',
		turns.map((t) => h('li', pre(t.prompt, 'asked'),
		    pre(t.output))))),
	    timeline(trial), mocked(trial),
	    trial.patch && section('Patch', patch(trial.patch)),
	    trial.stderr_tail && section('Standard error', pre(trial.stderr_tail))),
	h('div.column',
	    trial.error_msg && h('section.block.fault',
		h('h2', 'Error ', h('small',
		    (trial.error_class || '').replace(/_/g, ' '))),
		rich(trial.error_msg)),
	    trial.suspect && h('section.block.suspect', h('h2', 'Suspect'),
		h('p', suspect(trial.suspect))),
	    verdicts(trial), facts(trial), transcript(trial)));
}

function figures(task, runs) {
	const s = task.stats || {}, i = task.skill_impact, n = runs.length;
	const was = task.ref_impact;
	const first = runs[0] || {}, ci = n > 1 && s.pass_rate_ci;
	return h('dl.tiles.small', tile('Trials passed',
	    `${runs.filter((r) => r.status === 'passed').length} of ${n}`,
	    ci && `95% interval: ${percent(ci.lower)} to ${percent(ci.upper)}` +
	    (ci.method ? ', valid although trials ended early' : '')),
	tile('Score', score(s.avg_score ?? trialScore(first)),
	    s.std_dev_score > 0 && `± ${score(s.std_dev_score)}`),
	tile('Duration', duration(s.avg_duration_ms ?? first.duration_ms),
	    n > 1 ? 'of the agent, average of trials' : 'of the agent'),
	s.flaky && tile('Flaky', 'yes', 'passes sometimes'),
	i && tile('With skills', percent(i.pass_rate_with_skills),
	    `${points(i.delta)} compared to no skills`),
	task.selected_because && tile('Selected because', '', task.selected_because),
	task.quarantine && tile('In quarantine', `until ${task.quarantine_until}`,
	    task.quarantine),
	was && tile('Skills of the revision', percent(was.pass_rate_ref),
	    `${points(was.delta)} since then`));
}

// Links to the previous and next task, and to the next failure.
function neighbours(run, id) {
	const all = run.tasks || [], i = all.findIndex((t) => t.id === id);
	const link = (t) => t && to('run', run.runId, 'task', t.id);
	const bad = (t) => ['failed', 'error'].includes(taskState(t.status));
	return [link(all[i - 1]), link(all[i + 1]),
		link(all.slice(i + 1).find(bad) || all.slice(0, i).find(bad))];
}

// A task of a running run may have no trials yet.
function notYet(root, run, id) {
	root.append(crumbs([run.name, to('run', run.runId)], [id]),
	    title(id, ' ', badge('running')), h('p.empty',
		'No trial has finished yet. Trials appear here as soon as they ' +
		'finish.'));
	const timer = setTimeout(() => go(location.hash), AGAIN_MS);
	return { title: id, stop: () => clearTimeout(timer) };
}

export async function showTask(root, at) {
	const [, runId, , id] = at.parts, run = await getRun(runId);
	const task = await getTask(runId, id).catch((e) => {
		if (e.status !== 404 || isOver(run))
			throw e;
	});
	const runs = task && task.runs || [];
	if (!task || (!isOver(run) && runs.length === 0))
		return notYet(root, run, id);
	const name = task.display_name || id;
	const [previous, next, failure] = neighbours(run, id);
	const place = h('div'), choice = h('div');
	const link = (href, word) => href && h('a.button', { href }, word);

	function choices(now) {
		return runs.length <= CHIPS ? chips('Trial', runs.map((r, i) => [i,
			[icon(taskState(r.status), r.status), `Trial ${r.run_number}`]]),
		now, pick) : h('label', 'Trial ', h('select', {
			onchange: (e) => pick(Number(e.target.value)) },
		runs.map((r, i) => h('option', { value: i,
			selected: i === now ? '' : null },
		`${r.run_number}: ${r.status}`))));
	}

	function pick(i) {
		if (!runs[i])
			return;
		choice.hidden = runs.length < 2;
		swap(choice, choices(i));
		place.replaceChildren(showTrial(runs[i]));
	}

	root.append(...[crumbs([run.name, to('run', runId)], [name]),
	    h('div.title', h('div',
		title(name, ' ', badge(taskState(task.status))),
		name !== id && h('p.dim.meta.mono', id)),
	    h('p.row', link(previous, '‹ Previous'),
		link(next, 'Next ›'), link(failure, 'Next failure'))),
	    task.skip_reason && runs.length > 0 &&
		h('p.fault', `Skipped: ${task.skip_reason}`),
	    figures(task, runs), taskControls(task), choice,
	    place].filter(Boolean));
	pick(Math.max(0, runs.findIndex((r) => r.status !== 'passed')));
	if (runs.length === 0)
		place.append(h('p.fault',
		    task.error_msg || task.skip_reason ||
		    'This task has no trials.'));
	return { title: `${name} · ${run.name}`,
		keys: { '[': () => go(previous), ']': () => go(next),
			...Object.fromEntries(runs.slice(0, 9).map((r, i) =>
				[i + 1, () => pick(i)])) } };
}
