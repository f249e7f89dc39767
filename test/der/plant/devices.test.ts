import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { DeviceSpec } from '../../../src/der/device/template.ts';
import { deviceSeriesReader } from '../../../src/app/devices/plant.ts';
import type { DeviceChange, TickEvent } from '../../../src/contract/plant.ts';
import { configOf } from '../../support/configured.ts';
import { codeOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { HandWall } from '../../support/wall.ts';

const by = { source: 'rest' } as const;
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof SimError ? error : null),
  );

const config = configOf();
const seriesOf = deviceSeriesReader(config);

function specOf(type: Parameters<typeof config.deviceOf>[0]['device_type'], index = 99): DeviceSpec {
  const device = config.deviceOf({ device_type: type }, index);
  return { ...device, series: seriesOf(device) };
}

const registers = (plant: SimPlant, index: number) => {
  const { bank } = plant.device(index);
  return Buffer.from(bank.read(bank.layout.base, bank.layout.size));
};

const indexesOf = (plant: SimPlant) =>
  [plant.devices, plant.latest.published.map(({ snapshot }) => ({ index: snapshot.device_index }))].map((list) =>
    list.map(({ index }) => index),
  );

describe('plants of one profile in one process', () => {
  it('have what follows from their options, and points of the profile as old as themselves', () => {
    const options = [{ nominalHz: 60 }, { nominalHz: 50 }, { simModels: true }, { unitAddressOf: () => 7 }];
    const plants = [...options, { date: '2026-06-22' }].map((each) => testPlant(each));
    const banks = plants.map((plant) => plant.device(0).bank);
    const of = (value: (bank: (typeof banks)[number]) => unknown) => banks.map(value);
    expect(of(({ map }) => map.m710.Crv[0]?.MustTrip.Pt[0]?.Hz)).to.deep.equal([62, 52, 62, 62, 62]);
    expect(of(({ map }) => map.m64413 !== undefined)).to.deep.equal([false, false, true, false, false]);
    expect(of(({ map }) => map.m1.DA)).to.deep.equal([null, null, null, 7, null]);
    const times = of((bank) => bank.provenance(bank.layout.slot(702, 'WMaxRtg')!)?.at);
    expect(times).to.deep.equal(plants.map(({ time }) => time.sim));
    expect(new Set(times).size).to.equal(2);
  });
});

