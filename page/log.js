// log: the events of a run as lines.
import { exactly } from './format.js';
import { h } from './dom.js';

// The log stays scrolled to its end, unless the user has scrolled up.
export class Log {
	constructor(live) {
		this.live = live;
		this.lines = h('ol.log', { role: 'log', 'aria-live': 'off',
			'aria-label': 'Log', tabindex: '0' });
		this.element = h('details', { open: true },
		    h('summary', 'Log'), this.lines);
	}

	draw() {
		const { log, lines } = this.live, box = this.lines;
		const low = box.scrollTop + box.clientHeight > box.scrollHeight - 8;
		this.element.hidden = lines === 0;
		if (lines === this.shown)
			return;
		this.shown = lines;
		box.replaceChildren(...log.map((l) => h('li', { class: l.kind },
		    h('time', { title: exactly(new Date(l.at * 1000)) },
			new Date(l.at * 1000).toLocaleTimeString()),
		    ` ${l.text}`)));
		if (low)
			box.scrollTop = box.scrollHeight;
	}
}
