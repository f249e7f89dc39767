import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { createRequestCheck } from '../../src/api/http/perform.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { bundledScenarioNames, bundledScenarioPath } from '../../src/config/profile/bundled.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { noPresets } from '../../src/config/layers/gather.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { configOfScenario, readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfFile } from '../../src/scenario/file/source.ts';
import { allExpectations } from '../../src/scenario/model.ts';

const check = createRequestCheck(allRoutes, { maxBodyBytes: 262_144, maxUrlBytes: 8192 });

/** Those that need masters of other people: they are run by their paths alone. */
const peersFolder = packageFile('config/scenarios/with-peers');
const withPeers = readdirSync(peersFolder).map((file) => join(peersFolder, file));

/** The scenario with its configuration. Nothing of it runs: test/interop does that. */
function checked(path: string, flags: readonly string[] = []) {
  const name = basename(path, '.yaml');
  const source = sourceOfFile(path);
  const mapping = configOfScenario(source, {}) as Readonly<Record<string, unknown>>;
  const inline = { mapping: { mapping, directory: dirname(path), label: name }, presets: noPresets };
  const loaded = loadConfig(['--start_paused', 'yes', ...flags], {}, {}, inline);
  if (loaded.kind !== 'run') throw new Error(`the configuration of ${name} only prints`);
  const scenario = readScenario(source, name, {}, check);
  return { mapping, scenario, steps: source.value.steps as readonly Readonly<Record<string, unknown>>[] };
}

/** Where the peers are, no file of the package can say: without them these scenarios are only read. */
const alone = ['--csip_client_enable', 'no', '--ocpp_enable', 'no'];

describe('bundled scenarios', () => {
  it('are valid, tell what they test, name their steps and put everything back', () => {
    const bundled = bundledScenarioNames.map((name) => bundledScenarioPath(name) ?? '');
    for (const path of [...bundled, ...withPeers]) {
      const name = basename(path, '.yaml');
      const { mapping, scenario, steps } = checked(path, path.startsWith(peersFolder) ? alone : []);
      expect(scenario.description.split(/\.\s|\.$/).length, `sentences of ${name}`).to.be.within(3, 7);
      expect(mapping.seed, `seed of ${name}`).to.be.a('number');
      expect(allExpectations(scenario).length, `assertions of ${name}`).to.be.at.least(5);
      if (name === 'pv-battery-day') continue;
      for (const step of steps)
        expect('name' in step || 'repeat' in step, `${name}: ${JSON.stringify(step)} has no name`).to.equal(true);
      const last = scenario.finally.flatMap(({ expectations }) => expectations);
      expect(
        last.map(({ subject }) => subject.kind),
        name,
      ).to.include('nothing_left');
    }
  });

  it('are listed in the documents', () => {
    const page = readFileSync(packageFile('docs/reference/scenario-library.md'), 'utf8');
    for (const name of [...bundledScenarioNames, ...withPeers.map((path) => basename(path, '.yaml'))])
      expect(page).to.include(`\`${name}\``);
    expect(bundledScenarioNames).to.not.include.members(withPeers.map((path) => basename(path, '.yaml')));
  });
});