describe('an added device', () => {
  it('has the next index, a snapshot of the present tick at once, and ticks with the others', async () => {
    const plant = testPlant({ types: ['PV', 'Batt'], firstIndex: 4 });
    await plant.step(10);
    const before = plant.latest;
    const device = await plant.add(specOf('PV-1Phase'));
    expect(device.index).to.equal(6);
    expect(plant.device(6)).to.equal(device);
    expect(indexesOf(plant)).to.deep.equal([
      [4, 5, 6],
      [4, 5, 6],
    ]);
    expect(before.published).to.have.length(2);
    const [first, , third] = plant.latest.published.map(({ snapshot }) => snapshot);
    expect([third?.tick, third?.metrics.timestamp]).to.deep.equal([first?.tick, first?.metrics.timestamp]);
    expect(third?.status).to.include({ service_state: 'on', inverter_state: 'running' });
    expect(third?.metrics.power_kw).to.be.above(3);
    await plant.step(1);
    expect(plant.latest.published.map(({ snapshot }) => snapshot.tick)).to.deep.equal([11, 11, 11]);
    expect(device.bank.map.m1.SN).to.equal('DB-000006');
  });

  it('equals one that was there from the start, where there is no history: PV in settled weather', async () => {
    const [early, late] = [testPlant({ types: ['PV', 'PV'] }), testPlant({ types: ['PV'] })];
    for (const plant of [early, late]) plant.setSurroundings({ irradianceWm2: 700, cellTemperatureC: 40 });
    await early.step(200);
    await late.step(200);
    await late.add(specOf('PV-3Phase'));
    for (const plant of [early, late]) await plant.step(5);
    const [a, b] = [early, late].map((plant) => plant.device(1).bank.map.m701);
    for (const point of ['W', 'Var', 'LLV', 'Hz', 'St', 'InvSt', 'ConnSt'] as const)
      expect(a?.[point], point).to.deep.equal(b?.[point]);
  });

  it('starts in the present grid and weather, not in those of the start', async () => {
    const plant = testPlant();
    plant.setGrid({ frequencyHz: 59.7, voltagePu: 0.97 });
    plant.setSurroundings({ irradianceWm2: 0 });
    await plant.step(1);
    const { bank } = await plant.add(specOf('PV-3Phase'));
    expect(bank.map.m701.Hz).to.equal(59.7);
    expect(bank.map.m701.LLV).to.be.closeTo(0.97 * 480, 0.2);
    expect(bank.map.m701.W, 'night power').to.equal(-2);
  });

  it('does not affect the others: they have the same registers with it, without it, and after it', async () => {
    const options = {
      types: ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase'],
      weatherSource: 'clear_sky',
      clouds: 'broken',
      seed: 7,
    } as const;
    const [alone, visited] = [testPlant(options), testPlant(options)];
    const others = [0, 1, 2];
    for (let tick = 0; tick < 60; tick += 1) {
      if (tick === 20) await visited.add(specOf('HybridDC-3Phase'));
      if (tick === 30) await visited.add(specOf('EVSE'));
      if (tick === 45) await visited.remove(3);
      for (const plant of [alone, visited]) await plant.step(1);
      for (const index of others)
        expect(registers(visited, index).equals(registers(alone, index)), `device ${index}, tick ${tick}`).to.equal(
          true,
        );
    }
  });

  it('the same seed and stepping give the same registers; another index another course', async () => {
    const run = async (removeFirst: boolean) => {
      const plant = testPlant({ types: ['PV'], seed: 3 });
      await plant.step(7);
      if (removeFirst) {
        const { index } = await plant.add(specOf('Wind-T3-3Phase'));
        await plant.remove(index);
      }
      const { index } = await plant.add(specOf('Wind-T3-3Phase'));
      await plant.step(40);
      return { index, dump: registers(plant, index).subarray(140) };
    };
    const [one, same, other] = [await run(false), await run(false), await run(true)];
    expect(one.dump.equals(same.dump)).to.equal(true);
    expect([one.index, other.index]).to.deep.equal([1, 2]);
    expect(one.dump.equals(other.dump)).to.equal(false);
  });

  it('its start values have the time at which it was added', async () => {
    const plant = testPlant();
    await plant.step(4);
    const device = await plant.add({ ...specOf('PV-3Phase') });
    const again = await plant.add({ ...specOf('PV-3Phase') });
    for (const { bank } of [device, again]) {
      const slot = bank.layout.slot(702, 'WMaxRtg')!;
      expect(bank.provenance(slot)).to.include({ source: 'profile', at: plant.latest.sim });
    }
  });

  it('waits for the end of a running tick, and no tick starts while it is admitted', async () => {
    const wall = new HandWall();
    const plant = testPlant({ types: ['PV', 'PV'], mode: 'accelerated', rate: 1000, wall });
    const order: string[] = [];
    plant.onTick(({ tick }) => {
      order.push(`tick ${tick}`);
    });
    plant.onDevices(({ added }) => {
      order.push(`added ${added?.index ?? '-'}`);
    });
    wall.advance(1500);
    const first = plant.tick();
    let second: Promise<void> = Promise.resolve();
    const adding = plant.add(specOf('PV-3Phase'), async (device) => {
      order.push(`admitting ${device.index}`);
      wall.advance(1500);
      second = plant.tick();
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    });
    await Promise.all([first, adding]);
    await second;
    expect(order).to.deep.equal(['tick 1', 'admitting 2', 'added 2', 'tick 2']);
    expect(plant.latest.published).to.have.length(3);
    expect(new Set(plant.latest.published.map(({ snapshot }) => snapshot.metrics.timestamp)).size).to.equal(1);
  });

  it('changes nothing when it is not admitted, and its index is free', async () => {
    const plant = testPlant();
    const { latest, devices } = plant;
    const changes: DeviceChange[] = [];
    plant.onDevices((change) => {
      changes.push(change);
    });
    const error = await failure(
      plant.add(specOf('PV-3Phase'), () => Promise.reject(new SimError('COMMAND_CONFLICT', 'no port'))),
    );
    expect(error).to.include({ code: 'COMMAND_CONFLICT', message: 'no port' });
    expect([plant.latest, plant.devices, changes]).to.deep.equal([latest, devices, []]);
    expect((await plant.add(specOf('PV-3Phase'))).index).to.equal(1);
  });

  it('with an invalid profile is refused with every issue, named from the root of the profile', async () => {
    const plant = testPlant();
    const device = config.deviceOf(
      { profile: { models: { 702: { WMax: 1e12 }, 705: { Ena: 'MAYBE', Nonsense: 1 } } } },
      1,
    );
    const error = await failure(plant.add({ ...device, series: seriesOf(device) }));
    expect(error?.code).to.equal('CONFIG_INVALID');
    expect(error?.issues.map(({ name }) => name)).to.include.members(['models.705.Nonsense', 'models.705.Ena']);
    expect(plant.devices).to.have.length(1);
  });

  it('is refused by a plant that ends', async () => {
    const plant = testPlant();
    plant.end();
    expect((await failure(plant.add(specOf('PV-3Phase'))))?.code).to.equal('STOPPING');
    expect((await failure(plant.remove(0)))?.code).to.equal('STOPPING');
  });
});

