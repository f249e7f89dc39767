import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { LimitedLog } from '../../../src/core/log/limited-log.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import { BankUnit, LineUnits, MeterUnit } from '../../../src/sunspec/modbus/unit-bridge.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { adu, RawClient } from '../../support/modbus-client.ts';
import { testPlant } from '../../support/plant.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';

const [marker, wPower] = ['039c400002', '039c980001'];
const markerAnswer = '030453756e53';

describe('Meter over Modbus, REST and under faults', () => {
  let app: App;
  let port: number;

  before(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'PV-3Phase'], ['--meter_unit', '240']));
    app.plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
    await app.plant.step(10);
  });
  after(() => app.stop());

  async function modbus(unitId: number, pdu: string, at = modbusEndpoint(app, 0).port): Promise<string> {
    const client = await RawClient.open(at);
    try {
      return (await client.request(adu(1, unitId, pdu))).slice(14);
    } finally {
      client.destroy();
    }
  }

  async function rest(path: string, body?: unknown, status = 200): Promise<Json> {
    const answer = await ask(port, `/api/sim/${path}`, body === undefined ? {} : { method: 'POST', body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  }

  it('answers at its unit id on the port of every device, and takes no write', async () => {
    for (const index of [0, 1]) {
      const { port: at } = modbusEndpoint(app, index);
      expect(await modbus(240, marker, at)).to.equal(markerAnswer);
      expect(await modbus(241, marker, at)).to.equal('830b');
    }
    // ID and L of the second model; a device has 701 there
    expect(await modbus(240, '039c860002')).to.equal('030400cb0069');
    expect(await modbus(1, '039c860002')).to.equal('030402bd0099');
    expect(await modbus(240, '069c980001')).to.equal('8602');
  });

  it('has the same map over REST, where W is the power of the site drawn from the grid', async () => {
    const { unit_id: unitId, models } = await rest('site/registers');
    expect(unitId).to.equal(240);
    expect(models.map(({ id, address, length }: Json) => [id, address, length])).to.deep.equal([
      [1, 40_002, 66],
      [203, 40_070, 105],
    ]);
    const { net_power_kw: netKw } = await rest('site');
    const { points } = await rest('site/registers/203?points=W&raw=true');
    const [w] = points;
    expect(w).to.include({ name: 'W', address: 40_088, access: 'R', source: 'default' });
    expect(w.value).to.be.closeTo(-1000 * netKw, 5);
    expect(await modbus(240, wPower)).to.equal(`0302${w.raw[0].toString(16).padStart(4, '0')}`);
    await rest('site/registers/701', undefined, 404);
    await rest('site/registers/203?points=Power', undefined, 422);
    await rest('registers/203', undefined, 404);
    const { devices } = await rest('devices');
    expect(devices).to.have.lengthOf(2);
  });

  it('faults that name it act on it alone, and those of all devices do not', async () => {
    const own = { device: 'meter', kind: 'value', points: ['203.W'], value: 1230 };
    const { faults } = await rest('faults', { inject: [own] });
    expect(faults.at(-1)).to.include({ device_index: null, meter: true, kind: 'value' });
    const scaled = app.plant.meter!.bank.layout.slot(203, 'W')!.sf;
    expect(await modbus(240, wPower)).to.equal(`0302${(1230 / 10 ** scaled).toString(16).padStart(4, '0')}`);
    await rest('faults', { inject: [{ device: 'all', kind: 'exception', code: 6 }] });
    expect(await modbus(1, marker)).to.equal('8306');
    expect(await modbus(240, marker)).to.equal(markerAnswer);
    await rest('modbus/fault', { device: 'meter', kind: 'exception', code: 4, function: 3 });
    expect(await modbus(240, marker)).to.equal('8304');
    await rest('faults', { inject: [{ device: 'meter', kind: 'hide_model', model: 203 }] });
    await rest('faults', { clear: { device: 'meter' } });
    const drawn = Buffer.from(await modbus(240, wPower), 'hex').readInt16BE(2);
    await rest('modbus/fault', { device: 'meter', kind: 'scale', factor: -1, points: ['203.W'] });
    expect(Buffer.from(await modbus(240, wPower), 'hex').readInt16BE(2)).to.equal(0 - drawn);
    await rest('faults', { clear: { device: 'meter' } });
    expect(await modbus(1, marker)).to.equal('8306');
    await rest('faults', { clear: true });
  });

  it('refuses faults that cannot act on it, and points that it lacks', async () => {
    for (const [fault, name] of [
      [{ kind: 'ignore_write' }, '/inject/0/device'],
      [{ protocol: 'device', kind: 'reboot' }, '/inject/0/device'],
      [{ kind: 'value', points: ['701.W'], value: 1 }, '/inject/0/points/0'],
      [{ kind: 'falsify', switch: 'MeasLowF' }, '/inject/0/switch'],
    ] as const) {
      const { errors } = await rest('faults', { inject: [{ device: 'meter', ...fault }] }, 422);
      expect(errors.map((issue: Json) => issue.name)).to.deep.equal([name]);
    }
    const { faults } = await rest('faults');
    expect(faults).to.have.lengthOf(0);
  });

  it('names the faults that it takes, as the catalogue does, when it refuses one', async () => {
    const { errors } = await rest('faults', { inject: [{ device: 'meter', kind: 'ignore_write' }] }, 422);
    expect(errors[0].detail).to.equal(
      'the meter has no fault ignore_write of modbus; allowed: exception, and faults of Modbus in the layers reading and transport',
    );
    const { kinds } = await rest('faults/kinds');
    const layerOf = new Map(kinds.map(({ protocol, kind, layer }: Json) => [`${protocol} ${kind}`, layer]));
    expect(layerOf.get('modbus ignore_write')).to.equal('acceptance');
    expect(layerOf.get('modbus exception')).to.equal('acceptance');
    expect(layerOf.get('modbus hide_model')).to.equal('reading');
  });
});

