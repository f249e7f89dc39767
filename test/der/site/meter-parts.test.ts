/** The meter of the connection point in its parts: counters, registers, and devices that come and go. */
import { expect } from 'chai';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { GridValues } from '../../../src/der/surroundings/environment.ts';
import type { AddPhase } from '../../../src/der/inverter/site-share.ts';
import type { Wiring } from '../../../src/der/inverter/ac.ts';
import {
  addFlow,
  MeterEnergy,
  noEnergy,
  quantityNames,
  hasFailed,
  publishEnergy,
  publishEvents,
  publishPowers,
} from '../../../src/der/site/meter-registers.ts';
import { ConnectionMeter } from '../../../src/der/site/meter.ts';
import type { MeteredDevice } from '../../../src/der/site/flows.ts';
import type { ConnectionMeterOptions } from '../../../src/der/site/meter.ts';
import type { MeterForm, MeterPoints, MeterReading } from '../../../src/der/site/meter-registers.ts';
import { seconds } from './fakes.ts';

describe('Meter of the connection point: counters', () => {
  it('at rest a flow counts as drawn, in the first quadrant', () => {
    const energy = noEnergy();
    addFlow(energy, 0, 2, 3);
    expect(energy).to.deep.equal({ ...noEnergy(), importedVAh: 3, varh: [2, 0, 0, 0] });
    addFlow(energy, -1, 0, 1);
    expect(energy).to.deep.equal({ ...noEnergy(), importedVAh: 3, exportedWh: 1, exportedVAh: 1, varh: [2, 0, 0, 0] });
  });

  it('net each phase over an interval, and the phases of the whole', () => {
    const energy = new MeterEnergy(3);
    energy.add(0, 5, 0);
    energy.add(0, -2, 4);
    energy.add(1, -10, 0);
    expect(energy.total).to.deep.equal(noEnergy());
    energy.settle();
    expect(energy.phases).to.deep.equal([
      { ...noEnergy(), importedWh: 3, importedVAh: 5, varh: [4, 0, 0, 0] },
      { ...noEnergy(), exportedWh: 10, exportedVAh: 10 },
      noEnergy(),
    ]);
    expect(energy.total).to.deep.equal({ ...noEnergy(), exportedWh: 7, exportedVAh: 15, varh: [0, 4, 0, 0] });
    energy.settle();
    expect(energy.total.exportedWh).to.equal(7);
    energy.add(0, 1, -1);
    energy.settle();
    expect(energy.phases[0]).to.deep.include({ importedWh: 4, varh: [4, 0, 0, 1] });
  });

  it('leave out what is no number', () => {
    const energy = new MeterEnergy(1);
    for (const [wh, varh] of [
      [NaN, 1],
      [1, NaN],
      [Infinity, 0],
    ] as const)
      energy.add(0, wh, varh);
    energy.add(0, 2, 0);
    energy.settle();
    expect(energy.total).to.deep.equal({ ...noEnergy(), importedWh: 2, importedVAh: 2 });
  });
});

const form = (over: Partial<MeterForm> = {}): MeterForm => ({
  names: quantityNames(false),
  phases: 3,
  unityPf: 100,
  countWh: 1,
  minVa: 1,
  ...over,
});

function powers(reading: Partial<MeterReading>, over: Partial<MeterForm> = {}): MeterPoints {
  const points: MeterPoints = {};
  const volts = { ln: [100, 200, 0], ll: [1, 2, 3], meanLnV: 100, meanLlV: 2 } as const;
  publishPowers(
    points,
    { watts: new Float64Array([300, -400, 0]), vars: new Float64Array([400, 0, -7]), volts, hz: 50, ...reading },
    form(over),
  );
  return points;
}

