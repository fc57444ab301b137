// format: numbers, times and states for display.
import { h } from './dom.js';

const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en',
    { notation: 'compact', maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat(undefined,
    { year: 'numeric', month: 'short', day: 'numeric' });
const dayOfYear = new Intl.DateTimeFormat(undefined,
    { month: 'short', day: 'numeric' });
const toMinute = new Intl.DateTimeFormat(undefined,
    { dateStyle: 'medium', timeStyle: 'short' });
const full = new Intl.DateTimeFormat(undefined,
    { dateStyle: 'medium', timeStyle: 'medium' });
const NONE = '–';

function isNumber(x) {
	return typeof x === 'number' && Number.isFinite(x);
}

export function count(n) {
	return isNumber(n) ? whole.format(n) : NONE;
}

export function few(n) {
	return isNumber(n) ? short.format(n) : NONE;
}

// plural N WORD: "1 task", "2 tasks"
export function plural(n, word) {
	return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}

// Rounded to a tenth, but only 1 is 100%, and only 0 is 0%.
export function percent(x) {
	if (!isNumber(x))
		return NONE;
	const p = x > 0.999 && x < 1 ? 99.9 : x > 0 && x < 0.001 ? 0.1 :
	    Math.round(x * 1000) / 10;
	return `${Number.isInteger(p) ? p : p.toFixed(1)}%`;
}

export function score(x) {
	return isNumber(x) ? x.toFixed(2) : NONE;
}

export function signed(x, digits = 2) {
	if (!isNumber(x))
		return NONE;
	const s = Math.abs(x).toFixed(digits);
	return Number(s) === 0 ? s : `${x < 0 ? '−' : '+'}${s}`;
}

export function points(x) {
	return isNumber(x) ? `${signed(x * 100, 1)} points` : NONE;
}

export function cost(x) {
	return isNumber(x) ? `$${x.toFixed(x < 1 ? 4 : 2)}` : NONE;
}

export function duration(ms) {
	if (!isNumber(ms))
		return NONE;
	if (ms < 1000)
		return `${Math.round(ms)} ms`;
	if (ms < 59950)
		return `${(ms / 1000).toFixed(1)} s`;
	const s = Math.round(ms / 1000);
	const two = (n) => String(n).padStart(2, '0');
	return s < 3600 ? `${Math.floor(s / 60)} min ${two(s % 60)} s` :
	    `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`;
}

export function minute(iso) {
	const t = Date.parse(iso);
	return Number.isNaN(t) ? NONE : toMinute.format(t);
}

export function exactly(iso) {
	const t = Date.parse(iso);
	return Number.isNaN(t) ? NONE : full.format(t);
}

export function shortDay(iso) {
	const t = Date.parse(iso);
	return Number.isNaN(t) ? NONE : dayOfYear.format(t);
}

export function when(iso, now = Date.now()) {
	const t = Date.parse(iso);
	if (Number.isNaN(t))
		return NONE;
	const s = (now - t) / 1000;
	if (s < 60)
		return 'just now';
	if (s < 3600)
		return `${Math.floor(s / 60)} min ago`;
	if (s < 86400)
		return `${Math.floor(s / 3600)} h ago`;
	if (s < 7 * 86400)
		return `${plural(Math.floor(s / 86400), 'day')} ago`;
	return day.format(t);
}

export function time(iso) {
	return h('time', { datetime: iso, title: exactly(iso) }, when(iso));
}

// States with a shape and a colour; any other word counts as an error.
const states = ['passed', 'failed', 'running', 'pending', 'cancelled',
	'skipped'];

export function taskState(word) {
	return states.includes(word) ? word : 'error';
}

export function runState(run) {
	return run.status === 'completed' ? run.ok ? 'passed' : 'failed' :
	    run.status === 'failed' ? 'error' : taskState(run.status);
}

// Tasks by outcome. Some results files count errors as failures, others
// separately; this works for both.
export function parts(s) {
	const errors = s.errors || 0, skipped = s.skipped || 0;
	return { passed: s.passed, errors, skipped,
		failed: Math.max(0, s.total - s.passed - errors - skipped) };
}

// The outcome of the tasks as text, also the label of a bar.
export function tally(s) {
	if (!s)
		return 'no result yet';
	const p = parts(s);
	return [`${count(p.passed)} of ${plural(s.total, 'task')} passed`,
		p.failed > 0 && `${count(p.failed)} failed`,
		p.errors > 0 && plural(p.errors, 'error'),
		p.skipped > 0 && `${count(p.skipped)} skipped`,
	].filter(Boolean).join(', ');
}
