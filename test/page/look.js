// Appearance: dark and light, from a phone to a wide screen, with reduced
// motion; and the accessibility of each view.
'use strict';
const { complaints, file, is, like, main, ok, overflow, run, serve, settled,
	shot, suite, tab } = require('./lib.js');

const long = 'a-rather-long-name-without-any-blank-in-it-that-does-not-fit-' +
    'on-the-screen-of-a-phone';

async function setUp() {
	file('notes/snap.md', '# Notes\n\n- yes\n');
	for (let i = 0; i < 6; i++) {
		const says = (k) => (i * k + k) % 7 > 4 - i / 2 ? 'no' : 'yes';
		suite('notes', Array.from({ length: 9 }, (_, k) => `id: task-${k}, ` +
		    `name: ${k === 8 ? long : `Task ${k + 1}`}, prompt: Say yes., ` +
		    `mock: {output: ${says(k)}, usage: {turns: 2, input_tokens: 1200, ` +
		    `output_tokens: 90, cost: 0.01}, tool_calls: [{name: bash, ` +
		    'arguments: {command: sort notes.txt}, result: done}], ' +
		    `files: [{path: out.md, content: "# Notes\\n\\n- ${says(k)}\\n"}]}, ` +
		    'graders: [{type: text, name: answer, config: {contains: [yes]}}, ' +
		    '{type: diff, name: notes, config: {expected_files: ' +
		    '[{path: out.md, snapshot: snap.md}]}}]'));
		await run('run', '-q', 'notes', '--model', `model-${i % 2}`, '-o',
		    `results/notes-${i}.json`);
	}
	suite(long, ['id: a, prompt: p, expected: {output_contains: [p]}']);
	await run('run', '-q', long, '-o', 'results/long.json');
}

// The views, once the server has seen all of the results.
async function routes(url) {
	let runs;
	do
		({ runs } = await (await fetch(`${url}/api/v1/runs?suite=notes`)).json());
	while (runs.length < 6);
	const [b, a] = runs.map((r) => encodeURIComponent(r.runId));
	return { runs: '', trends: 'trends', new: 'new?path=notes/eval.yaml',
		clients: 'clients', choose: 'compare', compare: `compare/${a}/${b}`,
		run: `run/${b}`, task: `run/${b}/task/task-1` };
}

async function each(page, all, fn) {
	for (const [name, route] of Object.entries(all)) {
		await page.at(route);
		await fn(name);
	}
}

// Rows of figures in which a place is empty.
function gaps(page) {
	return page.evaluate(() => [...document.querySelectorAll('.tiles')].flatMap(
	    (box) => {
		const right = box.getBoundingClientRect().right - 2, ends = new Map();
		for (const t of box.children) {
			const r = t.getBoundingClientRect();
			ends.set(Math.round(r.top), r.right);
		}
		return [...ends.values()].filter((x) => x < right);
	}));
}

async function views(url, all, scheme) {
	const page = await tab(url, { colorScheme: scheme });
	await each(page, all, async (name) => {
		for (const width of [390, 768, 1280, 1920]) {
			await page.setViewportSize({ width, height: 900 });
			const what = `${name}, ${scheme}, ${width} pixels`;
			// colours are the same at all widths
			if (scheme === 'light' || width === 390)
				is(`${what}: accessible`, await complaints(page), []);
			is(`${what}: fits`, await overflow(page), []);
			is(`${what}: no empty tile`, await gaps(page), []);
			await shot(page, `${name}-${scheme}-${width}`);
		}
		await page.setViewportSize({ width: 1280, height: 900 });
	});
	is(`${scheme}: the page has no faults`, await page.faults(), []);
	return page;
}

async function phone(url, all) {
	const page = await tab(url, { viewport: { width: 360, height: 740 },
		colorScheme: 'dark', deviceScaleFactor: 2, hasTouch: true });
	await each(page, all, async (name) => {
		is(`${name}: fits a phone`, await overflow(page), []);
		await shot(page, `${name}-phone`);
	});
	await page.at(all.run);
	ok('a phone: the table head is hidden', !await page.isVisible('thead'));
	await page.selectOption('.chooser select', '-name');
	is('a phone: a menu sorts the rows', (await page.innerText('td.c-name'))
		.split(/\s/)[0], 'Task');
	is('a phone: accessible', await complaints(page), []);
	is('a phone: the page has no faults', await page.faults(), []);
}

