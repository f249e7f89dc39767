// Asks for health and for devices in turn at a rate, whether or not the last answer has come.
// Arguments: port, devices, seconds, requests per second. Prints one line of JSON.
import { Agent, get } from 'node:http';

const [port, devices, seconds, ratePerS] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });
const latencies = [];
let asked = 0;

function answerOf(path) {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: `/api/sim/${path}`, agent }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => {
        // a busy simulator says so with 503, which is an answer
        if (answer.statusCode === 200 || path === 'health') resolve(Buffer.concat(chunks));
        else reject(new Error(`${path}: status ${answer.statusCode}`));
      });
    }).on('error', reject);
  });
}

const tickOf = async () => JSON.parse(await answerOf('health')).tick;

const firstTick = await tickOf();
const begin = performance.now();
const pending = [];
while (asked < seconds * ratePerS) {
  const due = begin + (asked * 1000) / ratePerS;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  const path = asked % 2 === 0 ? 'health' : `devices/${(asked * 37) % devices}`;
  asked += 1;
  const sentMs = performance.now();
  pending.push(answerOf(path).then(() => latencies.push(performance.now() - sentMs)));
}
await Promise.all(pending);
const tickS = (performance.now() - begin) / 1000 / ((await tickOf()) - firstTick);
latencies.sort((a, b) => a - b);
const at = (part) => latencies[Math.floor((latencies.length - 1) * part)];
process.stdout.write(`${JSON.stringify({ p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), tickS })}\n`, () => process.exit(0));
