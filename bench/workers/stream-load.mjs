// Clients of a telemetry stream. All read and check that no tick of a device is missing or comes again; after the
// measurement some of them stop reading, if asked.
// Arguments: port, path, clients, clients that stop reading, warm-up ms, measurement ms, ms after some have stopped, pid of
// the server. Prints one line of JSON: processor time and resident memory are the server's, null where there is no /proc.
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const path = process.argv[3];
const [port, , clients, stopping, warmupMs, measureMs, stoppedMs, pid] = process.argv.slice(2).map(Number);
const atOnce = 50;
const aloneMs = 1000;
const counts = { messages: 0, missing: 0, repeated: 0 };

function fail(text) {
  process.stderr.write(`stream-load: ${text}\n`);
  process.exit(1);
}

async function cpuSeconds() {
  try {
    const threads = await readdir(`/proc/${pid}/task`);
    const spent = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/schedstat`, 'utf8').catch(() => '0')));
    return spent.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9;
  } catch {
    return null;
  }
}

async function residentBytes() {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

function numberAfter(name, payload) {
  const at = payload.indexOf(name);
  if (at < 0) fail(`a message without ${name}`);
  return Number.parseInt(payload.toString('latin1', at + name.length, at + name.length + 12), 10);
}

/** Whole frames of the server: final, text, unmasked. @returns what is left */
function takeFrames(bytes, last) {
  let at = 0;
  while (bytes.length - at >= 2) {
    // a ping without content; the runs are too short for it to be missed
    if (bytes[at] === 0x89 && bytes[at + 1] === 0) {
      at += 2;
      continue;
    }
    if (bytes[at] !== 0x81 || bytes[at + 1] >= 127) fail(`unexpected frame ${bytes.toString('hex', at, at + 2)}`);
    const short = bytes[at + 1] < 126;
    if (!short && bytes.length - at < 4) break;
    const begin = at + (short ? 2 : 4);
    const end = begin + (short ? bytes[at + 1] : bytes.readUInt16BE(at + 2));
    if (end > bytes.length) break;
    const payload = bytes.subarray(begin, end);
    const device = numberAfter('"device_index":', payload);
    const tick = numberAfter('"tick":', payload);
    const before = last.get(device);
    if (before !== undefined && tick <= before) counts.repeated += 1;
    if (before !== undefined && tick > before + 1) counts.missing += tick - before - 1;
    last.set(device, tick);
    counts.messages += 1;
    at = end;
  }
  return bytes.subarray(at);
}

function open() {
  const last = new Map();
  let upgraded = false;
  let rest = Buffer.alloc(0);
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the server closed a connection'));
    socket.on('connect', () => {
      const key = randomBytes(16).toString('base64');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
        + `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`);
    });
    socket.on('data', (chunk) => {
      let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      if (!upgraded) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end >= 0) {
          if (!bytes.toString('latin1', 0, 12).endsWith('101')) fail('the upgrade was refused');
          upgraded = true;
          bytes = bytes.subarray(end + 4);
          resolve(socket);
        }
      }
      rest = upgraded ? takeFrames(bytes, last) : bytes;
    });
  });
}

/** Share of one core that the server takes before anybody has come, percent. */
async function cpuAlone() {
  const [from, begin] = [await cpuSeconds(), performance.now()];
  await wait(aloneMs);
  const to = await cpuSeconds();
  return from === null || to === null ? null : (to - from) * 1e5 / (performance.now() - begin);
}

const alonePct = await cpuAlone();
const sockets = [];
while (sockets.length < clients) {
  sockets.push(...await Promise.all(Array.from({ length: Math.min(atOnce, clients - sockets.length) }, open)));
}
await wait(warmupMs);
const [from, cpuFrom, begin] = [counts.messages, await cpuSeconds(), performance.now()];
await wait(measureMs);
const [messages, cpuTo, seconds] = [counts.messages - from, await cpuSeconds(), (performance.now() - begin) / 1000];
const residentFrom = await residentBytes();
for (const socket of sockets.slice(0, stopping)) socket.pause();
if (stopping > 0) await wait(stoppedMs);
const residentTo = await residentBytes();
const result = {
  alonePct, messages, seconds, missing: counts.missing, repeated: counts.repeated,
  cpuUs: cpuFrom === null || cpuTo === null ? null : (cpuTo - cpuFrom) * 1e6 / messages,
  grownBytes: residentFrom === null || residentTo === null ? null : residentTo - residentFrom,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
