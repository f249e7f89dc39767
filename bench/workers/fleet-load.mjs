// Masters that poll at a rate: each sends one FC3 request of 125 registers at a random instant of each slot, so that
// no master stays in step with the ticks, whether or not the last answer has come.
// Arguments: seconds, requests per second and master, and one port per master. Prints one line of JSON.
import { connect } from 'node:net';

const [seconds, ratePerS, ...ports] = process.argv.slice(2).map(Number);
const slotMs = 1000 / ratePerS;
const answerLength = 259;
const latencies = [];
let asked = 0;

function fail(text) {
  process.stderr.write(`fleet-load: ${text}\n`);
  process.exit(1);
}

/** Of each master, what it has asked for and not got, oldest first. */
const waiting = [];

function master(port) {
  const sent = [];
  waiting.push(sent);
  let id = 0;
  let rest = Buffer.alloc(0);
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', (error) => fail(`port ${port}: ${error.message}`));
  socket.on('data', (chunk) => {
    const now = performance.now();
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    if (rest.length >= 9 && (rest[7] & 0x80) !== 0) fail('exception answer');
    for (; rest.length >= answerLength; rest = rest.subarray(answerLength)) {
      const first = sent.shift();
      if (rest.readUInt16BE(0) !== first?.id || rest.readUInt16BE(4) !== 253 || rest[8] !== 250) fail('wrong answer');
      latencies.push(now - first.at);
    }
  });
  return () => {
    id = (id + 1) & 0xffff;
    sent.push({ id, at: performance.now() });
    asked += 1;
    socket.write(Buffer.from([id >> 8, id & 255, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 125]));
  };
}

const masters = ports.map(master);
const begin = performance.now() + 500;
for (const ask of masters) {
  let slot = 0;
  const next = () => {
    if (slot >= seconds * ratePerS) return;
    const due = begin + (slot + Math.random()) * slotMs;
    slot += 1;
    setTimeout(() => { ask(); next(); }, Math.max(0, due - performance.now()));
  };
  next();
}
setTimeout(() => {
  const answered = latencies.length;
  // what has no answer yet has waited for so long at least
  for (const { at } of waiting.flat()) latencies.push(performance.now() - at);
  if (latencies.length === 0) fail('nothing was asked');
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor((latencies.length - 1) * part)];
  const result = { asked, answered, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, 500 + seconds * 1000 + 500);
