import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { PointRow } from '../../src/dnp3/profile/types.ts';
import { an2018Rows } from '../../src/dnp3/profile/table/rows.ts';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { py1815Tables } from './support/dnp3-tables.ts';
import { describeWith, python } from './support/peers.ts';

interface Verdict {
  readonly id: string;
  readonly title: string;
  readonly verdict: 'passed' | 'failed' | 'not_applicable' | 'not_run';
  readonly detail: string;
}

/** The settings of py1815 are held for 200 s and more: at this rate a window or reversion of a mode ends within a minute. */
const rate = 20;
const settleS = 60;

/**
 * Raw values within which the judge picks, where the outstation takes more: the device must be able to enter service
 * at 60 Hz with any of them, and the least reserve stays below the greatest.
 */
const judged: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  AO8: { min: 60_000, max: 61_000 },
  AO9: { min: 59_000, max: 60_000 },
  AO100: { min: 100, max: 500 },
  AO101: { min: 500, max: 900 },
};

/** The points with the ranges that the device takes: an outstation may narrow those of the profile. */
async function rowsOf(bench: Dnp3Bench): Promise<readonly PointRow[]> {
  const { points } = await bench.get('dnp3/points');
  const limits = new Map(
    (points as { type: string; index: number; min: number | null; max: number | null }[]).map((point) => [
      `${point.type}${point.index}`,
      { ...(point.min !== null && { min: point.min }), ...(point.max !== null && { max: point.max }) },
    ]),
  );
  return an2018Rows.map((row) => {
    const name = `${row.type}${row.index}`;
    return { ...row, ...limits.get(name), ...judged[name] };
  });
}

describeWith(
  ['py1815'],
  'an outstation judged by py1815: procedures of EPRI, and masters that break the rules',
  function () {
    this.timeout(900_000);
    let folder: string;
    let bench: Dnp3Bench;
    let verdicts: readonly Verdict[];
    let brokenRules: readonly string[];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'derbench-py1815-'));
      const file = (name: string) => join(folder, name);
      bench = await Dnp3Bench.open([
        ...['--tick', '0.1', '-d', 'Batt-3Phase', '--time_rate', String(rate), '--remote_clock', 'simulated'],
        ...['--dnp3_profile', 'ieee1815.2'],
      ]);
      await writeFile(file('tables.json'), JSON.stringify(py1815Tables(await rowsOf(bench))));
      // frequency moves all the time, so that there are events
      const parameters = { quantity: 'frequency', amplitude: 0.05, frequency_hz: 0.1, duration_s: 86_400 };
      await bench.post('controls/grid/event', { event: 'oscillation', parameters });
      await writeFile(file('profile.xml'), (await bench.get('dnp3/device-profile')).document);
      const program = join(dirname(python), 'py1815-master');
      const run = promisify(execFile)(program, [
        'evaluate',
        ...['--outstation', `bench=127.0.0.1:${bench.port}`, '--profile', '--tables', file('tables.json')],
        ...['--outstation-address', '1', '--master-address', '4', '--allow-control', '--allow-deviations'],
        ...[
          '--device-profile',
          file('profile.xml'),
          '--curves',
          '100',
          '--settle',
          String(settleS),
          '--report',
          file('report.json'),
          'bench',
        ],
      ]);
      // exit code 1: a check has failed, which the report says
      await run.catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== 1) throw error;
      });
      brokenRules = await bench.brokenRules();
      verdicts = JSON.parse(await readFile(file('report.json'), 'utf8')).results as Verdict[];
    });
    after(async () => {
      await bench.close();
      await rm(folder, { recursive: true });
    });

    const of = (verdict: Verdict['verdict']) =>
      verdicts.filter((each) => each.verdict === verdict).map(({ id, title, detail }) => `${id} ${title}: ${detail}`);

    it('fails none of its checks', () => {
      expect(of('failed')).to.deep.equal([]);
    });

    it('has findings about its masters that send bad frames and wrong confirms, and no others', () => {
      expect(brokenRules).to.deep.equal(['confirm_sequence', 'link_bad']);
    });

    it('is judged by all 44 of them', () => {
      expect(verdicts).to.have.length(44);
      expect(of('not_run')).to.deep.equal([]);
      expect(of('not_applicable')).to.deep.equal([]);
    });
  },
);
