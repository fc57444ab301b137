// map: one cell for each task of a run, in suite order. It is a canvas, so that
// ten thousand changing cells stay fast; the list below has the same content.
// States differ in shape and colour.
import { h, plain } from './dom.js';

const inks = { passed: 'good', failed: 'bad', error: 'warn', running: 'accent',
	pending: 'edge', cancelled: 'dim', skipped: 'dim', cut: 'panel' };

// The current colours, since a canvas does not use the style sheet.
function colours() {
	const probe = h('span', { hidden: true }), found = {};
	document.body.append(probe);
	for (const [state, name] of Object.entries(inks)) {
		probe.style.color = `var(--${name})`;
		found[state] = getComputedStyle(probe).color;
	}
	probe.remove();
	return found;
}

function disc(c, x, y, s, r) {
	c.beginPath();
	c.arc(x + s / 2, y + s / 2, r, 0, 7);
}

const shapes = {
	passed(c, x, y, s) {
		disc(c, x, y, s, s / 2);
		c.fill();
	},
	failed(c, x, y, s, cut) {
		c.fillRect(x, y, s, s);
		if (s < 8)
			return;
		c.strokeStyle = cut;
		c.lineWidth = s / 8;
		c.beginPath();
		for (const [a, b] of [[0.3, 0.7], [0.7, 0.3]]) {
			c.moveTo(x + s * a, y + s * 0.3);
			c.lineTo(x + s * b, y + s * 0.7);
		}
		c.stroke();
	},
	error(c, x, y, s) {
		c.beginPath();
		c.moveTo(x + s / 2, y);
		c.lineTo(x + s, y + s);
		c.lineTo(x, y + s);
		c.fill();
	},
	running(c, x, y, s) {
		c.lineWidth = Math.max(1.5, s / 6);
		disc(c, x, y, s, (s - c.lineWidth) / 2);
		c.stroke();
	},
	pending(c, x, y, s) {
		disc(c, x, y, s, Math.max(1, s / 6));
		c.fill();
	},
};

// state(i) is the state of task i, name(i) its name, open(i) opens it
export class TaskMap {
	constructor(state, name, open) {
		Object.assign(this, { state, name, open, n: 0 });
		this.canvas = h('canvas.map', { role: 'img',
			onclick: (e) => this.open(this.under(e)),
			onmousemove: (e) => this.hover(this.under(e)) });
		this.element = h('div', this.canvas);
		this.watch = new ResizeObserver(() => this.draw());
		this.watch.observe(this.element);
	}

	draw(n = this.n, words = this.words) {
		const w = this.element.clientWidth, dpr = devicePixelRatio || 1;
		const size = n <= 120 ? 16 : n <= 600 ? 11 : n <= 3000 ? 8 : 5;
		const step = size + Math.min(3, size / 3);
		const across = Math.max(1, Math.floor((w + 3) / step));
		const height = Math.ceil(n / across) * step, ink = colours();
		const c = this.canvas.getContext('2d');

		Object.assign(this, { n, words, step, across });
		if (w === 0)
			return;
		this.canvas.width = Math.round(w * dpr);
		this.canvas.height = Math.round(height * dpr);
		this.canvas.style.width = `${w}px`;
		this.canvas.style.height = `${height}px`;
		this.canvas.setAttribute('aria-label', words);
		c.scale(dpr, dpr);
		for (let i = 0; i < n; i++) {
			const state = this.state(i);
			c.fillStyle = c.strokeStyle = ink[state];
			(shapes[state] || shapes.pending)(c, i % across * step,
			    Math.floor(i / across) * step, size, ink.cut);
		}
	}

	under(e) {
		const box = this.canvas.getBoundingClientRect();
		const col = Math.floor((e.clientX - box.left) / this.step);
		const row = Math.floor((e.clientY - box.top) / this.step);
		return col < this.across ? row * this.across + col : -1;
	}

	hover(i) {
		const name = this.name(i);
		this.canvas.title = name ? plain(`${name}: ${this.state(i)}`) : '';
		this.canvas.style.cursor = name ? 'pointer' : '';
	}
}
