/** The install text, the tests of the page about head-ends and the recipes for CI, as pasted into an empty folder. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { Desk, blocksOf, pasted } from './support/documents.ts';
import { describeWith } from './support/peers.ts';

const shell = ['bash', '-eu', '-o', 'pipefail'] as const;
const howTo = 'docs/how-to/test-your-head-end.md';

interface Recipe {
  readonly jobs?: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
  readonly 'head-end'?: { readonly script: readonly string[] };
}

/** The command lines of a recipe of GitHub Actions or GitLab. */
function linesOf(recipe: Recipe): readonly string[] {
  const steps = Object.values(recipe.jobs ?? {}).flatMap((job) => job.steps);
  return [...(recipe['head-end']?.script ?? []), ...steps.flatMap(({ run }) => run ?? [])];
}

const recipes = blocksOf('docs/how-to/ci.md')
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => parse(text) as Recipe);

describeWith(['python'], 'an empty folder', function () {
  this.timeout(300_000);
  let desk: Desk;
  // packages come from the cache of npm and pip where it has them
  const paste = (script: string) =>
    pasted(
      shell,
      script,
      desk.env({ npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }),
      desk.folder,
    );

  before(async () => {
    desk = new Desk();
    const isBuilt = process.env['TEST_PROGRAM'] !== undefined;
    await pasted(
      ['npm', 'pack', '--silent', '--pack-destination', desk.folder, ...(isBuilt ? ['--ignore-scripts'] : [])],
      '',
      desk.env(),
    );
    const [tarball] = await readdir(desk.folder);
    expect(tarball).to.match(/^derbench-.*\.tgz$/);
    for (const { language, text } of blocksOf(howTo, 'Install')) if (language === 'sh') await paste(text);
  });
  after(() => desk.clear());

  it('becomes a project with derbench', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(desk.folder, 'package.json'), 'utf8'));
    expect(devDependencies.derbench).to.match(/^file:derbench-.*\.tgz$/);
    expect(await paste('npx --no-install derbench --version')).to.match(/^derbench \d/);
  });

  it('runs what the door of CI shows', async () => {
    const [, test] = blocksOf('docs/doors/ci.md').filter(({ language }) => language === 'sh');
    expect(await paste(test?.text ?? '')).to.include('Volt-watt: passed');
  });

  describe('with the tests of the page', () => {
    const shown = (start: string) => blocksOf(howTo).find(({ text }) => text.startsWith(start))?.text ?? '';

    before(async () => {
      for (const [file, start] of [
        ['limit.yaml', '# limit.yaml'],
        ['head-end-test.sh', '#!/bin/sh'],
        ['test_head_end.py', '# test_head_end.py'],
        ['head-end.test.mts', '// head-end.test.mts'],
      ] as const)
        await writeFile(join(desk.folder, file), shown(start));
    });

    it('there are two recipes, with the same tests', () => {
      const tests = recipes.map((recipe) => linesOf(recipe).filter((line) => !/npm ci|python3/.test(line)));
      expect(tests).to.have.length(2);
      expect(tests[0]).to.deep.equal(tests[1]);
    });

    for (const [at, recipe] of recipes.entries())
      it(`recipe ${at + 1} passes, with reports`, async () => {
        for (const line of linesOf(recipe)) await paste(line);
        const reports = (await readdir(desk.folder)).filter((name) => name.endsWith('.xml'));
        expect(reports).to.include.members(['scenarios.xml', 'node.xml']);
        for (const name of reports)
          expect(await readFile(join(desk.folder, name), 'utf8'))
            .to.match(/<testcase/)
            .and.not.match(/<failure/);
      });
  });
});
