// Clients that ask for as much work as one request can: each sends its next request when the last one is answered.
// Arguments: sort, number of clients, seconds (0: until killed), HTTP port, Modbus port, port of the protocol of the sort.
// Prints `ready` when it begins and, at the end, one line of JSON.
import { Agent, createServer, request } from 'node:http';
import { connect } from 'node:net';
import { WebSocketServer } from 'ws';

const [sort, ...numbers] = process.argv.slice(2);
const [clients, seconds, httpPort, modbusPort, peerPort] = numbers.map(Number);
const host = '127.0.0.1';
const agent = new Agent({ keepAlive: true, maxSockets: clients });
let answered = 0;
let octets = 0;

function ask(path, body) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const headers = text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    const sent = request(
      { host, port: httpPort, path: `/api/sim/${path}`, method: text === undefined ? 'GET' : 'POST', headers, agent },
      (response) => {
        response.on('data', (chunk) => {
          octets += chunk.length;
        });
        response.on('end', () => resolve(response.statusCode));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

async function forEver(path, body) {
  for (;;) {
    await ask(path, body).catch(() => new Promise((resolve) => setTimeout(resolve, 50)));
    answered += 1;
  }
}

/** A curve with as many points without members as fit into a body of 256 KiB with seven others. */
const empty = Array.from({ length: 9900 }, () => ({}));
const emptyCurves = JSON.stringify({
  volt_var: { points: empty },
  volt_watt: { points: empty },
  watt_var: { points: empty },
  lv_trip: { must_trip: { points: empty }, may_trip: { points: empty } },
  hv_trip: { must_trip: { points: empty }, may_trip: { points: empty } },
  lf_trip: { must_trip: { points: empty } },
});

/** FC3 of 125 registers from 40000, so often in one segment. */
const reads = Buffer.concat(
  Array.from({ length: 20 }, (_, i) => Buffer.from([0, i, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 125])),
);
const answerLength = 259 * 20;

function pipeline() {
  const socket = connect({ port: modbusPort, host, noDelay: true });
  let got = 0;
  socket.on('error', () => undefined);
  socket.on('connect', () => socket.write(reads));
  socket.on('data', (chunk) => {
    got += chunk.length;
    octets += chunk.length;
    if (got < answerLength) return;
    got -= answerLength;
    answered += 20;
    socket.write(reads);
  });
}

/** Asks for an answer and takes a few octets of it now and then. */
function sip(path) {
  const socket = connect({ port: httpPort, host });
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => sip(path), 100));
  socket.on('readable', () => undefined);
  socket.write(`GET /api/sim/${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(8));
  setInterval(() => {
    octets += socket.read(16)?.length ?? 0;
  }, 1000).unref();
}

/** A scenario of 10,000 steps from a body of some 200 octets. */
const manySteps = JSON.stringify({
  scenario: {
    steps: [
      {
        repeat: 10_000,
        steps: [{ at: '${round}', registers: { 704: { WMaxLimPct: '${round % 100}' } }, expect: { point: '701.W', below: 1e6 } }],
      },
    ],
  },
});

/** Keeps a scenario and forgets it, again and again. */
async function keepAndForget() {
  for (;;) {
    await ask('scenarios', manySteps).catch(() => undefined);
    for (const id of await kept()) await remove(id).catch(() => undefined);
    answered += 1;
  }
}

const json = (path) => fetch(`http://${host}:${httpPort}/api/sim/${path}`).then((answer) => answer.json());
const kept = () => json('scenarios').then(({ scenarios }) => scenarios.map(({ id }) => id), () => []);
const remove = (id) => fetch(`http://${host}:${httpPort}/api/sim/scenarios/${id}`, { method: 'DELETE' });

/** Silent connections to the outstation, and one that sends frames of zeros, each made anew when it is closed. */
function crowd(silent) {
  const socket = connect({ port: peerPort, host });
  let end = false;
  const frames = Buffer.alloc(65_536);
  const flood = () => {
    if (!end && socket.write(frames)) setImmediate(flood);
  };
  socket.on('error', () => undefined);
  socket.on('close', () => {
    end = true;
    setTimeout(() => crowd(silent), 20);
  });
  if (silent) return;
  socket.on('connect', flood);
  socket.on('drain', flood);
}

/** A central system that sends pings and calls as fast as the stations take them. */
function centralSystem() {
  const server = new WebSocketServer({ port: peerPort, host, handleProtocols: ([first]) => first });
  server.on('connection', (socket) => {
    let id = 0;
    const flood = () => {
      if (socket.readyState !== socket.OPEN) return;
      for (let n = 0; n < 50 && socket.bufferedAmount < 1e6; n += 1) {
        socket.ping();
        socket.send(JSON.stringify([2, String((id += 1)), 'GetConfiguration', {}]));
      }
      setImmediate(flood);
    };
    socket.on('error', () => undefined);
    flood();
  });
}

const sep = (name, attributes, content = '') => `<${name} xmlns="urn:ieee:std:2030.5:ns" ${attributes}>${content}</${name}>`;
const endDevice = (n) =>
  `<EndDevice href="/edev/${n}"><lFDI>${String(n).padStart(40, '0')}</lFDI><sFDI>${n}</sFDI><changedTime>0</changedTime></EndDevice>`;
const endDevices = Array.from({ length: 255 }, (_, n) => endDevice(n)).join('');

/** A head-end with endless lists, read every second. */
function headEnd() {
  const server = createServer((asked, response) => {
    const isList = asked.url.startsWith('/edev');
    const body = isList
      ? sep('EndDeviceList', `href="/edev" all="1000000" results="255" pollRate="1"`, endDevices)
      : sep('DeviceCapability', 'href="/dcap" pollRate="1"', '<EndDeviceListLink href="/edev" all="1000000"/>');
    response.writeHead(200, { 'Content-Type': 'application/sep+xml' });
    response.end(body);
    answered += 1;
  });
  server.listen(peerPort, host);
}

const sorts = {
  'empty points': { run: () => forEver('grid-support', emptyCurves) },
  trace: { run: () => forEver('grid-support/trace?limit=5000') },
  metrics: { run: () => forEver('metrics') },
  battery: { run: () => forEver('battery') },
  faults: { prepare: () => injectMany(), run: () => forEver('faults') },
  'faulty reads': { prepare: () => injectMany(), run: pipeline },
  'reads by chance': { prepare: () => injectMany({ probability: 0.5 }), run: pipeline },
  'slow readers': { run: () => sip('grid-support/trace?limit=5000') },
  scenarios: { run: keepAndForget },
  'DNP3 crowd': { run: (n) => crowd(n > 0) },
  'central system': { isServer: true, run: centralSystem },
  'head-end': { isServer: true, run: headEnd },
};

async function injectMany(further = {}) {
  const fault = { kind: 'scale', factor: 1.001, ...further };
  for (let i = 0; i < 10; i += 1) {
    const status = await ask('faults', { inject: Array.from({ length: 100 }, () => fault) });
    if (status !== 200 && status !== 409) throw new Error(`faults were answered with ${status}`);
  }
}

const { prepare = async () => undefined, isServer = false, run } = sorts[sort] ?? {};
if (run === undefined) {
  process.stderr.write(`attackers: ${sort} is none of ${Object.keys(sorts).join(', ')}\n`);
  process.exit(1);
}
await prepare();
for (let i = 0; i < (isServer ? 1 : clients); i += 1) void run(i);
process.stdout.write('ready\n');
if (seconds > 0)
  setTimeout(() => {
    process.stdout.write(`${JSON.stringify({ answered, octets })}\n`, () => process.exit(0));
  }, seconds * 1000);
