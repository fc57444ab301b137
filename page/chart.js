// chart: line charts as SVG, drawn for the available width. Each chart has a
// label with the same information.
import { percent } from './format.js';
import { svg } from './dom.js';

// spark VALUES LABEL: a small chart of values from 0 to 1, without axes
export function spark(values, label) {
	const w = 120, last = values.length - 1;
	const x = (i) => i * w / Math.max(1, last), y = (v) => 4 + 22 * (1 - v);

	return svg('svg', { class: 'spark', viewBox: `-3 0 ${w + 6} 30`,
		role: 'img', preserveAspectRatio: 'none',
		'aria-label': `${label}: ${values.map(percent).join(', ')}` },
	svg('polyline', { points: values.map((v, i) => `${x(i)},${y(v)}`) }),
	svg('line', { class: 'dot', x1: w, x2: w, y1: y(values[last]),
		y2: y(values[last]) }));
}

/*
 * lines POINTS WIDTH LABEL: pass rate as a line with points, score as a dashed
 * line. A point is { rate, score, state, when, href, words }. Points have equal
 * distances, since suites run in bursts.
 */
export function lines(points, w, label) {
	const left = 40, right = w - 14, top = 14, height = w < 420 ? 170 : 200;
	const n = points.length - 1, low = height - 26;
	const x = (i) => left + (right - left) * i / n;
	const y = (v) => top + (low - top) * (1 - v);
	const path = (name) => svg('path', { class: name, d: points.map((p, i) =>
		`${i === 0 ? 'M' : 'L'}${x(i)} ${y(p[name])}`).join('') });
	const text = (words, at, base, anchor) => svg('text', { x: at, y: base,
		'text-anchor': anchor }, words);

	return svg('svg', { class: 'lines', width: w, height, role: 'group',
		viewBox: `0 0 ${w} ${height}`, 'aria-label': label },
	svg('g', { 'aria-hidden': 'true' }, [0, 0.25, 0.5, 0.75, 1].map((v) =>
		svg('line', { class: v === 0 ? 'axis' : null, x1: left, x2: right,
			y1: y(v), y2: y(v) })),
	[0, 0.5, 1].map((v) => text(percent(v), left - 8, y(v) + 4, 'end')),
	text(points[0].when, left, height - 6, 'start'),
	text(points[n].when, right, height - 6, 'end'),
	path('score'), path('rate')),
	points.map((p, i) => svg('a', { href: p.href, 'aria-label': p.words },
	    ['hit', `point ${p.state}`].map((name) => svg('circle', { class: name,
		    cx: x(i), cy: y(p.rate), r: name === 'hit' ? 10 : 4 })),
	    svg('title', {}, p.words))));
}

// interval MEAN LOWER UPPER: the confidence interval of a change
export function interval(mean, lo, hi, name, label) {
	const edge = Math.max(Math.abs(lo), Math.abs(hi), 0.01) * 1.1;
	const x = (v) => 240 + v / edge * 230;
	const line = (kind, x1, x2, y1, y2) =>
		svg('line', { class: kind, x1, x2, y1, y2 });

	return svg('svg', { class: `interval ${name}`, role: 'img',
		viewBox: '0 0 480 44', 'aria-label': label },
	line('', 0, 480, 18, 18), line('zero', 240, 240, 4, 32),
	svg('text', { x: 240, y: 43, 'text-anchor': 'middle' }, '0'),
	line('range', x(lo), x(hi), 18, 18),
	svg('circle', { class: 'mean', cx: x(mean), cy: 18, r: 5 }));
}
