// why: the reasons why a run did not pass, most general first.
import { button, h } from './dom.js';
import { count, parts, percent, plural } from './format.js';

const GRADERS = 12, SUSPECTS = 6;
const names = { __proto__: null, task_completion: 'Pass rate',
	trigger_accuracy: 'Trigger accuracy' };

function missed(metrics) {
	return Object.entries(metrics || {}).filter(([, m]) => m &&
	    m.passed === false && typeof m.threshold === 'number').map(
	    ([name, m]) => `${names[name] || name} is ${percent(m.value)}; ` +
		`the metric ${name} requires ${percent(m.threshold)}.`);
}

function tasks(s, least) {
	const p = parts(s), graded = s.total - p.skipped;
	if (graded === 0)
		return 'Nothing was graded: all tasks were skipped.';
	if (typeof least === 'number' && least < 1)
		return s.passRate < least && `Pass rate is ${percent(s.passRate)}; ` +
		    `the suite requires ${percent(least)}.`;
	return p.passed < graded && [`${count(graded - p.passed)} of ` +
	    `${plural(graded, 'task')} did not pass`, p.errors > 0 &&
	    `, ${count(p.errors)} because of an error`, '.'];
}

// [name, number of tasks] of graders that failed, most frequent first
function failing(list) {
	const n = new Map();
	for (const t of list || [])
		for (const g of t.failedGraders || [])
			n.set(g, (n.get(g) || 0) + 1);
	return [...n].sort((a, b) => b[1] - a[1]);
}

const kinds = { __proto__: null, infrastructure: 'Not the agent',
	grader_contradicts_tests: 'The graders contradict the task\'s own tests',
	judge_disagrees: 'The judge disagrees with itself',
	tool_denied: 'A tool was denied',
	skill_not_found: 'The skill was not found',
	skill_not_used: 'The skill was not used' };

// suspect S: why a trial may have failed, other than by the agent's work
export function suspect(s) {
	return [h('b', kinds[s.kind] || s.kind), ': ', s.evidence,
		s.grader && [' (grader ', s.grader, ')'], '.',
		s.look_at && [' Look at ', h('code', s.look_at), '.']];
}

// the suspects of all tasks, most frequent first
function suspects(list) {
	const by = new Map();
	for (const t of list || [])
		if (t.suspect && t.suspect.kind)
			by.set(t.suspect.kind, [...by.get(t.suspect.kind) || [], t]);
	const all = [...by.values()].sort((a, b) => b.length - a.length);
	return all.length > 0 && h('ul.suspects', { 'aria-label': 'Suspects' },
	    all.slice(0, SUSPECTS).map((tasks) => h('li', suspect(tasks[0].suspect),
		h('small', ' ', tasks.length > 1 ? `${tasks[0].name} and ` +
		    `${plural(tasks.length - 1, 'other task')}` : tasks[0].name))));
}

// required RUN: the threshold for the tile of the pass rate, or nothing
export function required(run) {
	return typeof run.passThreshold === 'number' && run.passThreshold < 1 &&
	    `, ${percent(run.passThreshold)} required`;
}

// why RUN FIND: a section, or null; find(name) lists the tasks of a grader
export function why(run, find) {
	if (run.status !== 'completed' || run.ok || !run.summary)
		return null;
	const reasons = [...missed(run.metrics), tasks(run.summary,
	    run.passThreshold)].filter(Boolean);
	const graders = failing(run.tasks);
	return h('section.why', { 'aria-label': 'Why it failed' },
	    h('h2', 'Why it failed'),
	    h('ul', (reasons.length > 0 ? reasons : ['The results do not name ' +
		'the reason.']).map((r) => h('li', r))),
	    suspects(run.tasks),
	    graders.length > 0 && h('p.row', 'Failing graders',
		graders.slice(0, GRADERS).map(([name, n]) => button(
		    [name, h('small', count(n))], () => find(name),
		    { class: 'tag', title: `${name} failed in ` +
			`${plural(n, 'task')}: show them` })),
		graders.length > GRADERS &&
		    h('small', `and ${count(graders.length - GRADERS)} more`)));
}