describe('Meter of the connection point: powers in registers', () => {
  it('a load at a phase whose voltage has all but gone has no current', () => {
    const volts = { ln: [5e-324, 1e-4, 100], ll: [0, 0, 0], meanLnV: 0, meanLlV: 0 } as const;
    const { A, AphA, AphB, AphC } = powers({ volts });
    expect([A, AphA, AphB, AphC]).to.deep.equal([0.07, 0, 0, 0.07]);
  });

  it('by phase and in all', () => {
    expect(powers({})).to.deep.equal({
      A: 7,
      AphA: 5,
      AphB: 2,
      AphC: 0,
      PhV: 100,
      PhVphA: 100,
      PhVphB: 200,
      PhVphC: 0,
      PPV: 2,
      PhVphAB: 1,
      PhVphBC: 2,
      PhVphCA: 3,
      Hz: 50,
      W: -100,
      WphA: 300,
      WphB: -400,
      WphC: 0,
      VA: 907,
      VAphA: 500,
      VAphB: 400,
      VAphC: 7,
      VAR: 393,
      VARphA: 400,
      VARphB: 0,
      VARphC: -7,
      PF: -10_000 / 907,
      PFphA: 60,
      PFphB: -100,
      PFphC: 0,
    });
  });

  it('of two phases with one voltage between lines, of one with none', () => {
    const watts = new Float64Array([300, 400]);
    const two = powers({ watts, vars: new Float64Array(2) }, { phases: 2 });
    expect(two).to.include({ PhVphAB: 1, PPV: 2, WphB: 400 });
    expect(two).to.not.have.any.keys('PhVphBC', 'PhVphCA', 'WphC');
    const volts = { ln: [100, 0, 0], ll: [0, 0, 0], meanLnV: 100, meanLlV: null } as const;
    const single = powers({ watts: watts.slice(0, 1), vars: new Float64Array(1), volts }, { phases: 1 });
    expect(single).to.include({ W: 300, WphA: 300, A: 3 });
    expect(single).to.not.have.any.keys('PPV', 'PhVphAB', 'WphB');
  });

  it('with a power factor of 1 where the power is noise', () => {
    const pf = (w: number, over: Partial<MeterForm> = {}) =>
      powers({ watts: new Float64Array([w]), vars: new Float64Array(1) }, { phases: 1, ...over })['PF'];
    expect(pf(-0.999)).to.equal(100);
    expect(pf(-1)).to.equal(-100);
    expect(pf(-0.999, { unityPf: 1 })).to.equal(1);
    expect(pf(5, { unityPf: 1 })).to.equal(1);
  });

  it('and a failure below a tenth of the nominal voltage of any phase', () => {
    expect(hasFailed([1, 0.1, 1])).to.equal(false);
    expect(hasFailed([1, 1, 0.0999])).to.equal(true);
    expect(hasFailed([0, 0, 0])).to.equal(true);
    const points: MeterPoints = {};
    publishEvents(points, true);
    expect(points['Evt']).to.equal(4);
    publishEvents(points, false);
    expect(points['Evt']).to.equal(0);
  });
});

describe('Meter of the connection point: energy in registers', () => {
  const energy = new MeterEnergy(2);
  energy.add(0, 2 ** 32 * 10 + 25, 3);
  energy.add(1, -59, -14);
  energy.settle();

  function points(over: Partial<MeterForm>): MeterPoints {
    const written: MeterPoints = {};
    publishEnergy(written, energy, form({ phases: 2, ...over }));
    return written;
  }

  it('counts whole units, which go round', () => {
    expect(points({ countWh: 10 })).to.include({
      TotWhImpPhA: 20,
      TotWhExpPhA: 0,
      TotWhExpPhB: 50,
      TotWhImpPhB: 0,
      TotVArhImpQ1PhA: 0,
      TotVArhExpQ3PhB: 10,
      TotVAhExpPhB: 60,
      TotWhImp: 2 ** 32 * 10 - 40,
    });
    expect(points({ countWh: 1 })).to.include({ TotWhImpPhA: 25, TotWhExpPhB: 59, TotVArhImpQ1PhA: 3 });
  });

  it('in floating point counts on, to the fraction', () => {
    const names = quantityNames(true);
    expect(points({ countWh: null, names })).to.include({
      TotWhImpPhA: 2 ** 32 * 10 + 25,
      TotVArhImpQ1phA: 3,
      TotVArhExpQ3phB: 14,
      TotVArhExpQ4: 11,
      TotVArhImpQ2: 0,
      TotVArhImpQ1: 0,
    });
  });

  it('a phase that has no counters shows 0', () => {
    expect(points({ phases: 3 })).to.include({ TotWhImpPhC: 0, TotVAhExpPhC: 0 });
  });
});

class FakeTap {
  wiring: Wiring = 'three';
  vNomV = 400;
  ratedVa = 10_000;
  loadShare = 1 / 3;
  /** watts and vars drawn by phase */
  drawn: readonly (readonly [number, number])[] = [];
  energy = [0, 1, 2].map(() => ({ whInjected: 0, whAbsorbed: 0, varhInjected: 0, varhAbsorbed: 0 }));

