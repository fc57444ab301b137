// lib: TAP, a server, and a browser that records faults: console errors,
// requests to other servers, violations of the content security policy.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const tap = require('../tool/tap.js');

const load = createRequire(path.join(process.env.MODULES, 'x.js'));
const { chromium } = load('playwright-core');
const axe = fs.readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');
const waza = process.env.WAZA, shots = process.env.SHOTS;
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'page-'));
fs.mkdirSync(path.join(dir, 'results'));
const children = new Set(), tabs = [], ends = [];
const LONG = 60000;	// for a step; other suites may run beside this one
const { is, like, ok } = tap;
let browser = null;

const limit = setTimeout(() => {
	ok('the test ends within five minutes', false);
	finish(1);
}, 300000);

async function finish(status) {
	clearTimeout(limit);
	tap.plan();
	for (const c of children)
		c.kill('SIGTERM');	// it ends its own children
	if (browser)
		await browser.close().catch(() => undefined);
	for (const fn of ends)
		await fn().catch(() => undefined);
	fs.rmSync(dir, { recursive: true, force: true });
	process.exit(status);
}

// atEnd FN: called at the end of the test
function atEnd(fn) {
	ends.push(fn);
}

function skip(why) {
	ok(`# SKIP ${why}`, true);
}

function main(fn) {
	tap.main(fn, finish, () => Promise.all(tabs.map(state)));
}

// file NAME TEXT: writes a file below the directory of the server
function file(name, text) {
	const at = path.join(dir, name);
	fs.mkdirSync(path.dirname(at), { recursive: true });
	fs.writeFileSync(at, text);
	return at;
}

// suite NAME TASKS CONFIG: tasks as YAML flow mappings, one a line
function suite(name, tasks, config = 'executor: mock') {
	return file(`${name}/eval.yaml`, `name: ${name}\nskill: walking\n` +
	    `config: {${config}}\ntasks:\n` +
	    tasks.map((t) => `  - {${t}}\n`).join(''));
}

// run ARGUMENT...: runs waza and waits for its end
function run(...args) {
	return new Promise((done) => {
		const c = spawn(waza, args, { cwd: dir, stdio: 'ignore' });
		c.on('exit', done);
	});
}

// serve OPTION...: waza serve with results/; its address
async function serve(...args) {
	const child = spawn(waza, ['serve', '--results-dir', 'results',
		...args.includes('--http') ? [] : ['--http', '127.0.0.1:0'], ...args],
	{ cwd: dir, stdio: ['ignore', 'ignore', 'pipe'],
		env: { ...process.env, WAZA_HOME: path.join(dir, '.home') } });
	children.add(child);
	child.gone = new Promise((done) => child.on('exit', () => {
		children.delete(child);
		done();
	}));
	child.url = await new Promise((done, fail) => {
		let text = '';
		child.stderr.on('data', (b) => {
			text += b;
			const m = /listening on (http:\S+)\n/.exec(text);
			if (m)
				done(m[1]);
		});
		child.on('exit', () => fail(new Error(`waza serve: ${text}`)));
	});
	return child;
}

// wire URL: a connection to the server that can be cut and restored
async function wire(url) {
	const open = new Set(), { port } = new URL(url);
	let whole = true;
	const way = net.createServer((from) => {
		const to = net.connect(port, '127.0.0.1');
		for (const [a, b] of [[from, to], [to, from]]) {
			open.add(a);
			a.on('error', () => undefined);
			a.on('close', () => {
				open.delete(a);
				b.destroy();
			});
			a.pipe(b);
		}
		if (!whole)
			from.destroy();
	});
	await new Promise((done) => way.listen(0, '127.0.0.1', done));
	return { url: `http://127.0.0.1:${way.address().port}`,
		cut() {
			whole = false;
			for (const s of open)
				s.destroy();
		},
		mend() {
			whole = true;
		} };
}

async function launch() {
	browser = browser || await chromium.launch({
		executablePath: process.env.CHROMIUM, headless: true,
		args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
			'--no-first-run', '--disable-background-networking',
			'--disable-component-update', '--disable-sync'] });
	return browser;
}

// The state of a tab, to find out why a test hangs.
async function state(page) {
	return `${page.url()} waits for [${[...page.open].join(' ')}], ` +
	    `has seen ${JSON.stringify(await page.faults().catch(String))}, ` +
	    `shows ${await page.innerText('main', { timeout: 1000 })
		    .then((t) => JSON.stringify(t.slice(0, 200)), String)}`;
}

