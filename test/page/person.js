// A user starts a run from the page, watches it, opens a failure, and compares
// two runs.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { complaints, dir, file, is, like, main, ok, serve, shot, suite,
	tab } = require('./lib.js');

function setUp() {
	suite('steps', [
		'id: one, name: The first step, prompt: Say hello., ' +
		    'expected: {output_contains: [hello]}',
		'id: two, name: The second step, prompt: Write the list., ' +
		    'graders: [{type: text, name: polite, config: {contains: [please]}}]',
		'id: three, prompt: Go., expected: {output_contains: [gone]}',
	], `executor: command, workers: 6, command: '${path.join(dir, 'agent')}'`);
	file('agent', `#!/bin/sh
until [ -e ${dir}/go ]; do sleep 0.05; done
echo "thinking about $WAZA_TASK_ID" >&2
cat ${dir}/say/$WAZA_TASK_ID || exit 3
`);
	fs.chmodSync(path.join(dir, 'agent'), 0o755);
	file('say/one', 'hello there\n');
	file('say/two', 'I want it <b>now</b>.\n');
	// there is no say/three, so the third task is an error
}

// Views without data name the command that helps.
async function nothing(page) {
	for (const [view, text] of [['trends', /run more than once[^]*waza run --connect/],
		['compare', /two finished runs[^]*waza compare/],
		['clients', /No client[^]*waza worker ws:/],
		[`new?dir=${encodeURIComponent(path.join(dir, 'say'))}`,
			/No suite here[^]*waza init/]]) {
		await page.at(view);
		like(`${view.split('?')[0]}: an empty view is explained`,
		    await page.innerText('.empty'), text);
		is(`${view.split('?')[0]}: an empty view is accessible`,
		    await complaints(page), []);
	}
	await page.at('');
}

async function start(page) {
	await page.click('text=New run');
	await page.waitForSelector('h1:has-text("New run")');
	await page.getByRole('radio', { name: /steps/ }).check();
	await page.fill('#trials', '2');
	await page.selectOption('#model', { label: 'Other …' });
	await page.fill('[aria-label="Name of the model"]', 'tester-1');
	like('the executors are a list', (await page.locator('#executor option')
		.allInnerTexts()).join(' '), /^command \(suite\) .*\bmock\b.*\bclaude\b/);
	like('a field has help', await page.innerText('#trials-help'), /1 to 100,000/);
	is('the form shows the command', await page.innerText('.new section + section .command code'),
	    'waza run --model tester-1 --trials 2 steps/eval.yaml');
	await page.getByText(/^Tasks: /).click();
	await page.waitForSelector('text=The second step');
	await page.click('button:enabled:has-text("Start run")');
}

