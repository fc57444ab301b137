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
	is('the page asks for the token', await page.innerText('#token-title'), 'This server requires a token');
	await page.fill('#token', 'wrong');
	await page.keyboard.press('Enter');
	await page.waitForSelector('text=did not accept that token');
	ok('a wrong token is refused', await page.isVisible('#token-box'));
	await page.keyboard.press('Escape');
	await page.waitForSelector('#token-box[open]');
	ok('Escape does not close the dialog', true);
	await page.fill('#token', 'sesame-4711');
	await page.keyboard.press('Enter');
	await page.waitForSelector('table.runs tbody tr');
	ok('the right token is accepted', true);
	await page.waitForSelector('.link-state.live');
	ok('streams use the token', true);

	await page.at('new');
	await page.getByRole('radio', { name: /quick/ }).check();
	await page.click('button:enabled:has-text("Start run")');
	await page.waitForSelector('h1 .badge.passed');
	ok('a run can be started and followed', true);
	is('the token is stored in the session storage only', await page.evaluate(() =>
		[Object.values(sessionStorage), Object.values(localStorage),
			document.cookie]), [['sesame-4711'], [], '']);
	const withToken = asked.filter((r) => r.url().includes('sesame'));
	ok('addresses of streams contain the token', withToken.length > 0);
	is('other addresses do not contain the token', withToken.filter((r) =>
		!/\/api\/v1\/(events|runs\/[^/]+\/stream)\?/.test(r.url())), []);
	like('the address of the page does not contain the token', page.url(), /^(?!.*sesame)/);
	await page.reload();
	await page.waitForSelector('h1 .badge.passed');
	ok('the token survives a reload',
	    !await page.isVisible('#token-box'));
	is('the page has no faults', await page.faults(), []);
});
