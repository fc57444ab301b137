// HTML reports, opened as files: the page with the results inside. They work
// without a server and request nothing but themselves.
'use strict';
const fs = require('node:fs');
const { pathToFileURL } = require('node:url');
const path = require('node:path');
const { complaints, dir, file, is, like, main, ok, overflow, run, scroll,
	settled, shot, suite, tab } = require('./lib.js');

const original = path.join(__dirname, 'original.json');
const evil = '<script>window.ran = 1</script><img src=x onerror="window.ran = 2">' +
    '</script><!-- <script> ]]> \u2028\u2029 ##[error]no ::error::no ' +
    '\u001b[31mred\u001b[0m \u0007 \u202egnp.exe\u2069 &lt;b&gt; "\'`${1}';

// open FILE OPTIONS: opens a report; page.asked are the requests it makes
async function open(name, options = {}) {
	const page = await tab('about:blank', options);
	const url = pathToFileURL(path.join(dir, name)).href;
	page.asked = [];
	page.context().on('request', (r) => page.asked.push(r.url()));
	page.at = async (route) => {
		await page.goto(`${url}#/${route}`);
		await settled(page);
	};
	page.clean = async (what) => {
		is(`${what}: no faults`, await page.faults(), []);
		is(`${what}: no requests`, page.asked.filter((u) =>
			u.split('#')[0] !== url), []);
	};
	await page.goto(url);
	await settled(page);
	return page;
}

function words(page, selector) {
	return page.locator(selector).allInnerTexts();
}

const yes = 'expected: {output_contains: [yes]}';

function writeSuites() {
	suite('notes', ['id: good, name: Sort notes, prompt: Sort <b>them</b>., ' +
	    'mock: {output: yes, usage: {turns: 2, input_tokens: 1200, ' +
	    'output_tokens: 90, cost: 0.01}, tool_calls: [{name: bash, arguments: ' +
	    '{command: sort notes.txt}, result: done}], files: [{path: out.md, ' +
	    'content: "# Notes\\n"}]}, graders: [' + [1, 2, 3, 4, 5, 6].map((i) =>
		`{type: text, name: check-${i}, config: {contains: [yes]}}`)
		.join(', ') + ']',
	'id: bad, name: Keep notes, prompt: p, mock: {output: no}, graders: [' +
	    '{type: text, name: polite, config: {contains: [please]}}, ' +
	    '{type: text, name: short, config: {contains: [no]}}, ' +
	    '{type: text, name: exact, config: {contains: [yes]}}]',
	`id: broken, prompt: p, mock: {error: out of credit}, ${yes}`],
	'executor: mock, trials_per_task: 2');
	suite('pair', ['id: a, prompt: p, mock: {output: yes}, ' + yes,
		'id: b, prompt: p, mock: {output: no}, ' + yes]);
	file('skills/walking/SKILL.md', '---\nname: walking\n' +
	    'description: Walks.\n---\nWalk.\n');
	file('skilled/eval.yaml', 'name: skilled\nskill: walking\nconfig: {executor: ' +
	    'mock, skill_directories: [../skills]}\ntasks:\n' +
	    `  - {id: a, prompt: p, mock: {output: yes}, ${yes}}\n`);
	suite('speaks', [`id: a, prompt: p, mock: {output: yes}, ${yes}`]);
	file('speaks/trigger_tests.yaml', `skill: walking
should_trigger_prompts:
  - {prompt: hit, mock: {skills: [walking]}}
  - {prompt: wrong one, mock: {skills: [other]}}
should_not_trigger_prompts:
  - {prompt: quiet, mock: {skills: []}}
  - {prompt: loud, mock: {skills: [walking]}}
`);
	file('hostile/eval.yaml', JSON.stringify({ name: evil, skill: 'walking',
		config: { executor: 'mock' }, tasks: [{ id: 'a', name: evil,
			prompt: evil, mock: { output: evil, tool_calls: [{ name: 'bash',
				arguments: { command: evil }, result: evil }],
			files: [{ path: 'out.md', content: evil }] },
			graders: [{ type: 'text', name: evil, config: {
				contains: [evil.slice(0, 40), 'x'.repeat(20000)] } }] },
		{ id: 'b', prompt: 'p', mock: { output: 'y'.repeat(300000) },
			expected: { output_contains: ['z'] } }] }));
}

