import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { replayCommand } from '../../src/recorder/replay/command.ts';
import { hex } from '../dnp3/rig/frames.ts';
import { TestMaster } from '../dnp3/rig/master.ts';
import { ask } from '../support/http.ts';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith } from './support/peers.ts';

const paused = ['-d', 'Batt-3Phase', '--start_paused', 'yes'];

describeWith(['opendnp3'], 'replays a recorded session of opendnp3', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;

  /** Replays against a new simulator after some requests of REST. */
  async function replayed(prepare: (bench: Dnp3Bench) => Promise<unknown>, ...flags: readonly string[]) {
    const bench = await Dnp3Bench.open(paused);
    try {
      await prepare(bench);
      const lines: string[] = [];
      const write = (line: string) => {
        lines.push(line);
      };
      const argv = [file, '--dnp3', `127.0.0.1:${bench.port}`, ...flags];
      return { code: await replayCommand(argv, { out: write, error: write }), lines };
    } finally {
      await bench.close();
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-replay-'));
    file = join(folder, 'recording.jsonl');
    const bench = await Dnp3Bench.open(paused);
    await bench.post('recorder', { enabled: true });
    const foreign = bench.opendnp3();
    try {
      await foreign.ask('begun');
      await foreign.ask('all', { group: 40, variation: 0 });
      const { results } = await foreign.ask('operate', { commands: [['AO', 88, 400, 'Int32']] });
      expect(results[0].status).to.equal('SUCCESS');
    } finally {
      await foreign.stop();
    }
    const master = await TestMaster.connect({ port: bench.port });
    await master.request(1, hex('1e 03 06'));
    await master.request(1, hex('28 01 06'));
    await master.request(1, hex('0a 02 06'));
    await master.ask(3, hex('29 02 28 01 00 58 00 f4 01 00'));
    await master.ask(4, hex('29 02 28 01 00 58 00 f4 01 00'));
    await master.request(1, hex('28 01 06'));
    await master.ask(22);
    await master.close();
    await writeFile(file, (await ask(bench.simulator.httpPort, '/api/sim/recorder/download')).text);
    await bench.close();
  });
  after(() => rm(folder, { recursive: true }));

  it('without a difference, also where all values are compared', async () => {
    for (const flags of [[], ['--exact']]) {
      const { code, lines } = await replayed(() => Promise.resolve(), ...flags);
      expect(lines.at(-1), lines.join('\n')).to.match(/^dnp3: \d+ requests replayed, 0 differences/);
      expect(code).to.equal(0);
    }
  });

  it('and shows a setting that differs, by its point', async () => {
    const { code, lines } = await replayed((bench) => bench.post('registers/704', { points: { WMaxLimPct: 50 } }));
    expect(lines[0]).to.match(/^request \d+, read g40v0 all of outstation 1: AO 88 was 1000, is 500$/);
    expect(lines.at(-1)).to.match(/, 1 difference,/);
    expect(code).to.equal(4);
  });
});
