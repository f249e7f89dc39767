import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { packageVersion } from '../../../src/core/package-files.ts';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import { connected, failureOf, pointsOf } from '../../support/client.ts';

const types = ['PV-3Phase', 'PV-1Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];

describe('SunSpec client with the simulator as device', () => {
  let app: App;
  let client: SunSpecClientAdapter;
  before(async () => {
    ({ app } = await startApp(types, ['--sim_models', 'yes']));
  });
  after(() => app.stop());
  afterEach(() => client.stop());

  const portOf = (index: number) => modbusEndpoint(app, index).port;
  async function open(index: number): Promise<void> {
    ({ client } = await connected(portOf(index), { timeoutMs: 2000 }));
  }

  for (const [index, type] of types.entries()) {
    it(`${type}: every point of every model is what the device itself says`, async () => {
      await open(index);
      const { bank } = app.plant.device(index);
      const { models, end, notes, baseAddress } = client.view().discovery!;
      expect(models.map(({ id, address, length }) => ({ id, address, length }))).to.deep.equal(
        bank.layout.models.map(({ def, address, length }) => ({ id: def.id, address, length })),
      );
      expect({ end, notes, baseAddress }).to.deep.equal({ end: 'end_model', notes: [], baseAddress: 40_000 });
      let compared = 0;
      for (const place of bank.layout.models) {
        const reading = await client.readModel(place.def.id, 0, true);
        expect([reading.expectedLength, reading.notes], `${place.def.id}`).to.deep.equal([null, []]);
        const points = pointsOf(reading);
        expect([...points.keys()]).to.deep.equal(place.slots.map(({ path }) => path));
        for (const slot of place.slots) {
          const point = points.get(slot.path)!;
          const name = `${place.def.id}.${slot.path}`;
          const own = bank.value(slot);
          // an empty text and a sum of nothing look like "not implemented" on the wire
          const shown = own === '' || (slot.def.type.startsWith('acc') && own === 0) ? null : own;
          expect(point.symbol ?? point.value, name).to.equal(shown);
          expect(point.address, name).to.equal(slot.address);
          expect(point.raw, name).to.deep.equal(bank.raw(slot));
          if (slot.implemented && slot.def.sf !== undefined) expect(point.scaleFactor, name).to.equal(slot.sf);
          compared += 1;
        }
      }
      expect(compared).to.be.greaterThan(900);
    });
  }

  it('tells who made the device', async () => {
    await open(2);
    expect(client.view().identity).to.deep.equal({
      manufacturer: 'derbench',
      model: 'Batt-3Phase',
      version: packageVersion(),
      serialNumber: 'DB-000002',
    });
  });

  it('writes points through the checks of the device, and reads them back', async () => {
    await open(0);
    const { bank } = app.plant.device(0);
    const written = await client.writePoints(704, 0, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 50.004 });
    expect(written.match).to.equal(true);
    expect(written.requests).to.deep.equal([
      { functionCode: 16, address: bank.layout.slot(704, 'WMaxLimPctEna')!.address, count: 2 },
    ]);
    expect(written.points.map(({ name, written: value, rawWritten }) => [name, value, rawWritten])).to.deep.equal([
      ['WMaxLimPctEna', 1, [1]],
      ['WMaxLimPct', 50, [5000]],
    ]);
    expect([bank.map.m704.WMaxLimPct, bank.map.m704.WMaxLimPctEna]).to.deep.equal([50, 'ENABLED']);
    expect(
      (await client.writePoints(704, 0, { WMaxLimPct: 40 })).requests.map(({ functionCode }) => functionCode),
    ).to.deep.equal([6]);
  });

  it('shows numbers of 32 bits as the decimals that were meant, written and read back alike', async () => {
    await open(0);
    const { match, points } = await client.writePoints(64414, 0, { GridVoltageA: 0.9, GridFrequency: 59.95 });
    expect(match).to.equal(true);
    expect(points.map(({ written, readBack }) => [written, readBack.value])).to.deep.equal([
      [0.9, 0.9],
      [59.95, 59.95],
    ]);
    const { bank } = app.plant.device(0);
    expect([bank.value(bank.layout.slot(64414, 'GridVoltageA')!), bank.map.m64414!.GridFrequency]).to.deep.equal([
      0.9, 59.95,
    ]);
  });

  it('adopts a curve in one call: points first, then the request, then the enable', async () => {
    await open(0);
    const { bank } = app.plant.device(0);
    const { match, requests } = await client.writePoints(705, 0, {
      Ena: 1,
      AdptCrvReq: 2,
      'Crv[1].ActPt': 4,
      'Crv[1].Pt[0].V': 91,
      'Crv[1].Pt[0].Var': 40,
      'Crv[1].Pt[1].V': 97,
      'Crv[1].Pt[1].Var': 0,
      'Crv[1].Pt[2].V': 103,
      'Crv[1].Pt[2].Var': 0,
      'Crv[1].Pt[3].V': 109,
      'Crv[1].Pt[3].Var': -40,
      'Crv[1].RspTms': 5,
      'Crv[1].Pt[9].V': null,
    });
    expect(match).to.equal(true);
    expect(requests.at(-1)).to.include({ address: bank.layout.slot(705, 'Ena')!.address, count: 2 });
    expect(bank.map.m705.AdptCrvRslt).to.equal('COMPLETED');
    expect(bank.map.m705.Crv[0]!.Pt[0]!.V).to.equal(91);
    expect(bank.map.m705.Ena).to.equal('ENABLED');
  });

  it('says with which exception the device refuses, and what was written before', async () => {
    await open(0);
    const failure = await failureOf(client.writePoints(704, 0, { WMaxLimPct: 120 }));
    expect(failure).to.include({
      code: 'PEER_ERROR',
      protocolCode: 3,
      message: 'exception 3 (illegal data value) for WMaxLimPct; nothing was written before',
    });
    const half = await failureOf(client.writePoints(704, 0, { PFWInjEna: 0, WMaxLimPct: 101 }));
    expect(half.message).to.equal('exception 3 (illegal data value) for WMaxLimPct; nothing was written before');
    const later = await failureOf(client.writePoints(704, 0, { WRmp: 80, WMaxLimPct: 101 }));
    expect(later.protocolCode).to.equal(3);
    expect(later.message).to.match(/for (WMaxLimPct|WRmp); (nothing was written before|written before: \w+)$/);
  });

  it('refuses what cannot be written before it asks the device', async () => {
    await open(0);
    const { requests } = client.view().counters;
    for (const [values, fault] of [
      [{ W: 1 }, '/points/W: model 704 of the device has no such point'],
      [{ WMaxLimPctEna: 'MAYBE' }, '/points/WMaxLimPctEna: "MAYBE" is not one of its symbols'],
      [{ WMaxLimPctEna: 7 }, '/points/WMaxLimPctEna: 7 is not one of its symbols'],
      [{ WMaxLimPct: 'x' }, '/points/WMaxLimPct: must be a number'],
      [{ WMaxLimPct: 656 }, '/points/WMaxLimPct: 656 does not fit 0..655.34'],
      [{ WMaxLimPct: -1 }, '/points/WMaxLimPct: -1 does not fit 0..655.34'],
      [{ WMaxLimPct: null }, '/points/WMaxLimPct: the "not implemented" value cannot be written'],
      [{ PF_SF: 1 }, '/points/PF_SF: is read only'],
      [{ constructor: 1 }, '/points/constructor: model 704 of the device has no such point'],
    ] as const) {
      const failure = await failureOf(client.writePoints(704, 0, values));
      expect([failure.code, failure.message]).to.deep.equal(['COMMAND_BAD_VALUE', fault]);
    }
    expect(client.view().counters.requests - requests).to.equal(9, 'one read each, no write');
  });

  it('refuses a part of a bit', async () => {
    await open(0);
    expect((await failureOf(client.writePoints(702, 0, { IntIslandCat: 1.5 }))).message).to.equal(
      '/points/IntIslandCat: must be a whole number',
    );
  });

  it('knows what the device does not have', async () => {
    await open(0);
    expect((await failureOf(client.readModel(802, 0, true))).code).to.equal('UNKNOWN_RESOURCE');
    expect((await failureOf(client.readModel(701, 1, true))).message).to.equal(
      'The device has model 701 once: index 1 does not exist.',
    );
  });

  it('reads and writes registers as they are, in pieces of 125', async () => {
    await open(0);
    const { bank } = app.plant.device(0);
    const { requests } = client.view().counters;
    const registers = await client.readRegisters(40_000, 300);
    expect(Buffer.from(new Uint16Array(registers).buffer).swap16().equals(bank.read(40_000, 300))).to.equal(true);
    expect(client.view().counters.requests - requests).to.equal(3);
    const { address } = bank.layout.slot(704, 'WMaxLimPctRvrtTms')!;
    expect(await client.writeRegisters(address, [1, 2])).to.deep.include({ readBack: [1, 2], match: true });
    expect((await failureOf(client.writeRegisters(address, [1]))).protocolCode).to.equal(3);
    expect((await failureOf(client.readRegisters(50_000, 1))).message).to.equal('exception 2 (illegal data address)');
  });
});
