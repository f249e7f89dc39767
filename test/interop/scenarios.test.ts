/** Every scenario that comes with the program, headless, by its command line. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { bundledScenarioNames, bundledScenarioPath } from '../../src/config/profile/bundled.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { sourceOfFile } from '../../src/scenario/file/source.ts';
import { fromSource } from '../support/process.ts';

const execute = promisify(execFile);
const [program, ...words] = fromSource;

interface Result {
  readonly state: string;
  readonly failures: readonly string[];
}

/** The result file of one run, without real times. */
async function resultOf(name: string, file: string): Promise<Result> {
  const path = bundledScenarioPath(name) ?? '';
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
    const schema = JSON.parse(readFileSync(packageFile('config/schema/scenario.schema.json'), 'utf8')) as object;
    const validate = ajv.compile(schema);
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
      const first = await resultOf(name, join(folder, `${name}-1.json`));
      expect(first.state, first.failures.join('\n')).to.equal('passed');
      const second = await resultOf(name, join(folder, `${name}-2.json`));
      expect(JSON.stringify(second)).to.equal(JSON.stringify(first));
    });
});