  addPowers(_grid: GridValues, add: AddPhase): void {
    this.drawn.forEach(([watts, vars], phase) => {
      add(phase, watts, vars);
    });
  }
}

const metered = (index: number, over: Partial<FakeTap> = {}) => {
  const tap = Object.assign(new FakeTap(), over);
  return { tap, device: { index, siteShare: { meterTap: () => tap } } as unknown as MeteredDevice };
};
const single: Partial<FakeTap> = { wiring: 'single', vNomV: 230, loadShare: 1 };

function meterOf(devices: readonly MeteredDevice[], over: Partial<ConnectionMeterOptions> = {}) {
  const grid = { aPu: 1, bPu: 1, cPu: 1, hz: 50, angleDeg: 0, island: false };
  /** instants at which the grid was read */
  const gridAt: number[] = [];
  const loads: { at: (index: number, t: SimTime) => number } = { at: () => 0 };
  const meter = new ConnectionMeter(devices, {
    float: true,
    version: '1',
    clock: { sim: () => 0 as SimTime, wallMs: () => 0 },
    surroundings: {
      loadW: (index, t) => loads.at(index, t),
      gridAt: (_, t) => {
        gridAt.push(t);
        return grid;
      },
    },
    start: seconds(10),
    ...over,
  });
  const model = meter.bank.layout.models[1]!.def.id;
  const read = (name: string) => meter.bank.value(meter.bank.layout.slot(model, name)!) as number | null;
  return { meter, grid, gridAt, loads, model, read };
}

describe('Meter of the connection point: shape', () => {
  it('is the widest wiring, and its voltage that of the first device with it', () => {
    const devices = [metered(0, single), metered(1, { vNomV: 480 }), metered(2)].map(({ device }) => device);
    const three = meterOf(devices);
    expect(three.model).to.equal(213);
    expect(three.meter.now.volts.map(Math.round)).to.deep.equal([277, 277, 277]);
    const split = meterOf([devices[0]!, metered(1, { wiring: 'split', vNomV: 240 }).device]);
    expect([split.model, split.meter.now.volts]).to.deep.equal([212, [120, 120]]);
    const one = meterOf([devices[0]!]);
    expect([one.model, one.meter.now.volts]).to.deep.equal([211, [230]]);
  });

  it('has the rating of the devices together, or that of their loads at the start', () => {
    const scale = (ratedVa: number, loadW: number) => {
      const devices = [metered(0, { ratedVa }), metered(1, { ratedVa })].map(({ device }) => device);
      const surroundings = {
        loadW: (_: number, t: SimTime) => (t === seconds(10) ? loadW : 0),
        gridAt: () => ({ aPu: 1, bPu: 1, cPu: 1, hz: 50, angleDeg: 0, island: false }),
      };
      const { meter } = meterOf(devices, { float: false, surroundings });
      return (meter.bank.layout.slot(203, 'W')?.sf ?? NaN) + 0;
    };
    expect([scale(8_000, 0), scale(8_200, 0), scale(8_000, 8_200), scale(8_000, 7_000)]).to.deep.equal([0, 1, 1, 0]);
  });

  it('names its maker and the version of the simulator', () => {
    const { bank } = meterOf([metered(0).device], { version: '7.8' }).meter;
    const text = (name: string) => bank.value(bank.layout.slot(1, name)!);
    expect(['Mn', 'Md', 'Vr', 'SN'].map(text)).to.deep.equal(['derbench', 'Site meter', '7.8', 'DB-METER']);
  });

  it('has no unit id unless it is given', () => {
    const { device } = metered(0);
    expect(meterOf([device]).meter.unitId).to.equal(null);
    expect(meterOf([device], { unitId: 7 }).meter.unitId).to.equal(7);
  });
});

