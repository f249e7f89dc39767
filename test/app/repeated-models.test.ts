/** Names of points in a map that has a model several times: in scenarios, proxy maps, scripts and recordings. */
import { expect } from 'chai';
import { createRequestCheck } from '../../src/api/http/perform.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { scenarioNames } from '../../src/app/scenarios/checks.ts';
import { Client } from '../../src/index.ts';
import { isIgnored, pointOf } from '../../src/recorder/replay/points.ts';
import { layoutIssues } from '../../src/scenario/file/layout.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import { createProxyAdapter } from '../../src/sunspec/modbus/proxy/bridge.ts';
import { errorOf } from '../support/map.ts';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';

describe('points of the second place of a model', () => {
  const meter = { meter: 203, of: 'site' } as const;
  const plant = testPlant({ map: { chain: [{ model: 103 }, meter, { ...meter, of: 'load' }] } });
  plant.setSurroundings({ loadKw: 2 });
  const check = createRequestCheck(allRoutes, { maxBodyBytes: 262_144, maxUrlBytes: 8192 });
  const scenario = (step: object) => readScenario(sourceOfRequest({ steps: [{ at: 1 }, step] }), 'test', {}, check);
  const issuesOf = (step: object) =>
    [...layoutIssues(scenario(step), { plant, hasCsip: false, names: scenarioNames() })].flatMap(
      (issue) => issue?.detail ?? [],
    );

  it('are points of scenarios', () => {
    expect(issuesOf({ when: { point: '203:2.W', above: 1 } })).to.deep.equal([]);
    expect(issuesOf({ when: { point: '203:3.W', above: 1 } })).to.deep.equal(['device 0 has no model 203:3']);
    expect(issuesOf({ when: { point: '203:2.Watts', above: 1 } })[0]).to.match(/^device 0 has no point 203:2\.Watts/);
  });

  it('are not waited for as writes of a master, which meters do not take', () => {
    const { issues } = errorOf(() => scenario({ when: { write: { point: '203:2.W' } } }));
    expect(issues[0]?.detail).to.match(/^must be a model and a point, such as/);
  });

  it('are points of a proxy map', () => {
    const [device] = plant.devices;
    const create = (point: string) =>
      createProxyAdapter({
        map: { name: 'm', registers: [{ address: 0, type: 'int32', name: 'load', point }] },
        mapLabel: 'test',
        devices: [device!],
        host: '127.0.0.1',
        port: 0,
      });
    expect(create('203:2.W').mapName).to.equal('m');
    expect(errorOf(() => create('203:4.W')).issues[0]?.detail).to.match(/203:4\.W/);
  });

  it('are read by scripts', async () => {
    await plant.step(4);
    const rest = await Rest.open(plant);
    try {
      const client = new Client(`http://127.0.0.1:${rest.port}/`);
      expect(await client.point('203:2.W')).to.equal(2000);
      expect(await client.text('1:2.Md')).to.equal('Site meter');
      expect((await client.registers('203:2', { points: ['W'] })).points[0]?.value).to.equal(2000);
    } finally {
      await rest.api.stop();
    }
  });

  it('move in a replay as those of the first place do', () => {
    expect(pointOf('203:2.W')).to.deep.equal(pointOf('203.W'));
    expect(pointOf('203:2.W')?.moves).to.equal(true);
    for (const name of ['203:2.W', '203.W', '203', 'W']) expect(isIgnored('203:2.W', [name]), name).to.equal(true);
    expect(isIgnored('203:2.W', ['203.Hz', '1'])).to.equal(false);
  });
});
