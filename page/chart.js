// chart: line charts as SVG, drawn for the available width, with numbers at
// their axes. Each chart has a label with the same information.
import { percent, signed } from './format.js';
import { svg } from './dom.js';

const SERIES = 6;	/* with a colour and a shape of their own */

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

// The shape of a series: circle, square, diamond, triangles, cross.
const shapes = [
	(r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
	(r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
	(r) => `M0 ${-r * 1.3}l${r * 1.3} ${r * 1.3}l${-r * 1.3} ${r * 1.3}` +
	    `l${-r * 1.3} ${-r * 1.3}z`,
	(r) => `M0 ${-r * 1.2}l${r * 1.2} ${r * 2.2}h${-r * 2.4}z`,
	(r) => `M0 ${r * 1.2}l${r * 1.2} ${-r * 2.2}h${-r * 2.4}z`,
	(r) => `M${-r} ${-r / 2}h${r / 2}v${-r / 2}h${r}v${r / 2}h${r / 2}v${r}` +
	    `h${-r / 2}v${r / 2}h${-r}v${-r / 2}h${-r / 2}z`,
];

// marker I [CLASS]: the shape of series i
export function marker(i, name = 'passed') {
	return svg('path', { class: `point ${name} s${i % SERIES}`,
		d: shapes[i % SERIES](4) });
}

export function legendMark(i) {
	return svg('svg', { class: 'mark-of', viewBox: '-14 -7 28 14',
		'aria-hidden': 'true' },
	svg('path', { class: `rate s${i % SERIES}`, d: 'M-14 0H14' }), marker(i));
}

// Which points get a label at the axis: as many as fit, the last always.
function ticks(n, room) {
	const step = Math.max(1, Math.ceil((n + 1) / Math.max(2, room)));
	return Array.from({ length: n + 1 }, (_, i) => i).filter((i) =>
		(n - i) % step === 0);
}

/*
 * lines POINTS WIDTH LABEL: the pass rate, one line for each series. A point is
 * { rate, score, state, series, day, href, words }; filled: the run passed. If
 * there is one series, its score is a dashed line. Points have equal distances,
 * since suites run in bursts.
 */
export function lines(points, w, label) {
	const left = 44, right = w - 24, top = 14, height = w < 420 ? 190 : 220;
	const n = points.length - 1, low = height - 30;
	const x = (i) => left + (right - left) * (n === 0 ? 0.5 : i / n);
	const y = (v) => top + (low - top) * (1 - v);
	const text = (words, at, base, anchor) => svg('text', { x: at, y: base,
		'text-anchor': anchor }, words);
	const all = [...new Set(points.map((p) => p.series))];
	const path = (key, name, series) => svg('path', { class: name,
		d: points.map((p, i) => [p, i]).filter(([p]) => p.series === series)
			.map(([p, i], k) => `${k === 0 ? 'M' : 'L'}${x(i)} ${y(p[key])}`)
			.join('') });
	const days = ticks(n, Math.floor((right - left) / 76));

	return svg('svg', { class: 'lines', width: w, height, role: 'group',
		viewBox: `0 0 ${w} ${height}`, 'aria-label': label },
	svg('g', { 'aria-hidden': 'true' }, [0, 0.25, 0.5, 0.75, 1].map((v) => [
		svg('line', { class: v === 0 ? 'axis' : null, x1: left, x2: right,
			y1: y(v), y2: y(v) }),
		text(percent(v), left - 10, y(v) + 4, 'end')]),
	days.map((i) => [svg('line', { class: 'axis', x1: x(i), x2: x(i),
		y1: low, y2: low + 5 }),
	text(points[i].day, x(i), low + 19, 'middle')]),
	all.length === 1 && path('score', 'score', all[0]),
	all.map((s) => path('rate', `rate s${s % SERIES}`, s))),
	points.map((p, i) => svg('a', { href: p.href, 'aria-label': p.words,
		transform: `translate(${x(i)} ${y(p.rate)})` },
	svg('circle', { class: 'hit', r: 10 }), marker(p.series, p.state),
	svg('title', {}, p.words))));
}

// A step of 1, 2 or 5 times a power of ten, at least X.
function nice(x) {
	const p = 10 ** Math.floor(Math.log10(x));
	return [1, 2, 5, 10].map((k) => k * p).find((v) => v >= x * 0.999);
}

// interval MEAN LOWER UPPER: the confidence interval of a change of the score,
// at the size that the window allows, so that the numbers stay readable
export function interval(mean, lo, hi, name, label) {
	const step = nice(Math.max(Math.abs(lo), Math.abs(hi), 0.01) / 2);
	const w = Math.min(500, innerWidth - 60), mid = w / 2;
	const x = (v) => mid + v / step * w * 0.22;
	const digits = Math.max(1, Math.ceil(-Math.log10(step)));
	const line = (kind, x1, x2, y1, y2) =>
		svg('line', { class: kind, x1, x2, y1, y2 });

	return svg('svg', { class: `interval ${name}`, role: 'img',
		viewBox: `0 0 ${w} 48`, 'aria-label': label },
	line('', 10, w - 10, 16, 16), line('zero', mid, mid, 4, 28),
	[-2, -1, 0, 1, 2].map((k) => [line('', x(k * step), x(k * step), 24, 28),
		svg('text', { x: x(k * step), y: 43, 'text-anchor': 'middle' },
		    signed(k * step, digits))]),
	line('range', x(lo), x(hi), 16, 16),
	svg('circle', { class: 'mean', cx: x(mean), cy: 16, r: 5 }));
}
