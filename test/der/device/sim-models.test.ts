import { expect } from 'chai';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { Origin } from '../../../src/core/origin.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { ivSamples } from '../../../src/der/device/sim-models.ts';
import { decimalOf } from '../../../src/sunspec/map/codec.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { deviceChanges } from '../../support/devices.ts';
import { codeOf, named } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest, Rig } from '../../support/rig.ts';

const byMaster: Origin = { source: 'modbus', peer: '192.0.2.9:5020' };

const chainOf = (device: SimDevice) => device.bank.layout.models.map(({ def }) => def.id);

/** A number that a 32-bit point holds. */
const asShown = (value: number) => decimalOf(Math.fround(value));

/** What 64414 of a device shows. */
function shown({ bank: { map } }: SimDevice) {
  const m = map.m64414!;
  return {
    v: [m.GridVoltageA, m.GridVoltageB, m.GridVoltageC],
    hz: m.GridFrequency,
    grid: m.GridModelSource,
    sun: m.Irradiance,
    ambient: m.Temperature,
    irradiance: m.IrradianceModelSource,
  };
}

/** Writes a span of 64414 as a master does: 32-bit floats on the wire. */
function writeFloats(device: SimDevice, first: string, values: readonly number[], by = byMaster): void {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => bytes.writeFloatBE(value, i * 4));
  device.bank.write(named(device.bank.layout, `64414.${first}`).address, bytes, by);
}

const set = (device: SimDevice, change: (m: NonNullable<WritableMapView['m64414']>) => void) => {
  device.bank.transact(byMaster, (tx) => {
    change(tx.m64414!);
  });
};

describe('simulation models 64413 and 64414 in the map', () => {
  it('are not there unless asked for', () => {
    const [device] = testPlant().devices;
    expect(chainOf(device!).at(-1)).to.equal(715);
    expect(device!.bank.map.m64414).to.equal(undefined);
  });

  for (const { type, curve, before } of [
    { type: 'PV-3Phase', curve: true, before: 715 },
    { type: 'HybridDC-3Phase', curve: true, before: 802 },
    { type: 'Batt', curve: false, before: 802 },
    { type: 'Wind-T3-3Phase', curve: false, before: 715 },
    { type: 'Fuelcell-3Phase', curve: false, before: 715 },
    { type: 'EVSE', curve: false, before: 715 },
  ]) {
    it(`${type}: follow ${before}${curve ? '' : '; without a PV array there is no 64413'}`, () => {
      const [device] = testPlant({ types: [type], simModels: true }).devices;
      const chain = chainOf(device!);
      expect(chain.slice(chain.indexOf(before))).to.deep.equal([before, ...(curve ? [64413] : []), 64414]);
    });
  }

  it('have the lengths of their definitions', () => {
    const { layout } = testPlant({ simModels: true }).devices[0]!.bank;
    const lengths = layout.models.slice(-2).map(({ def, length }) => [def.id, length]);
    expect(lengths).to.deep.equal([
      [64413, 3 + 6 * ivSamples],
      [64414, 86],
    ]);
  });

  it('no profile sets them', () => {
    expect(codeOf(() => testPlant({ simModels: true, models: { 64414: { GridVoltageA: 0.9 } } }))).to.equal(
      'CONFIG_INVALID',
    );
  });
});