/*
 * tab URL OPTIONS: a new page without stored data.  allow: expected console
 * errors.  page.faults() returns unexpected errors and requests.
 */
async function tab(url, { allow = /^$/, ...options } = {}) {
	const context = await (await launch()).newContext({
		viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage(), faults = [];
	const host = new URL(url).host;

	page.setDefaultTimeout(LONG);
	page.on('console', (m) => {
		if (['error', 'warning'].includes(m.type()) && !allow.test(m.text()))
			faults.push(`console: ${m.text()}`);
	});
	page.on('pageerror', (e) => faults.push(`error: ${e.stack}`));
	page.open = new Set();
	tabs.push(page);
	for (const end of ['requestfinished', 'requestfailed'])
		page.on(end, (r) => page.open.delete(r.url()));
	page.on('request', (r) => {
		const u = new URL(r.url());
		page.open.add(r.url());
		if (!['blob:', 'data:'].includes(u.protocol) && u.host !== host)
			faults.push(`request: ${r.url()}`);
	});
	await page.addInitScript(() => {
		window.breaches = [];
		document.addEventListener('securitypolicyviolation', (e) =>
			window.breaches.push(`${e.violatedDirective} ${e.blockedURI}`));
	});
	page.faults = async () => faults.concat((await page.evaluate('breaches'))
		.map((b) => `policy: ${b}`));
	page.at = async (route) => {
		await page.goto(`${url}/#/${route}`);
		await settled(page);
	};
	await page.goto(url);
	return page;
}

// Waits until a view is drawn and no request is pending.
async function settled(page) {
	await page.waitForSelector('main:not([aria-busy]) h1', { state: 'attached' });
}

async function shot(page, name) {
	await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

// Violations found by axe-core.
async function complaints(page) {
	await page.evaluate(axe);
	return page.evaluate(async () => {
		const found = await window.axe.run(document, { resultTypes: ['violations'],
			runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa',
				'best-practice'] });
		return found.violations.map((v) => `${v.id}: ${v.nodes.map((x) =>
			`${x.target.join(' ')} ${x.any.map((a) => a.message).join('; ')}`)
			.slice(0, 3).join(' | ')}`);
	});
}

// Elements that are wider than the window.
function overflow(page) {
	return page.evaluate(() => {
		const root = document.documentElement;
		return root.scrollWidth <= window.innerWidth ? [] :
		    [...document.querySelectorAll('body *')].filter((el) =>
			    el.getBoundingClientRect().right > window.innerWidth)
			    .map((el) => `${el.localName}.${el.getAttribute('class')} ` +
				el.textContent.slice(0, 40)).slice(0, 5);
	});
}

// Scrolls through five pages of a list; returns the number of frames.
async function scrollAll() {
	const frame = () => new Promise((done) => {
		requestAnimationFrame(done);
	});
	let n = 0;
	for (let k = 0; k < 5; k++) {
		for (let y = 0; y < document.body.scrollHeight; y += 200, n++) {
			scrollTo(0, y);
			await frame();
		}
		document.querySelector('.pager button:last-child').click();
		await frame();
	}
	return n;
}

/*
 * scroll PAGE: the longest task of the main thread while a list is scrolled, in
 * ms. A frame is late if a task is long, or if the machine is busy; only the
 * first is a fault of the page, so cpu is the thread's own time.
 */
async function scroll(page) {
	await browser.startTracing(page, { categories: ['toplevel',
		'devtools.timeline'] });
	const frames = await page.evaluate(scrollAll);
	const { traceEvents: all } = JSON.parse(await browser.stopTracing());
	const mains = all.filter((e) => e.name === 'thread_name' &&
	    e.args.name === 'CrRendererMain').map((e) => `${e.pid}:${e.tid}`);
	const tasks = all.filter((e) => e.name.endsWith('RunTask') &&
	    e.tdur >= 0 && mains.includes(`${e.pid}:${e.tid}`));
	const most = (key) => Math.round(tasks.reduce((max, e) =>
		Math.max(max, e[key]), 0) / 1000);
	ok('scrolling was measured', tasks.length > 100, tasks.length);
	return { frames, cpu: most('tdur'), wall: most('dur') };
}

module.exports = { atEnd, complaints, dir, file, is, like, load, main, ok,
	overflow, run, scroll, serve, settled, shot, shots, skip, suite, tab, wire };
