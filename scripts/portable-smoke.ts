/**
 * Runs a portable archive: `node --import=tsx scripts/portable-smoke.ts ARCHIVE`.
 *
 * It lies in folders that nobody may write to, is started through a link, without HOME, and by root as nobody.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import modbusSerial from 'modbus-serial';
import { cable, end, ends } from '../test/interop/support/cable.ts';
import { startSimulator } from '../test/support/process.ts';
import type { Command } from '../test/support/process.ts';

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const bare = ['env', '-i', 'PATH=/usr/bin:/bin'];

function expectEqual(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) throw new Error(`${what}: ${String(got)} instead of ${String(wanted)}`);
  process.stdout.write(`${what}: ${String(got)}\n`);
}

/** The command of an archive that is unpacked below a folder. */
async function unpack(archive: string, folder: string): Promise<Command> {
  const unpacked = join(folder, 'opt');
  await mkdir(unpacked);
  execFileSync('tar', ['-xJf', archive, '-C', unpacked, '--no-same-owner']);
  execFileSync('chmod', ['-R', 'a-w', unpacked]);
  const link = join(folder, 'derbench');
  await symlink(join(unpacked, basename(archive, '.tar.xz'), 'bin/derbench'), link);
  return [...(process.getuid?.() === 0 ? nobody : []), ...bare, link] as unknown as Command;
}

async function checkServed(command: Command): Promise<void> {
  const simulator = await startSimulator(['--config', 'mixed-site'], command, '/');
  try {
    for (const path of ['/api/sim/health', '/', '/docs/', '/openapi.json', '/api/sim/metrics'])
      expectEqual(`GET ${path}`, (await fetch(`http://127.0.0.1:${simulator.httpPort}${path}`)).status, 200);
  } finally {
    expectEqual('exit code after SIGTERM', await simulator.stop(), 0);
  }
}

/** A serial line, for which the archive brings native code. */
async function checkLine(command: Command, lines: string): Promise<void> {
  await mkdir(lines);
  const socat = await cable(lines);
  const [ours, theirs] = ends(lines);
  await chmod(ours, 0o666);
  const simulator = await startSimulator(['-mb', 'no', '-rtu', 'yes', '--rtu_port', ours], command, '/');
  const master = new modbusSerial.default();
  try {
    await master.connectRTUBuffered(theirs, { baudRate: 9600 });
    master.setTimeout(5000);
    master.setID(1);
    expectEqual('registers over RTU', (await master.readHoldingRegisters(40_000, 2)).buffer.toString(), 'SunS');
  } finally {
    master.close(() => undefined);
    expectEqual('exit code after SIGTERM', await simulator.stop(), 0);
    await end(socat);
  }
}

const [archive = ''] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'derbench-portable-'));
try {
  await chmod(folder, 0o755);
  const command = await unpack(resolve(archive), folder);
  await checkServed(command);
  await checkLine(command, join(folder, 'lines'));
  const [program, ...args] = command;
  const report = execFileSync(program, [...args, 'run', 'volt-watt'], { cwd: '/', encoding: 'utf8' });
  process.stdout.write(`${report.trim().split('\n').at(-1)}\n`);
} finally {
  execFileSync('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
}
