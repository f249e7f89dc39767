// The load generator of http_load.c for machines without a C compiler: same arguments, same output. It costs about as
// much per request as a server in Node.
import { connect } from 'node:net';

const [port, path, connections, warmupMs, measureMs] = process.argv.slice(2).map((text, i) => (i === 1 ? text : Number(text)));
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\n\r\n`);
let samples = null;

function fail(text) {
  process.stderr.write(`http-load: ${text}\n`);
  process.exit(1);
}

function lengthOf(answer) {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return 0;
  const head = answer.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200 ')) fail('the status is not 200');
  const length = /\r\nContent-Length: (\d+)/.exec(head)?.[1];
  if (length === undefined) fail('no Content-Length');
  return end + 4 + Number(length);
}

function run() {
  let held = [];
  let bytes = 0;
  let whole = 0;
  let sent = 0;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const ask = () => {
    sent = performance.now();
    socket.write(request);
  };
  socket.on('connect', ask);
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the server closed a connection'));
  socket.on('data', (chunk) => {
    held.push(chunk);
    bytes += chunk.length;
    if (whole === 0) whole = lengthOf(held.length > 1 ? Buffer.concat(held) : chunk);
    if (whole === 0 || bytes < whole) return;
    if (bytes > whole) fail('the answer is longer than it says');
    samples?.push(performance.now() - sent);
    [held, bytes, whole] = [[], 0, 0];
    ask();
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
    process.stdout.write(`${JSON.stringify({ requests: us.length, seconds, p50Us: at(0.5), p99Us: at(0.99) })}\n`, () => process.exit(0));
  }, measureMs);
}, warmupMs);
