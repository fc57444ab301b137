// Live changes: a run whose stream is cut, a task that is opened before it is
// done, two windows, evaluation clients that connect and disconnect, shards that
// send their results.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { dir, file, is, like, main, ok, run, serve, shot, suite, tab,
	wire } = require('./lib.js');

function setUp() {
	file('agent', `#!/bin/sh
until [ -e ${dir}/go-$WAZA_TASK_ID ]; do sleep 0.05; done
echo "done with $WAZA_TASK_ID"
`);
	fs.chmodSync(path.join(dir, 'agent'), 0o755);
	suite('steps', ['a', 'b', 'c'].map((id) => `id: ${id}, prompt: p, ` +
	    'expected: {output_contains: [done]}'),
	`executor: command, workers: 3, command: '${path.join(dir, 'agent')}'`);
}

function go(...ids) {
	for (const id of ids)
		fs.writeFileSync(path.join(dir, `go-${id}`), '');
}

async function start(page) {
	await page.at('new');
	await page.getByRole('radio', { name: /steps/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.locator('tbody .badge.running').nth(2).waitFor();
	return page.url().split('#')[1];
}

// The list in another window, without user input.
async function watching(url, page) {
	const other = await tab(url);
	await other.waitForSelector('.link-state.live');
	const route = await start(page);
	await other.waitForSelector('tbody .badge.running');
	like('a run appears in another window', await other.innerText('td.c-rate'),
	    /0 \/ 3/);
	return [other, route];
}

async function cut(page, way, route) {
	go('a');
	await page.waitForSelector('tbody .badge.passed');
	way.cut();
	await page.waitForSelector('.link-state.reconnecting');
	go('b');
	way.mend();
	await page.waitForSelector('.link-state.live');
	await page.locator('tbody .badge.passed').nth(1).waitFor();
	is('events during a disconnect are shown', await page.getAttribute(
	    '[role=progressbar]', 'aria-valuenow'), '2');
	is('events are not repeated after a reconnect', await page.locator('.log li', { hasText: 'a: passed' })
		.count(), 1);
	await page.at(`${route.slice(1)}/task/c`);
	like('an unfinished task is reported', await page.innerText('main'),
	    /No trial has finished yet/);
	go('c');
	await page.waitForSelector('pre:has-text("done with c")');
	ok('a finished task shows its trials', true);
}

async function clients(url, page) {
	await page.at('clients');
	like('without clients the page explains how to start one', await page.innerText('.empty'),
	    /waza worker ws:/);
	const worker = spawn(process.env.WAZA, ['worker',
		url.replace('http', 'ws'), '--name', 'reader', '--tool', 'read=cat'],
	{ cwd: dir, stdio: 'ignore' });
	const gone = new Promise((done) => worker.on('exit', done));
	await page.waitForSelector('td:has-text("reader")');
	like('a client that connects is listed', await page.innerText('tbody tr'),
	    /ready\s+reader[\s\S]*read\s+0 of \d+\s+0\s+0/);
	worker.kill();
	await gone;
	await page.waitForSelector('.empty');
	ok('a client that disconnects is removed', true);
}

function shard(url, k, name) {
	return run('run', '-q', '--shard', `${k}/2`, '--send', url, '-o',
	    `${name}${k}.json`, 'steps/eval.yaml');
}

// Two shards elsewhere: one run, which grows, and names the missing one.
async function shards(url, page) {
	for (const id of ['a', 'b', 'c'])
		fs.rmSync(path.join(dir, `go-${id}`));
	await page.at('');
	await page.waitForSelector('.link-state.live');
	const first = shard(url, 1, 's');
	await page.waitForSelector('tbody .badge.running');
	like('the shards are one run of the list', await page.innerText('td.c-rate'),
	    /0 \/ 3/);
	await page.locator('tbody tr', { has: page.locator('.badge.running') })
		.locator('td.c-name a').click();
	await page.waitForSelector('dt:has-text("Shards")');
	like('the missing shard is named', await page.innerText('dl'),
	    /Shards\s+0 of 2\s*missing: 2/);
	is('a run elsewhere cannot be cancelled', await page.locator(
	    'button:has-text("Cancel")').count(), 0);
	go('a');
	await page.waitForSelector('tbody .badge.passed');
	await shot(page, 'shards');
	ok('its tasks appear while their lines arrive', true);
	go('b', 'c');
	await Promise.all([first, shard(url, 2, 's')]);
	await page.waitForSelector('h1 .badge.passed');
	like('it is complete when all shards are', await page.innerText('dl'),
	    /Pass rate\s+100%/);
}

main(async () => {
	setUp();
	const server = await serve(), way = await wire(server.url);
	const page = await tab(way.url,
	    { allow: /net::ERR_|status of 404/ });
	const [other, route] = await watching(server.url, page);
	await cut(page, way, route);
	await other.waitForSelector('tbody .badge.passed');
	is('the other window shows the end of the run', await other.innerText('td.c-rate'), '100%');
	await clients(server.url, page);
	await shards(server.url, other);
	is('the pages have no faults', [await page.faults(), await other.faults()], [[], []]);
});
