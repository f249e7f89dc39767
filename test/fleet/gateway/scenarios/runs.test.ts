import { expect } from 'chai';
import { checkRequest } from '../../../../src/app/scenarios/checks.ts';
import { bundledScenarioPath } from '../../../../src/config/profile/bundled.ts';
import { sourceOfFile } from '../../../../src/scenario/file/source.ts';
import type { Source } from '../../../../src/scenario/file/source.ts';
import { readScenario } from '../../../../src/scenario/file/read.ts';
import { reportDocument } from '../../../../src/scenario/report/document.ts';
import { ScenarioRun } from '../../../../src/scenario/run/run.ts';
import { byTest } from '../../../support/rig.ts';
import { configOfBundled, scenarioFleet, wholeApp } from '../../support/scenario-fleet.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The document of a run in one process, without its real times. */
async function alone(config: Mapping, source: Source): Promise<Mapping> {
  const app = wholeApp(config);
  const scenario = readScenario(source, 'test', {}, checkRequest);
  const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace: 'fast', by: byTest });
  const document = reportDocument(await run.finished, { version: '1.2.3', buildId: 'build', seed: Number(config['seed'] ?? 0) });
  return plain(JSON.parse(JSON.stringify(document)) as Mapping);
}

const plain = ({ real: _, ...document }: Mapping): Mapping => document;

/** The same of a run in a fleet. */
async function overShards(config: Mapping, sizes: readonly number[], addition: Mapping): Promise<Mapping> {
  const { ask, ended } = await scenarioFleet(config, sizes);
  const added = await ask('POST', '/scenarios', addition);
  expect(added.status, JSON.stringify(added.body)).to.equal(201);
  const started = await ask('POST', '/scenarios/1/start', {});
  expect(started.status, JSON.stringify(started.body)).to.equal(200);
  return plain(await ended('1'));
}

describe('fleet/gateway: scenarios', () => {
  for (const [name, sizes, over] of [
    ['freq-droop', [1, 1], { tick: 0.5 }],
    ['storm', [1], { tick: 1.5 }],
    ['watt-var', [2, 1], { tick: 0.5 }],
  ] as const)
    it(`${name} has over shards the result of one process`, async () => {
      const config = { ...configOfBundled(name), ...over };
      const whole = await alone(config, sourceOfFile(bundledScenarioPath(name) ?? ''));
      const fleet = await overShards(config, sizes, { bundled: name });
      expect(fleet).to.deep.equal(whole);
      expect(whole['state']).to.equal('passed');
    });
});
