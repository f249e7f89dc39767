import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly purl?: string;
  readonly licenses: readonly unknown[];
}

type SbomOf = (files: readonly string[], root: string) => Promise<string>;

/** Files of a project: bundled packages, an installed one, and a tool. */
const project: Readonly<Record<string, unknown>> = {
  'package.json': { name: 'project', version: '1.0.0', license: 'Apache-2.0' },
  'package-lock.json': {
    packages: {
      '': {},
      'node_modules/installed': {},
      'node_modules/tool': { dev: true },
      'node_modules/a': { dev: true },
    },
  },
  'node_modules/a/package.json': { name: 'a', version: '1.0.0', license: '(MIT OR ISC)' },
  'node_modules/@b/c/package.json': { name: '@b/c', version: '2.0.0', license: 'MIT' },
  'node_modules/a/node_modules/@b/c/package.json': { name: '@b/c', version: '2.0.0', license: 'MIT' },
  'node_modules/installed/package.json': { name: 'installed', version: '3.0.0', license: 'MIT, Copyright A' },
  'node_modules/tool/package.json': { name: 'tool', version: '4.0.0', license: 'MIT' },
};
const bundled = ['src/a.ts', ...['a', '@b/c', 'a/node_modules/@b/c'].map((name) => `node_modules/${name}/index.js`)];

describe('The bill of materials', () => {
  let folder = '';
  let components: readonly Component[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-sbom-'));
    for (const [path, value] of Object.entries(project)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), JSON.stringify(value));
    }
    const { sbomOf } = (await import(packageFile('scripts/sbom.mjs'))) as { sbomOf: SbomOf };
    ({ components } = JSON.parse(await sbomOf(bundled, folder)) as { components: readonly Component[] });
  });
  after(() => rm(folder, { recursive: true }));

  it('has the bundled packages and the installed ones once, and no tools', () => {
    const libraries = components.filter(({ type }) => type === 'library');
    expect(libraries.map(({ purl }) => purl)).to.deep.equal([
      'pkg:npm/%40b/c@2.0.0',
      'pkg:npm/a@1.0.0',
      'pkg:npm/installed@3.0.0',
    ]);
    expect(libraries.map(({ licenses }) => licenses)).to.deep.equal([
      [{ license: { id: 'MIT' } }],
      [{ expression: '(MIT OR ISC)' }],
      [{ license: { name: 'MIT, Copyright A' } }],
    ]);
  });

  it('has the schemas and tables of others, on the terms that NOTICE has', async () => {
    const data = components.filter(({ type }) => type === 'data');
    expect(data.map(({ name, licenses }) => [name, ...licenses])).to.deep.equal([
      ['OCPP 1.6, 2.0.1 and 2.1 JSON schemas', { license: { id: 'CC-BY-ND-4.0' } }],
      ['SunSpec model definitions', { license: { id: 'Apache-2.0' } }],
    ]);
    const notice = (await readFile(packageFile('NOTICE'), 'utf8')).replaceAll(/\s+/g, ' ');
    expect(notice).to.include('Copyright Open Charge Alliance, CC BY-ND 4.0');
    expect(notice).to.include('SunSpec model definitions, https://github.com/sunspec/models, Apache License 2.0');
  });
});
