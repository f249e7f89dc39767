import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { byModbus } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('dates of writes', () => {
  it('follow a setting of the clock: how long ago stays', async () => {
    const rest = await Rest.open(testPlant({ types: ['PV-3Phase'] }));
    async function ages(): Promise<number[]> {
      const { sim_time: now } = await rest.get('/controls/time');
      const { points } = await rest.get('/registers/704');
      const { modes, overrides } = await rest.get('/controls');
      const dates = [
        points.find(({ name }: Json) => name === 'WMaxLimPctEna').changed_at,
        modes.max_power.changed_at,
        overrides[0].changed_at,
        (await rest.get('/site')).export_limit_by.changed_at,
      ];
      return dates.map((at) => Date.parse(now) - Date.parse(at));
    }
    await rest.post('/registers/704', { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } });
    await rest.post('/site', { export_limit_kw: 9 });
    await rest.post('/controls/shading', { shaded_share: 0.2, irradiance_share: 0.5 });
    await rest.plant.step(2);
    const before = await ages();
    expect(before).to.deep.equal([3000, 3000, 3000, 3000]);
    const { sim_time: was } = await rest.get('/controls/time');
    const { sim_time: is } = await rest.post('/controls/time', { clock_time: '20:00:00' });
    const after = await ages();
    await rest.api.stop();
    expect(Math.abs(Date.parse(is) - Date.parse(was))).to.be.above(60_000);
    expect(after).to.deep.equal(before);
  });
});

describe('last write in the overview', () => {
  let rest: Rest;
  const lastWrites = async () => (await rest.get('/overview')).devices.map((each: Json) => each.last_write);
  const close = () => rest.api.stop();
  afterEach(close);

  it('is null at the start, and that of another device does not count', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], models: { 704: { WMaxLimPct: 90 } } }));
    expect(await lastWrites()).to.deep.equal([null, null]);
    await rest.post('/grid-support/max-power?device=1', { limit_pct: 50 });
    const [pv, battery] = await lastWrites();
    expect(pv).to.equal(null);
    expect(battery).to.include({
      name: '704.WMaxLimPct',
      source: 'rest',
      changed_at: '2026-06-21T12:00:00.000Z',
    });
    expect(battery.source_detail).to.match(/^127\.0\.0\.1:/);
  });

  it('is the newest of registers and commands', async () => {
    rest = await Rest.open(testPlant({ types: ['Batt-3Phase'] }));
    const { bank } = rest.plant.devices[0]!;
    const names: string[] = [];
    const note = async () => {
      const [{ name, source }] = await lastWrites();
      names.push(`${source} ${name}`);
      await rest.plant.step(1);
    };
    await rest.post('/controls/battery', { mode: 'charge', power_kw: 1 });
    await note();
    bank.transact(byModbus, (tx) => {
      tx.m704.WRmp = 5;
      tx.m704.WMaxLimPctEna = 'ENABLED';
    });
    await note();
    await rest.post('/controls/battery', { mode: 'auto' });
    await note();
    await rest.post('/grid-support/max-power', { enabled: true, limit_pct: 40, reversion_time_s: 1 });
    await note();
    await note();
    await rest.post('/commands', { command: 'stop' }, 202);
    await rest.plant.step(1);
    await note();
    expect(names).to.deep.equal([
      'rest battery_mode',
      'modbus 704.WRmp',
      'rest battery_mode',
      'rest 704.WMaxLimPctEna',
      'reversion 704.WMaxLimPctEna',
      'rest 703.ES',
    ]);
  });

  it('is the reset itself after a reset of the device', async () => {
    rest = await Rest.open();
    await rest.post('/grid-support/max-power', { limit_pct: 50 });
    await rest.post('/commands', { command: 'reset', scope: 'device' }, 202);
    await rest.plant.step(2);
    expect((await lastWrites())[0]).to.include({ name: 'device_reset', source: 'rest' });
  });

  it('stands beside what decides, which is that of controls', async () => {
    rest = await Rest.open();
    await rest.plant.step(2);
    expect((await rest.get('/overview')).devices[0].decided_by).to.deep.equal({ active: 'source', reactive: 'none' });
    await rest.post('/grid-support', {
      max_power: { enabled: true, limit_pct: 20 },
      constant_var: { enabled: true, mode: 'va_max_pct', var_pct: 10 },
    });
    await rest.plant.step(20);
    const { decided_by: decided } = (await rest.get('/overview')).devices[0];
    expect(decided).to.deep.equal({ active: 'max_power', reactive: 'constant_var' });
    expect((await rest.get('/controls')).decided_by).to.include(decided);
  });
});
