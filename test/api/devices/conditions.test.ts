import { expect } from 'chai';
import type { EvseConnectorDetail, EvseDetail } from '../../../src/contract/kinds/evse.ts';
import { conditionOf } from '../../../src/contract/condition.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
const [pv, battery, wind, fuelCell, hybrid, charger] = [0, 1, 2, 3, 4, 5] as const;
let rest: Rest;

const overview = (): Promise<Json> => rest.get('/overview');
const summary = async (device: number): Promise<Json> => (await overview()).devices[device];
const state = async (device: number): Promise<string> => (await summary(device)).kind_state;
const connector = (action: string, body: Json = {}) => rest.post(`/evse/SIM-CP-1/connectors/1/${action}`, body);

/** The station of a plugged test vehicle. @param connectors what differs from a charging connector, for each */
function stationWith(...connectors: readonly Partial<EvseConnectorDetail>[]): Device {
  const charging = {
    ev: { id: 'EV-7', socPct: 40, targetSocPct: 80 },
    authorised: true,
    errorCode: 'NoError',
    phase: 'energised',
    operative: true,
    wantedW: 11_000,
    powerW: 11_000,
    limitW: 22_000,
    limitSource: 'none',
  };
  const detail = { kind: 'evse', standbyW: 10, connectors: connectors.map((each) => ({ ...charging, ...each })) };
  return {
    detail: detail as unknown as EvseDetail,
    powerLimit: { direction: 'absorbs', basis: { kind: 'chosen', powerW: 11_010 }, winner: null, deliveredW: 11_010 },
    trace: { service: 'in_service' },
  } as unknown as Device;
}

/** @param limitedBy the limit that wins */
function electrolyserAt(limitedBy: 'active_power' | 'max_power' | null): Device {
  return {
    detail: { kind: 'fuelcell', state: 'el' },
    powerLimit: {
      direction: 'absorbs',
      basis: { kind: 'available', powerW: 5000 },
      winner: limitedBy,
      deliveredW: 2000,
    },
    trace: { service: 'in_service' },
  } as unknown as Device;
}

describe('conditions of devices in the overview', () => {
  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types, tickIntervalS: 1 }));
    rest.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rest.post(`/wind/override?device=${wind}`, { wind_speed_m_s: 12 });
    await rest.plant.step(120);
  });
  afterEach(() => rest.api.stop());

  it('are words of the kind, without a limit', async () => {
    const { devices } = await overview();
    expect(devices.map(({ kind_state }: Json) => kind_state)).to.deep.equal([
      'producing',
      'resting',
      'producing',
      'producing',
      'charging',
      'no vehicle',
    ]);
    for (const { limited_by, vehicle, possible_kw, power_kw } of devices) {
      expect([limited_by, vehicle]).to.deep.equal([null, null]);
      expect(possible_kw).to.be.closeTo(power_kw, 0.001);
    }
  });

  it('name the limit that wins, and the power without it', async () => {
    await rest.post(`/grid-support/max-power?device=${pv}`, { enabled: true, limit_pct: 40 });
    await rest.post(`/grid-support?device=${battery}`, { active_power: { enabled: true, setpoint_kw: 5 } });
    await rest.plant.step(60);
    expect(await summary(pv)).to.deep.include({ kind_state: 'limited', limited_by: 'max_power', possible_kw: 10 });
    expect(await summary(battery)).to.deep.include({
      kind_state: 'discharging',
      limited_by: 'active_power',
      possible_kw: 10,
    });
  });

  it('are those of controls/why, in the direction of the power', async () => {
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', power_kw: 4 });
    await rest.post(`/grid-support/max-power?device=${hybrid}`, { enabled: true, limit_pct: 10 });
    await rest.post(`/grid-support?device=${charger}`, { active_power: { enabled: true, setpoint_kw: -6 } });
    await connector('plug', { ev: { id: 'EV-7' } });
    await rest.plant.step(60);
    for (const { device_index, kind_state, limited_by, possible_kw } of (await overview()).devices) {
      const { basis, chain, direction }: Json = await rest.get(`/controls/why?device=${device_index}`);
      const winner = chain.find((each: Json) => each.state === 'wins')?.key ?? null;
      expect([limited_by, possible_kw], kind_state).to.deep.equal([
        winner,
        direction === 'delivers' ? basis.kw : 0 - basis.kw,
      ]);
    }
    expect(await summary(charger)).to.deep.include({ limited_by: 'active_power' });
    expect(await summary(battery)).to.deep.include({ kind_state: 'charging, forced', limited_by: null });
  });

  it('follow sun and wind', async () => {
    await rest.post('/controls/environment', { irradiance_w_m2: 0 });
    await rest.post(`/wind/override?device=${wind}`, { wind_speed_m_s: 30 });
    await rest.plant.step(120);
    expect(await state(pv)).to.equal('night');
    expect(await state(wind)).to.equal('too much wind');
    await rest.post(`/wind/override?device=${wind}`, { wind_speed_m_s: 1 });
    await rest.plant.step(1200);
    expect(await state(wind)).to.equal('too little wind');
  });

  it('follow charge and contents', async () => {
    await rest.post(`/controls/battery?device=${battery}`, { soc_pct: 100 });
    await rest.post(`/fuelcell/setpoint?device=${fuelCell}`, { power_kw: 5 });
    await rest.plant.step(120);
    expect(await state(battery)).to.equal('full');
    expect(await state(fuelCell)).to.equal('producing at set-point');
    await rest.post(`/fuelcell/tank?device=${fuelCell}`, { level_pct: 0 });
    await rest.post(`/controls/battery?device=${battery}`, { soc_pct: 0 });
    await rest.plant.step(60);
    expect(await state(fuelCell)).to.equal('tank empty');
    expect(await state(battery)).to.equal('empty');
  });

  it('of a fuel cell name a set-point that it runs at, and no other limit', async () => {
    const atSetpoint = async (powerKw: number) => {
      await rest.post(`/fuelcell/setpoint?device=${fuelCell}`, { power_kw: powerKw });
      await rest.plant.step(300);
      return summary(fuelCell);
    };
    expect(await atSetpoint(4)).to.include({ kind_state: 'producing at set-point', limited_by: 'active_power' });
    await rest.post(`/grid-support/max-power?device=${fuelCell}`, { enabled: true, limit_pct: 10 });
    await rest.plant.step(60);
    expect(await summary(fuelCell)).to.include({ kind_state: 'producing', limited_by: 'max_power' });
    await rest.post(`/grid-support?device=${battery}`, { active_power: { enabled: true, setpoint_kw: 5 } });
    await rest.plant.step(60);
    expect(await summary(battery)).to.include({ kind_state: 'discharging', limited_by: 'active_power' });
  });

  it('follow service: trip, return, operator stop', async () => {
    await rest.post('/controls/grid', { outage: true });
    await rest.plant.step(10);
    const tripped = await overview();
    expect(tripped.devices[pv]).to.deep.include({
      kind_state: 'tripped',
      limited_by: 'out_of_service',
      possible_kw: 10,
    });
    const alarms: readonly Json[] = tripped.alarms.active;
    const ofDevice = (index: number) => alarms.filter(({ device_index }) => device_index === index);
    expect(alarms.length).to.equal(types.flatMap((_, index) => ofDevice(index)).length);
    // two devices with the same alarm are told apart
    expect(ofDevice(pv)[0]?.code).to.equal(ofDevice(battery)[0]?.code);
    await rest.post('/controls/grid', { outage: false });
    await rest.plant.step(10);
    expect(await state(pv)).to.equal('tripped');
    await rest.plant.step(400);
    expect(await summary(pv)).to.include({ kind_state: 'limited', limited_by: 'enter_service' });
    await rest.post('/commands', { command: 'stop' }, 202);
    await rest.plant.step(90);
    expect(await state(pv)).to.equal('out of service');
    await rest.post('/commands', { command: 'start' }, 202);
    await rest.plant.step(2);
    expect(await state(pv)).to.equal('waits to enter service');
    const { sentence }: Json = await rest.get('/controls/why');
    expect(sentence).to.equal('Waits to enter service.');
  });

  it('of a charger name its vehicle and the limit of the connector', async () => {
    await connector('plug', { ev: { id: 'EV-7', soc_pct: 40 } });
    await rest.plant.step(60);
    const free = await summary(charger);
    expect(free).to.deep.include({ kind_state: 'charging', limited_by: null, possible_kw: free.power_kw });
    expect(free.vehicle).to.include({ name: 'EV-7' });
    expect(free.vehicle.soc_pct).to.be.within(40, 42);
    await connector('limit', { power_kw: 5 });
    await rest.plant.step(60);
    const held = await summary(charger);
    expect(held).to.deep.include({ kind_state: 'charging', limited_by: 'local' });
    expect(held.possible_kw).to.be.closeTo(-11, 0.02);
    expect(held.power_kw).to.be.closeTo(-5, 0.02);
  });
});

