import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { replayCommand } from '../../src/recorder/replay/command.ts';
import { ask } from '../support/http.ts';
import { modbusEndpoint, startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

async function post({ port }: RunningApp, path: string, body: unknown): Promise<void> {
  const { status, text } = await ask(port, `/api/sim/${path}`, { method: 'POST', body });
  expect(status, text).to.be.within(200, 201);
}

const withoutNumber = (line: string) => line.replace(/^request \d+, /, '');

/** Replays against a new simulator under faults. */
async function replay(file: string, faults: readonly object[], flags: readonly string[]) {
  const running = await startApp(['PV-3Phase'], [], { paused: false });
  try {
    for (const fault of faults) await post(running, 'modbus/fault', fault);
    const lines: string[] = [];
    const write = (line: string) => {
      lines.push(line);
    };
    const { port } = modbusEndpoint(running.app, 0);
    const argv = [file, '--modbus', `127.0.0.1:${port}`, ...flags];
    return { code: await replayCommand(argv, { out: write, error: write }), lines };
  } finally {
    await running.app.stop();
  }
}

/** Records what a master does at its port. */
async function record(file: string, work: (port: number) => Promise<void>): Promise<void> {
  const running = await startApp(['PV-3Phase'], [], { paused: false });
  try {
    await post(running, 'recorder', { enabled: true });
    await work(modbusEndpoint(running.app, 0).port);
    await writeFile(file, (await ask(running.port, '/api/sim/recorder/download')).text);
  } finally {
    await running.app.stop();
  }
}

describeWith(['pysunspec2'], 'replays a recorded session of pysunspec2', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;
  const replayed = (faults: readonly object[], ...flags: readonly string[]) => replay(file, faults, flags);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    file = join(folder, 'recording.jsonl');
    await record(file, async (port) => {
      const master = new PythonPeer('sunspec_master', port);
      await master.ask('scan');
      await master.ask('write_model', { model: 704, values: { WMaxLimPctEna: 1, WMaxLimPct: 60 } });
      await master.ask('read', { model: 704 });
      expect(await master.exceptionOf('write_point', { model: 704, path: 'WMaxLimPct', value: 200 })).to.equal(3);
      await master.ask('read', { model: 701 });
      await master.stop();
    });
  });
  after(() => rm(folder, { recursive: true }));

  it('without a difference', async () => {
    const { code, lines } = await replayed([]);
    expect(lines, lines.join('\n')).to.have.length(1);
    expect(lines[0]).to.match(/^modbus: \d+ requests replayed, 0 differences/);
    expect(code).to.equal(0);
  });

  it('and shows a wrong scale of a rating, and that alone', async () => {
    const { code, lines } = await replayed([{ kind: 'scale', factor: 10, points: ['702.WMaxRtg'] }]);
    const summary = lines.pop();
    // scans read the model once for its length, and once whole
    expect(lines, lines.join('\n')).to.have.length.within(1, 3);
    for (const line of lines)
      expect(line).to.match(
        /^request \d+, read of \d+\.\.\d+ by unit 1: register \d+ \(702\.WMaxRtg\) was 10000, is (?!10000)\d+$/,
      );
    expect(summary).to.match(new RegExp(`, ${lines.length} difference`));
    expect(code).to.equal(4);
  });

  it('and shows a wrong scale of a measurement only when measurements are compared', async () => {
    const fault = { kind: 'scale', factor: -1, points: ['701.W'] };
    const loose = await replayed([fault]);
    expect(loose.lines[0]).to.match(/, 0 differences, \d+ values? that may differ$/);
    expect(loose.code).to.equal(0);
    const strict = await replayed([fault], '--tolerance', '5');
    expect(strict.lines[0]).to.match(/by unit 1: register 40080 \(701\.W\) was (\d+), is -\1$/);
    expect(strict.lines.at(-1)).to.match(/, 2 differences/);
    expect(strict.code).to.equal(4);
  });

  it('and shows an injected exception, with what it prevents', async () => {
    const { code, lines } = await replayed([{ kind: 'exception', code: 4, function: 16 }]);
    expect(lines.map(withoutNumber).slice(0, -1)).to.deep.equal([
      'write of 40310..40311 by unit 1: was answered with function 16 (109d760002), is answered with exception 4 (server device failure)',
      'read of 40296..40362 by unit 1: register 40310 (704.WMaxLimPctEna) was 1, is 0',
      'read of 40296..40362 by unit 1: register 40311 (704.WMaxLimPct) was 6000, is 10000',
    ]);
    expect(code).to.equal(4);
  });

  it('and shows answers that do not come', async () => {
    const { code, lines } = await replayed([{ kind: 'drop', count: 1 }], '--timeout', '0.5');
    expect(lines[0]).to.match(/^request 1, .*: was answered with function 3 \([0-9a-f.]+\), is not answered$/);
    expect(code).to.equal(4);
  });
});

