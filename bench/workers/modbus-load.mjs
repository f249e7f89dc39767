// The load generator of modbus_load.c for machines without a C compiler: same arguments, same output. It costs about
// as much per request as a server in Node, so that fast servers look slower than they are.
import { connect } from 'node:net';

const [port, connections, outstanding, warmupMs, measureMs] = process.argv.slice(2).map(Number);
const answerLength = 259;
let samples = null;

function fail(text) {
  process.stderr.write(`modbus-load: ${text}\n`);
  process.exit(1);
}

function run() {
  const sent = new Float64Array(65536);
  const requests = Buffer.alloc(12 * outstanding);
  let nextId = 0;
  let expectedId = 0;
  let rest = Buffer.alloc(0);
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const ask = (count) => {
    const now = performance.now();
    for (let i = 0; i < count; i += 1) {
      requests.set([nextId >> 8, nextId & 255, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 125], 12 * i);
      sent[nextId] = now;
      nextId = (nextId + 1) & 0xffff;
    }
    socket.write(Buffer.from(requests.subarray(0, 12 * count)));
  };
  socket.on('connect', () => ask(outstanding));
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the server closed a connection'));
  socket.on('data', (chunk) => {
    const now = performance.now();
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    let count = 0;
    if (bytes.length >= 9 && (bytes[7] & 0x80) !== 0) fail('exception answer');
    for (; bytes.length - at >= answerLength; at += answerLength) {
      const id = bytes.readUInt16BE(at);
      if (id !== expectedId || bytes.readUInt32BE(at + 2) !== answerLength - 6 || bytes[at + 7] !== 3 || bytes[at + 8] !== 250) fail('wrong answer');
      expectedId = (id + 1) & 0xffff;
      samples?.push(now - sent[id]);
      count += 1;
    }
    rest = bytes.subarray(at);
    if (count > 0) ask(count);
  });
}

for (let i = 0; i < connections; i += 1) run();
setTimeout(() => {
  samples = [];
  const begin = performance.now();
  setTimeout(() => {
    const seconds = (performance.now() - begin) / 1000;
    if (samples.length === 0) fail('no answer was measured');
    const us = Float64Array.from(samples, (ms) => ms * 1000).sort();
    const at = (part) => us[Math.floor((us.length - 1) * part)];
    process.stdout.write(`${JSON.stringify({ requests: us.length, seconds, p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1) })}\n`, () => process.exit(0));
  }, measureMs);
}, warmupMs);
