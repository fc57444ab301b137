// new: the form that starts a run of a suite on the server.
import { count, plural } from './format.js';
import { finds, search } from './list.js';
import { get, post } from './api.js';
import { button, go, h, title, to } from './dom.js';

const SHOWN = 200;	/* listed suites or tasks; search finds the others */
const executors = ['acp', 'claude', 'codex', 'command', 'copilot-cli',
	'copilot-sdk', 'gemini', 'mock', 'openai', 'opencode', 'remote', 'replay'];

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

function field(id, label, input, hint) {
	input.id = id;
	return h('div.field', h('label', { for: id }, label), input,
	    hint && h('small', hint));
}

function number(max) {
	return h('input', { type: 'number', min: '1', max, inputmode: 'numeric' });
}

function word(value) {
	return h('input', { value: value || '', autocomplete: 'off',
		spellcheck: 'false' });
}

export async function showNew(root, at) {
	const tasks = new Set();
	let path = at.query.get('path') || '', ntasks = 0;
	const inputs = { executor: word(at.query.get('executor')),
		model: word(at.query.get('model')), trials: number('100000'),
		workers: number('1024'), timeout: number('86400') };
	const dir = word(at.query.get('dir'));
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
		suitePicker.set(found.evals);
		for (const bad of found.unreadable || [])
			suitePicker.list.append(h('p.warning',
			    h('b', bad.path), ` ${bad.message}`));
	}

	function show(suite, list) {
		const c = suite.config, usual = { executor: c.executor || 'mock',
			model: c.model || 'executor default',
			trials: c.trials_per_task, workers: c.workers || 1,
			timeout: c.timeout_seconds };
		for (const [k, v] of Object.entries(usual))
			inputs[k].placeholder = v;
		about.replaceChildren(h('h2', suite.name),
		    h('p', suite.description || ''), h('p.dim',
			[suite.skill && `skill ${suite.skill}`,
				plural(list.length, 'task'), `executor ${usual.executor}`]
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
			show(suite, list.tasks);
			start.disabled = false;
		} catch (e) {
			about.replaceChildren();
			complain(e);
		}
	}

	async function send(e) {
		e.preventDefault();
		const body = { path, detach: true };
		for (const [k, input] of Object.entries(inputs))
			if (input.value.trim())
				body[k] = input.type === 'number' ? input.valueAsNumber :
				    input.value.trim();
		if (tasks.size > 0)
			body.tasks = [...tasks];
		start.disabled = true;
		complain(null);
		try {
			go(to('run', (await post('runs', body)).runId));
		} catch (why) {
			complain(why);
			start.disabled = false;
		}
	}

	await findSuites();
	root.append(title('New run'),
	    h('form.new', { onsubmit: send },
		h('section', h('h2', 'Suite'), suitePicker.element,
		    h('details', h('summary', 'Other directory'),
			field('dir', 'Directory', dir), button('List suites',
			    () => findSuites().then(() => complain(null), complain)))),
		h('section', about, h('div.fields',
		    field('executor', 'Executor', inputs.executor,
			'Leave empty to use the suite’s value'),
		    field('model', 'Model', inputs.model,
			'Leave empty to use the suite’s value'),
		    field('trials', 'Trials per task', inputs.trials),
		    field('workers', 'Concurrent trials', inputs.workers),
		    field('timeout', 'Timeout (s)', inputs.timeout)),
		h('datalist', { id: 'executors' },
		    executors.map((x) => h('option', { value: x }))),
		h('details', h('summary', 'Tasks: ', many),
		    taskPicker.element), problem, h('p.row', start))));
	inputs.executor.setAttribute('list', 'executors');
	if (path)
		await choose(path);
	return { title: 'New run', search: suitePicker.search };
}
