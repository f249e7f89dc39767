// Clients that ask for as much work as one request can: each sends its next request when the last one is answered.
// Arguments: sort, number of clients, seconds (0: until killed), HTTP port, Modbus port. Prints `ready` when it begins
// and, at the end, one line of JSON.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

const [sort, ...numbers] = process.argv.slice(2);
const [clients, seconds, httpPort, modbusPort] = numbers.map(Number);
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

const sorts = {
  'empty points': { run: () => forEver('grid-support', emptyCurves) },
  trace: { run: () => forEver('grid-support/trace?limit=5000') },
  metrics: { run: () => forEver('metrics') },
  battery: { run: () => forEver('battery') },
  faults: { prepare: () => injectMany(), run: () => forEver('faults') },
  'faulty reads': { prepare: () => injectMany(), run: pipeline },
  'reads by chance': { prepare: () => injectMany({ probability: 0.5 }), run: pipeline },
  'slow readers': { run: () => sip('grid-support/trace?limit=5000') },
};

async function injectMany(further = {}) {
  const fault = { kind: 'scale', factor: 1.001, ...further };
  for (let i = 0; i < 10; i += 1) {
    const status = await ask('faults', { inject: Array.from({ length: 100 }, () => fault) });
    if (status !== 200 && status !== 409) throw new Error(`faults were answered with ${status}`);
  }
}

const { prepare = async () => undefined, run } = sorts[sort] ?? {};
if (run === undefined) {
  process.stderr.write(`attackers: ${sort} is none of ${Object.keys(sorts).join(', ')}\n`);
  process.exit(1);
}
await prepare();
for (let i = 0; i < clients; i += 1) void run();
process.stdout.write('ready\n');
if (seconds > 0)
  setTimeout(() => {
    process.stdout.write(`${JSON.stringify({ answered, octets })}\n`, () => process.exit(0));
  }, seconds * 1000);
