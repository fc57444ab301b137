// triggers: the trigger tests of a run: a tile, and all of them on demand.
import { badge, dim, h } from './dom.js';
import { count, percent, plural } from './format.js';
import { getResult } from './store.js';
import { plainTable } from './table.js';
import { tile } from './tile.js';

// Rows are expected skills, columns the skills that were used.
function confusion(cells) {
	const names = [...new Set(cells.flatMap((c) => [c.expected, c.used]))]
		.sort((a, b) => (a === null) - (b === null));
	const at = (e, u) => (cells.find((c) => c.expected === e && c.used === u) ||
	    { count: 0 }).count;
	return h('div.scroll', plainTable(['Expected \\ used', ...names.map(
	    (n) => n ?? 'none')], names.filter((e) => cells.some((c) =>
		c.expected === e)).map((e) => [e ?? 'none',
		...names.map((u) => count(at(e, u)))])));
}

function triggerTests(file) {
	const m = file.trigger_metrics, word = (did) => did ? 'trigger' : 'not';
	return !m ? dim('No trigger tests.') : h('div.block',
	    h('dl.tiles.small', ['accuracy', 'precision', 'recall',
		'f1'].map((k) => tile(k[0].toUpperCase() + k.slice(1),
		percent(m[k])))),
	    m.confusion && m.confusion.length > 0 && confusion(m.confusion),
	    plainTable(['Prompt', 'Should', 'Did', 'Verdict'],
		(file.trigger_results || []).map((t) => [t.prompt,
			word(t.should_trigger), t.error_msg || word(t.did_trigger),
			badge(t.error_msg ? 'error' : t.should_trigger ===
			    t.did_trigger ? 'passed' : 'failed')])));
}

// triggerTile METRICS: the share of correct decisions; METRICS may be missing
export function triggerTile(m) {
	if (!m || typeof m.accuracy !== 'number')
		return m ? tile('Triggers', '–', plural(m.skipped, 'test') +
		    ' skipped') : null;
	const good = (m.true_positives || 0) + (m.true_negatives || 0);
	const bad = (m.false_positives || 0) + (m.false_negatives || 0) +
	    (m.errors || 0);
	return tile('Triggers', percent(m.accuracy),
	    `${count(good)} of ${plural(good + bad, 'prompt')} as expected`);
}

// Only the results file has the prompts; it may be large, so it is loaded on
// demand.
export function triggers(id) {
	const box = h('details', { ontoggle: async () => {
		if (box.children.length === 1)
			box.append(triggerTests(await getResult(id).catch(() => ({}))));
	} }, h('summary', 'Trigger tests'));
	return box;
}
