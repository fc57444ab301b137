// controls: made-up answers, and the tasks that accept them: a tile, the lists of
// a run, and what they show about a task.
import { dim, h, to } from './dom.js';
import { count, plural } from './format.js';
import { tile } from './tile.js';

const TASKS = 200;
const meaning = { __proto__: null,
	null: 'pass although the agent does nothing: vacuous',
	echo: 'pass if the answer only repeats the prompt',
	mutate: 'accept every altered answer' };

function words(control) {
	return meaning[control] || `pass with the answer of ${control}`;
}

// controlTile LIST: the tasks that accept the first control; LIST may be missing
export function controlTile(list) {
	const c = Array.isArray(list) && list[0];
	return c ? tile(c.control === 'null' ? 'Vacuous' : `Control ${c.control}`,
	    count(c.passed), `of ${plural(c.tasks, 'task')}` +
	    (c.unknown > 0 ? `, ${count(c.unknown)} unknown` : '')) : null;
}

function one(c, id) {
	const names = c.passed_tasks || [];
	return [h('h3', c.control), h('p', `${count(c.passed)} of ` +
	    `${plural(c.tasks, 'task')} ${words(c.control)}`,
	c.unknown > 0 && `; ${count(c.unknown)} unknown`, '.'),
	names.length > 0 && h('ul', names.slice(0, TASKS).map((name) => h('li',
	    h('a', { href: to('run', id, 'task', name) }, name))),
	names.length > TASKS &&
	    h('li', dim(`and ${count(names.length - TASKS)} more`)))];
}

// controls LIST ID: a section of the run
export function controls(list, id) {
	return Array.isArray(list) && list.length > 0 ?
	    h('details', h('summary', 'Controls'), list.map((c) => one(c, id))) :
	    null;
}

// taskControls TASK: the controls that the task accepts, or that are unknown
export function taskControls(task) {
	const list = (Array.isArray(task.controls) ? task.controls : [])
		.filter((c) => c.verdict !== 'failed' ||
		    (c.graders || []).length > 0);
	const graders = (c) => (c.graders || []).join(', ');
	return list.length > 0 ? h('section.block', h('h2', 'Controls'),
	    h('ul', list.map((c) => h('li', h('b', c.control), ': ',
		c.verdict === 'unknown' ? 'unknown' : c.control === 'mutate' ?
		    `${count(c.accepted)} of ${count(c.altered)} altered ` +
		    'answers pass' : c.control === 'null' ?
		    'vacuous: passes although the agent does nothing' :
		    'passes', graders(c) && ` (${graders(c)})`,
		c.note && h('p.dim', c.note))))) : null;
}