describe('condition of an electrolyser', () => {
  it('names a set-point that it runs at, and no other limit', () => {
    const states = (['active_power', 'max_power', null] as const).map(
      (limitedBy) => conditionOf(electrolyserAt(limitedBy)).state,
    );
    expect(states).to.deep.equal(['electrolysis at set-point', 'electrolysis', 'electrolysis']);
  });
});

describe('condition of a charging station', () => {
  it('is that of its most active connector', () => {
    const idle = { ev: null, wantedW: 0, powerW: 0 };
    const cases: readonly (readonly [string, ...Partial<EvseConnectorDetail>[]])[] = [
      ['charging', idle, {}],
      ['discharging', idle, { wantedW: -5000, powerW: -5000 }],
      ['paused', idle, { limitSource: 'local', limitW: 0, powerW: 0 }],
      ['waits for authorisation', idle, { authorised: false, powerW: 0 }],
      ['starts', { phase: 'starting', powerW: 0 }, { authorised: false, powerW: 0 }],
      ['session over', { phase: 'finishing', powerW: 0 }],
      ['full', idle, { ev: { socPct: 80, targetSocPct: 80 } as never, wantedW: 0, powerW: 0 }],
      ['no vehicle', { ...idle, operative: false }, idle],
      ['out of service', { ...idle, operative: false }, { ...idle, errorCode: 'GroundFailure' }],
      ['out of service', { errorCode: 'GroundFailure', powerW: 0 }],
      ['out of service'],
    ];
    for (const [word, ...connectors] of cases)
      expect(conditionOf(stationWith(...connectors)).state, JSON.stringify(connectors)).to.equal(word);
  });

  it('adds up what its connectors would take, of which those without a limit have it', () => {
    const held = { limitSource: 'charging_profile', limitW: 6000, powerW: 6000 } as const;
    const { limitedBy, possibleW } = conditionOf(stationWith({ wantedW: 3000, powerW: 3000 }, held));
    expect([limitedBy, possibleW]).to.deep.equal(['charging_profile', -14_010]);
    const giving = { ...held, wantedW: -8000, powerW: -6000 };
    expect(conditionOf(stationWith(giving)).possibleW).to.equal(7990);
  });
});