describe('64413: the DC curve', () => {
  it('is that of dc-iv at the end of each tick', async () => {
    const rig = await Rig.sunny({ simModels: true });
    for (const sun of [1000, 300]) {
      rig.plant.setSurroundings({ irradianceWm2: sun });
      await rig.run(10);
      const { curve, irradianceWm2 } = rig.device.dcCurve(undefined, ivSamples);
      const m = rig.map.m64413!;
      expect(m.IVLen).to.equal(curve.length);
      expect(m.Irr).to.equal(irradianceWm2);
      expect(m.IV.map(({ V, I, P }) => ({ v: V, i: I, p: P }))).to.deep.equal(
        curve.map(({ v, i, p }) => ({ v: asShown(v), i: asShown(i), p: asShown(p) })),
      );
    }
  });

  it('is that of the last tick whenever one looks: in the middle of the next one, and after writes and ticks without a look', async () => {
    const [seen, unseen] = [await Rig.sunny({ simModels: true }), await Rig.sunny({ simModels: true })];
    for (const { plant } of [seen, unseen]) plant.setSurroundings({ irradianceWm2: 200, rampS: 60 });
    for (let i = 0; i < 5; i += 1) {
      await seen.run(5);
      await unseen.run(5);
      seen.dump();
      seen.set((tx) => {
        tx.m704.WMaxLimPct = 90 - i;
      });
      unseen.set((tx) => {
        tx.m704.WMaxLimPct = 90 - i;
      });
      if (i === 2) {
        seen.dump();
        expect(unseen.dump()).to.deep.equal(seen.dump());
      }
    }
    await seen.run(1);
    await unseen.run(1);
    const after = seen.dump();
    // the light is another already, the registers are those of the last tick
    unseen.device.advance(addSeconds(unseen.plant.time.sim, 20));
    expect(unseen.dump()).to.deep.equal(after);
    await unseen.run(21);
    expect(unseen.dump()).to.not.deep.equal(after);
  });

  it('is empty from a reset to the next tick, and then whole, though nothing about it has changed', async () => {
    const rig = await Rig.sunny({ simModels: true });
    const samples = () => rig.map.m64413!.IV.map(({ P }) => P);
    const before = samples();
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(samples().every((watts) => watts === 0)).to.equal(true);
    await rig.run(1);
    expect(samples()).to.deep.equal(before);
  });

  it('is all zero in the dark, with no sample of the day before', async () => {
    const rig = await Rig.sunny({ simModels: true });
    expect(rig.map.m64413!.IV[20]!.P).to.be.greaterThan(0);
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    await rig.run(10);
    expect(rig.map.m64413!.Irr).to.equal(0);
    for (const { P, I, V } of rig.map.m64413!.IV) expect([P, I, V]).to.deep.equal([0, 0, 0]);
  });

  it('a hybrid shows its PV array', async () => {
    const rig = await Rig.sunny({ types: ['HybridDC-3Phase'], simModels: true });
    const { kind, curve } = rig.device.dcCurve(0, ivSamples);
    expect(kind).to.equal('pv');
    expect(rig.map.m64413!.IV[25]!.P).to.equal(asShown(curve[25]!.p)).and.greaterThan(0);
  });
});

describe('64414: shows the surroundings', () => {
  it('in force, and the simulated time of day', async () => {
    const rig = new Rig({ simModels: true });
    rig.plant.setSurroundings({ irradianceWm2: 640, ambientTemperatureC: 31 });
    rig.plant.setGrid({ voltageAPu: 0.98, voltageBPu: 0.99, voltageCPu: 1.01, frequencyHz: 59.95 });
    await rig.run(61);
    expect(shown(rig.device)).to.deep.equal({
      v: [0.98, 0.99, 1.01],
      hz: 59.95,
      grid: 'const',
      sun: 640,
      ambient: 31,
      irradiance: 'const',
    });
    expect(rig.map.m64414!.Time).to.equal('12:01:01').and.equal(rig.snapshot.clock_time);
  });

  it('a change over REST at once, that of another device not', () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], simModels: true });
    const [first, second] = plant.devices;
    plant.setGrid({ voltagePu: 0.95 }, 1, byTest);
    plant.setSurroundings({ source: 'clear_sky' }, 1, byTest);
    expect(shown(second!)).to.deep.include({ v: [0.95, 0.95, 0.95], irradiance: 'clear_sky' });
    expect(shown(first!)).to.deep.include({ v: [1, 1, 1], irradiance: 'csv' });
    plant.setGrid({ frequencyHz: 61 }, undefined, byTest);
    expect([shown(first!).hz, shown(second!).hz]).to.deep.equal([61, 61]);
  });

  it('an event, its end, and an outage', async () => {
    const rig = new Rig({ simModels: true });
    rig.plant.startGridEvent('sag', { residual_pu: 0.5 });
    await rig.run(0.1);
    const duringPu = rig.plant.grid(0).voltageAPu;
    expect(duringPu).to.be.lessThan(0.9);
    expect(shown(rig.device).v[0]).to.be.closeTo(duringPu, 1e-6);
    rig.plant.stopGridEvent();
    expect(shown(rig.device).v).to.deep.equal([1, 1, 1]);
    rig.plant.setGrid({ outage: true });
    expect(shown(rig.device)).to.deep.include({ v: [0, 0, 0], hz: 0 });
  });

  it('the grid profile while it is followed', async () => {
    const rig = new Rig({
      simModels: true,
      gridProfile: 'time_s,voltage_pu,frequency_hz\n0,0.97,60.02\n80000,0.97,60.02\n',
    });
    await rig.run(1);
    expect(shown(rig.device)).to.deep.include({ v: [0.97, 0.97, 0.97], hz: 60.02, grid: 'csv' });
  });
});

