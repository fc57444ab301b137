// clients: connected evaluation clients and what they are doing.
import { badge, h, title } from './dom.js';
import { count, plural, time } from './format.js';
import { empty } from './command.js';
import { get, listen } from './api.js';
import { Table } from './table.js';

const columns = [
	{ id: 'state', label: 'Status', value: (c) => c.running,
		cell: (c) => c.running > 0 ? badge('running', 'busy') :
		    c.ready ? badge('passed', 'ready') : badge('pending', 'not ready') },
	{ id: 'name', label: 'Client', value: (c) => c.name || c.clientId,
		cell: (c) => [c.name || c.clientId, ' ',
			c.name && h('small', c.clientId)] },
	{ id: 'tools', label: 'Tools', value: (c) => (c.tools || []).join(', '),
		show: (tools) => tools || 'any' },
	{ id: 'work', label: 'Running', tag: 'running', number: true,
		value: (c) => c.running,
		cell: (c) => `${count(c.running)} of ${count(c.maxConcurrency)}` },
	{ id: 'done', label: 'Done', tag: 'done', number: true,
		value: (c) => c.done, show: count },
	{ id: 'bad', label: 'Failed', tag: 'failed', number: true,
		value: (c) => c.failed, show: count },
	{ id: 'when', label: 'Connected', number: true,
		value: (c) => Date.parse(c.connectedAt),
		cell: (c) => time(c.connectedAt) },
];

export async function showClients(root) {
	const sum = h('p.sum', { role: 'status' });
	const table = new Table({ label: 'clients', columns,
		key: (c) => c.clientId, stamp: (c) => JSON.stringify(c),
		empty: empty('No client is connected', 'Evaluation clients do the ' +
		    'tasks of the executor remote. To start one:',
		`waza worker ws://${location.host}/ws --tool NAME=COMMAND`) });

	function draw(found) {
		// a list, or an object that also has the queue length
		const clients = Array.isArray(found) ? found : found.clients;
		sum.textContent = plural(clients.length, 'client') + (found.queued ?
		    `, ${plural(found.queued, 'evaluation')} waiting` : '');
		sum.hidden = clients.length === 0 && !found.queued;
		table.set(clients);
	}

	draw(await get('clients'));
	root.append(title('Clients'), sum, table.element);
	return { title: 'Clients', table,
		stop: listen('events', { clients: draw }, { pauses: true }) };
}
