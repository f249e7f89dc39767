import { expect } from 'chai';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { simTimeFromMs, systemClock } from '../../../src/core/time/clock.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { SimClock } from '../../../src/core/time/sim-clock.ts';
import { createPlant } from '../../../src/der/plant/create-plant.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { deviceSeriesReader } from '../../../src/app/devices/plant.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

/** A fuel cell as the flags make it. */
function flagPlant(...flags: readonly string[]): SimPlant {
  const loaded = loadConfig(['--device_type', 'Fuelcell-3Phase', ...flags], {});
  if (loaded.kind !== 'run') throw new Error('no configuration');
  const seriesOf = deviceSeriesReader(loaded.config);
  const clock = new SimClock(
    systemClock,
    { mode: 'paused', rate: 1, timezone: 'UTC' },
    simTimeFromMs(Date.UTC(2026, 5, 21, 12)),
  );
  return createPlant({
    devices: loaded.config.devices.map((device) => ({ ...device, series: seriesOf(device) })),
    firstIndex: 0,
    clock,
    tickIntervalS: 1.5,
    nominalHz: 60,
    seed: 1,
    version: '0.1.0',
    log: silentLogger,
    weatherSource: 'csv',
    clouds: 'clear',
    feeder: null,
    gridProfile: null,
    monotonicMs: () => systemClock.monotonicMs(),
  });
}

