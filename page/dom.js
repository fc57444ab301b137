// dom: creates elements from plain values. Foreign data becomes a text node or
// an attribute, never markup; the content security policy forbids the rest.
const SVG = 'http://www.w3.org/2000/svg';
const shown = new Set(['title', 'aria-label', 'label', 'placeholder']);
const props = new Set(['value', 'checked', 'disabled', 'hidden', 'open']);

// Control characters are made visible, since some of them reverse the text;
// terminal colours are removed.
const colour = /\x1b\[[0-9;:]*m/g;
const control = /[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g;

export function plain(text) {
	return String(text ?? '').replace(/\r\n/g, '\n').replace(colour, '')
		.replace(control, (c) => c < ' ' ?
		    String.fromCharCode(0x2400 + c.charCodeAt(0)) :
		    `⟨U+${c.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

// Flattens nested lists; null, undefined and false are skipped.
function fill(el, attributes, kids) {
	for (const [name, value] of Object.entries(attributes))
		if (name.startsWith('on'))
			el.addEventListener(name.slice(2), value);
		else if (props.has(name))
			el[name] = value;
		else if (value !== null && value !== undefined && value !== false)
			el.setAttribute(name, shown.has(name) ? plain(value) : value);
	el.append(...kids.flat(Infinity).filter((k) => k !== null &&
	    k !== undefined && k !== false).map((k) =>
		k instanceof Node ? k : plain(k)));
	return el;
}

// h NAME[.CLASS...] [ATTRIBUTES] KID...
export function h(what, ...kids) {
	const [name, ...classes] = what.split('.'), first = kids[0];
	const el = document.createElement(name);
	if (classes.length > 0)
		el.className = classes.join(' ');
	return first && first.constructor === Object ?
	    fill(el, first, kids.slice(1)) : fill(el, {}, kids);
}

export function svg(name, attributes, ...kids) {
	return fill(document.createElementNS(SVG, name), attributes, kids);
}

export function button(word, onclick, more) {
	return h('button', { type: 'button', onclick, ...more }, word);
}

// field ID LABEL INPUT HELP...: an input with its label, and help below it
export function field(id, label, input, ...help) {
	input.id = id;
	input.setAttribute('aria-describedby', `${id}-help`);
	return h('div.field', h('label', { for: id }, label), input,
	    h('small', { id: `${id}-help` }, ...help));
}

export function dim(...kids) {
	return h('span.dim', ...kids);
}

// The heading, which gets the focus when its view is opened.
export function title(...kids) {
	return h('h1', { tabindex: '-1' }, ...kids);
}

export function icon(name, label) {
	return svg('svg', { class: `icon ${name}`, role: label ? 'img' : null,
		'aria-label': label, 'aria-hidden': !label && 'true' },
	svg('use', { href: `#i-${name}` }));
}

// badge STATE WORD: a state as shape, colour and word
export function badge(state, word) {
	return h('span', { class: `badge ${state}` }, icon(state), word || state);
}

// to PART...: the address of a view
export function to(...parts) {
	return '#/' + parts.map(encodeURIComponent).join('/');
}

// go HREF: opens a view; the current view is reloaded
export function go(href) {
	if (href === location.hash)
		dispatchEvent(new HashChangeEvent('hashchange'));
	else if (href)
		location.hash = href;
}

export function byId(id) {
	return document.getElementById(id);
}

// For screen readers.
export function announce(text) {
	byId('live').textContent = text;
}

// bar PARTS LABEL: parts of a whole, [class, share] each
export function bar(parts, label) {
	const el = h('span.bar', { role: 'img', 'aria-label': label });
	for (const [name, share] of parts) {
		const part = h('span', { class: name });
		part.style.width = `${share * 100}%`;
		el.append(part);
	}
	return el;
}

// Replaces the kids of an element; the focus stays at the same index.
export function swap(el, ...kids) {
	const all = () => [...el.querySelectorAll('a, button, select')];
	const had = all().indexOf(document.activeElement);
	el.replaceChildren(...kids);
	if (all()[had])
		all()[had].focus({ preventScroll: true });
}

// Throttles fn: at most one call per interval, at its end.
export function slowly(fn, ms) {
	let timer = 0;
	const later = () => {
		timer = timer || setTimeout(() => {
			timer = 0;
			fn();
		}, ms);
	};
	later.stop = () => clearTimeout(timer);
	return later;
}