describe('Meter of the connection point: readings', () => {
  it('sum the devices by phase; a phase that the meter does not have counts on the first', () => {
    const a = metered(0, {
      drawn: [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
    });
    const b = metered(1, { ...single, drawn: [[10, 20]] });
    const { meter, read } = meterOf([a.device, b.device]);
    expect(meter.now).to.include({ w: 19, var: 32, hz: 50 });
    expect(['WphA', 'WphB', 'WphC', 'VARphA'].map(read)).to.deep.equal([11, 3, 5, 22]);
    const narrow = meterOf([b.device]);
    narrow.meter.publish([b.device, a.device]);
    expect(narrow.meter.now).to.include({ w: 19, var: 32 });
    expect(narrow.read('WphA')).to.equal(19);
  });

  it('are those of the instant before the last one, but not before the start', () => {
    const { device } = metered(0);
    const devices = [device];
    const { meter, gridAt } = meterOf(devices);
    expect(new Set(gridAt)).to.deep.equal(new Set([seconds(10)]));
    gridAt.length = 0;
    meter.begin(devices, seconds(10), seconds(11));
    meter.advance(seconds(11));
    meter.publish(devices);
    expect(new Set(gridAt)).to.deep.equal(new Set([seconds(11) - 1]));
  });

  it('show a failure of the phases that the meter has', () => {
    const { device } = metered(0, single);
    const { meter, grid, read } = meterOf([device]);
    grid.bPu = 0;
    meter.publish([device]);
    expect(read('Evt')).to.equal(0);
    grid.aPu = 0.05;
    meter.publish([device]);
    expect(read('Evt')).to.equal(4);
    expect(meter.now.volts).to.deep.equal([11.5]);
  });

  it('power factors: 1 below a thousandth of the rating, in percent in whole numbers', () => {
    const { tap, device } = metered(0, { ...single, drawn: [[-9, 0]] });
    const float = meterOf([device]);
    const whole = meterOf([device], { float: false });
    expect([float.read('PF'), whole.read('PF')]).to.deep.equal([1, 100]);
    tap.drawn = [[-10, 0]];
    for (const { meter } of [float, whole]) meter.publish([device]);
    expect([float.read('PF'), whole.read('PF')]).to.deep.equal([-1, -100]);
  });
});

describe('Meter of the connection point: energy', () => {
  it('pieces end at whole seconds and at the end of the tick', () => {
    const devices = [metered(0).device];
    const { meter } = meterOf(devices);
    expect(meter.begin(devices, seconds(10), seconds(20))).to.equal(seconds(11));
    expect(meter.begin(devices, seconds(10.4), seconds(20))).to.equal(seconds(11));
    expect(meter.begin(devices, seconds(10.4), seconds(10.9))).to.equal(seconds(10.9));
  });

  it('is what devices have absorbed less what they have injected, and the mean of the loads at both ends', () => {
    const { tap, device } = metered(0);
    const devices = [device];
    const { meter, loads } = meterOf(devices);
    loads.at = (_, t) => (t >= seconds(11) ? 1e9 : t === seconds(11) - 1 ? 7_200 : 3_600);
    meter.begin(devices, seconds(10), seconds(11));
    Object.assign(tap.energy[0]!, { whInjected: 5, whAbsorbed: 1, varhInjected: 2, varhAbsorbed: 3 });
    Object.assign(tap.energy[1]!, { whAbsorbed: 2, varhInjected: 7 });
    meter.advance(seconds(11));
    meter.publish(devices);
    // 1.5 Wh of loads, a third on each phase; -4, 2 and 0 Wh of the device
    expect(meter.now.exportedWh).to.be.closeTo(0.5, 1e-9);
    expect(meter.now).to.include({ importedWh: 0, importedVarh: 0, exportedVarh: 6 });
  });

  it('is netted over whole seconds, whatever the pieces', () => {
    const { tap, device } = metered(0, single);
    const devices = [device];
    const { meter } = meterOf(devices);
    const piece = (fromS: number, toS: number, injectedWh: number, absorbedWh: number) => {
      meter.begin(devices, seconds(fromS), seconds(toS));
      tap.energy[0]!.whInjected += injectedWh;
      tap.energy[0]!.whAbsorbed += absorbedWh;
      meter.advance(seconds(toS));
      meter.publish(devices);
      return [meter.now.exportedWh, meter.now.importedWh];
    };
    expect(piece(10, 10.5, 8, 0)).to.deep.equal([0, 0]);
    expect(piece(10.5, 11, 0, 5)).to.deep.equal([3, 0]);
    expect(piece(11, 12, 0, 5)).to.deep.equal([3, 5]);
  });

  it('reactive power that is absorbed counts as drawn', () => {
    const { tap, device } = metered(0, single);
    const devices = [device];
    const { meter } = meterOf(devices);
    meter.begin(devices, seconds(10), seconds(11));
    Object.assign(tap.energy[0]!, { varhAbsorbed: 9, varhInjected: 2, whInjected: 1 });
    meter.advance(seconds(11));
    meter.publish(devices);
    expect(meter.now).to.include({ importedVarh: 7, exportedVarh: 0, exportedWh: 1 });
  });

  it('follows each counter of each phase from one piece to the next', () => {
    const counters = (base: number) =>
      [0, 1, 2].map((phase) => ({
        whInjected: base * (phase + 1),
        whAbsorbed: 2 * base * (phase + 1),
        varhInjected: 5 * base * (phase + 1),
        varhAbsorbed: 3 * base * (phase + 1),
      }));
    const { tap, device } = metered(0, { energy: counters(10) });
    const devices = [device];
    const { meter, read } = meterOf(devices);
    for (const toS of [11, 12, 13]) {
      tap.energy = counters(toS);
      meter.begin(devices, seconds(toS - 1), seconds(toS));
      meter.advance(seconds(toS));
    }
    meter.publish(devices);
    // 3 Wh more absorbed than injected and 6 varh more injected than absorbed, times 1, 2 and 3
    expect(meter.now).to.include({ importedWh: 18, exportedWh: 0, importedVarh: 0, exportedVarh: 36 });
    expect(['PhA', 'PhB', 'PhC'].map((phase) => read(`TotWhImp${phase}`))).to.deep.equal([3, 6, 9]);
    expect(['phA', 'phB', 'phC'].map((phase) => read(`TotVArhExpQ4${phase}`))).to.deep.equal([6, 12, 18]);
  });

  it('of all quadrants adds up to what is drawn and what is given', () => {
    const { tap, device } = metered(0, single);
    const devices = [device];
    const { meter } = meterOf(devices);
    let [wh, varh] = [0, 0];
    for (const [toS, drawnWh, drawnVarh] of [
      [11, 1, 2],
      [12, -1, 3],
      [13, -1, -4],
      [14, 1, -5],
    ] as const) {
      meter.begin(devices, seconds(toS - 1), seconds(toS));
      [wh, varh] = [wh + drawnWh + 10, varh + drawnVarh + 10];
      Object.assign(tap.energy[0]!, { whAbsorbed: wh, whInjected: 10 * (toS - 10) });
      Object.assign(tap.energy[0]!, { varhAbsorbed: varh, varhInjected: 10 * (toS - 10) });
      meter.advance(seconds(toS));
    }
    meter.publish(devices);
    expect(meter.now).to.include({ importedWh: 2, exportedWh: 2, importedVarh: 5, exportedVarh: 9 });
  });

  it('is counted in the units of the scale factor', () => {
    const { tap, device } = metered(0, { ...single, ratedVa: 300_000 });
    const devices = [device];
    const { meter, read } = meterOf(devices, { float: false });
    meter.begin(devices, seconds(10), seconds(11));
    tap.energy[0]!.whInjected = 57;
    meter.advance(seconds(11));
    meter.publish(devices);
    expect([read('TotWhExp'), meter.now.exportedWh]).to.deep.equal([50, 57]);
  });

  it('begins with the counters of a device as they are', () => {
    const energy = [{ whInjected: 100, whAbsorbed: 50, varhInjected: 0, varhAbsorbed: 0 }];
    const { tap, device } = metered(0, { ...single, energy });
    const devices = [device];
    const { meter } = meterOf(devices);
    const exported = (whInjected: number, toS: number) => {
      tap.energy[0]!.whInjected = whInjected;
      meter.begin(devices, seconds(toS - 1), seconds(toS));
      meter.advance(seconds(toS));
      meter.publish(devices);
      return meter.now.exportedWh;
    };
    expect([exported(103, 11), exported(103, 12), exported(105, 13)]).to.deep.equal([3, 3, 5]);
    expect(meter.now.importedWh).to.equal(0);
  });

  it('goes on for devices that stay, and begins for one that joins', () => {
    const [a, b] = [metered(0, single), metered(3, single)];
    a.tap.energy[0]!.whInjected = 10;
    b.tap.energy[0]!.whInjected = 1_000;
    const { meter } = meterOf([a.device]);
    const both = [b.device, a.device];
    a.tap.energy[0]!.whInjected = 11;
    meter.begin(both, seconds(10), seconds(11));
    b.tap.energy[0]!.whInjected = 1_002;
    meter.advance(seconds(11));
    meter.publish(both);
    expect(meter.now.exportedWh).to.equal(3);
  });
});