describe('interface 6.4: fuel cell', () => {
  let rest: Rest;

  afterEach(() => rest.api.stop());

  const point = async (name: string): Promise<Json> => {
    const { points } = await rest.get('/registers/704');
    const { symbol, value } = points.find((each: Json) => each.name === name);
    return symbol ?? value;
  };

  describe('PEMFC, fc_only, tank', () => {
    beforeEach(async () => {
      rest = await Rest.open(testPlant({ types: ['Fuelcell-3Phase', 'PV-3Phase'] }));
    });

    it('shows the plant', async () => {
      await rest.plant.step(4);
      const reply = await rest.get('/fuelcell');
      expect(reply).to.include({
        mode: 'FC',
        chemistry: 'PEMFC',
        operating_mode: 'fc_only',
        fuel: 'tank',
        setpoint_kw: null,
        tank_state: 'ok',
        rated_power_kw: 5,
        rated_el_power_kw: 0,
        dwell_remaining_s: 0,
      });
      expect(reply.stack_power_kw).to.be.closeTo((reply.stack_voltage_v * reply.stack_current_a) / 1000, 1e-3);
      expect(reply.h2_flow_kg_h).to.be.greaterThan(0);
      expect(reply.efficiency_pct).to.be.within(30, 60);
    });

    it('writes the set-point of 704 in one commit, under either name', async () => {
      const commits: string[][] = [];
      rest.plant.device(0).bank.onChange(({ points, by }) => {
        commits.push([by.source, ...points.map(({ path }) => path).sort()]);
      });
      const reply = await rest.post('/fuelcell/setpoint', { power_kw: 4 });
      expect(reply.setpoint_kw).to.be.closeTo(4, 1e-3);
      expect(reply.setpoint_ac_kw).to.be.within(3.4, 3.7);
      expect(commits).to.deep.equal([['rest', 'WSet', 'WSetEna', 'WSetMod', 'WSetRvrtTms']]);
      expect([await point('WSetMod'), await point('WSet'), await point('WSetEna')]).to.deep.equal([
        'WATTS',
        reply.setpoint_ac_kw * 1000,
        'ENABLED',
      ]);
      await rest.plant.step(40);
      expect((await rest.get('/fuelcell')).stack_power_kw).to.be.closeTo(4, 1e-3);
      expect((await rest.get('/overview')).metrics.power_kw).to.be.closeTo(reply.setpoint_ac_kw, 0.01);
      expect((await rest.post('/fuelcell/setpoint', { setpoint_kw: 2.5 })).setpoint_kw).to.be.closeTo(2.5, 1e-3);
      const acW = await point('WSet');
      expect(await rest.post('/fuelcell/setpoint', { power_kw: null })).to.include({ setpoint_kw: null });
      expect([await point('WSet'), await point('WSetEna')]).to.deep.equal([acW, 'DISABLED']);
    });

    it('is not ended by a reversion time that somebody else left', async () => {
      await rest.post('/grid-support/active-power', {
        enabled: true,
        mode: 'watts',
        setpoint_kw: 1,
        reversion_time_s: 30,
      });
      const { setpoint_kw: stackKw, setpoint_ac_kw: acKw } = await rest.post('/fuelcell/setpoint', { power_kw: 3 });
      expect(stackKw).to.be.closeTo(3, 1e-3);
      expect(await point('WSetRvrtTms')).to.equal(0);
      await rest.plant.step(60);
      expect(await rest.get('/fuelcell')).to.include({ setpoint_kw: stackKw });
      expect((await rest.get('/overview')).metrics.power_kw).to.be.closeTo(acKw, 0.01);
    });

    it('shows the set-point in force, whoever set it', async () => {
      await rest.post('/grid-support/active-power', { enabled: true, mode: 'w_max_pct', setpoint_pct: 50 });
      expect(await rest.get('/fuelcell')).to.include({ setpoint_ac_kw: 2.5 });
      await rest.plant.step(40);
      const { setpoint_kw: stackKw, stack_power_kw: shownKw } = await rest.get('/fuelcell');
      expect(stackKw).to.be.closeTo(shownKw, 1e-3);
    });

    it('refuses electrolysis, more than the rating, and both names at once', async () => {
      const cases: readonly [Json, string][] = [
        [{ power_kw: -1 }, '/power_kw'],
        [{ setpoint_kw: -0.001 }, '/setpoint_kw'],
        // less than the plant consumes
        [{ power_kw: 0.01 }, '/power_kw'],
        [{ power_kw: 5.75 }, '/power_kw'],
        [{ power_kw: 1e308 }, '/power_kw'],
        [{ power_kw: 1, setpoint_kw: 1 }, ''],
        [{}, ''],
        [{ power_kw: '1' }, '/power_kw'],
        [{ power_w: 1 }, '/power_w'],
      ];
      for (const [body, pointer] of cases) {
        const { errors } = await rest.refused('/fuelcell/setpoint', 422, 'validation', body);
        expect(
          errors.map((each: Json) => each.name),
          JSON.stringify(body),
        ).to.include(pointer);
      }
      expect(await rest.get('/fuelcell')).to.include({ setpoint_kw: null });
    });

    it('refuses what the settings of the device do not allow', async () => {
      await rest.post('/registers/702', { points: { WMax: 3000 } });
      const { errors } = await rest.refused('/fuelcell/setpoint', 422, 'validation', { power_kw: 4 });
      expect(errors[0]).to.include({ name: '/power_kw' });
      expect(errors[0].detail)
        .to.match(/0 to 3\.\d+ kW at the stack/)
        .and.contain('702.WMax');
    });

    it('sets the level of the tank at once', async () => {
      const { tank_mass_kg: before } = await rest.get('/fuelcell');
      const reply = await rest.post('/fuelcell/tank', { level_pct: 45 });
      expect(reply).to.include({ tank_level_pct: 45, tank_state: 'ok' });
      expect(reply.tank_mass_kg).to.be.closeTo(before / 2, 1e-3 * before);
      expect(await rest.post('/fuelcell/tank', { level_pct: 0 })).to.include({
        tank_level_pct: 0,
        tank_mass_kg: 0,
        tank_state: 'empty',
      });
      await rest.plant.step(4);
      expect(await rest.get('/fuelcell')).to.include({ mode: 'idle', stack_power_kw: 0, efficiency_pct: 0 });
      for (const body of [{}, { level_pct: 101 }, { level_pct: -1 }, { level_pct: null }])
        await rest.refused('/fuelcell/tank', 422, 'validation', body);
    });

    it('is for fuel cells alone', async () => {
      await rest.refused('/fuelcell?device=1', 404, 'not-applicable');
      await rest.refused('/fuelcell/setpoint?device=1', 404, 'not-applicable', { power_kw: 1 });
      await rest.refused('/fuelcell/tank?device=1', 404, 'not-applicable', { level_pct: 10 });
      await rest.refused('/fuelcell?device=2', 404, 'unknown-device');
    });
  });

  it('bidirectional: a negative set-point makes hydrogen after the dwell', async () => {
    rest = await Rest.open(flagPlant('--fuelcell_mode', 'bidirectional'));
    const { rated_el_power_kw: ratedEl, rated_power_kw: rated } = await rest.get('/fuelcell');
    expect(ratedEl).to.be.greaterThan(0);
    await rest.post('/fuelcell/setpoint', { power_kw: rated / 2 });
    await rest.plant.step(60);
    expect(await rest.get('/fuelcell')).to.include({ mode: 'FC' });
    // the terminals have the rating, the stack what the plant leaves of it
    const { errors } = await rest.refused('/fuelcell/setpoint', 422, 'validation', { power_kw: -ratedEl });
    const [, least, most] = /allow (\S+) to (\S+) kW at the stack/.exec(errors[0].detail) ?? [];
    expect(Number(most)).to.be.greaterThan(rated);
    await rest.refused('/fuelcell/setpoint', 422, 'validation', { power_kw: Number(least) - 0.001 });
    await rest.refused('/fuelcell/setpoint', 422, 'validation', { power_kw: Number(most) + 0.001 });
    expect((await rest.post('/fuelcell/setpoint', { power_kw: Number(most) })).setpoint_kw).to.equal(Number(most));
    const { setpoint_kw: stackKw, setpoint_ac_kw: acKw } = await rest.post('/fuelcell/setpoint', {
      power_kw: Number(least),
    });
    expect(stackKw).to.equal(Number(least));
    expect(acKw).to.be.closeTo(-ratedEl, 1e-3);
    expect(stackKw).to.be.within(-0.97 * ratedEl, -0.8 * ratedEl);
    let waited = false;
    for (let i = 0; i < 300; i += 1) {
      await rest.plant.step(1);
      waited ||= (await rest.get('/fuelcell')).dwell_remaining_s > 0;
    }
    expect(waited).to.equal(true);
    const reply = await rest.get('/fuelcell');
    expect(reply).to.include({ mode: 'EL', dwell_remaining_s: 0 });
    expect(reply.h2_flow_kg_h).to.be.lessThan(0);
    expect(reply.stack_current_a).to.be.lessThan(0);
    expect((await rest.get('/overview')).metrics.power_kw).to.be.closeTo(-ratedEl, 0.02 * ratedEl);
    await rest.post('/fuelcell/setpoint', { power_kw: -0.5 * ratedEl });
    await rest.plant.step(60);
    expect((await rest.get('/fuelcell')).stack_power_kw).to.be.closeTo(-0.5 * ratedEl, 0.002);
  });

  it('continuous supply: no tank to show or to fill', async () => {
    rest = await Rest.open(flagPlant('--fuelcell_chemistry', 'SOFC', '--fuelcell_fuel', 'continuous'));
    expect(await rest.get('/fuelcell')).to.include({
      chemistry: 'SOFC',
      fuel: 'continuous',
      tank_level_pct: null,
      tank_mass_kg: null,
      tank_pressure_bar: null,
      tank_state: null,
    });
    await rest.refused('/fuelcell/tank', 404, 'not-applicable', { level_pct: 50 });
  });
});
