// Without a mouse: j, k, Enter and the others; the focus is where it should be,
// and can be seen.
'use strict';
const { is, like, main, ok, run, serve, suite, tab } = require('./lib.js');

function focused(page) {
	return page.evaluate(() => {
		const el = document.activeElement;
		return `${el.localName}${el.className ? `.${el.className}` : ''} ` +
		    (el.textContent || el.placeholder || '').trim().slice(0, 30);
	});
}

async function rows(page) {
	await page.keyboard.press('j');
	like('j: selects the first row', await focused(page), /^tr\.active.*third/);
	await page.keyboard.press('j');
	like('j: selects the next row', await focused(page), /^tr\.active.*second/);
	const ring = await page.evaluate(() =>
		getComputedStyle(document.activeElement).outlineStyle);
	is('the selected row has an outline', ring, 'solid');
	await page.keyboard.press('k');
	await page.keyboard.press('k');
	like('k: selects the previous row, and stops at the first', await focused(page), /^tr\.active.*third/);
	await page.keyboard.press('j');
	await page.keyboard.press('Enter');
	await page.waitForSelector('h1:has-text("second")');
	like('Enter: opens the run and focuses its title', await focused(page),
	    /^h1 second/);
	await page.keyboard.press('j');
	await page.keyboard.press('Enter');
	await page.waitForSelector('h1:has-text("bad")');
	like('Enter: opens the failed task, which is first', page.url(), /task\/bad$/);
	await page.keyboard.press(']');
	await page.waitForSelector('h1:has-text("last")');
	await page.keyboard.press('[');
	await page.waitForSelector('h1:has-text("bad")');
	ok('] and [: open the next and previous task', true);
	await page.keyboard.press('2');
	await page.waitForSelector('[aria-pressed=true]:has-text("Trial 2")');
	ok('2: shows the second trial', true);
	await page.keyboard.press('u');
	await page.waitForSelector('h1:has-text("second")');
	await page.keyboard.press('u');
	await page.waitForSelector('table.runs');
	ok('u: leads to the run, then to all runs', true);
}

async function marks(page) {
	await page.keyboard.press('j');
	await page.keyboard.press('x');
	await page.waitForSelector('.marked');
	like('x: selects a run for comparison', await page.innerText('.marked'), /One run selected/);
	like('x: keeps the focus', await focused(page), /^tr\.active/);
	await page.keyboard.press('j');
	await page.keyboard.press('x');
	like('x: selects a second run', await page.innerText('.marked'), /Two runs selected/);
	await page.keyboard.press('c');
	await page.waitForSelector('h1:has-text("Compare")');
	is('c: compares, the older run is A', await page.locator('.sides h2').allInnerTexts(),
	    ['A second', 'B third']);
}

async function others(page) {
	await page.keyboard.press('g');
	await page.keyboard.press('t');
	await page.waitForSelector('h1:has-text("Trends")');
	await page.keyboard.press('g');
	await page.keyboard.press('r');
	await page.waitForSelector('table.runs');
	ok('g t, g r: open other views', true);
	await page.keyboard.press('/');
	like('/: focuses the search', await focused(page), /^input Search runs/);
	await page.keyboard.type('first jk');
	is('shortcuts are letters in the search', await page.inputValue('[type=search]'), 'first jk');
	await page.keyboard.press('Escape');
	like('Escape leaves the search', await focused(page), /^body/);
	await page.keyboard.press('?');
	await page.waitForSelector('#help-box[open]');
	await page.keyboard.press('j');
	is('?: opens the help; other shortcuts are disabled', await page.isVisible('#help-box'),
	    true);
	await page.keyboard.press('Escape');
	await page.waitForSelector('#help-box', { state: 'hidden' });
	await page.keyboard.press('n');
	await page.waitForSelector('h1:has-text("New run")');
	ok('n: opens the form for a new run', true);
}

// Tab order: the skip link first, then all controls.
async function tabs(page) {
	await page.at('');
	await page.reload();
	await page.waitForSelector('table.runs');
	await page.keyboard.press('Tab');
	like('Tab: focuses the skip link first', await focused(page), /Skip to content/);
	await page.keyboard.press('Enter');
	like('the skip link leads to the content', await focused(page), /^main/);
	const seen = new Set();
	for (let i = 0; i < 20; i++) {
		await page.keyboard.press('Tab');
		seen.add((await focused(page)).split(' ')[0].split('.')[0]);
	}
	is('Tab reaches fields, buttons and links', ['input', 'button', 'select', 'a']
		.filter((x) => !seen.has(x)), []);
}

main(async () => {
	const tasks = ['id: good, prompt: p, mock: {output: yes}, ' +
	    'expected: {output_contains: [yes]}',
	'id: bad, prompt: p, mock: {output: no}, expected: {output_contains: [yes]}',
	'id: last, prompt: p, mock: {output: no}, expected: {output_contains: [yes]}'];
	const server = await serve();
	for (const name of ['first', 'second', 'third']) {
		suite(name, tasks, 'executor: mock, trials_per_task: 2');
		await run('run', '-q', name, '-o', `results/${name}.json`);
	}
	const page = await tab(server.url);
	await page.locator('tbody tr').nth(2).waitFor();
	await rows(page);
	await marks(page);
	await others(page);
	await tabs(page);
	is('the page has no faults', await page.faults(), []);
});
