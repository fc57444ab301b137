// tap: TAP for the programs in test/interop and test/page.
'use strict';
const assert = require('node:assert');

let count = 0, failures = 0;

function ok(name, good, why) {
	if (!good)
		failures++;
	console.log(`${good ? 'ok' : 'not ok'} ${++count} - ${name}`);
	if (!good && why !== undefined)
		console.log(`# ${String(why).replace(/\n/g, '\n# ')}`);
}

function is(name, got, want) {
	let same = true;
	try {
		assert.deepStrictEqual(got, want);
	} catch {
		same = false;
	}
	ok(name, same, `want ${JSON.stringify(want)}\ngot  ${JSON.stringify(got)}`);
}

function like(name, got, pattern) {
	ok(name, pattern.test(got), `want ${pattern}\ngot  ${JSON.stringify(got)}`);
}

function plan() {
	console.log(`1..${count}`);
}

// main FN FINISH STATE: call FN, then FINISH with the exit status.  If FN fails,
// STATE returns more lines for the report.
function main(fn, finish, state = async () => []) {
	process.on('unhandledRejection', (e) => {
		ok('no promise is rejected without a handler', false, e && e.stack);
		finish(1);
	});
	fn().then(() => finish(failures ? 1 : 0), async (e) => {
		ok('the test runs to its end', false,
		    [e && e.stack, ...await state()].join('\n'));
		finish(1);
	});
}

module.exports = { is, like, main, ok, plan };
