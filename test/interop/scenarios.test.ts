/** Every scenario that comes with the program, headless, by its command line. */
import { schemaOf } from '../../scripts/generate-schemas.ts';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { bundledScenarioNames, bundledScenarioPath } from '../../src/config/profile/bundled.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { duration } from '../../src/scenario/file/schema.ts';
import { sourceOfFile } from '../../src/scenario/file/source.ts';
import { programCommand } from '../support/process.ts';

const execute = promisify(execFile);
const [program, ...words] = programCommand;

interface Result {
  readonly state: string;
  readonly failures: readonly string[];
  readonly simulated: { readonly duration_s: number };
}

/** The result file of one run, without real times. */
async function resultOf(path: string, file: string): Promise<Result> {
  try {
    await execute(program, [...words, 'run', path, '--quiet', '--json', file]);
  } catch (error) {
    if ((error as { readonly code?: number }).code !== 4) throw error;
  }
  const { real, ...result } = JSON.parse(await readFile(file, 'utf8')) as Result & { readonly real: unknown };
  expect(real).to.be.an('object');
  return result;
}

describe('bundled scenarios', () => {
  it('fit the published schema, with which editors check them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(schemaOf('scenario'));
    const folder = packageFile('config/scenarios/with-peers');
    const withPeers = readdirSync(folder).map((name) => join(folder, name));
    for (const path of [...bundledScenarioNames.map((name) => bundledScenarioPath(name) ?? ''), ...withPeers]) {
      const { value } = sourceOfFile(path);
      expect(validate(value), `${path}: ${JSON.stringify(validate.errors?.slice(0, 3))}`).to.equal(true);
    }
    expect(validate({ steps: [{ grid: { voltage: 1 } }] })).to.equal(false);
  });
});

describe('bundled scenarios, run headless', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'scenarios-'))));
  after(() => rm(folder, { recursive: true }));

  for (const name of bundledScenarioNames)
    it(`${name} passes, twice with the same result to the byte`, async function () {
      this.timeout(180_000);
      const path = bundledScenarioPath(name) ?? '';
      const runs = [1, 2].map((run) => resultOf(path, join(folder, `${name}-${run}.json`)));
      const [first, second] = (await Promise.all(runs)) as [Result, Result];
      expect(first.state, first.failures.join('\n')).to.equal('passed');
      const takesS = duration.parse(sourceOfFile(path).value['takes']);
      expect(first.simulated.duration_s / takesS, 'takes').to.be.within(0.9, 1.1);
      expect(JSON.stringify(second)).to.equal(JSON.stringify(first));
    });
});

interface Wrong {
  readonly name: string;
  /** faults that the devices have from the start */
  readonly faults?: readonly object[];
  /** what is set before the first step */
  readonly setting?: string;
  /** the first failure */
  readonly words: RegExp;
}

const lvTrip = (uv2: string, uv1: string) =>
  `grid_support: { lv_trip: { must_trip: { points: [{ v_pct: ${uv2} }, { v_pct: ${uv1} }] } } }`;
const ignoring = (point: string, device = 0) => ({
  protocol: 'device',
  kind: 'ignore_effect',
  points: [point],
  device,
});

const wrongDevices: readonly Wrong[] = [
  {
    name: 'ride-through-cat-1',
    setting: lvTrip('45, time_s: 0.16', '70, time_s: 10'),
    words: /clearing time of UV1: 707\.Crv\[0\]\.MustTrip\.Pt\[1\]\.Tms of device 0 must be equal to 2: it was 10 Secs/,
  },
  {
    name: 'volt-var-cat-a',
    setting: 'grid_support: { volt_var: { response_time_s: 12 } }',
    words: /98 % of nominal voltage .*: 701\.Var of device 0 must be between 435 and 465: broken 10 s after the step/,
  },
  {
    name: 'watt-var',
    faults: [ignoring('712.Ena', 1)],
    words: /Characteristic 1: 60 %: category A: 701\.Var of device 1 must be equal to -500 .*; it was 0 Var/,
  },
  {
    name: 'constant-pf-var',
    faults: [ignoring('704.VarSetEna')],
    words: /Reactive power of 100 % .*: 701\.Var of device 0 must be equal to 4400 .*; it was 0 Var/,
  },
  {
    name: 'freq-droop',
    setting: 'grid_support: { freq_droop: { k_of: 0.04 } }',
    words: /60\.6 Hz: .*: 701\.W of device 0 must be equal to 8308 .*: broken 5 s after the step; it was 7885 W/,
  },
  {
    name: 'conflicting-commands',
    faults: [{ protocol: 'modbus', kind: 'ignore_write' }],
    words: /704\.WMaxLimPct of device 0 must be equal to 50: it was 30 Pct/,
  },
  {
    name: 'curtailment-comm-loss',
    faults: [{ protocol: 'device', kind: 'silent_revert', after_s: 100, device: 1 }],
    words: /701\.W of device 1 must be equal to 4000 .*: broken 101 s after the step; it was 6000 W/,
  },
];

describe('bundled scenarios, run on a wrong device', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'scenarios-wrong-'))));
  after(() => rm(folder, { recursive: true }));

  for (const { name, faults = [], setting, words: expected } of wrongDevices)
    it(`${name} fails at the assertion that is about it`, async function () {
      this.timeout(90_000);
      const path = join(folder, `${name}.yaml`);
      const text = readFileSync(bundledScenarioPath(name) ?? '', 'utf8');
      const broken = `on_failure: stop\nconfig:\n  faults: ${JSON.stringify(faults)}\n`;
      const first = setting === undefined ? 'steps:\n' : `steps:\n  - ${setting}\n`;
      await writeFile(path, text.replace(/^config:\n/m, broken).replace(/^steps:\n/m, first));
      const { state, failures } = await resultOf(path, join(folder, `${name}.json`));
      expect(state).to.equal('failed');
      expect(failures[0]).to.match(expected);
    });
});