async function themes(page) {
	const ground = () => page.evaluate(() =>
		getComputedStyle(document.documentElement).backgroundColor);
	await page.at('');
	const auto = await ground();
	await page.click('#theme');
	is('the switch: light', [await page.innerText('#theme-name'), await ground()],
	    ['Light', auto]);
	await page.click('#theme');
	const dark = await ground();
	ok('the switch: dark', dark !== auto, dark);
	await page.reload();
	await settled(page);
	is('the theme is stored', [await ground(), await page.innerText('#theme-name')],
	    [dark, 'Dark']);
	await page.click('#theme');
	await page.emulateMedia({ colorScheme: 'dark' });
	is('the theme can follow the system', [await ground(), await page.innerText('#theme-name')],
	    [dark, 'Auto']);
}

// Charts have labels with the same information.
async function words(page, all) {
	await page.at(all.run);
	is('a failed task names its graders', await page.innerText('td.c-note >> nth=0'),
	    'failed: answer, notes');
	await page.at('trends');
	like('a chart has a label', await page.getAttribute('svg.lines', 'aria-label'),
	    /^notes: pass rate over 6 runs, from [\d.]+% to [\d.]+%; score from/);
	is('a chart has a link for each run', await page.locator('svg.lines a').count(), 6);
	is('a chart has a line for each model', [await page.locator(
	    'svg.lines path.rate').count(), await page.locator('.legend li')
		.allInnerTexts().then((l) => l.map((t) => t.split(' ')[0]))],
	[2, ['model-0', 'model-1']]);
	like('a chart has numbers and dates at its axes', (await page.locator(
	    'svg.lines text').allTextContents()).join(' '),
	/^0% 25% 50% 75% 100% [A-Z][a-z]{2} \d+/);
	await page.click('text=As a table');
	is('a chart has a table', await page.locator('.panel tbody tr').count(), 6);
	await page.selectOption('select[aria-label=Model]', 'model-1');
	is('a chart can be filtered by model', await page.locator('svg.lines a').count(), 3);
	is('one model: one line, and its score', await page.locator(
	    'svg.lines path.rate, svg.lines path.score').count(), 2);
	await page.at(all.compare);
	like('an interval has numbers', (await page.locator('svg.interval text')
		.allTextContents()).join(' '), /^−[\d.]+ −[\d.]+ 0\.0+ \+[\d.]+ \+[\d.]+$/);
	like('an interval has a label', await page.getAttribute('svg.interval', 'aria-label'),
	    /^mean score change [+−\d.]+, 95 % interval/);
}

// The two newest runs of one suite are offered first, with time and id.
async function choice(page, url) {
	const { runs } = await (await fetch(`${url}/api/v1/runs?suite=notes`)).json();
	await page.at('compare');
	is('compare: suites with two runs', await page.locator('#suite option')
		.allInnerTexts(), ['notes (6 runs)', 'Runs of different suites']);
	is('compare: the two newest runs', [await page.inputValue('#run-a'),
		await page.inputValue('#run-b')], [runs[1].runId, runs[0].runId]);
	like('compare: a run has its time and id', await page.locator(
	    '#run-b option').first().innerText(),
	new RegExp(`^[A-Z].* \\d+:\\d\\d.* · model-1 · [\\d.]+% · ${runs[0].runId}$`));
	await page.selectOption('#suite', '*');
	is('compare: any two runs', await page.locator('#run-a option').count(), 7);
	await page.selectOption('#suite', 'notes');
	await page.focus('#suite');
	await page.keyboard.press('Tab');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Tab');
	await page.keyboard.press('Enter');
	await page.waitForSelector('.sides');
	like('compare: without a mouse', page.url(), new RegExp(`${runs[2].runId}/` +
	    `${runs[0].runId}$`));
}

async function still(url, all) {
	const page = await tab(url, { reducedMotion: 'reduce' });
	await page.at(all.run);
	const moving = await page.evaluate(() => {
		const el = document.querySelector('.bar > *');
		el.className = 'icon running';
		const s = getComputedStyle(el);
		return [s.animationName, s.transitionProperty];
	});
	is('prefers-reduced-motion disables animations', moving, ['none', 'none']);
}

main(async () => {
	await setUp();
	const server = await serve(), all = await routes(server.url);
	await views(server.url, all, 'dark');
	const page = await views(server.url, all, 'light');
	await phone(server.url, all);
	await themes(page);
	await words(page, all);
	await choice(page, server.url);
	await still(server.url, all);
	const marks = await page.evaluate(() => ['header', 'nav', 'main'].map((x) =>
		document.querySelectorAll(x).length > 0));
	is('the page has landmarks', marks, [true, true, true]);
});
