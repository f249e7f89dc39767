import { expect } from 'chai';
import { allRoutes } from '../../../src/api/routes.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { only, wire } from '../../support/hostile.ts';
import { startApp, stateOf } from '../../support/running-app.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
const paths = [...new Set(allRoutes.map(({ path }) => path))];
const readable = new Set(allRoutes.filter(({ method }) => method === 'get').map(({ path }) => path));

const target = (path: string, query: string) =>
  `/api/sim${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ({ model_id: '701' })[name] ?? '1')}${query}`;
/** Of each device, and without a device, which many operations refuse to take. */
const queries = ['', ...types.map((_, device) => `?device=${device}`)];

describe('reads, on a site of all kinds', () => {
  let app: App;
  let port: number;
  before(async () => {
    ({ app, port } = await startApp(types));
  });
  after(() => app.stop());

  for (const [at, path] of paths.entries()) {
    it(`no GET or HEAD of ${path} changes the state`, async () => {
      const state = stateOf(app);
      for (const query of pick({ quick: dealt(queries, 3, at), ci: queries })) {
        const { status } = await only(port, wire(target(path, query)));
        const isQueryNeeded = path === '/scenarios/text';
        const refused = query === '' && !isQueryNeeded ? [] : [422];
        const answered = readable.has(path) ? [200, 404, 409, ...refused] : [405];
        expect(status, query).to.be.oneOf(answered);
        const head = { method: 'HEAD', headers: { 'Content-Length': '2' }, body: '{}' };
        expect((await only(port, wire(target(path, query), head), true)).status).to.equal(status);
      }
      expect(stateOf(app)).to.equal(state);
    });
  }

  it('are of all paths of the interface', async () => {
    const { paths: described = {} } = await (await app.api.operations()).document();
    expect(Object.keys(described)).to.have.members(paths.map((path) => `/api/sim${path}`));
  });
});
