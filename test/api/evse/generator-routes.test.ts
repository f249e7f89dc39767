/** `evse/session-generator`: vehicles that come and go by themselves. */
import { expect } from 'chai';
import { evsePlant } from '../../support/evse-plant.ts';
import type { Json } from '../../support/http.ts';
import { Rest } from '../../support/rest.ts';

const path = '/evse/session-generator';
let rest: Rest;

describe('generator of charging sessions over REST', () => {
  afterEach(() => rest.api.stop());

  it('starts at all stations or one, shows what it does, and ends', async () => {
    rest = await Rest.open(evsePlant(['EVSE-AC-22kW-1port', 'EVSE-AC-7.4kW-2port']));
    const shown = async () => (await rest.get(path)).generators as Json[];
    expect((await shown()).map((each) => [each.charge_point_id, each.running])).to.deep.equal([
      ['SIM-CP-1', false],
      ['SIM-CP-1-1', false],
    ]);
    const { generators } = await rest.post(path, { seed: 3, rate_per_hour: 60 });
    expect(generators[0]).to.include({ running: true, seed: 3, rate_per_hour: 60, id_token: 'GENERATOR', arrivals: 0 });
    expect(generators[0].next_arrival_at).to.not.equal(generators[1].next_arrival_at);
    const { generators: stopped } = await rest.post(path, { charge_point_id: 'SIM-CP-1', stop: true });
    expect(stopped).to.have.length(1);
    expect(stopped[0]).to.include({ running: false, seed: null, next_arrival_at: null });
    expect((await shown()).map((each) => each.running)).to.deep.equal([false, true]);
  });

  it('shows the next arrival also at the lowest rate', async () => {
    rest = await Rest.open(evsePlant());
    const { generators } = await rest.post(path, { seed: 1, rate_per_hour: 0.001 });
    expect(Date.parse(generators[0].next_arrival_at)).to.be.greaterThan(Date.parse(generators[0].started_at));
  });

  it('refuses unknown stations, rates out of range, and stop beside settings', async () => {
    rest = await Rest.open(evsePlant());
    await rest.refused(path, 404, 'unknown-resource', { charge_point_id: 'NO' });
    for (const body of [
      { rate_per_hour: 0 },
      { rate_per_hour: 5e-324 },
      { rate_per_hour: 61 },
      { seed: 0.5 },
      { stop: true, seed: 1 },
      { x: 1 },
    ])
      await rest.refused(path, 422, 'validation', body);
  });
});
