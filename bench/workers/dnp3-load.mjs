// A master that polls classes 1, 2, 3 and 0 in a closed loop. Arguments: port, outstation address, master address,
// seconds, and, to record the answers instead, the path of a file. Prints one line of JSON.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';

const [port, outstation, master, seconds, recording] = process.argv.slice(2);
const to = Number(outstation);
const from = Number(master);

function crc(octets, begin, end) {
  let value = 0;
  for (let at = begin; at < end; at++) {
    value ^= octets[at];
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xa6bc : value >>> 1;
  }
  return ~value & 0xffff;
}

function frame(user) {
  const frame = Buffer.alloc(10 + user.length + 2);
  frame.set([0x05, 0x64, 5 + user.length, 0xc4, to & 255, to >> 8, from & 255, from >> 8]);
  frame.writeUInt16LE(crc(frame, 0, 8), 8);
  frame.set(user, 10);
  frame.writeUInt16LE(crc(frame, 10, 10 + user.length), 10 + user.length);
  return frame;
}

const poll = [0x3c, 2, 6, 0x3c, 3, 6, 0x3c, 4, 6, 0x3c, 1, 6];
// made before, so that the generator costs as little as it can
const requests = Array.from({ length: 16 }, (_, seq) => frame([0xc0, 0xc0 | seq, 1, ...poll]));
const confirms = Array.from({ length: 16 }, (_, seq) => frame([0xc0, 0xc0 | seq, 0]));
const clearRestart = frame([0xc0, 0xc0, 2, 0x50, 1, 0, 7, 7, 0]);

const socket = connect(Number(port), '127.0.0.1');
socket.setNoDelay(true);
socket.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});

let stream = Buffer.alloc(0);
let first = -1;
let frames = [];
let onFragment = () => undefined;
socket.on('data', (octets) => {
  stream = stream.length === 0 ? octets : Buffer.concat([stream, octets]);
  let at = 0;
  while (stream.length - at >= 10) {
    const user = stream[at + 2] - 5;
    const length = 10 + user + 2 * Math.ceil(user / 16);
    if (stream.length - at < length) break;
    const one = stream.subarray(at, at + length);
    at += length;
    // user data alone: an outstation may ask for the status of the link
    if ((one[3] & 0x4f) !== 0x44) continue;
    if (one[10] & 0x40) first = one[11];
    if (recording !== undefined) frames.push(Buffer.from(one));
    octetsSeen += length;
    if (one[10] & 0x80) onFragment(first);
  }
  stream = stream.subarray(at);
});
let octetsSeen = 0;

/** One poll to its end. */
function exchange(request, confirmsEach = true) {
  return new Promise((resolve) => {
    let fragments = 0;
    onFragment = (control) => {
      fragments += 1;
      if (control & 0x20 && confirmsEach) socket.write(confirms[control & 0x0f]);
      if (control & 0x40) resolve(fragments);
    };
    socket.write(request);
  });
}

await new Promise((resolve) => socket.once('connect', resolve));
await exchange(clearRestart);
// events that have waited are taken first: the loop measures static data
await exchange(requests[1]);
await exchange(requests[2]);

if (recording !== undefined) {
  const answers = [];
  for (let n = 0; n < 16; n += 1) {
    const seq = (3 + n) & 0x0f;
    const fragments = [];
    await new Promise((resolve) => {
      onFragment = (control) => {
        fragments.push(Buffer.concat(frames).toString('base64'));
        frames = [];
        if (control & 0x20) socket.write(confirms[control & 0x0f]);
        if (control & 0x40) resolve();
      };
      frames = [];
      socket.write(requests[seq]);
    });
    answers[seq] = fragments;
  }
  writeFileSync(recording, JSON.stringify(answers));
  process.stdout.write(`${JSON.stringify({ fragments: answers[0].length })}\n`);
  process.exit(0);
}

const times = [];
let seq = 3;
let fragments = 0;
octetsSeen = 0;
const begin = performance.now();
const end = begin + Number(seconds) * 1000;
let now = begin;
while (now < end) {
  fragments = await exchange(requests[seq]);
  seq = (seq + 1) & 0x0f;
  const after = performance.now();
  times.push(after - now);
  now = after;
}
times.sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] * 1000;
process.stdout.write(
  `${JSON.stringify({
    polls: times.length,
    seconds: (now - begin) / 1000,
    p50Us: at(0.5),
    p99Us: at(0.99),
    fragments,
    octets: octetsSeen / times.length,
  })}\n`,
);
process.exit(0);