// One run, as `waza run` writes it.
async function single() {
	await run('run', '-q', 'notes', '--reporter', 'html:one.html');
	const page = await open('one.html');
	like('one run opens at once', await page.innerText('h1'), /^notes\s+failed/);
	like('one run: figures', await page.innerText('.tiles'),
	    /33\.3%\s+1 of 3 tasks passed, 1 failed, 1 error/);
	is('one run: tasks, failures first', await words(page, 'td.c-state'),
	    ['failed', 'error', 'passed']);
	is('one run: trials that passed', await words(page, 'td.c-trials'),
	    ['0/2', '0/2', '2/2']);
	const notes = await words(page, 'td.c-note');
	is('one run: a failed task names its graders', notes[0], 'failed: exact, polite');
	like('one run: an error is the note', notes[1], /out of credit/);
	is('one run: a passed task has no note', notes[2], '');
	like('one run: the tooltip of the time is absolute',
	    await page.getAttribute('h1 + .meta time', 'title'), /\d{4}.*\d:\d\d:\d\d/);
	is('one run: views that need a server are absent',
	    [await page.isVisible('text=New run'), await page.isVisible('text=Trends'),
		await page.isVisible('#link-state')], [false, false, false]);
	is('one run: trigger tests are absent', await page.isVisible('text=Trigger tests'),
	    false);
	await shot(page, 'report-run');

	await page.click('.chips >> text=Failed');
	is('a filter', await words(page, 'td.c-name a'), ['Keep notes']);
	await page.click('.chips >> text=All');
	await page.fill('[type=search]', 'sort');
	is('a search', await words(page, 'td.c-name a'), ['Sort notes']);
	await page.fill('[type=search]', 'polite');
	is('a search finds failed graders', await words(page, 'td.c-name a'),
	    ['Keep notes']);
	await page.fill('[type=search]', '');
	await task(page);
	await page.at('run/file%3A1/task/missing');
	like('an unknown task is reported', await page.innerText('.fault'),
	    /no task "missing"/);
	await page.clean('one run');
}

