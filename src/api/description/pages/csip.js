// The management page of the IEEE 2030.5 client: shows what the REST interface says, every two seconds.
// What comes from the server is put into text nodes only.

const prefix = '/api/sim/';
const everyMs = 2000;
const byId = (id) => document.getElementById(id);

function address(path, query = {}) {
  const device = byId('device').value;
  const given = new URLSearchParams(device === '' ? query : { ...query, device });
  const text = given.toString();
  return prefix + path + (text === '' ? '' : `?${text}`);
}

async function answer(response) {
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? String(response.status));
  return body;
}

const read = async (path, query) => answer(await fetch(address(path, query)));

async function act(path, body) {
  try {
    // recording is one for all clients
    const url = path === 'csip/messages' ? prefix + path : address(path);
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    await answer(await fetch(url, init));
    byId('problem').textContent = '';
  } catch (error) {
    byId('problem').textContent = error.message;
  }
  await show();
}

function words(value) {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function element(name, content) {
  const made = document.createElement(name);
  if (content instanceof Node) made.append(content);
  else made.textContent = words(content);
  return made;
}

function row(cellName, cells) {
  const made = document.createElement('tr');
  made.append(...cells.map((cell) => element(cellName, cell)));
  return made;
}

/** A table with one line for each member. */
function members(id, object) {
  const rows = Object.entries(object ?? {}).map(([name, value]) => {
    const line = document.createElement('tr');
    line.append(element('th', name), element('td', value));
    return line;
  });
  byId(id).replaceChildren(...rows);
}

/** A table with one line for each item; columns are names of members, or [title, what makes the cell]. */
function list(id, columns, items) {
  const parts = columns.map((column) => (Array.isArray(column) ? column : [column, (item) => item[column]]));
  const head = row('th', parts.map(([title]) => title));
  byId(id).replaceChildren(head, ...items.map((item) => row('td', parts.map(([, cell]) => cell(item)))));
}

function button(text, run) {
  const made = element('button', text);
  made.addEventListener('click', run);
  return made;
}

function optButton({ mrid, opted_out: out }) {
  const path = `csip/controls/${mrid}/opt`;
  return button(out ? 'opt in' : 'opt out', () => act(path, JSON.stringify({ in: out })));
}

function showStatus(status) {
  byId('state').textContent = status.state;
  const { server, connection, time, metering } = status;
  members('status', {
    server: server && `${server.tls ? 'https' : 'http'}://${server.host}:${server.port}${server.dcap}`,
    cipher: server?.cipher,
    LFDI: status.lfdi,
    SFDI: status.sfdi,
    'last contact': connection.last_contact,
    'next attempt in s': connection.retry_in_s,
    'last error': connection.last_error,
    'loss of communication': connection.communication_lost,
    'time of the server': time?.server_time,
    'offset in s': time?.offset_s,
    'default control': status.default_control,
    'poll rates in s': status.poll_rates_s,
    readings: metering,
    subscriptions: status.subscriptions,
  });
  members('end-device', status.end_device);
}

async function show() {
  try {
    showStatus(await read('csip-client'));
    const { programs } = await read('csip/programs');
    list('programs', ['primacy', 'description', 'href', 'control_count', ['default', (item) => item.default_control?.modes]], programs);
    const { controls } = await read('csip/controls', { limit: 50 });
    const columns = ['state', 'effective_start', 'effective_duration_s', 'primacy', 'modes', 'left_out', 'description', 'mrid'];
    list('controls', [...columns, ['', optButton]], controls);
    const { responses } = await read('csip/responses', { limit: 50 });
    list('responses', ['created_at', 'status', 'status_text', 'result', 'attempts', 'last_error', 'mrid'], responses);
    const der = await read('csip/der');
    const sent = Object.entries(der).flatMap(([name, document]) => (document === null ? [] : [{ name, ...document }]));
    list('der', ['name', 'sent_at', 'result', 'http_status', 'body'], sent);
    const { sets } = await read('csip/readings');
    list('readings', ['description', 'uom', 'last_post', ['value', ({ values }) => values.at(-1)?.value]], sets);
    const found = await read('csip/diagnostics');
    const lines = ['errors', 'warnings', 'info'].flatMap((kind) => found[kind].map((item) => ({ kind, ...item })));
    list('diagnostics', ['kind', 'code', 'message'], lines);
    const { messages } = await read('csip/messages', { limit: 20 });
    const bodies = ['request_body', 'response_body'];
    list('messages', ['timestamp', 'method', 'url', 'status', 'error', ...bodies], messages.reverse());
  } catch (error) {
    byId('state').textContent = error.message;
  }
}

for (const each of document.querySelectorAll('#actions button'))
  each.addEventListener('click', () => act(each.dataset.path, each.dataset.body ?? '{}'));
byId('device').addEventListener('change', show);

async function follow() {
  await show();
  setTimeout(follow, everyMs);
}
void follow();