async function watch(page) {
	await page.waitForSelector('h1 .badge.running');
	is('the address names the run', /#\/run\/run-/.test(page.url()), true);
	await page.locator('tbody .badge.running').nth(2).waitFor();
	is('the run lists its tasks', await page.locator('tbody tr').count(), 3);
	like('progress has a label for screen readers', await page.getAttribute(
	    '[role=progressbar]', 'aria-valuetext'), /^0 of 3 tasks done/);
	like('the title shows the progress', await page.title(), /^0\/3 steps/);
	await shot(page, 'run-live');
	fs.writeFileSync(path.join(dir, 'go'), '');
	await page.waitForSelector('h1 .badge.failed');
	is('the end: states of the tasks', await page.locator('tbody .c-state')
		.allInnerTexts(), ['passed', 'failed', 'error']);
	is('the end: trials that passed', await page.locator('tbody .c-trials')
		.allInnerTexts(), ['2/2', '0/2', '0/2']);
	const notes = await page.locator('tbody .c-note').allInnerTexts();
	like('the end: an error is the note', notes[2], /status 3/);
	is('the end: a failed task names its graders', notes[1], 'failed: polite');
	like('the end: the reasons', await page.innerText('.why'),
	    /^Why it failed\s+2 of 3 tasks did not pass, 1 because of an error\.\s+The skill was not found: .*"walking"\. Look at steps\/eval\.yaml\. The second step\s+Failing graders\s+polite\s+1$/);
	await page.click('.why button');
	is('a failing grader lists its tasks', await page.locator('td.c-name a')
		.allInnerTexts(), ['The second step']);
	await page.fill('[type=search]', '');
	like('the end is announced', await page.textContent('#live'),
	    /finished: failed\. 1 of 3 tasks passed, 1 failed, 1 error/);
	like('the log', await page.innerText('.log'), /The second step.*failed/);
	is('the end: the cancel button is removed', await page.locator('text=Cancel').count(), 0);
	is('the pass rate', await page.locator('.tile dd').first().innerText()
		.then((t) => t.split('\n')[0]), '33.3%');
	await shot(page, 'run-over');
}

async function failure(page) {
	await page.click('a:has-text("The second step")');
	await page.waitForSelector('h1:has-text("The second step")');
	is('a task lists its trials', await page.getByRole('group', { name: 'Trial' })
		.getByRole('button').allInnerTexts(), ['Trial 1', 'Trial 2']);
	is('the prompt', await page.innerText('pre.asked'), 'Write the list.');
	is('the answer is text, not markup', [
		await page.locator('section:has(> h2:text("Answer")) pre').innerText(),
		await page.locator('pre b').count()],
	['I want it <b>now</b>.\n', 0]);
	const verdict = page.locator('details.verdict.failed');
	like('the verdict', await verdict.innerText(),
	    /polite[\s\S]*text[\s\S]*0\.00[\s\S]*missing "please"/);
	like('standard error is shown', await page.innerText(
	    'section:has(> h2:text("Standard error"))'), /thinking about two/);
	await page.click('button:has-text("Trial 2")');
	is('another trial can be selected', await page.getAttribute(
	    'button:has-text("Trial 2")', 'aria-pressed'), 'true');
	await shot(page, 'task');
	await page.click('text=Next failure');
	await page.waitForSelector('h1:has-text("three")');
	like('an error has its reason', await page.innerText('.block.fault'),
	    /Error\s*agent error[\s\S]*3/);
	await page.goBack();
	await page.waitForSelector('h1:has-text("The second step")');
	await page.click('.crumbs a:has-text("steps")');
	await page.waitForSelector('h1:has-text("steps")');
}

async function again(page) {
	file('say/two', 'May I have it, please?\n');
	file('say/three', 'gone\n');
	await page.click('text=Run again');
	await page.waitForSelector('h1:has-text("New run")');
	is('run again: the same settings', [await page.isChecked('input[name=suite]'),
		await page.inputValue('#model'), await page.inputValue('#executor')],
	[true, 'tester-1', 'command']);
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('h1 .badge.passed');
	await page.click('text=Compare with previous run');
	await page.waitForSelector('h1:has-text("Compare")');
}

async function compare(page) {
	is('a comparison lists changed tasks', await page.locator('tbody .c-name').allInnerTexts()
		.then((all) => all.map((t) => t.trim()).sort()),
	['The second step two', 'three']);
	is('a comparison lists flips', await page.locator('tbody .c-flip').allInnerTexts(),
	    ['fixed', 'fixed']);
	like('a comparison shows differences', await page.innerText('.tiles'),
	    /Pass rate\s+\+66\.7 points\s+33\.3% → 100%/);
	like('a comparison reports significance', await page.innerText(
	    'section:has(> h2:text("Significance"))'),
	/cannot tell: \d of 3 tasks scored/i);
	await shot(page, 'compare');
	await page.click('text=Swap');
	await page.waitForSelector('.badge:has-text("broken")');
	is('a comparison can be swapped', await page.locator('tbody .c-flip').allInnerTexts(),
	    ['broken', 'broken']);
}

async function list(page) {
	await page.click('nav >> text=Runs');
	await page.waitForSelector('table.runs tbody tr');
	is('both runs are listed, the newer first', await page.locator(
	    'td.c-state').allInnerTexts(),
	['passed', 'failed']);
	like('runs are grouped by suite', await page.innerText('.card'),
	    /steps tester-1\s+100%\s+▲ 66\.7 points/);
	await page.fill('[type=search]', 'nothing like it');
	is('a search that finds nothing', await page.innerText('.empty'),
	    'No matching runs.');
	await page.fill('[type=search]', 'tester failed');
	is('a search that finds one run', await page.locator('table.runs tbody tr').count(), 1);
	like('the address contains the search', page.url(), /q=tester/);
	await page.reload();
	await page.waitForSelector('table.runs tbody tr');
	is('the search survives a reload',
	    await page.locator('table.runs tbody tr').count(), 1);
	await page.fill('[type=search]', '');
	await page.click('.chips >> text=Passed');
	is('a filter by state', await page.locator('td.c-state').allInnerTexts(),
	    ['passed']);
	await page.click('.chips >> text=All');
	await page.click('th >> text=Pass rate');
	await page.click('th >> text=Pass rate');
	is('a column sorts the runs', await page.locator('td.c-rate')
		.allInnerTexts(), ['33.3%', '100%']);
	is('the sorted column has aria-sort', await page.getAttribute('th.c-rate', 'aria-sort'),
	    'ascending');
}

async function cancel(page) {
	fs.rmSync(path.join(dir, 'go'));
	await page.at('new');
	await page.getByRole('radio', { name: /steps/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('tbody .badge.running');
	await page.click('text=Cancel');
	await page.waitForSelector('h1 .badge.cancelled');
	ok('a run can be cancelled', true);
}

async function refused(page) {
	suite('broken', ['id: a, prompt: x, graders: [{type: nonsense}]']);
	await page.at('new');
	await page.getByRole('radio', { name: /broken/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('.fault li');
	like('an invalid suite: errors are shown',
	    await page.innerText('.fault'), /nonsense/);
	is('an invalid suite does not run', /#\/new/.test(page.url()), true);
}

main(async () => {
	setUp();
	const server = await serve();
	const page = await tab(server.url, { allow: /status of 422/,
		permissions: ['clipboard-read', 'clipboard-write'] });
	await page.waitForSelector('.empty');
	like('an empty list is explained', await page.innerText('.empty'),
	    /^No runs yet[^]*waza run --connect 127\.0\.0\.1:\d+ eval\.yaml/);
	is('an empty list has nothing to filter', await page.isVisible('[type=search]'),
	    false);
	await page.click('button:has-text("Copy")');
	like('the command is copied', await page.evaluate(() =>
		navigator.clipboard.readText()), /^waza run --connect 127/);
	await nothing(page);
	await start(page);
	await watch(page);
	await failure(page);
	await again(page);
	await compare(page);
	await list(page);
	await cancel(page);
	await refused(page);
	is('the page has no faults', await page.faults(), []);
});
