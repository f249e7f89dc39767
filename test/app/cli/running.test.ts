import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Running } from '../../../src/app/cli/running.ts';
import { exitCodes } from '../../../src/core/exit-codes.ts';
import { replaceContents } from '../../../src/state/contents.ts';
import { openFolder } from '../../../src/state/files.ts';
import { readState } from '../../../src/state/folder-work.ts';
import { configOf } from '../../support/configured.ts';
import { ask } from '../../support/http.ts';
import { programCommand, startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';

const readyCount = ({ output }: RunningSimulator) => output.split('derbench is ready\n').length - 1;

describe('a process that restores a snapshot', () => {
  let folder = '';
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-restore-'));
    await replaceContents(openFolder(folder), new Map([['x/kept', ['"before"']]]));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const kept = () => readState(openFolder(folder)).contents.get('x/kept');

  /** A simulator over a later state, with a snapshot of the earlier one. */
  async function start(): Promise<RunningSimulator> {
    const first = await startSimulator(['--state_dir', folder]);
    const { status } = await ask(first.httpPort, '/api/sim/state/snapshot', { body: { name: 'x' } });
    expect(status).to.equal(201);
    expect(await first.stop()).to.equal(0);
    await replaceContents(openFolder(folder), new Map([['x/kept', ['"after"']]]));
    return startSimulator(['--state_dir', folder]);
  }

  const restore = async ({ httpPort }: RunningSimulator) => {
    const { status, json } = await ask(httpPort, '/api/sim/state/restore', { body: { name: 'x' } });
    expect([status, json]).to.deep.equal([202, { state: 'restarting', name: 'x' }]);
  };

  /** Asks until the condition holds: a new simulator has no event that another process could await. */
  async function until(simulator: RunningSimulator, condition: () => boolean): Promise<void> {
    while (!condition()) {
      await ask(simulator.httpPort, '/api/sim/health').catch(() => undefined);
      await new Promise(setImmediate);
    }
  }

  it('goes on in the same process on the same port with that state, more than once, and ends cleanly', async () => {
    const simulator = await start();
    try {
      const limit = async (points?: object) => {
        const { json } = await ask(simulator.httpPort, '/api/sim/registers/704', points && { body: { points } });
        return json.points.find(({ name }: { name: string }) => name === 'WMaxLimPct').value;
      };
      expect(await limit({ WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED' })).to.equal(40);
      await ask(simulator.httpPort, '/api/sim/state/snapshot', { body: { name: 'x', overwrite: true } });
      expect(await limit({ WMaxLimPct: 90 })).to.equal(90);
      const before = (await ask(simulator.httpPort, '/api/sim/server-info')).json;
      for (const count of [2, 3]) {
        await restore(simulator);
        await until(simulator, () => readyCount(simulator) === count);
        expect(await limit()).to.equal(40);
        expect(await limit({ WMaxLimPct: 70 })).to.equal(70);
      }
      const after = (await ask(simulator.httpPort, '/api/sim/server-info')).json;
      expect(after.pid).to.equal(simulator.pid);
      expect(Date.parse(after.started_at)).to.be.above(Date.parse(before.started_at));
      const { text } = await ask(simulator.httpPort, '/api/sim/logs?limit=100');
      expect(text).to.contain('restarting with the snapshot x');
    } finally {
      expect(await simulator.stop()).to.equal(exitCodes.ok);
    }
    expect(kept()).to.deep.equal(['"after"']);
  }).timeout(60_000);

  it('lives on after a SIGHUP once a request has switched on an adapter that reads files again', async () => {
    const simulator = await startSimulator(['--mb_enable', 'no']);
    const { status } = await ask(simulator.httpPort, '/api/sim/dnp3/enable', { body: { dnp3_port: 0 } });
    process.kill(simulator.pid, 'SIGHUP');
    const health = await ask(simulator.httpPort, '/api/sim/health');
    expect([status, health.status]).to.deep.equal([200, 200]);
    expect(await simulator.stop()).to.equal(exitCodes.ok);
  }).timeout(30_000);

  it('ends at a signal that comes meanwhile, with the restored state in its folder', async () => {
    const simulator = await start();
    await restore(simulator);
    expect(await simulator.stop()).to.equal(exitCodes.ok);
    expect(kept()).to.deep.equal(['"before"']);
    const [node, ...args] = programCommand;
    expect(spawnSync(node, [...args, 'state', 'show', folder], { encoding: 'utf8' }).stdout).to.include(
      'in use by no simulator',
    );
  }).timeout(60_000);

  it('ends at once at a second signal that comes meanwhile', async () => {
    await (await start()).stop();
    const exits: number[] = [];
    let ended: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const ports: number[] = [];
    const running = new Running(configOf('-wp', '0', '-p', '0', '--state_dir', folder, '--log_level', 'error'), {
      print: ([line = '']) => ports.push(Number(/:(\d+)\//.exec(line)?.[1])),
      warn: (line) => {
        throw new Error(line);
      },
      exit: (code) => {
        exits.push(code);
        if (code === exitCodes.ok) ended();
        return undefined as never;
      },
      fail: (error) => {
        throw error;
      },
      failRestart: (error) => {
        throw error;
      },
    });
    await running.start();
    const { status } = await ask(ports[0] ?? 0, '/api/sim/state/restore', { body: { name: 'x' } });
    expect(status).to.equal(202);
    running.end();
    expect(exits).to.deep.equal([]);
    running.end();
    expect(exits).to.deep.equal([exitCodes.internal]);
    await end;
    expect(ports, 'no further simulator').to.have.length(1);
  }).timeout(60_000);

  it('ends with exit code 3 when no new simulator can be started, and keeps the state of before', async () => {
    const simulator = await start();
    // the place of the new journal
    mkdirSync(join(folder, 'journal.jsonl.new'));
    await restore(simulator);
    await until(simulator, () => simulator.output.includes('cannot be started with the restored state'));
    expect(await simulator.stop()).to.equal(exitCodes.addressInUse);
    expect(kept()).to.deep.equal(['"after"']);
  }).timeout(60_000);

  it('prints a document of its folder whole into a pipe', () => {
    const document = join(folder, 'document.json');
    const slots = { 'x/long': Array.from({ length: 2000 }, (_, i) => `${i} ${'x'.repeat(200)}`) };
    writeFileSync(document, JSON.stringify({ derbench_state: 1, slots }));
    const [node, ...args] = programCommand;
    const run = (...words: readonly string[]) => spawnSync(node, [...args, 'state', ...words], { encoding: 'utf8' });
    expect(run('import', folder, document).status).to.equal(exitCodes.ok);
    const { status, stdout } = run('export', folder);
    expect(status).to.equal(exitCodes.ok);
    expect(JSON.parse(stdout).slots).to.deep.equal(slots);
    expect(run('reset', folder)).to.include({ status: exitCodes.usage, stdout: '' });
  }).timeout(60_000);
});
