// api: requests to the server that this page came from, and its streams.
// A token is kept in this tab and sent as a header; only streams, whose
// requests cannot have headers, have it in their address.
import { byId } from './dom.js';

const base = new URL('api/v1/', document.baseURI);
const KEY = 'waza-token';
const AGAIN_MS = 1000, AGAIN_MAX_MS = 30000;

// What a request came to, if not to an answer; status 0: nobody answered.
export class Trouble extends Error {
	constructor(status, kind, message, data) {
		super(message);
		this.status = status;
		this.kind = kind;
		this.data = data || {};
	}
}

// Storage may be forbidden: then the token lives as long as the page.
let token = null;
try {
	token = sessionStorage.getItem(KEY);
} catch {
	// see above
}

function keep(text) {
	token = text;
	try {
		sessionStorage.setItem(KEY, text);
	} catch {
		// see above
	}
}

// One box for all requests that wait for it.
let asking = null;

function ask(refused) {
	asking = asking || new Promise((done) => {
		const box = byId('token-box'), field = byId('token');

		if (refused)
			byId('token-why').textContent =
			    'The server did not accept that token.';
		box.oncancel = (e) => e.preventDefault();
		byId('token-form').onsubmit = () => {
			keep(field.value.trim());
			field.value = '';
			asking = null;
			done();
		};
		box.showModal();
	});
	return asking;
}

async function trouble(answer) {
	const text = await answer.text().catch(() => '');
	let e = {};
	try {
		e = JSON.parse(text).error || {};
	} catch {
		// not from us: a proxy, perhaps
	}
	return new Trouble(answer.status, e.kind || (e.data || {}).kind ||
	    'http', e.message || `the server answered ${answer.status}`, e.data);
}

async function call(method, path, body) {
	for (;;) {
		const sent = token, headers = { accept: 'application/json' };
		let answer;

		if (sent)
			headers.authorization = `Bearer ${sent}`;
		if (body !== undefined)
			headers['content-type'] = 'application/json';
		try {
			answer = await fetch(new URL(path, base), { method, headers,
				body: body && JSON.stringify(body), cache: 'no-store',
				redirect: 'error' });
		} catch {
			throw new Trouble(0, 'offline', 'the server does not answer');
		}
		if (answer.status === 401) {
			if (sent === token)
				await ask(sent !== null);
			continue;
		}
		if (!answer.ok)
			throw await trouble(answer);
		return answer;
	}
}

export async function get(path) {
	return (await call('GET', path)).json();
}

export async function getText(path) {
	return (await call('GET', path)).text();
}

export async function post(path, body) {
	return (await call('POST', path, body)).json();
}

export async function remove(path) {
	return (await call('DELETE', path)).json();
}

// path PART...: of a request; parts may hold anything
export function path(...parts) {
	return parts.map(encodeURIComponent).join('/');
}

function linkState(word) {
	const el = byId('link-state');
	el.textContent = word;
	el.className = `link-state ${word}`;
}

/*
 * listen PATH EVENTS: a function for each type of event; gives one that ends
 * it.  The browser connects again by itself, and says where it was; when it
 * gives up, so that a wrong token may be the reason, we ask the server for
 * something else first, which finds out.  No event is told twice.
 */
export function listen(where, events, { pauses = false, lost: gone = null } = {}) {
	let source = null, seen = 0, wait = AGAIN_MS, timer = 0, over = false;

	function hear(type, e) {
		const seq = Number(e.lastEventId);
		if (over || (seq > 0 && seq <= seen))
			return;
		seen = seq > 0 ? seq : seen;
		events[type](JSON.parse(e.data));
	}

	function lost() {
		linkState('reconnecting');
		if (gone)
			gone();
		if (over || source.readyState !== EventSource.CLOSED)
			return;
		timer = setTimeout(async () => {
			try {
				await get('runs?limit=1');
			} catch {
				// still away: the stream will say so again
			}
			if (!over && !(pauses && document.hidden))
				open();
		}, wait);
		wait = Math.min(wait * 2, AGAIN_MAX_MS);
	}

	function open() {
		const url = new URL(where, base);
		if (seen > 0)
			url.searchParams.set('lastEventId', seen);
		if (token)
			url.searchParams.set('access_token', token);
		close();
		source = new EventSource(url);
		source.onopen = () => {
			wait = AGAIN_MS;
			linkState('live');
		};
		// a stream may have events named "error", too
		source.onerror = (e) => {
			if (!(e instanceof MessageEvent))
				lost();
			else if (events.error)
				hear('error', e);
		};
		for (const type of Object.keys(events))
			if (type !== 'error')
				source.addEventListener(type, (e) => hear(type, e));
	}

	function close() {
		clearTimeout(timer);
		if (source)
			source.close();
	}

	// A browser has six connections for all of its tabs: those that nobody
	// looks at give theirs back.
	function looked() {
		if (document.hidden)
			close();
		else
			open();
	}

	if (pauses)
		document.addEventListener('visibilitychange', looked);
	open();
	return () => {
		over = true;
		document.removeEventListener('visibilitychange', looked);
		close();
		linkState('');
	};
}
