import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { byModbus } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

const types = ['PV-3Phase', 'Batt-3Phase', 'EVSE'];
const [pv, battery, charger] = [0, 1, 2] as const;

const why = (device: number, more = ''): Promise<Json> => rest.get(`/controls/why?device=${device}${more}`);
const sentence = async (device: number, more = ''): Promise<string> => (await why(device, more)).sentence;
const connector = '&connector=1';
const winner = ({ chain }: Json) => chain.find(({ state }: Json) => state === 'wins') ?? null;

/** Peers of the test have ports of their own. */
const plain = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, 'PEER');

async function atConnector(name: string, body: Json = {}): Promise<void> {
  await rest.post(`/evse/SIM-CP-${charger - 1}/connectors/1/${name}`, body);
}

describe('controls/why', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types, tickIntervalS: 1 }));
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rest.plant.step(60);
  });
  afterEach(() => rest.api.stop());

  it('says that nothing limits, and what asks for power', async () => {
    expect(await sentence(pv)).to.equal('10.00 kW, all that the sun gives.');
    expect(await sentence(battery)).to.equal('Rests: nothing asks for power.');
    expect(await sentence(charger)).to.equal('No vehicle is plugged in.');
    expect(await sentence(charger, connector)).to.equal('No vehicle is plugged in.');
    expect(await why(pv)).to.deep.include({
      device_index: pv,
      connector_id: null,
      quantity: 'active_power',
      direction: 'delivers',
      basis: { key: 'available', kw: 10, text: 'all that the sun gives' },
      delivered_kw: 10,
    });
  });

  it('lists every limit in the same order, with value, writer and end of the one that wins', async () => {
    const keys = async () => (await why(pv)).chain.map(({ key }: Json) => key);
    const before = await keys();
    await rest.post('/grid-support', { max_power: { enabled: true, limit_pct: 40, reversion_time_s: 600 } });
    await rest.plant.step(60);
    expect(await keys()).to.deep.equal(before);
    expect(before).not.to.include.members(['charge_limit']).and.not.to.include.members(['discharge_limit']);
    const { by, until, ...limit } = winner(await why(pv));
    expect(limit).to.deep.include({ key: 'max_power', kw: 4, pct: 40, owner: null, link: 'grid-support?device=0' });
    expect(by).to.deep.include({ source: 'rest' });
    expect(Date.parse(until) - Date.parse(by.changed_at)).to.equal(600_000);
    expect(await sentence(pv)).to.equal('4.00 kW of 10.00 kW: limit of active power, written by REST at 12:01:00.');
  });

  it('names the curve of volt-watt with the voltage that it follows', async () => {
    await rest.post('/grid-support', { volt_watt: { enabled: true } });
    await rest.post('/controls/grid', { voltage_pu: 1.0832 });
    await rest.plant.step(120);
    expect(await sentence(pv)).to.equal(
      '4.20 kW of 10.00 kW: volt-watt at 108.3 %, curve written by REST at 12:01:00.',
    );
  });

  it('names limit, value and owner of a connection point', async () => {
    await rest.post('/site', { export_limit_kw: 2, owner: 'feeder' });
    await rest.plant.step(60);
    expect(await sentence(pv)).to.equal(
      '2.00 kW of 10.00 kW: export limit of the site 2.00 kW, owner rest:feeder, since 12:01:00.',
    );
    expect(winner(await why(pv))).to.deep.include({ key: 'site', owner: 'rest:feeder' });
    await rest.post('/site?device=0', { export_limit_kw: 1 });
    await rest.plant.step(60);
    expect(await sentence(pv)).to.match(/: export limit of device 0 1\.00 kW, owner rest, since 12:02:00\.$/);
  });

  it('of a forced battery, says by whom and for how long', async () => {
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', power_kw: 4, duration_s: 1680 });
    await rest.plant.step(60);
    expect(await sentence(battery)).to.equal('Charges with 4.12 kW: forced by REST at 12:01:00, 27 min left.');
    await rest.post('/site', { import_limit_kw: 0 });
    await rest.post('/controls/environment', { irradiance_w_m2: 0 });
    await rest.plant.step(60);
    const { basis, direction, delivered_kw: left } = await why(battery);
    expect(direction).to.equal('absorbs');
    expect(basis).to.deep.include({ key: 'forced', text: 'forced by REST at 12:01:00, 26 min left' });
    expect(left).to.equal(0);
  });

  it('of a battery under a set-point, starts from what it can give', async () => {
    await rest.post(`/grid-support?device=${battery}`, { active_power: { enabled: true, setpoint_kw: 5 } });
    await rest.plant.step(60);
    expect(await sentence(battery)).to.equal(
      '5.00 kW of 10.00 kW: active power set-point, written by REST at 12:01:00.',
    );
  });

  it('names the setting of the charge rate where it is the bound, not where the battery is', async () => {
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', power_kw: 8 });
    rest.plant.device(battery).bank.transact(byModbus, ({ m702 }) => {
      m702.WChaRteMax = 3000;
    });
    await rest.plant.step(60);
    expect(winner(await why(battery))).to.deep.include({ key: 'charge_limit', kw: 3, pct: 100 });
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', soc_pct: 100 });
    await rest.plant.step(60);
    expect(winner(await why(battery))).to.equal(null);
  });

  it('of a trip, says the cause and when the device returns', async () => {
    await rest.post('/controls/grid', { outage: true });
    await rest.plant.step(10);
    expect(await sentence(pv)).to.match(
      /^Tripped on low voltage at 12:01:02\.\d{3}; returns 300 s after the grid is back\.$/,
    );
    await rest.post('/controls/grid', { outage: false });
    await rest.plant.step(10);
    expect(await sentence(pv)).to.match(/; returns in 4:\d\d \(300 s after the grid is back\)\.$/);
    expect(winner(await why(pv))).to.deep.include({ key: 'out_of_service', kw: 0 });
  });

  it('of an operator stop, names the writer', async () => {
    await rest.post('/commands', { command: 'stop' }, 202);
    await rest.plant.step(90);
    expect(plain(await sentence(pv))).to.match(/^Out of service: off, written by REST at 12:01:00\.$/);
  });

  describe('at a connector', () => {
    beforeEach(async () => {
      await atConnector('plug', { ev: { id: 'EV-7' } });
      await rest.plant.step(60);
    });

    it('names the vehicle, and the local limit with its writer', async () => {
      expect(await sentence(charger, connector)).to.equal('11.00 kW, all that EV-7 asks for.');
      await atConnector('limit', { power_kw: 5 });
      await rest.plant.step(60);
      expect(await sentence(charger, connector)).to.equal(
        '5.00 kW of 11.00 kW that EV-7 asks for: local limit, set by REST at 12:02:00.',
      );
      expect(await why(charger, connector)).to.deep.include({ connector_id: 1, direction: 'absorbs', delivered_kw: 5 });
    });

    it('names the function of the device that holds it, also while the vehicle pauses', async () => {
      await rest.post(`/grid-support?device=${charger}`, { active_power: { enabled: true, setpoint_kw: -6 } });
      await rest.plant.step(60);
      expect(await sentence(charger, connector)).to.equal(
        '6.00 kW of 11.00 kW that EV-7 asks for: active power set-point, written by REST at 12:02:00.',
      );
      await rest.post(`/grid-support?device=${charger}`, { active_power: { setpoint_kw: -0.5 } });
      await rest.plant.step(60);
      expect(winner(await why(charger, connector))).to.deep.include({ key: 'der', kw: 0 });
      expect(winner(await why(charger))).to.deep.include({ key: 'active_power' });
    });

    it('says that a full vehicle asks for nothing', async () => {
      await atConnector('ev', { soc_pct: 80, target_soc_pct: 80 });
      await rest.plant.step(60);
      expect(await sentence(charger, connector)).to.equal('EV-7 is full (80 % of 80 %).');
    });
  });

  it('refuses a connector that is none', async () => {
    await rest.refused(`/controls/why?device=${pv}&connector=1`, 404, 'not-applicable');
    await rest.refused(`/controls/why?device=${charger}&connector=7`, 404, 'unknown-resource');
  });
});