describe('Meter beside other units', () => {
  const meter = { float: true, unitId: 3 };

  it('a port of its own serves it alone, at any of the three unit ids of such a port', async () => {
    const plant = testPlant({ meter });
    const adapter = createModbusAdapter({
      devices: plant.devices,
      host: '127.0.0.1',
      port: 0,
      sharedPort: true,
      meter: { bank: plant.meter!.bank, unitId: null, port: 0 },
    });
    await adapter.start();
    try {
      const { listeners } = adapter.report();
      expect(listeners.map(({ deviceIndex, isMeter }) => [deviceIndex, isMeter])).to.deep.equal([
        [null, undefined],
        [null, true],
      ]);
      const at = Number(listeners[1]?.endpoint?.split(':').at(-1));
      const client = await RawClient.open(at);
      for (const [unitId, answer] of [
        [1, markerAnswer],
        [255, markerAnswer],
        [2, '830b'],
      ] as const)
        expect((await client.request(adu(1, unitId, marker))).slice(14)).to.equal(answer);
      client.destroy();
    } finally {
      await adapter.stop();
    }
  });

  it('a device that would get its unit id is refused', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], meter });
    const options = { devices: plant.devices, host: '127.0.0.1', port: 0, sharedPort: true };
    const served = { bank: plant.meter!.bank, port: null };
    expect(() => createModbusAdapter({ ...options, meter: { ...served, unitId: 2 } })).to.throw('which the meter has');
    const adapter = createModbusAdapter({ ...options, meter: { ...served, unitId: 3 } });
    const { bank } = plant.device(1);
    const error = await adapter.addDevice({ index: 2, bank }).catch((reason: unknown) => reason);
    expect(error).to.include({ code: 'COMMAND_CONFLICT' });
  });

  it('on a line it has its address, no broadcast, and shares no address in silence', () => {
    const plant = testPlant({ unitAddressOf: () => 1, meter });
    const { bank } = plant.device(0);
    const units = new Map([[0, new BankUnit({ index: 0, bank })]]);
    const lines: string[] = [];
    const log = new LimitedLog({ ...silentLogger, warning: (line) => lines.push(line) }, systemClock, 'lines');
    const line = new LineUnits(units, log, new MeterUnit(3, plant.meter!.bank));
    const by = { peer: 'line' };
    expect(line.at(3)?.read(40_000, 2, by).toString()).to.equal('SunS');
    expect(line.at(3)).not.to.have.property('deviceIndex');
    line.at(0)?.write(bank.layout.slot(704, 'WMaxLimPct')!.address, Buffer.from([0x13, 0x88]), by);
    expect(bank.map.m704.WMaxLimPct).to.equal(50);
    line.at(1)?.write(bank.layout.slot(1, 'DA')!.address, Buffer.from([0, 3]), by);
    expect(line.at(3)?.mute).to.equal(true);
    expect(lines.join()).to.include('device 0 and the meter have the same address 3');
  });
});
