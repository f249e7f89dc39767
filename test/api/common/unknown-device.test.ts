import { expect } from 'chai';
import { allRoutes } from '../../../src/api/routes.ts';
import { Rest } from '../../support/rest.ts';

const absent = 99;
const fills: Readonly<Record<string, string>> = { '{mrid}': 'AB', '{id}': 'CP-1', '{model_id}': '701' };

describe('REST: a device that there is not', () => {
  let rest: Rest;
  before(async () => {
    rest = await Rest.open();
  });
  after(() => rest.api.stop());

  // a capture has devices of its own, and is looked for first
  const routes = allRoutes.filter(
    ({ method, path, query }) => method === 'get' && 'device' in query.shape && !path.startsWith('/captures'),
  );
  it('is looked for by many reads', () => {
    expect(routes.map(({ path }) => path.split('/')[1])).to.include.members(['csip', 'dnp3', 'modbus', 'logs']);
  });
  for (const { path } of routes)
    it(`GET ${path} answers 404, also while its protocol is off`, async () => {
      const filled = path.replaceAll(/\{\w+\}/g, (name) => fills[name] ?? '1');
      await rest.refused(`${filled}?device=${absent}`, 404, 'unknown-device');
    });
});