describeWith(['py20305'], 'replays a recorded session of the SunSpec connector of py20305', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;
  const replayed = (faults: readonly object[], ...flags: readonly string[]) => replay(file, faults, flags);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    file = join(folder, 'recording.jsonl');
    await record(file, async (port) => {
      const connector = new PythonPeer('der_connector', port);
      const apply = (control: string, params: object) => connector.ask('call', { name: `update_${control}`, params });
      for (const what of ['nameplate', 'configuration', 'status', 'monitoring'])
        await connector.ask('call', { name: `fetch_${what}` });
      await apply('qv', {
        qv_mode_enable: 1,
        qv_vref: 100,
        qv_olrt: 0.5,
        qv_curve_v_pts: [92, 98, 102, 108],
        qv_curve_q_pts: [30, 0, 0, -30],
      });
      await apply('pv', { pv_mode_enable: 1, pv_olrt: 0.5, pv_curve_v_pts: [104, 110], pv_curve_p_pts: [100, 0] });
      await apply('p_lim', { p_lim_mode_enable: 1, p_lim_w: 60 });
      await apply('const_q', { const_q_mode_enable: 1, const_q_pct: -20, ref_type: 8 });
      await connector.ask('call', { name: 'fetch_monitoring' });
      await apply('p_lim', { p_lim_mode_enable: 0 });
      await apply('qv', { qv_mode_enable: 0 });
      await connector.stop();
    });
  });
  after(() => rm(folder, { recursive: true }));

  it('without a difference', async () => {
    const { code, lines } = await replayed([]);
    expect(lines, lines.join('\n')).to.have.length(1);
    expect(lines[0]).to.match(/^modbus: \d+ requests replayed, 0 differences/);
    expect(code).to.equal(0);
  });

  it('and shows a power limit that is acknowledged and lost, and that alone', async () => {
    const { code, lines } = await replayed([{ kind: 'ignore_write', points: ['704.WMaxLimPct'] }]);
    const summary = lines.pop();
    // the connector reads the model before it enables the reactive power and before it ends the limit
    expect(lines.map(withoutNumber), lines.join('\n')).to.deep.equal([
      'read of 40296..40362 by unit 1: register 40311 (704.WMaxLimPct) was 6000, is 10000',
      'read of 40296..40362 by unit 1: register 40311 (704.WMaxLimPct) was 6000, is 10000',
    ]);
    expect(summary).to.contain(', 2 differences');
    expect(code).to.equal(4);
  });

  it('and shows a curve that is not adopted, and that alone', async () => {
    const { code, lines } = await replayed([{ kind: 'ignore_write', points: ['705.AdptCrvReq'] }]);
    const summary = lines.pop();
    const model = 'read of 40363..40467 by unit 1';
    expect(lines.map(withoutNumber), lines.join('\n')).to.deep.equal([
      `${model}: register 40366 (705.AdptCrvReq) was 2, is 1`,
      `${model}: register 40384 (705.Crv[0].VRefAutoTms) was 0, is 300`,
      `${model}: registers 40385..40386 (705.Crv[0].RspTms) were 50, are 500`,
      `${model}: register 40389 (705.Crv[0].Pt[0].Var) was 3000, is 4400`,
      `${model}: register 40395 (705.Crv[0].Pt[3].Var) was -3000, is -4400`,
    ]);
    expect(summary).to.contain(', 5 differences');
    expect(code).to.equal(4);
  });
});