async function task(page) {
	await page.click('a:has-text("Sort notes")');
	await page.waitForSelector('.columns');
	const block = (name) => page.innerText(`section:has(> h2:text("${name}"))`);
	like('a task: prompt', await block('Prompt'), /Sort <b>them<\/b>\./);
	like('a task: answer', await block('Answer'), /yes/);
	like('a task: tool calls', await block('Tool calls (1)'), /bash shell sort notes\.txt/);
	like('a task: patch', await block('Patch'), /out\.md \+1[^]*\+# Notes/);
	like('a task: many passed graders are collapsed', await block('Verdicts'),
	    /^Verdicts\s+6 passed$/);
	await page.click('summary:has-text("6 passed")');
	like('a task: they can be opened', await block('Verdicts'), /check-1[^]*check-6/);
	await shot(page, 'report-task');
	await page.click('button:has-text("Trial 2")');
	like('a task: trials', await page.innerText('[aria-pressed=true]'), /Trial 2/);
	await page.click('text=Next failure');
	await page.waitForSelector('h1:has-text("Keep notes")');
	is('a task: failed graders first', (await words(page, '.verdict > summary b')),
	    ['exact', 'polite', 'short']);
}

// Why a run failed: a missed metric, the suite's threshold; a run whose tasks
// all passed can fail, and one with a failed task can pass.
async function reasons() {
	const tasks = [...'abc'].map((id) => ({ id, prompt: 'p', mock:
	    { output: id === 'c' ? 'no' : 'yes' }, expected:
	    { output_contains: ['yes'] } }));
	const write = (name, more, list = tasks) => file(`${name}/eval.yaml`,
	    JSON.stringify({ name, skill: 'walking', tasks: list, ...more,
		    config: { executor: 'mock', ...more.config } }));
	const why = async (name) => {
		await run('run', '-q', name, '--reporter', `html:${name}.html`);
		const page = await open(`${name}.html`);
		await page.clean(name);
		return page;
	};
	const metrics = [{ name: 'trigger_accuracy', threshold: 0.9 }];
	write('metric', { metrics }, tasks.slice(0, 2));
	file('metric/trigger_tests.yaml', fs.readFileSync(
	    path.join(dir, 'speaks/trigger_tests.yaml'), 'utf8'));
	let page = await why('metric');
	like('a missed metric: the run failed', await page.innerText('h1'), /failed/);
	is('a missed metric: it is the reason', await words(page, '.why li'),
	    ['Trigger accuracy is 50%; the metric trigger_accuracy requires 90%.']);
	write('half', { config: { pass_threshold: 0.9 } });
	page = await why('half');
	is('a threshold: it is the reason', await words(page, '.why li'),
	    ['Pass rate is 66.7%; the suite requires 90%.']);
	write('unsure', { config: { judge: { command: ['sh', 'judge.sh'] } } }, [{ id: 'a',
	    prompt: 'p', graders: [{ type: 'prompt', name: 'taste', prompt: 'x',
		samples: 3 }] }]);
	file('unsure/judge.sh', 'cat >/dev/null\ncase $WAZA_SAMPLE in 2) w=true ;; ' +
	    '*) w=false ;; esac\necho "{\\"passed\\": $w}"\n');
	page = await why('unsure');
	const found = /The judge disagrees with itself: 1 of 3 samples.*grader taste.*Look at .*eval/;
	like('a suspect: of the run', (await words(page, '.suspects li')).join(), found);
	await page.click('td a');
	await page.waitForSelector('.suspect');
	like('a suspect: of the trial', (await words(page, '.suspect p')).join(), found);
	await page.clean('a suspect');
	write('enough', { config: { pass_threshold: 0.5 } });
	page = await why('enough');
	like('a threshold that is reached: passed', await page.innerText('h1'), /passed/);
	like('a threshold that is reached: it is shown', await page.innerText('.tile'),
	    /66\.7%\s+2 of 3 tasks passed, 1 failed, 50% required/);
	is('a threshold that is reached: no reasons', await page.isVisible('.why'), false);
}

async function triggers() {
	await run('run', '-q', 'speaks', '--reporter', 'html:trigger.html');
	const page = await open('trigger.html');
	like('trigger tests: a tile', await page.innerText('.tiles'),
	    /Triggers\s+50%\s+2 of 4 prompts as expected/);
	await page.click('summary:text("Trigger tests")');
	await page.waitForSelector('details td');
	const box = page.locator('details:has(> summary:text("Trigger tests"))');
	like('trigger tests: metrics', await box.innerText(), /Accuracy\s+50%/);
	is('trigger tests: confusion matrix', await box.locator('.scroll tr')
		.allInnerTexts().then((rows) => rows.map((r) => r.split(/\t/))),
	[['Expected \\ used', 'walking', 'other', 'none'],
		['walking', '1', '1', '0'], ['none', '1', '0', '1']]);
	like('trigger tests: prompts', await box.innerText(),
	    /loud\s+not\s+trigger\s+failed/);
	is('trigger tests: accessible', await complaints(page), []);
	await shot(page, 'report-trigger');
	await page.clean('trigger tests');
}

// Controls: a tile, the tasks that accept one, and why a task does.
async function madeUp() {
	suite('loose', [`id: good, prompt: p, mock: {output: yes}, ${yes}`,
		'id: lazy, prompt: p, mock: {output: yes}, ' +
		'expected: {output_not_contains: [no]}']);
	await run('run', '-q', 'loose', '--control', 'null', '--reporter',
	    'html:controls.html');
	const page = await open('controls.html');
	like('controls: a tile', await page.innerText('.tiles'),
	    /Vacuous\s+1\s*of 2 tasks/);
	await page.click('summary:text("Controls")');
	const box = page.locator('details:has(> summary:text("Controls"))');
	like('controls: the tasks', await box.innerText(),
	    /1 of 2 tasks pass although the agent does nothing: vacuous\.\s+lazy/);
	is('controls: accessible', await complaints(page), []);
	await box.locator('a').click();
	await page.waitForSelector('h2:text("Controls")');
	like('controls: the reason', await page.innerText('main'),
	    /vacuous: passes although the agent does nothing \(_output_not_contains\)/);
	await page.at('run/file:1/task/good');
	is('controls: nothing about a good task',
	    await page.isVisible('h2:text("Controls")'), false);
	like('controls: no empty values', await page.innerText('main'),
	    /^(?![^]*(null|undefined))/);
	await page.clean('controls');
}

// Several models in one file: a list, and a comparison of two.
async function models() {
	await run('run', '-q', 'pair', '--model', 'm-one', '--model', 'm-two',
	    '--reporter', 'html:models.html');
	const page = await open('models.html');
	is('two models: a list', (await words(page, 'td.c-model')).sort(),
	    ['m-one', 'm-two']);
	is('two models: no trend of a suite', await page.isVisible('.card'), false);
	await page.click('tbody tr >> nth=0 >> [type=checkbox]');
	await page.click('tbody tr >> nth=1 >> [type=checkbox]');
	await page.click('.marked >> text=Compare');
	await page.waitForSelector('.sides');
	is('two models: compared', (await words(page, '.sides h2')).map((t) =>
		t.replace(/\s+/g, ' ')), ['A pair', 'B pair']);
	like('two models: figures', await page.innerText('.tiles'), /50% → 50%/);
	is('two models: tasks', (await words(page, 'td.c-name a')).sort(), ['a', 'b']);
	await shot(page, 'report-compare');
	await page.clean('two models');
}

// Several executors and models: a table of tasks and cells.
async function cells() {
	suite('grid', Array.from({ length: 9 }, (_, i) =>
		`id: t${i}, prompt: p, mock: {output: ${i < 4 ? 'yes' : 'no'}}, ${yes}`),
	'executor: mock, command: [echo, yes], timeout_seconds: 60');
	await run('run', '-q', 'grid', '--executor', 'mock,command', '--model', 'm1',
	    '--model', 'm2', '--reporter', 'html:grid.html', '-o', 'grid.json');
	const page = await open('grid.html');
	is('cells: all are listed', await page.locator('tbody tr').count(), 4);
	await page.click('td.c-name a >> nth=0');
	await settled(page);
	const rows = (nth) => page.locator('.panel table').nth(nth)
		.locator('tbody tr').allInnerTexts();
	like('cells: a row for each', (await rows(0)).join('|'),
	    /mock, m1\s+4\/9\s+44\.4%.*command, m2\s+9\/9\s+100%/s);
	await page.waitForSelector('.panel table >> nth=1');
	like('cells: a row for each task', (await rows(1)).join('|'),
	    /^t0\s+1\.00\s+1\.00\s+1\.00\s+1\.00\|.*t8\s+0\.00\s+0\.00\s+1\.00\s+1\.00$/s);
	like('cells: comparisons', await page.innerText('.panel ul'),
	    /command, m1 vs mock, m1: cannot tell: it looks better \(5 of 9 tasks/);
	like('cells: corrected', await page.innerText('.panel:has(ul)'),
	    /corrected for 6 comparisons \(Holm\)/);
	is('cells: fit the window', await overflow(page), []);
	is('cells: accessible', await complaints(page), []);
	await shot(page, 'report-matrix');
	await page.click('.panel table >> nth=1 >> tbody a >> nth=0');
	like('cells: a result is a link', await page.innerText('h1'), /^t0/);
	await page.clean('cells');
}

async function baseline() {
	await run('run', '-q', 'skilled', '--baseline', '-o', 'base.json',
	    '--reporter', 'html:base.html');
	await run('view', 'base.json', '-o', 'base-view.html');
	for (const name of ['base.html', 'base-view.html']) {
		const page = await open(name);
		like(`${name}: the run opens`, await page.innerText('h1'), /^skilled/);
		like(`${name}: the pass rate without skills`, await page.innerText(
		    '.tiles'), /Without skills\s+\d+(\.\d)?%/);
		await page.click('.tiles >> text=Compare');
		await page.waitForSelector('.sides');
		like(`${name}: its link compares`, await page.innerText(
		    '.sides .panel >> nth=0'), /without skills/);
		await page.click('nav[aria-label=Views] >> text=Compare');
		await page.click('button:has-text("Compare")');
		await page.waitForSelector('.sides');
		like(`${name}: A is the baseline`, await page.innerText(
		    '.sides .panel >> nth=0'), /without skills/);
		like(`${name}: B is the run`, await page.innerText(
		    '.sides .panel >> nth=1'), /^(?![^]*without skills)B\s+skilled/);
		await page.click('nav[aria-label=Views] >> text=Runs');
		await page.waitForSelector('table.runs tbody tr');
		is(`${name}: two runs, one of them the baseline`,
		    (await words(page, 'td.c-name')).map((t) => /without skills/.test(t))
			    .sort(), [false, true]);
		await page.clean(name);
	}
}

// Texts and tooltips with control characters.
function controls(page) {
	return page.evaluate(() => [document.title, document.querySelector('main')
		.textContent, ...[...document.querySelectorAll('main [title], ' +
	    'main [aria-label]')].flatMap((el) => [el.title,
		el.getAttribute('aria-label') || ''])].filter((t) =>
		/[\u001b\u0007\u202e\u2069]/.test(t)));
}

// Nothing of an answer runs, and all of it can be read.
async function hostile() {
	await run('run', '-q', 'hostile', '--reporter', 'html:hostile.html',
	    '-o', 'hostile.json');
	await run('view', 'hostile.json', '-o', 'hostile-view.html');
	for (const name of ['hostile.html', 'hostile-view.html']) {
		const page = await open(name);
		is(`${name}: control characters are visible`, await controls(page), []);
		await page.click('td.c-name a >> nth=0');
		await page.waitForSelector('.columns');
		await page.evaluate(() => document.querySelectorAll('details')
			.forEach((d) => {
				d.open = true;
			}));
		is(`${name}: in a task, too`, await controls(page), []);
		const answer = await page.textContent('section:has(> h2:text("Answer")) pre');
		is(`${name}: the answer is text`, answer, evil.replace(/\x1b\[\d+m/g, '')
			.replace('\u0007', '␇').replace('\u202e', '⟨U+202E⟩')
			.replace('\u2069', '⟨U+2069⟩'));
		is(`${name}: nothing ran`, await page.evaluate('window.ran'), undefined);
		is(`${name}: no markup`, await page.locator(
		    'main script, main img, main b b, a[href^=javascript]').count(), 0);
		is(`${name}: fits the window`, await overflow(page), []);
		is(`${name}: accessible`, await complaints(page), []);
		await shot(page, 'report-hostile');
		await page.at('run/file%3A1/task/b');
		like(`${name}: a long line is shortened`,
		    await page.innerText('section:has(> h2:text("Answer")) button'),
		    /Show all \(300,000 characters\)/);
		is(`${name}: a long line fits`, await overflow(page), []);
		await page.clean(name);
	}
}

async function looks() {
	const task1 = 'run/file%3A1/task/', views = { one: ['', 'run/file%3A1',
		`${task1}good`, `${task1}bad`, `${task1}broken`],
	models: ['', 'compare', 'compare/file%3A1/file%3A2'] };
	for (const colorScheme of ['light', 'dark'])
		for (const [name, routes] of Object.entries(views)) {
			const page = await open(`${name}.html`, { colorScheme });
			for (const r of routes) {
				await page.at(r);
				is(`${name} ${r || 'runs'}, ${colorScheme}: accessible`,
				    await complaints(page), []);
			}
			if (name === 'one')
				await shot(page, `report-error-${colorScheme}`);
		}
	for (const width of [390, 768, 1280, 1920])
		for (const [name, routes] of Object.entries(views)) {
			const page = await open(`${name}.html`,
			    { viewport: { width, height: 900 } });
			for (const r of routes) {
				await page.at(r);
				is(`${name} ${r || 'runs'}: fits ${width} pixels`,
				    await overflow(page), []);
				await shot(page, `report-${name}-${routes.indexOf(r)}-${width}`);
			}
		}
}

async function keys() {
	const page = await open('one.html');
	const focused = () => page.evaluate(() => document.activeElement.textContent
		.trim().slice(0, 40));
	await page.keyboard.press('Tab');
	like('keys: Tab focuses the skip link', await focused(), /Skip to content/);
	await page.keyboard.press('Enter');
	await page.keyboard.press('j');
	await page.keyboard.press('j');
	await page.keyboard.press('k');
	await page.keyboard.press('Enter');
	await page.waitForSelector('h1:has-text("Keep notes")');
	await page.keyboard.press('2');
	await page.waitForSelector('[aria-pressed=true]:has-text("Trial 2")');
	await page.keyboard.press(']');
	await page.waitForSelector('h1:has-text("broken")');
	await page.keyboard.press('u');
	await page.waitForSelector('h1:has-text("notes") .badge');
	ok('keys: j, k, Enter, 2, ] and u', true);
	await page.keyboard.press('/');
	await page.keyboard.type('sort');
	await page.keyboard.press('Escape');
	is('keys: / searches', await words(page, 'td.c-name a'), ['Sort notes']);
	for (const key of ['n', 'g', 't', 'g', 'c', 'c'])
		await page.keyboard.press(key);
	like('keys: those that need a server do nothing', await page.innerText('h1'),
	    /^notes/);
	await page.keyboard.press('?');
	await page.waitForSelector('#help-box[open]');
	is('keys: the help omits them', await page.isVisible('#help-box >> text=new run'),
	    false);
	await page.clean('keys');
}

// Files of the original, alone and together with others.
async function view() {
	fs.copyFileSync(original, path.join(dir, 'original.json'));
	await run('run', '-q', 'pair', '-o', 'pair.json');
	is('view: status 0', await run('view', 'original.json', 'pair.json'), 0);
	const page = await open('original.html');
	is('view: two files are a list', (await words(page, 'td.c-name a')).sort(),
	    ['code-explainer-eval', 'pair']);
	await page.click('a:has-text("code-explainer-eval")');
	await page.waitForSelector('td.c-state');
	is('view: a file of the original', await words(page, 'td.c-state'),
	    ['failed', 'passed']);
	await page.reload();
	await settled(page);
	like('view: a reload stays', await page.innerText('h1'), /code-explainer/);
	await page.clean('view');
}

// Members that other programs leave out are counted.
async function sparse() {
	file('sparse.json', JSON.stringify({ eval_name: 'sparse', tasks: [
		{ test_id: 'a', status: 'passed', runs: null },
		{ test_id: 'b', status: 'failed', runs: [{ status: 'failed',
			validations: { polite: { passed: false, score: 0 } } }] },
		{ test_id: 'c', status: 'passed' }] }));
	await run('view', 'sparse.json');
	const page = await open('sparse.html');
	like('results without a summary: it is counted', await page.innerText('.tiles'),
	    /66\.7%\s+2 of 3 tasks passed, 1 failed/);
	is('results without a summary: note', await words(page, 'td.c-note'),
	    ['failed: polite', '', '']);
	await page.clean('results without a summary');
}

async function many() {
	const size = async (n) => {
		suite('many', Array.from({ length: n }, (_, i) => `id: t${i}, prompt: p, ` +
		    `mock: {output: ${i % 100 === 99 ? 'no' : 'yes'}}, ${yes}`),
		'executor: mock, workers: 8');
		await run('run', '-q', 'many', '--reporter', 'html:many.html');
		return fs.statSync(path.join(dir, 'many.html')).size;
	};
	const empty = fs.statSync(path.join(dir, 'trigger.html')).size;
	const [some, all] = [await size(1000), await size(10000)];
	const grows = (all - empty) / (some - empty);
	ok('10,000 tasks: the file grows with the results', grows > 8 && grows < 12,
	    `${empty} ${some} ${all}`);
	const page = await open('many.html');
	like('10,000 tasks: figures', await page.innerText('.tile'),
	    /99%\s+9,900 of 10,000 tasks passed, 100 failed/);
	is('10,000 tasks: a page of them', await page.locator('tbody tr').count(), 100);
	await page.fill('[type=search]', 't98');
	is('10,000 tasks: a search', await page.innerText('.pager span'), '1–100 of 111');
	await page.fill('[type=search]', '');
	await page.click('.chips >> text=Failed');
	is('10,000 tasks: a filter', await page.locator('tbody .badge.failed').count(), 100);
	await page.click('.chips >> text=All');
	await page.click('.pager >> text=Next');
	is('10,000 tasks: the next page', await page.innerText('.pager span'),
	    '101–200 of 10,000');
	const { cpu, wall } = await scroll(page);
	console.log(`# longest task ${cpu} ms, with waiting ${wall} ms`);
	// of processor time; with room for machines that are slow or busy
	ok('10,000 tasks: scrolling has no task of 200 ms', cpu < 200, cpu);
	is('10,000 tasks: fits the window', await overflow(page), []);
	await page.clean('10,000 tasks');
}

main(async () => {
	writeSuites();
	await single();
	await reasons();
	await triggers();
	await madeUp();
	await models();
	await cells();
	await baseline();
	await hostile();
	await keys();
	await view();
	await sparse();
	await looks();
	await many();
});
