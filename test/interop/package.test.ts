/** The packed package before its judges: exports, types, and the bill of materials. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';
import { describeWith, installedPath } from './support/peers.ts';

/** The schemas of CycloneDX as its Python library brings them. */
const billValidator = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(None if error is None else str(error))
`;

/** Patterns of exports, which attw cannot resolve. */
const patterns = ['./config/*', './schema/*'].flatMap((path) => ['--exclude-entrypoints', path]);

describe('the packed package', function () {
  this.timeout(300_000);
  let folder: string;
  let tarball: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-package-'));
    const isBuilt = process.env['TEST_PROGRAM'] !== undefined;
    const options = ['--silent', '--pack-destination', folder, ...(isBuilt ? ['--ignore-scripts'] : [])];
    execFileSync('npm', ['pack', ...options], { cwd: packageFile(''), stdio: 'ignore' });
    tarball = join(folder, readdirSync(folder)[0] ?? '');
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function expectNoRemark(program: string, args: readonly string[], input = ''): void {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', input });
    expect(status, stdout + stderr).to.equal(0);
  }
  const ofNpm = (program: string) => join(installedPath('packageJudges'), program);

  describeWith(['publint'], 'before publint', () => {
    it('has exports that lead to files of their kind', () => {
      expectNoRemark(ofNpm('publint'), [tarball, '--strict']);
    });
  });

  describeWith(['attw'], 'before attw', () => {
    it('has types that belong to its modules', () => {
      expectNoRemark(ofNpm('attw'), ['--profile', 'esm-only', tarball, ...patterns]);
    });
  });

  describeWith(['cyclonedx'], 'before cyclonedx', () => {
    it('has a bill of materials that is valid CycloneDX 1.6', () => {
      const bill = execFileSync('tar', ['-xzOf', tarball, 'package/dist/sbom.cdx.json'], { encoding: 'utf8' });
      expectNoRemark(installedPath('cyclonedx'), ['-c', billValidator], bill);
    });
  });
});
