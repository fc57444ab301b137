// api: requests to the server that this page came from, and its streams.
// The token is kept in this tab and sent as a header. Event streams cannot set
// headers, so for them the token is in the address.
import { byId } from './dom.js';

const base = new URL('api/v1/', document.baseURI);
const KEY = 'waza-token', AGAIN_MS = 1000, AGAIN_MAX_MS = 30000;

// A failed request; status 0: the server did not answer.
class Trouble extends Error {
	constructor(status, message, data) {
		super(message);
		Object.assign(this, { status, data });
	}
}

// If storage is forbidden, the token lasts only as long as the page.
function withStorage(fn) {
	try {
		return fn(sessionStorage);
	} catch {
		return null;
	}
}

let token = withStorage((s) => s.getItem(KEY)), asking = null;

// All waiting requests share one dialog.
function askForToken() {
	const box = byId('token-box'), field = byId('token');
	if (token)
		byId('token-why').textContent = 'The server did not accept that token.';
	asking = asking || new Promise((done) => {
		box.onclose = () => {
			token = field.value.trim();
			withStorage((s) => s.setItem(KEY, token));
			field.value = '';
			asking = null;
			done();
		};
		box.showModal();
	});
	return asking;
}

async function trouble(answer) {
	const { error: e = {} } = await answer.json().catch(() => ({}));
	return new Trouble(answer.status,
	    e.message || `The server answered ${answer.status}.`, e.data);
}

async function call(method, where, body) {
	for (;;) {
		const sent = token, headers = {};
		if (sent)
			headers.authorization = `Bearer ${sent}`;
		if (body)
			headers['content-type'] = 'application/json';
		const answer = await fetch(new URL(where, base), { method, headers,
			body: body && JSON.stringify(body), cache: 'no-store',
			redirect: 'error' }).catch(() => {
			throw new Trouble(0, 'The server does not answer.');
		});
		if (answer.status === 401) {
			if (sent === token)
				await askForToken();
		} else if (answer.ok)
			return answer;
		else
			throw await trouble(answer);
	}
}

export async function get(where) {
	return (await call('GET', where)).json();
}

export async function getText(where) {
	return (await call('GET', where)).text();
}

export async function post(where, body) {
	return (await call('POST', where, body)).json();
}

export function remove(where) {
	return call('DELETE', where);
}

// path PART...: the path of a request; parts may contain any character
export function path(...parts) {
	return parts.map(encodeURIComponent).join('/');
}

function linkState(word) {
	const el = byId('link-state');
	el.textContent = word;
	el.className = `link-state ${word}`;
}

/*
 * listen PATH EVENTS: calls the function of each type of event; returns a
 * function that stops. The browser reconnects by itself and sends the id of the
 * last event. When it gives up, the token may be wrong, so this makes another
 * request first, which then asks for a token. No event is delivered twice.
 *
 * lost() is called when the stream breaks, opened(again) when it is connected;
 * the caller has to fetch what happened before that.
 * pauses: a browser has six connections for all its tabs, so a hidden tab
 * closes its stream.
 */
export function listen(where, events, { pauses, lost, opened } = {}) {
	let source = null, seen = 0, wait = AGAIN_MS, timer = 0, again = false;

	function receive(type, e) {
		const seq = Number(e.lastEventId);
		if (seq > 0 && seq <= seen)
			return;
		seen = seq || seen;
		events[type](JSON.parse(e.data));
	}

	function failed() {
		linkState('reconnecting');
		if (source.readyState === EventSource.CLOSED) {
			timer = setTimeout(() => get('runs?limit=1').then(open, failed), wait);
			wait = Math.min(wait * 2, AGAIN_MAX_MS);
		}
		if (lost)
			lost();
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
			if (opened)
				opened(again);
			again = true;
		};
		for (const type of Object.keys(events))
			source.addEventListener(type, (e) => {
				// the browser's own "error" has no data
				if (e instanceof MessageEvent)
					receive(type, e);
			});
		source.addEventListener('error', (e) => {
			if (!(e instanceof MessageEvent))
				failed();
		});
	}

	function close() {
		clearTimeout(timer);
		if (source)
			source.close();
	}

	function onVisibility() {
		if (document.hidden)
			close();
		else
			open();
	}

	if (pauses)
		document.addEventListener('visibilitychange', onVisibility);
	open();
	return () => {
		document.removeEventListener('visibilitychange', onVisibility);
		close();
		linkState('');
	};
}