describe('64414: sets the surroundings of the device', () => {
  it('voltages and frequency: registers, REST and physics agree in the same tick', async () => {
    const rig = await Rig.sunny({ simModels: true });
    writeFloats(rig.device, 'GridVoltageA', [0.88, 0.9, 1.02, 59.9]);
    expect(rig.plant.grid(0)).to.deep.include({
      voltageAPu: 0.88,
      voltageBPu: 0.9,
      voltageCPu: 1.02,
      frequencyHz: 59.9,
      source: 'const',
    });
    expect(shown(rig.device)).to.deep.include({ v: [0.88, 0.9, 1.02], hz: 59.9 });
    await rig.run(1);
    expect(rig.map.m701.Hz).to.equal(59.9);
    expect(rig.map.m701.VL1! / rig.map.m701.VL3!).to.be.closeTo(0.88 / 1.02, 1e-3);
    expect(shown(rig.device)).to.deep.include({ v: [0.88, 0.9, 1.02], hz: 59.9 });
  });

  it('sun and temperature: the power follows', async () => {
    const rig = await Rig.sunny({ simModels: true });
    const before = rig.w;
    set(rig.device, (m) => {
      m.Irradiance = 250;
      m.Temperature = 5.5;
    });
    expect(rig.plant.surroundings(0)).to.deep.include({
      irradianceWm2: 250,
      ambientTemperatureC: 5.5,
      source: 'const',
    });
    await rig.run(20);
    expect(rig.w).to.be.within(0.15 * before, 0.35 * before);
    expect(rig.map.m701.TmpAmb).to.equal(5.5);
  });

  it('acts on one device alone; two masters drive two devices', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'], simModels: true });
    const [first, second, third] = plant.devices;
    writeFloats(first!, 'GridFrequency', [59.5]);
    writeFloats(second!, 'GridFrequency', [60.5], { source: 'modbus', peer: '192.0.2.10:5021' });
    await plant.step(1);
    expect([first, second, third].map((device) => device!.bank.map.m701.Hz)).to.deep.equal([59.5, 60.5, 60]);
    expect(plant.grid().frequencyHz).to.equal(60);
    expect([0, 1, 2].map((index) => plant.grid(index).changedBy?.peer)).to.deep.equal([
      '192.0.2.9:5020',
      '192.0.2.10:5021',
      undefined,
    ]);
    plant.setGrid({ frequencyHz: 60.1 }, undefined, byTest);
    expect([first, second, third].map((device) => shown(device!).hz)).to.deep.equal([60.1, 60.1, 60.1]);
  });

  it('const holds the value of the moment, csv ends the deviation', async () => {
    const rig = new Rig({ simModels: true, gridProfile: 'time_s,voltage_pu,frequency_hz\n0,0.9,60\n86400,1.1,60\n' });
    await rig.run(1);
    set(rig.device, (m) => {
      m.GridModelSource = 'const';
    });
    const held = rig.plant.grid(0).voltageAPu;
    await rig.run(3600);
    expect(rig.plant.grid(0).voltageAPu).to.equal(held);
    expect(rig.plant.grid().voltageAPu).to.be.greaterThan(held + 1e-4);
    set(rig.device, (m) => {
      m.GridModelSource = 'csv';
    });
    expect(rig.plant.grid(0).voltageAPu).to.equal(rig.plant.grid().voltageAPu);
    expect(shown(rig.device).grid).to.equal('csv');
  });

  it('csv without a profile ends the deviation too, and shows what is in force then', () => {
    const rig = new Rig({ simModels: true });
    writeFloats(rig.device, 'GridVoltageA', [0.9]);
    set(rig.device, (m) => {
      m.GridModelSource = 'csv';
    });
    expect(shown(rig.device)).to.deep.include({ v: [1, 1, 1], grid: 'const' });
    expect(rig.plant.grid(0).voltageAPu).to.equal(1);
  });

  it('clear_sky and csv of the sun', async () => {
    const rig = new Rig({ simModels: true });
    const fromSeries = rig.plant.surroundings(0).irradianceWm2;
    set(rig.device, (m) => {
      m.IrradianceModelSource = 'clear_sky';
    });
    expect(rig.plant.surroundings(0).source).to.equal('clear_sky');
    expect(shown(rig.device).irradiance).to.equal('clear_sky');
    set(rig.device, (m) => {
      m.Irradiance = 100;
    });
    expect(shown(rig.device)).to.deep.include({ irradiance: 'const', sun: 100 });
    set(rig.device, (m) => {
      m.IrradianceModelSource = 'csv';
    });
    expect(rig.plant.surroundings(0)).to.deep.include({ source: 'csv', irradianceWm2: fromSeries });
    await rig.run(1);
    expect(shown(rig.device).irradiance).to.equal('csv');
  });

  it('all or nothing: one value out of range, and neither grid nor sun changes', () => {
    const rig = new Rig({ simModels: true });
    const before = [rig.plant.grid(0), rig.plant.surroundings(0)];
    const dump = rig.dump();
    for (const values of [
      [0.9, 0.9, 2.001, 60],
      [0.9, 0.9, 0.9, 39.99],
      [0.9, -0.001, 0.9, 60],
      [NaN, 0.9, 0.9, 60],
      [0.9, Infinity, 0.9, 60],
    ]) {
      expect(
        codeOf(() => {
          writeFloats(rig.device, 'GridVoltageA', values);
        }),
        String(values),
      ).to.equal('MAP_BAD_VALUE');
    }
    // the span begins with the irradiance, which alone would do
    expect(
      codeOf(() => {
        writeFloats(rig.device, 'Irradiance', [500, 0.9, 0.9, 0.9, 71]);
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        set(rig.device, (m) => {
          m.GridVoltageA = 0.9;
          m.Temperature = 91;
        });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        set(rig.device, (m) => {
          m.GridVoltageA = 0.9;
          m.GridModelSource = 'csv';
        });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect([rig.plant.grid(0), rig.plant.surroundings(0)]).to.deep.equal(before);
    expect(rig.dump().equals(dump)).to.equal(true);
  });

  it('time and half a value are refused', () => {
    const rig = new Rig({ simModels: true });
    const { layout } = rig.device.bank;
    const address = (name: string) => named(layout, `64414.${name}`).address;
    expect(
      codeOf(() => {
        rig.device.bank.write(address('Time'), Buffer.alloc(20), byMaster);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        rig.device.bank.write(address('GridFrequency'), Buffer.from([0x42, 0x70]), byMaster);
      }),
    ).to.equal('MAP_PARTIAL_POINT');
    expect(rig.plant.grid(0).changedBy).to.equal(null);
  });

  it('who wrote is shown with the value, in the registers and over REST, whichever road it took', () => {
    const rig = new Rig({ simModels: true });
    const writer = (name: string) => rig.device.bank.provenance(named(rig.device.bank.layout, `64414.${name}`))?.source;
    expect([writer('GridFrequency'), writer('Irradiance')]).to.deep.equal([undefined, undefined]);
    writeFloats(rig.device, 'GridFrequency', [60.2]);
    expect([writer('GridFrequency'), writer('Irradiance'), rig.plant.grid(0).changedBy?.source]).to.deep.equal([
      'modbus',
      undefined,
      'modbus',
    ]);
    set(rig.device, (m) => {
      m.Irradiance = 400;
    });
    expect(['ID', 'L', 'Time'].map(writer)).to.deep.equal([undefined, undefined, undefined]);
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    rig.plant.setGrid({ frequencyHz: 60.1 }, 0, byTest);
    expect([writer('GridFrequency'), writer('Irradiance')]).to.deep.equal(['rest', undefined]);
    set(rig.device, (m) => {
      m.Irradiance = 5;
    });
    expect([writer('GridFrequency'), writer('Irradiance'), rig.plant.surroundings(0).changedBy?.source]).to.deep.equal([
      'rest',
      'modbus',
      'modbus',
    ]);
  });

  it('a reset of the device ends what its master has set, and sets nothing by itself', async () => {
    const rig = new Rig({ simModels: true });
    writeFloats(rig.device, 'GridVoltageA', [0.9, 0.9, 0.9, 59.8]);
    set(rig.device, (m) => {
      m.Irradiance = 5;
    });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(shown(rig.device)).to.deep.include({ v: [1, 1, 1], hz: 60, irradiance: 'csv' });
    rig.plant.setGrid({ frequencyHz: 60.3 });
    await rig.run(1);
    expect([rig.plant.grid(0).frequencyHz, rig.map.m701.Hz]).to.deep.equal([60.3, 60.3]);
  });

  it('under local control nothing from afar is taken', () => {
    const rig = new Rig({ simModels: true });
    rig.device.command({ kind: 'local', local: true }, byTest);
    expect(
      codeOf(() => {
        writeFloats(rig.device, 'GridFrequency', [59]);
      }),
    ).to.equal('MAP_LOCAL_CONTROL');
    expect(rig.plant.grid(0).frequencyHz).to.equal(60);
  });

  it('a device that joins later has them as well', async () => {
    const plant = testPlant({ simModels: true });
    await deviceChanges(plant).add({ device_type: 'PV-1Phase' }, byTest);
    const [, joined] = plant.devices;
    writeFloats(joined!, 'GridFrequency', [59.7]);
    await plant.step(1);
    expect(plant.devices.map(({ bank }) => bank.map.m701.Hz)).to.deep.equal([60, 59.7]);
  });
});
