import { expect } from 'chai';
import fc from 'fast-check';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import type { Json } from '../../support/http.ts';
import { byModbus, named } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { holdsAsync } from '../../support/property.ts';
import { Rest } from '../../support/rest.ts';

const kinds = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
let rest: Rest;

const changes = async (device = 0): Promise<Json[]> => {
  const reply = await rest.get(`/registers/changes?device=${device}`);
  expect(reply.device_index).to.equal(device);
  expect(reply.count).to.equal(reply.changes.length);
  return reply.changes;
};
const points = async (device = 0) => (await changes(device)).map(({ point }) => point as string);

function write(device: SimDevice, values: Readonly<Record<string, number | string>>): void {
  device.bank.assign(
    byModbus,
    Object.entries(values).map(([name, value]) => ({ slot: named(device.bank.layout, name), value })),
  );
}

describe('GET registers/changes', () => {
  afterEach(() => rest.api.stop());

  it('is empty for every kind of device that nobody has written, whatever time and surroundings do', async () => {
    rest = await Rest.open(
      testPlant({
        types: kinds,
        simModels: true,
        unitAddressOf: (index) => index + 1,
        models: { 704: { WMaxLimPct: 70, WMaxLimPctEna: 'ENABLED' } },
      }),
    );
    await rest.plant.step(40);
    await rest.post('/controls/environment', { irradiance_w_m2: 400 });
    await rest.post('/controls/grid', { voltage_pu: 1.03 });
    await rest.plant.step(5);
    for (const index of kinds.keys()) expect(await changes(index), kinds[index]).to.deep.equal([]);
  });

  it('shows start value, value, writer and time', async () => {
    rest = await Rest.open(testPlant({ models: { 704: { WMaxLimPct: 70 } } }));
    await rest.plant.step(2);
    write(rest.plant.devices[0]!, { '704.WMaxLimPct': 30, '704.WMaxLimPctEna': 'ENABLED' });
    const writer = { source: 'modbus', source_detail: byModbus.peer, changed_at: '2026-06-21T12:00:03.000Z' };
    const [enabled, limit, ...others] = await changes();
    expect(others).to.deep.equal([]);
    expect(enabled).to.deep.include({
      point: '704.WMaxLimPctEna',
      start_value: 0,
      start_symbol: 'DISABLED',
      value: 1,
      symbol: 'ENABLED',
      changed_by: writer,
    });
    expect(limit).to.deep.equal({
      point: '704.WMaxLimPct',
      label: limit!['label'],
      address: named(rest.plant.devices[0]!.bank.layout, '704.WMaxLimPct').address,
      unit: 'Pct',
      start_value: 70,
      value: 30,
      changed_by: writer,
    });
  });

  it('leaves out a point that is back at its start value', async () => {
    rest = await Rest.open();
    await rest.post('/grid-support/max-power', { enabled: true, limit_pct: 40 });
    expect(await points()).to.deep.equal(['704.WMaxLimPctEna', '704.WMaxLimPct']);
    await rest.post('/grid-support/max-power', { enabled: false, limit_pct: 100 });
    expect(await points()).to.deep.equal([]);
  });

  it('has the reversion as writer of what it put back, and the control of what it left', async () => {
    rest = await Rest.open();
    const body = { enabled: true, limit_pct: 40, reversion_time_s: 3, reversion_limit_pct: 80 };
    await rest.post('/grid-support/max-power', body);
    await rest.plant.step(4);
    const left = await changes();
    expect(left.map(({ point, value, changed_by: by }) => [point, value, by.source])).to.deep.equal([
      ['704.WMaxLimPct', 80, 'reversion'],
      ['704.WMaxLimPctRvrt', 80, 'rest'],
      ['704.WMaxLimPctRvrtTms', 3, 'rest'],
    ]);
  });

  it('has the set in force after an adoption, and nothing after a reset of the device', async () => {
    rest = await Rest.open();
    const [device] = rest.plant.devices;
    write(device!, { '706.Crv[1].Pt[0].V': 105 });
    write(device!, { '706.AdptCrvReq': 2 });
    expect(await points()).to.deep.equal(['706.AdptCrvReq', '706.Crv[0].Pt[0].V', '706.Crv[1].Pt[0].V']);
    await rest.post('/commands', { command: 'reset', scope: 'device' }, 202);
    await rest.plant.step(1);
    expect(await points()).to.deep.equal([]);
  });

  it("knows each device's own start address, and a change of it", async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'], unitAddressOf: (index) => index + 5 }));
    write(rest.plant.devices[1]!, { '1.DA': 17 });
    expect(await points(0)).to.deep.equal([]);
    expect((await changes(1)).map((each) => [each['point'], each['start_value'], each['value']])).to.deep.equal([
      ['1.DA', 6, 17],
    ]);
  });

  it('a set-point that a command changed has the device as writer', async () => {
    rest = await Rest.open(testPlant({ types: ['Batt-3Phase'] }));
    const before = (await rest.get('/battery')).soc_reserve_min_pct as number;
    rest.plant.devices[0]!.command({ kind: 'battery.reserve', minPct: before + 5, maxPct: 85 }, byModbus);
    await rest.plant.step(1);
    const left = await changes();
    expect(left.map((each) => [each['point'], each['changed_by']])).to.deep.include(['802.SoCRsvMin', null]);
  });

  it('is not taken for the number of a model', async () => {
    rest = await Rest.open();
    await rest.refused('/registers/changes', 405, 'method-not-allowed', { points: { WMaxLimPct: 1 } });
    await rest.refused('/registers/changes?device=3', 404, 'unknown-device');
    await rest.refused('/registers/changes?raw=true', 422, 'validation');
  });

  it('is the difference of two maps after any writes', async () => {
    rest = await Rest.open(testPlant({ types: ['Batt-3Phase'] }));
    const device = rest.plant.devices[0]!;
    const { bank } = device;
    const settable = bank.layout.slots.filter((slot) => slot.def.access === 'RW' && slot.implemented);
    const values = () => new Map(settable.map((slot) => [pointName(slot), bank.value(slot)]));
    const start = values();
    const numbers = [
      '704.WMaxLimPct',
      '704.VarSetPct',
      '705.Crv[1].Pt[2].V',
      '703.ESDlyTms',
      '707.Crv[2].MustTrip.Pt[0].V',
    ];
    const writes = fc.array(
      fc.oneof(
        fc.tuple(fc.constantFrom(...numbers), fc.integer({ min: 0, max: 100 })),
        fc.tuple(fc.constantFrom('704.WMaxLimPctEna', '705.Ena', '712.Ena'), fc.constantFrom('ENABLED', 'DISABLED')),
      ),
      { maxLength: 12 },
    );
    await holdsAsync(
      'the difference of two maps',
      writes,
      async (list) => {
        for (const [name, value] of list) write(device, { [name]: value });
        const now = values();
        const expected = [...start].filter(([name, value]) => now.get(name) !== value).map(([name]) => name);
        expect(await points()).to.deep.equal(expected);
      },
      { runs: 25 },
    );
  });
});
