// Reads registers of devices in turn at a rate, whether or not the last answer has come; then steps one tick at a time.
// Arguments: port, devices, seconds, requests per second, steps. Prints one line of JSON: milliseconds of reads and of steps.
import { Agent, request } from 'node:http';

const [port, devices, seconds, ratePerS, steps] = process.argv.slice(2).map(Number);
const warmups = 40;
const agent = new Agent({ keepAlive: true });

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: `/api/sim/${path}`, method, agent };
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request({ ...options, headers }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`${path}: status ${answer.statusCode}: ${Buffer.concat(chunks)}`));
      });
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function took(act) {
  const begin = performance.now();
  await act();
  return performance.now() - begin;
}

const summary = (times) => {
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.floor((times.length - 1) * part)] ?? null;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
};

const readOf = (n) => ask('GET', `registers/701?device=${(n * 37) % devices}&points=W`);

// a process loads its REST interface with the first request
for (let n = 0; n < warmups; n += 1) await readOf(n);
const pending = [];
const begin = performance.now();
for (let asked = 0; asked < seconds * ratePerS; asked += 1) {
  const due = begin + (asked * 1000) / ratePerS;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  pending.push(took(() => readOf(asked)));
}
const reads = await Promise.all(pending);
const stepped = [];
if (steps > 0) await ask('POST', 'controls/time', { mode: 'paused' });
for (let step = 0; step < steps; step += 1) stepped.push(await took(() => ask('POST', 'controls/time/step', {})));
process.stdout.write(`${JSON.stringify({ reads: summary(reads), steps: summary(stepped) })}\n`, () => process.exit(0));
