// command: a command to copy, and what is shown instead of an empty list.
import { announce, button, h } from './dom.js';

// Without a clipboard the text is selected, so that Ctrl+C copies it.
async function copy(text, code, b) {
	try {
		await navigator.clipboard.writeText(text);
		b.textContent = 'Copied';
		announce('Copied.');
		setTimeout(() => {
			b.textContent = 'Copy';
		}, 2000);
	} catch {
		getSelection().selectAllChildren(code);
		announce('The command is selected.');
	}
}

export function command(text) {
	const code = h('code', text);
	const b = button('Copy', () => copy(text, code, b),
	    { 'aria-label': `Copy ${text}` });
	return h('div.command', code, b);
}

// empty HEAD TEXT COMMAND [KID...]: an empty list, and how to fill it
export function empty(head, text, line, ...kids) {
	return h('div.empty', h('b', head), h('p', text), line && command(line),
	    kids);
}
