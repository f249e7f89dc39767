/**
 * Registers of a fixed day, so that two builds can be compared: starts a built simulator with every device type, steps
 * its paused clock through one day with commands over REST and Modbus, reads all registers over Modbus every ten
 * simulated minutes, and prints a SHA-256 per device and hour. Equal lines mean equal bytes.
 *
 *   node --import=tsx scripts/dump-day.ts [path of dist/main.js]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const main = process.argv[2] ?? 'dist/main.js';
const tickS = 1.5;
const pieceS = 600;
const dayS = 86_400;

const types = [
  ...['PV-3Phase', 'PV', 'PV-2Phase', 'PV-1Phase', 'Batt-3Phase', 'Batt', 'Batt-2Phase', 'Batt-1Phase'],
  ...['Wind-T3-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'],
];
const config = {
  seed: 20260621,
  tick: tickS,
  irradiance_source: 'clear_sky',
  clouds: 'broken',
  devices: types.map((device_type) => ({ device_type })),
};

/** One Modbus exchange on a connection that carries nothing else. */
async function exchange(socket: Socket, unit: number, pdu: Buffer): Promise<Buffer> {
  const header = Buffer.from([0, 1, 0, 0, 0, pdu.length + 1, unit]);
  socket.write(Buffer.concat([header, pdu]));
  let answer = Buffer.alloc(0);
  while (answer.length < 6 || answer.length < 6 + answer.readUInt16BE(4)) {
    answer = Buffer.concat([answer, await next(socket)]);
  }
  const body = answer.subarray(7);
  if (((body[0] ?? 0) & 0x80) !== 0) throw new Error(`unit ${unit}: exception ${body[1] ?? 0}`);
  return body;
}

function next(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.removeListener('error', reject);
      resolve(data);
    });
  });
}

async function read(socket: Socket, unit: number, address: number, count: number): Promise<Buffer> {
  const pdu = Buffer.from([3, address >> 8, address & 0xff, 0, count]);
  return (await exchange(socket, unit, pdu)).subarray(2);
}

/** All registers of a unit: the marker, then model by model up to the end marker. */
async function dump(socket: Socket, unit: number): Promise<Buffer> {
  const parts = [await read(socket, unit, 40_000, 2)];
  for (let address = 40_002; ; ) {
    const head = await read(socket, unit, address, 2);
    parts.push(head);
    const length = head.readUInt16BE(2);
    if (head.readUInt16BE(0) === 0xffff) return Buffer.concat(parts);
    for (let done = 0; done < length; done += 100) {
      parts.push(await read(socket, unit, address + 2 + done, Math.min(100, length - done)));
    }
    address += 2 + length;
  }
}

type Post = (path: string, body: object) => Promise<void>;

/** Actions by simulated second. */
const events: Readonly<Record<number, (post: Post) => Promise<void>>> = {
  [1 * 3600]: (post) => post('grid-support/volt-var?device=0', { enabled: true }),
  [2 * 3600]: (post) => post('grid-support/volt-watt?device=4', { enabled: true }),
  [3 * 3600]: (post) =>
    post('grid-support/max-power?device=8', { enabled: true, limit_pct: 40, reversion_time_s: 1234 }),
  [4 * 3600]: (post) => post('controls/grid', { voltage_pu: 1.06, ramp_s: 30, duration_s: 2000 }),
  [5 * 3600]: (post) => post('grid-support/active-power?device=5', { enabled: true, setpoint_pct: -30 }),
  [5.5 * 3600]: (post) => post('evse/SIM-CP-1/connectors/1/plug', {}),
  [6 * 3600]: (post) => post('controls/grid/event', { event: 'lvrt_cat_3' }),
  [7 * 3600]: (post) => post('controls/grid', { frequency_hz: 60.6, ramp_s: 5, duration_s: 900 }),
  [8 * 3600]: (post) => post('commands?device=1', { command: 'stop' }),
  [9 * 3600]: (post) => post('commands?device=1', { command: 'start' }),
  [10 * 3600]: (post) => post('grid-support/constant-var?device=2', { enabled: true, var_pct: 30 }),
  [12 * 3600]: (post) => post('controls/grid/event', { event: 'outage' }),
  [14 * 3600]: (post) => post('site', { export_limit_kw: 30 }),
  [16 * 3600]: (post) => post('site', { export_limit_kw: null }),
};

async function run(httpPort: number, modbusPort: number): Promise<void> {
  const post: Post = async (path, body) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/api/sim/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const socket = connect(modbusPort, '127.0.0.1');
  const hashes = types.map(() => createHash('sha256'));
  for (let at = 0; at <= dayS; at += pieceS) {
    await events[at]?.(post);
    await post('controls/time/step', { ticks: pieceS / tickS });
    for (const [i, hash] of hashes.entries()) hash.update(await dump(socket, i + 1));
    if (at % 3600 !== 0) continue;
    const digests = hashes.map((hash) => hash.copy().digest('hex').slice(0, 12));
    process.stdout.write(`${String(at / 3600).padStart(2)} h ${digests.join(' ')}\n`);
  }
  for (const [i, hash] of hashes.entries()) process.stdout.write(`${types[i] ?? ''} ${hash.digest('hex')}\n`);
  socket.destroy();
}

const folder = mkdtempSync(join(tmpdir(), 'derbench-day-'));
const file = join(folder, 'day.json');
writeFileSync(file, JSON.stringify(config));
const flags = ['--config', file, '--start_paused', 'yes', '--mb_shared_port', 'yes', '--sim_models', 'yes'];
const child = spawn(process.execPath, [main, ...flags, '-wp', '0', '-p', '0', '--log_level', 'error'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let output = '';
const portAfter = (word: string) => Number(new RegExp(`^ *${word} .*?:(\\d+)[/ ]`, 'm').exec(output)?.[1] ?? 0);
for await (const chunk of child.stdout) {
  output += String(chunk);
  if (!output.includes('nothing is kept')) continue;
  await run(portAfter('HTTP'), portAfter('Modbus'));
  break;
}
child.kill('SIGTERM');
rmSync(folder, { recursive: true });