describe('a removed device', () => {
  it('is gone everywhere, and its index is never used again', async () => {
    const plant = testPlant({ types: ['PV', 'PV', 'PV'] });
    await plant.remove(2);
    await plant.remove(0);
    expect(indexesOf(plant)).to.deep.equal([[1], [1]]);
    expect((await plant.add(specOf('PV-3Phase'))).index).to.equal(3);
    expect(() => plant.device(2)).to.throw('device 2 was removed');
    expect(() => plant.device(4)).to.throw('there is no device 4; devices: 1, 3');
    expect((await failure(plant.remove(2)))?.code).to.equal('UNKNOWN_DEVICE');
    for (const change of [
      () => {
        plant.setGrid({ voltagePu: 1 }, 0);
      },
      () => {
        plant.setSurroundings({ loadKw: 1 }, 0);
      },
      () => plant.grid(0),
    ]) {
      expect(codeOf(change)).to.equal('UNKNOWN_DEVICE');
    }
    await plant.step(2);
    expect(indexesOf(plant)).to.deep.equal([
      [1, 3],
      [1, 3],
    ]);
    expect(plant.firstIndex).to.equal(0);
  });

  it('its commands are canceled, waiting and running; those of others are not', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.device(0).bank.transact(by, (tx) => {
      tx.m703.ESRmpTms = 600;
    });
    const running = plant.commands.submit({ command: 'stop', deviceIndex: 0 }, by);
    await plant.step(1);
    const waiting = plant.commands.submit({ command: 'start', deviceIndex: 0 }, by);
    const other = plant.commands.submit({ command: 'stop', deviceIndex: 1 }, by);
    await plant.remove(0);
    for (const { id } of [running, waiting])
      expect(plant.commands.get(id)).to.include({ state: 'canceled', message: 'the device was removed' });
    expect(plant.commands.get(other.id)?.state).to.equal('queued');
    await plant.step(1);
    expect(plant.commands.get(other.id)?.state).to.not.equal('queued');
  });

  it('its local deviations end, and the common surroundings stay', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.setGrid({ voltagePu: 1.02 });
    plant.setGrid({ voltagePu: 0.9 }, 0);
    plant.setSurroundings({ irradianceWm2: 10 }, 0);
    await plant.remove(0);
    expect(plant.grid().voltageAPu).to.equal(1.02);
    expect(plant.surroundings().irradianceWm2).to.equal(plant.surroundings(1).irradianceWm2);
  });

  it('notifies each listener once, after the change; a failing one does not affect the others', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    const seen: unknown[] = [];
    plant.onDevices(() => {
      throw new Error('mine');
    });
    const end = plant.onDevices(({ added, removed }) => {
      seen.push([added?.index ?? null, removed?.index ?? null, ...indexesOf(plant)]);
    });
    await plant.remove(1);
    await plant.add(specOf('PV-3Phase'));
    end();
    await plant.remove(2);
    expect(seen).to.deep.equal([
      [null, 1, [0], [0]],
      [2, null, [0, 2], [0, 2]],
    ]);
  });

  it('may be the last: an empty plant ticks, steps and takes a new device', async () => {
    const plant = testPlant();
    await plant.remove(0);
    const events: TickEvent[] = [];
    plant.onTick((event) => {
      events.push(event);
    });
    await plant.step(3);
    expect(events.map(({ tick, published }) => [tick, published.length])).to.deep.equal([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
    expect(plant.grid().voltageLnV).to.equal(null);
    expect(plant.surroundings().irradianceWm2).to.equal(0);
    plant.setGrid({ voltagePu: 0.98 });
    expect(() => plant.device(9)).to.throw('there is no device 9; there are none');
    expect((await plant.add(specOf('PV-3Phase'))).bank.map.m701.LLV).to.be.closeTo(480 * 0.98, 1);
    plant.setTime({ mode: 'accelerated', rate: 1 });
    await plant.remove(1);
    await plant.tick();
    expect(plant.health.rateHeld).to.equal(true);
  });
});
