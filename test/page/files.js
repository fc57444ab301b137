// Results files of the original, opened in the page without being sent
// anywhere, and from --results-dir; hostile text is shown as text.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { file, is, like, main, ok, serve, settled, shot,
	tab } = require('./lib.js');

const original = fs.readFileSync(path.join(__dirname, 'original.json'), 'utf8');

// drop FILE...: drops files on the page
async function drop(page, ...files) {
	const data = await page.evaluateHandle((list) => {
		const d = new DataTransfer();
		for (const [name, text] of list)
			d.items.add(new File([text], name, { type: 'application/json' }));
		return d;
	}, files);
	await page.dispatchEvent('body', 'dragover', { dataTransfer: data });
	ok('a file dragged over the page shows the drop area', await page.isVisible('#drop'));
	await page.dispatchEvent('body', 'drop', { dataTransfer: data });
}

async function run(page) {
	await page.waitForSelector('h1:has-text("code-explainer-eval")');
	like('a dropped file: figures', await page.innerText('.tiles'),
	    /50%\s+1 of 2 tasks passed, 1 failed\s+Score\s+0\.63\s+Triggers\s+87\.5%\s+7 of 8 prompts as expected\s+Duration\s+1 min 01 s\s+Tokens\s+12\.8K/);
	is('a dropped file: tasks, failures first', await page.locator('td.c-state')
		.allInnerTexts(), ['failed', 'passed']);
	is('a dropped file: trials that passed', await page.locator('td.c-trials')
		.allInnerTexts(), ['0/2', '1/1']);
	is('a dropped file: notes', await page.locator('td.c-note').allInnerTexts(),
	    ['session timed out after 300s', '']);
}

async function triggers(page) {
	await page.click('summary:text("Trigger tests")');
	await page.waitForSelector('details:has(> summary:text("Trigger tests")) td');
	like('a dropped file: trigger tests', await page.innerText(
	    'details:has(> summary:text("Trigger tests"))'),
	/87\.5%[\s\S]*Book a flight\s+not\s+trigger\s+failed/);
}

async function tasks(page) {
	await page.click('a:has-text("Explain a join")');
	await page.waitForSelector('.diff');
	is('a diff: added and removed lines', [
		await page.innerText('.diff .add'), await page.innerText('.diff .del')],
	['+A join <b>joins</b>.\n', '-An inner join keeps what is in both.\n']);
	is('an answer with markup is shown as text', [
		await page.innerText('section:has(> h2:text("Answer")) pre'),
		await page.locator('main img').count()],
	['<img src=x onerror=alert(1)>', 0]);
	await page.click('button:has-text("Trial 2")');
	like('an error without verdicts', await page.innerText('.columns'),
	    /session timed out after 300s[\s\S]*This trial was not graded/);
	await page.keyboard.press('u');
	await page.click('a:has-text("Explain recursion")');
	await page.waitForSelector('.step');
	is('start and end of a call are one step', await page.locator('.step').count(), 1);
	await page.click('.step summary');
	like('a step shows its result', await page.innerText('.step'),
	    /view fact\.py[\s\S]*def fact\(n\):/);
}

// Hostile text in every place that the page shows.
const evil = '<script>alert(1)</script><img src=x onerror=alert(1)>' +
    '\u001b[31mred\u001b[0m \u202egnp.exe\u2069 \u0007 "\'`${1}';

function hostile() {
	const t = JSON.parse(original);
	const poison = (v) => typeof v === 'string' ? evil :
	    Array.isArray(v) ? v.map(poison) : v && typeof v === 'object' ?
		Object.fromEntries(Object.entries(v).map(([k, x]) =>
			[k, ['status', 'type', 'timestamp', 'tool_call_id'].includes(k) ?
			    x : poison(x)])) : v;
	const all = poison(t);
	all.tasks.forEach((x, i) => {
		x.test_id = `${evil}${i}`;
		x.error_msg = evil;
		x.runs.forEach((r) => Object.assign(r, { prompt: evil, note: evil,
			stderr_tail: evil, workspace: evil, skills: [evil] }));
	});
	all.eval_id = '<img src=x onerror=alert(2)>';
	return JSON.stringify(all);
}

async function hostileViews(page) {
	for (const q of [0, 1]) {
		await page.locator('td.c-name a').nth(q).click();
		await page.waitForSelector('.columns');
		await page.evaluate(() => document.querySelectorAll('.columns details')
			.forEach((d) => {
				d.open = true;
			}));
		is(`hostile text is shown as text (${q + 1})`, await page.locator(
		    'main script, main img, main a[href^="javascript"]').count(), 0);
		is(`control characters are shown as symbols (${q + 1})`, await page
			.evaluate(() => [.../[\u001b\u0007\u202e\u2069]/.exec(
			    document.querySelector('.columns').textContent) || []]), []);
		await page.goBack();
		await settled(page);
	}
}

main(async () => {
	file('results/original.json', original);
	file('results/hostile.json', hostile());
	const server = await serve();
	const page = await tab(server.url);
	const sent = [];
	page.on('request', (r) => {
		if (r.method() !== 'GET')
			sent.push(r.url());
	});
	await page.waitForSelector('table.runs tbody tr');

	await page.click('a:has-text("code-explainer-eval")');
	await run(page);
	await triggers(page);
	await tasks(page);
	await page.at('');

	await page.setInputFiles('#file', { name: 'mine.json',
		mimeType: 'application/json', buffer: Buffer.from(original) });
	await run(page);
	await triggers(page);
	await tasks(page);
	await page.at('');
	like('the list contains the file and its origin',
	    await page.innerText('tbody tr:has-text("opened file")'),
	    /code-explainer-eval/);

	const better = JSON.parse(original);
	better.tasks[1].status = 'passed';
	better.tasks[1].runs.pop();
	better.tasks[1].runs[0].validations.report.score = 1;
	better.summary.success_rate = better.summary.aggregate_score = 1;
	await drop(page, ['a.json', original], ['b.json', JSON.stringify(better)]);
	await page.waitForSelector('h1:has-text("Compare")');
	like('two files are compared', await page.innerText('main'),
	    /\+50\.0 points[\s\S]*Explain a join/);
	await shot(page, 'files');
	await drop(page, ['c.json', '{"no": "results"}']);
	await page.waitForSelector('.fault');
	like('an invalid file is refused', await page.innerText('.fault'),
	    /c\.json: not a results file/);
	await drop(page, ['d.json', '{"half']);
	await page.waitForSelector('.fault >> text=d.json');
	is('dropped files are not sent to the server', sent, []);

	await page.at('');
	await page.locator('td.c-name a', { hasText: 'script' }).first().click();
	await page.waitForSelector('table.list tbody tr');
	await hostileViews(page);
	await page.at('new');
	await page.setInputFiles('#file', { name: 'hostile.json',
		mimeType: 'application/json', buffer: Buffer.from(hostile()) });
	await page.waitForSelector('h1:has-text("script")');
	await hostileViews(page);
	await page.at('trends');
	is('the page has no faults', await page.faults(), []);
});
