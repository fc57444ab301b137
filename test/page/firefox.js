// Firefox: the page of a server and a report, driven over WebDriver BiDi by
// puppeteer-core. Skipped without Firefox; the other tests use Chromium.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { complaints, dir, is, like, load, main, ok, overflow, run, serve, shots,
	skip, suite, atEnd } = require('./lib.js');

const program = process.env.FIREFOX;

// tab BROWSER: a page that records faults and foreign requests
async function tab(browser) {
	const page = await browser.newPage(), faults = [];
	page.setDefaultTimeout(60000);
	page.on('console', (m) => {
		if (['error', 'warn'].includes(m.type()))
			faults.push(`console: ${m.text()}`);
	});
	page.on('pageerror', (e) => faults.push(`error: ${e.message}`));
	page.on('request', (r) => {
		const u = new URL(r.url());
		// Firefox's own icons, and a picture of the page
		if (!['data:', 'blob:', 'chrome:', 'resource:', 'about:', 'file:']
			.includes(u.protocol) && u.hostname !== '127.0.0.1')
			faults.push(`request: ${r.url()}`);
	});
	page.faults = faults;
	page.text = (selector) => page.$eval(selector, (e) => e.innerText);
	page.all = (selector) => page.$$eval(selector, (list) =>
		list.map((e) => e.innerText));
	page.shown = () => page.waitForSelector('main:not([aria-busy]) h1');
	page.has = (selector, text) => page.waitForFunction((s, t) =>
		[...document.querySelectorAll(s)].some((e) =>
			e.innerText.includes(t)), {}, selector, text);
	page.press = (...keys) => keys.reduce((p, k) => p.then(() =>
		page.keyboard.press(k)), Promise.resolve());
	page.shot = (name) => page.screenshot({
		path: path.join(shots, `firefox-${name}.png`) });
	return page;
}

// Views at several widths, in both themes.
async function looks(page, name, routes) {
	for (const theme of ['light', 'dark']) {
		await page.evaluate((t) => {
			while (window.wazaTheme.name !== t)
				document.getElementById('theme').click();
		}, theme);
		for (const r of routes) {
			await page.evaluate((to) => {
				location.hash = to;
			}, r);
			await page.shown();
			is(`${name} ${r}, ${theme}: accessible`, await complaints(page), []);
			for (const width of [390, 768, 1280, 1920]) {
				await page.setViewport({ width, height: 900 });
				is(`${name} ${r}, ${theme}: fits ${width} pixels`,
				    await overflow(page), []);
			}
			await page.setViewport({ width: 1280, height: 900 });
		}
		await page.shot(`${name}-${theme}`);
	}
}

async function report(browser) {
	await run('run', '-q', 'notes', '--reporter', 'html:one.html');
	const page = await tab(browser);
	await page.goto(pathToFileURL(path.join(dir, 'one.html')).href);
	await page.shown();
	like('a report: the run', await page.text('h1'), /^notes\s+failed/);
	like('a report: why it failed', await page.text('.why'), /1 of 2 tasks[^]*polite/);
	is('a report: tasks', await page.all('td.c-state'), ['failed', 'passed']);
	await page.press('j', 'Enter');
	await page.waitForSelector('.verdict.failed');
	like('a report: keys open a task', await page.text('h1'), /^Keep notes/);
	like('a report: its verdict', await page.text('.verdict.failed'), /missing "please"/);
	await page.press('[');
	await page.waitForSelector('.diff .add');
	like('a report: the patch', await page.text('.diff'), /\+# Notes/);
	await page.press('u', '/');
	await page.waitForSelector('[type=search]:focus');
	await page.keyboard.type('keep');
	is('a report: a search', await page.all('td.c-name a'), ['Keep notes']);
	await looks(page, 'report', ['#/run/file%3A1', '#/run/file%3A1/task/bad']);
	is('a report: no faults', page.faults, []);
	await page.close();
}

async function served(browser) {
	const server = await serve(), page = await tab(browser);
	await run('run', '-q', 'notes', '-o', 'results/a.json');
	await page.goto(`${server.url}/#/new`);
	await page.shown();
	await page.click('input[type=radio][value*=notes]');
	await page.waitForSelector('button.main:enabled');
	await page.click('form button.main');
	await page.has('h1', 'failed');
	like('a run is started and followed', await page.text('.tiles'),
	    /50%\s+1 of 2 tasks passed/);
	is('the graders of its tasks', (await page.all('td.c-note')).join(''),
	    'failed: polite');
	await page.press('c');
	await page.waitForSelector('.sides');
	like('it is compared with the previous run', await page.text('.tiles'), /50% → 50%/);
	await page.goto(`${server.url}/#/trends`);
	await page.waitForSelector('svg.lines a');
	is('a trend has a point for each run', (await page.$$('svg.lines a')).length, 2);
	await looks(page, 'page', ['#/', '#/trends', '#/compare', '#/clients', '#/new']);
	is('the page has no faults', page.faults, []);
}

main(async () => {
	if (!program)
		return skip('Firefox is not installed');
	let puppeteer;
	try {
		puppeteer = load('puppeteer-core');
	} catch {
		return skip('puppeteer-core is not installed');
	}
	suite('notes', ['id: good, name: Sort notes, prompt: p, mock: {output: yes, ' +
	    'files: [{path: out.md, content: "# Notes\\n"}]}, ' +
	    'expected: {output_contains: [yes]}',
	'id: bad, name: Keep notes, prompt: p, mock: {output: no}, graders: ' +
	    '[{type: text, name: polite, config: {contains: [please]}}]']);
	const browser = await puppeteer.launch({ browser: 'firefox', headless: true,
		executablePath: program,
		userDataDir: fs.mkdtempSync(path.join(dir, 'firefox-')) });
	atEnd(() => browser.close());
	await report(browser);
	await served(browser);
	ok('Firefox ends', true);
	return null;
});
