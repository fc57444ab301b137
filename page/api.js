// api: requests to the server that this page came from, and its streams.
// A token is kept in this tab and sent as a header; only streams, whose
// requests cannot have headers, have it in their address.
import { byId } from './dom.js';

const base = new URL('api/v1/', document.baseURI);
const KEY = 'waza-token', AGAIN_MS = 1000, AGAIN_MAX_MS = 30000;

// What a request came to, if not to an answer; status 0: nobody answered.
class Trouble extends Error {
	constructor(status, message, data) {
		super(message);
		Object.assign(this, { status, data });
	}
}

// Storage may be forbidden: then the token lives as long as the page.
function stored(fn) {
	try {
		return fn(sessionStorage);
	} catch {
		return null;
	}
}

let token = stored((s) => s.getItem(KEY)), asking = null;

// One box for all requests that wait for it.
function ask() {
	const box = byId('token-box'), field = byId('token');
	if (token)
		byId('token-why').textContent = 'The server did not accept that token.';
	asking = asking || new Promise((done) => {
		box.onclose = () => {
			token = field.value.trim();
			stored((s) => s.setItem(KEY, token));
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
				await ask();
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
 * gives up, a wrong token may be the reason, so that we ask the server for
 * something else first, which finds out.  No event is told twice.
 *
 * lost() is called when the stream has gone away, opened(again) when it is
 * there: what happened before it was is for the caller to find out.
 * pauses: a browser has six connections for all of its tabs, so that a tab that
 * nobody looks at gives this one back.
 */
export function listen(where, events, { pauses, lost, opened } = {}) {
	let source = null, seen = 0, wait = AGAIN_MS, timer = 0, again = false;

	function hear(type, e) {
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
					hear(type, e);
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
		document.removeEventListener('visibilitychange', looked);
		close();
		linkState('');
	};
}
