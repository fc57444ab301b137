// Ten thousand tasks: shown in pages, found by a search, watched as they run;
// and a server that is stopped and restarted.
'use strict';
const { is, like, main, ok, overflow, run, scroll, serve, settled, shot,
	suite, tab } = require('./lib.js');

const N = 10000;

async function watch(page) {
	await page.at('new');
	await page.getByRole('radio', { name: /many/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('h1 .badge.failed');
	like('the page has all tasks', await page.innerText('.tile'),
	    /99%\s+9,900 of 10,000 tasks passed, 100 failed/);
}

async function list(page) {
	const nodes = () => page.evaluate(() => document.querySelectorAll('*').length);
	await page.reload();
	await page.waitForSelector('tbody tr');
	ok('the document has fewer than 2500 nodes', await nodes() < 2500, await nodes());
	is('a page has 100 rows', await page.locator('tbody tr').count(), 100);
	like('failures are listed first', await page.innerText('tbody tr'), /failed/);
	is('the pager shows the range', await page.innerText('.pager span'), '1–100 of 10,000');
	await page.click('.pager >> text=Next');
	is('the pager leads to the next page', await page.innerText('.pager span'), '101–200 of 10,000');
	await page.keyboard.press('[');
	is('the pager leads back', await page.innerText('.pager span'), '1–100 of 10,000');
	const start = Date.now();
	await page.fill('[type=search]', 't98');
	await page.locator('tbody tr').first().waitFor();
	is('a search filters the rows', await page.innerText('.pager span'), '1–100 of 111');
	ok('a search takes less than 5 s', Date.now() - start < 5000, Date.now() - start);
	await page.fill('[type=search]', '');
	await page.click('.chips >> text=Failed');
	is('a filter shows failures only', await page.locator('tbody tr').count(), 100);
	await page.click('th >> text=Task');
	is('rows can be sorted by name', await page.innerText('tbody .c-name'), 't99');
	const box = await page.locator('canvas.map').boundingBox();
	ok('the map has a size', box.width > 600 && box.height > 100);
	like('the map has a label', await page.getAttribute('canvas.map', 'aria-label'),
	    /10,000 tasks done, 9900 passed, 100 failed/);
	is('the page fits the window', await overflow(page), []);
	await shot(page, 'many');
	await page.click('canvas.map', { position: { x: 3, y: 3 } });
	await page.waitForSelector('h1:has-text("t0")');
	ok('a click on the map opens a task', true);
}

async function scrolls(page) {
	await page.goBack();
	await page.waitForSelector('.chips');
	await page.click('.chips >> text=All');
	const { frames, cpu, wall } = await scroll(page);
	console.log(`# ${frames} frames, longest task ${cpu} ms, with waiting ${wall} ms`);
	ok('scrolling draws many frames', frames > 50, frames);
	// 50 ms delay a person's input; other programs on the machine slow a task, too
	ok('scrolling: no task takes 100 ms', cpu < 100, cpu);
}

// A new server at the same address: the page continues.
async function back(page, server) {
	await page.at('');
	await page.waitForSelector('.link-state.live');
	const rows = await page.locator('tbody tr').count();
	server.kill('SIGTERM');
	await server.gone;
	await page.waitForSelector('.link-state.reconnecting');
	ok('the page reports a stopped server', true);
	await run('run', '-q', 'few', '-o', 'results/few.json');
	const other = await serve('--http', new URL(server.url).host);
	await page.waitForSelector('.link-state.live');
	await page.locator('tbody tr').nth(rows).waitFor();
	ok('after a restart the page shows new events', true);
	return other;
}

main(async () => {
	suite('many', Array.from({ length: N }, (_, i) => `id: t${i}, prompt: p, ` +
	    `mock: {output: ${i % 100 === 99 ? 'no' : 'yes'}}, ` +
	    'expected: {output_contains: [yes]}'), 'executor: mock, workers: 8');
	suite('few', ['id: a, prompt: p, expected: {output_contains: [p]}']);
	const server = await serve();
	const page = await tab(server.url,
	    { allow: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY|ERR_CONNECTION_RESET/ });
	await settled(page);
	await watch(page);
	await list(page);
	await scrolls(page);
	await back(page, server);
	is('the page has no faults', await page.faults(), []);
});
