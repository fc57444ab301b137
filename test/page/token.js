// A server with a token: the page asks for it, keeps it in its tab, and reports
// a wrong token; only streams have it in their address.
'use strict';
const fs = require('node:fs');
const { file, is, like, main, ok, run, serve, suite, tab } = require('./lib.js');

main(async () => {
	fs.chmodSync(file('token', 'sesame-4711\n'), 0o600);
	suite('quick', ['id: a, prompt: p, mock: {output: x, delay_ms: 300}, ' +
	    'expected: {output_contains: [x]}']);
	const server = await serve('--token-file', 'token');
	await run('run', '-q', 'quick', '-o', 'results/quick.json');
	const page = await tab(server.url, { allow: /status of 401/ });
	const asked = [];
	page.on('request', (r) => asked.push(r));

	await page.waitForSelector('#token-box[open]');
	is('it asks', await page.innerText('#token-title'), 'This server requires a token');
	await page.fill('#token', 'wrong');
	await page.keyboard.press('Enter');
	await page.waitForSelector('text=did not accept that token');
	ok('a wrong one is refused', await page.isVisible('#token-box'));
	await page.keyboard.press('Escape');
	await page.waitForSelector('#token-box[open]');
	ok('there is no way around it', true);
	await page.fill('#token', 'sesame-4711');
	await page.keyboard.press('Enter');
	await page.waitForSelector('table.runs tbody tr');
	ok('the right one lets in', true);
	await page.waitForSelector('.link-state.live');
	ok('streams, too', true);

	await page.at('new');
	await page.getByRole('radio', { name: /quick/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('h1 .badge.passed');
	ok('a run, from its start to its end', true);
	is('the token is kept in the tab, nowhere else', await page.evaluate(() =>
		[Object.values(sessionStorage), Object.values(localStorage),
			document.cookie]), [['sesame-4711'], [], '']);
	const withToken = asked.filter((r) => r.url().includes('sesame'));
	ok('it is in addresses of streams', withToken.length > 0);
	is('and in no other', withToken.filter((r) =>
		!/\/api\/v1\/(events|runs\/[^/]+\/stream)\?/.test(r.url())), []);
	like('and not in that of the page', page.url(), /^(?!.*sesame)/);
	await page.reload();
	await page.waitForSelector('h1 .badge.passed');
	ok('it is still there when the page is loaded again',
	    !await page.isVisible('#token-box'));
	is('nothing odd was seen', await page.faults(), []);
});
