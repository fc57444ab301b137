// new: the form that starts a run of a suite on the server.
import { count, plural } from './format.js';
import { finds, search } from './list.js';
import { get, post } from './api.js';
import { button, field, go, h, title, to } from './dom.js';
import { command, empty } from './command.js';
import { executorField, modelField } from './agents.js';

const SHOWN = 200;	/* listed suites or tasks; search finds the others */

// picker LABEL WORDS CHOICE: search results as radio buttons or check boxes;
// words(item) is the searched text, choice(item) the shown elements
function picker(label, words, choice) {
	let items = [];
	const list = h('div.choices', { role: 'group', 'aria-label': label });
	const field = search(label, () => draw());

	function draw() {
		const some = items.filter((x) => finds(words(x), field.value));
		const left = some.length - SHOWN;
		list.replaceChildren(...some.slice(0, SHOWN).map((x) =>
			h('label.choice', choice(x))));
		if (left > 0 || some.length === 0)
			list.append(h('p.dim', left > 0 ?
			    `${count(left)} more; use the search.` : 'None.'));
	}

	return { search: field, list, element: h('div', field, list),
		set(found) {
			items = found;
			draw();
		} };
}

function number(max) {
	return h('input', { type: 'number', min: '1', max, inputmode: 'numeric' });
}

// The same run in a terminal.
function asCommand(body) {
	const quote = (w) => /^[\w./:@%+=-]+$/.test(w) ? w :
	    `'${w.replace(/'/g, "'\\''")}'`;
	return ['waza run', ...['executor', 'model', 'trials', 'workers', 'timeout']
		.filter((k) => body[k]).map((k) => `--${k} ${quote(String(body[k]))}`),
	...(body.tasks || []).map((id) => `--task ${quote(id)}`),
	quote(body.path)].join(' ');
}

export async function showNew(root, at) {
	const tasks = new Set();
	let path = at.query.get('path') || '', ntasks = 0;
	const [known, { runs }] = await Promise.all([get('executors'),
		get('runs?limit=500')]);
	const executor = executorField(known, at.query.get('executor') || '',
	    () => changed());
	const model = modelField(known, runs, at.query.get('model') || '',
	    () => changed());
	const inputs = { trials: number('100000'), workers: number('1024'),
		timeout: number('86400') };
	const dir = h('input', { value: at.query.get('dir') || '',
		autocomplete: 'off', spellcheck: 'false' });
	const line = h('div'), options = h('div.options', { hidden: true });
	const hint = h('p.dim', 'Choose a suite to see its options.');
	const none = empty('No suite here', 'To write suites for the skills of ' +
	    'this directory:', 'waza init');
	const about = h('div'), many = h('small', { role: 'status' });
	const problem = h('div.fault', { role: 'alert', hidden: true });
	const start = h('button', { type: 'submit', class: 'main', disabled: true },
	    'Start run');
	const suitePicker = picker('suites',
	    (e) => `${e.name} ${e.skill} ${e.path}`, (e) => [h('input', {
		    type: 'radio', name: 'suite', value: e.path,
		    checked: e.path === path, onchange: () => choose(e.path) }),
	    h('span', h('b', e.name || e.path), h('small', e.path))]);
	const taskPicker = picker('tasks', (t) => `${t.id} ${t.name}`, (t) => [
		h('input', { type: 'checkbox', checked: tasks.has(t.id),
			onchange: (e) => pick(t.id, e.target.checked) }),
		h('span', t.name || t.id)]);

	function pick(id, on) {
		if (on)
			tasks.add(id);
		else
			tasks.delete(id);
		many.textContent = tasks.size === 0 ? `all ${count(ntasks)}` :
		    `${count(tasks.size)} of ${count(ntasks)}`;
		changed();
	}

	function body() {
		const b = { path, executor: executor.value(), model: model.value() };
		for (const [k, input] of Object.entries(inputs))
			b[k] = input.valueAsNumber || '';
		b.tasks = tasks.size > 0 && [...tasks];
		return Object.fromEntries(Object.entries(b).filter(([, v]) => v));
	}

	function changed() {
		model.of(executor.value());
		line.replaceChildren(...path && !start.disabled ?
		    [h('small', 'The same in a terminal'), command(asCommand(body()))] :
		    []);
	}

	// The error message, and the problems in the suite.
	function complain(e) {
		problem.hidden = !e;
		problem.replaceChildren(h('b', e ? e.message : ''), h('ul',
		    ((e && e.data && e.data.errors) || []).map(
			(x) => h('li', String(x)))));
	}

	async function findSuites() {
		const found = await get(`evals?dir=${encodeURIComponent(
		    dir.value.trim() || '.')}`);
		none.hidden = found.evals.length > 0;
		hint.hidden = !none.hidden || !options.hidden;
		suitePicker.element.hidden = !none.hidden &&
		    (found.unreadable || []).length === 0;
		suitePicker.set(found.evals);
		for (const bad of found.unreadable || [])
			suitePicker.list.append(h('p.warning',
			    h('b', bad.path), ` ${bad.message}`));
	}

	function show(suite, list) {
		const c = suite.config, usual = { trials: c.trials_per_task,
			workers: c.workers || 1, timeout: c.timeout_seconds };
		for (const [k, v] of Object.entries(usual))
			inputs[k].placeholder = `${v} (suite)`;
		executor.usual(c.executor || 'mock');
		model.usual(c.model);
		about.replaceChildren(h('h2', suite.name),
		    h('p', suite.description || ''), h('p.dim',
			[suite.skill && `skill ${suite.skill}`,
				plural(list.length, 'task'), suite.path || path]
				.filter(Boolean).join(' · ')));
		ntasks = list.length;
		tasks.clear();
		pick('', false);
		taskPicker.set(list);
	}

	async function choose(which) {
		const q = `path=${encodeURIComponent(which)}`;
		path = which;
		start.disabled = true;
		complain(null);
		try {
			const [suite, list] = await Promise.all(
			    [get(`eval?${q}`), get(`tasks?${q}`)]);
			if (path !== which)
				return;
			start.disabled = options.hidden = false;
			hint.hidden = true;
			show(suite, list.tasks);
		} catch (e) {
			about.replaceChildren();
			complain(e);
		}
	}

	async function send(e) {
		e.preventDefault();
		start.disabled = true;
		complain(null);
		try {
			go(to('run', (await post('runs',
			    { ...body(), detach: true })).runId));
		} catch (why) {
			complain(why);
			start.disabled = false;
		}
	}

	for (const input of Object.values(inputs))
		input.addEventListener('input', changed);
	await findSuites();
	root.append(title('New run'),
	    h('form.new', { onsubmit: send },
		h('section', h('h2', 'Suite'), suitePicker.element, none,
		    h('details', h('summary', 'Other directory'),
			field('dir', 'Directory', dir,
			    'A path on the server; its suites are listed above.'),
			h('p.row', button('List suites', () => findSuites().then(
			    () => complain(null), complain))))),
		h('section', hint, options, problem)));
	options.append(about, h('div.fields', executor.element, model.element,
	    field('trials', 'Trials per task', inputs.trials,
		'More trials show how reliably a task passes. 1 to 100,000.'),
	    field('workers', 'Concurrent trials', inputs.workers,
		'At the same time, if the executor allows it. 1 to 1024.'),
	    field('timeout', 'Timeout (s)', inputs.timeout,
		'For one answer of the agent. 1 to 86,400 seconds.')),
	h('details', h('summary', 'Tasks: ', many), taskPicker.element),
	h('p.row', start), line);
	if (path)
		await choose(path);
	return { title: 'New run', search: suitePicker.search };
}
