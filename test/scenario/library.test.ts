import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { createRequestCheck } from '../../src/api/http/perform.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { bundledScenarioNames, bundledScenarioPath } from '../../src/config/profile/bundled.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { noPresets } from '../../src/config/layers/presets.ts';
import { packageFile } from '../../src/core/package-files.ts';
import { configOfScenario, readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfFile } from '../../src/scenario/file/source.ts';
import { allExpectations } from '../../src/scenario/model-parts.ts';

const check = createRequestCheck(allRoutes, { maxBodyBytes: 262_144, maxUrlBytes: 8192 });

/** The scenario with its configuration. Nothing of it runs: test/interop/scenarios.test.ts does that. */
function checked(name: string) {
  const path = bundledScenarioPath(name) ?? '';
  const source = sourceOfFile(path);
  const mapping = configOfScenario(source, {}) as Readonly<Record<string, unknown>>;
  const inline = { mapping: { mapping, directory: dirname(path), label: name }, presets: noPresets };
  const loaded = loadConfig(['--start_paused', 'yes'], {}, {}, inline);
  if (loaded.kind !== 'run') throw new Error(`the configuration of ${name} only prints`);
  const scenario = readScenario(source, name, {}, check);
  return { mapping, scenario, steps: source.value.steps as readonly Readonly<Record<string, unknown>>[] };
}

describe('bundled scenarios', () => {
  it('are valid, tell what they test, name their steps and put everything back', () => {
    for (const name of bundledScenarioNames) {
      const { mapping, scenario, steps } = checked(name);
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
    const page = readFileSync(packageFile('docs/scenario-library.md'), 'utf8');
    for (const name of bundledScenarioNames) expect(page).to.include(`\`${name}\``);
  });
});
