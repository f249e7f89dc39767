import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Speed {
  readonly usualS: number;
  slowdownOf(cpuS: number): number;
  withSlowdown<T extends { readonly budgetS: number }>(stages: readonly T[], slowdown: number): readonly T[];
}

describe('limits on a slow machine', () => {
  let speed: Speed;
  let folder: string;

  before(async () => {
    speed = (await import(packageFile('scripts/ci/speed.mjs'))) as Speed;
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-speed-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('grow as the time of the same work, up to twice the usual ones, and never shrink', () => {
    const factors = [0.5, 1, 1.7, 2, 3].map((share) => speed.slowdownOf(share * speed.usualS));
    expect(factors).to.deep.equal([1, 1, 1.7, 2, 2]);
  });

  it('are those of all stages', () => {
    const stages = speed.withSlowdown([{ name: 'lint', budgetS: 260 }], 1.5);
    expect(stages).to.deep.equal([{ name: 'lint', budgetS: 390 }]);
  });

  /** The exit code for a test file that costs so much. */
  function judged(costS: number, slowdown: string): number | null {
    mkdirSync(join(folder, '.cache'), { recursive: true });
    writeFileSync(join(folder, '.cache/test-cost.json'), JSON.stringify({ 'test/a.test.ts': costS }));
    const env = { ...process.env, TEST_DEPTH: 'quick', TEST_SLOWDOWN: slowdown, NODE_V8_COVERAGE: '' };
    return spawnSync(process.execPath, [packageFile('scripts/test/cost.mjs')], { cwd: folder, env }).status;
  }

  it('are those of test files', () => {
    expect([judged(3.1, '1'), judged(5.9, '2'), judged(6.1, '2')]).to.deep.equal([1, 0, 1]);
  });
});
