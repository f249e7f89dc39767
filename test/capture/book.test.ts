import { expect } from 'chai';
import { Captures } from '../../src/capture/book.ts';
import type { CaptureOptions } from '../../src/capture/book.ts';
import type { Capture } from '../../src/contract/captures.ts';
import type { Disturbance } from '../../src/contract/plant.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import type { Origin } from '../../src/core/origin.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { testPlant } from '../support/plant.ts';
import type { TestPlantOptions } from '../support/plant.ts';

const byRest: Origin = { source: 'rest', peer: 'test' };

interface Lab {
  readonly plant: SimPlant;
  readonly captures: Captures;
}

function lab(options: TestPlantOptions = {}, more: Partial<CaptureOptions> = {}): Lab {
  const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], tickIntervalS: 0.5, ...options });
  plant.setSurroundings({ irradianceWm2: 800, cellTemperatureC: 25 });
  const captures = new Captures({ plant, nowMs: () => 0, run: () => null, ...more });
  captures.capacity = 50;
  return { plant, captures };
}

const sag = ({ plant }: Lab, residual: number, durationS: number, device?: number) => {
  plant.startGridEvent('sag', { residual_pu: residual, duration_s: durationS }, device, byRest);
};

/** Small enough that nothing trips on it. */
const dip = (of: Lab) => {
  sag(of, 0.9, 0.2);
};

const begins = ({ captures }: Lab) =>
  captures.list.map(({ triggers }) => triggers.map(({ kind, tS }) => `${kind} ${tS}`));
const columnNames = [
  'tS',
  'gridVPct',
  'vLowPct',
  'vHighPct',
  'fHz',
  'pKw',
  'qKvar',
  'possibleKw',
  'state',
  'ramp',
  'tick',
] as const;
const rowsOf = (capture: Capture) =>
  capture.rows.map(({ deviceIndex, columns }) => [
    deviceIndex,
    ...columnNames.map((name) => [...columns[name].subarray(0, columns.length)]),
  ]);

/** The recorded instants of a device, without ticks. */
function subSteps(capture: Capture, device = 0): readonly number[] {
  const { columns } = capture.rows.find(({ deviceIndex }) => deviceIndex === device)!;
  return [...columns.tS.subarray(0, columns.length)].filter((_, row) => columns.tick[row] === 0);
}

describe('captures begin by themselves', () => {
  it('at a grid event: a second before, sub-steps until all have settled for 2 s, then complete', async () => {
    const of = lab();
    await of.plant.step(1);
    sag(of, 0.6, 1.2);
    await of.plant.step(20);
    const [capture] = of.captures.list;
    expect(capture).to.include({ state: 'complete', startedWallMs: 0, scenario: null });
    expect(begins(of)).to.deep.equal([['grid_event 0']]);
    const { columns } = capture!.rows[0]!;
    expect([columns.tS[0], columns.tick[0], columns.vLowPct[0]]).to.deep.equal([-1, 1, 100]);
    const steps = subSteps(capture!);
    expect(steps).to.include(1.2);
    // settled 1 s after the return, and 2 s more
    expect(Math.max(...steps)).to.be.within(4, 5);
    expect(capture!.rows.map(({ deviceIndex }) => deviceIndex)).to.deep.equal([0, 1]);
    const { verdicts, summary, marks } = capture!.report();
    expect(verdicts[0]).to.include({ verdict: 'rode_through', marginS: 19.8 });
    expect(summary).to.equal('1 of 2 rode through.');
    expect(marks.map(({ kind, tS }) => `${kind} ${tS}`)).to.include.members(['begin 0', 'grid_back 1.2']);
  });

  it('with the nominal voltage of each device, as it is set at the begin', () => {
    const of = lab();
    of.plant.device(1).bank.transact(byRest, ({ m702 }) => (m702.VNom = (m702.VNomRtg ?? 0) * 0.95));
    of.captures.start(byRest);
    expect(of.captures.list[0]?.rows.map(({ vNomPu }) => Number(vNomPu.toFixed(3)))).to.deep.equal([1, 0.95]);
  });

  it('at a change of the grid, an outage and its end, of a device or of all', async () => {
    const of = lab();
    of.plant.setGrid({ voltagePu: 0.985 }, undefined, byRest);
    await of.plant.step(1);
    expect(of.captures.list).to.have.length(0);
    of.plant.setGrid({ voltagePu: 0.95 }, 1, byRest);
    await of.plant.step(12);
    of.plant.setGrid({ outage: true }, undefined, byRest);
    await of.plant.step(12);
    of.plant.setGrid({ outage: false }, undefined, byRest);
    await of.plant.step(12);
    expect(of.captures.list.map(({ rows, triggers: [first] }) => [rows.length, first?.title])).to.deep.equal([
      [1, 'Voltage to 95 %'],
      [2, 'Outage'],
      [2, 'End of the outage'],
    ]);
  });

  it('where a grid profile passes a trip threshold, for all devices', async () => {
    const gridProfile =
      'time_s,voltage_pu,frequency_hz\n0,1,60\n43210,1,60\n43211,0.8,60\n43214,0.8,60\n43215,1,60\n99999,1,60';
    const of = lab({ gridProfile, time: '12:00:00' });
    await of.plant.step(40);
    expect(begins(of)).to.deep.equal([['threshold 0']]);
    const [capture] = of.captures.list;
    expect(capture!.rows.map(({ deviceIndex }) => deviceIndex)).to.have.members([0, 1]);
    expect(capture!.report().verdicts[0]).to.include({ verdict: 'rode_through' });
  });

  it('at a trip, of the device that tripped', async () => {
    const of = lab({ inverter: { vectorShiftRelayDeg: 10 } });
    of.captures.capacity = 0;
    of.plant.setGrid({ phaseAngleDeg: 30 }, 1, byRest);
    of.captures.capacity = 50;
    await of.plant.step(4);
    expect(begins(of)).to.deep.equal([['trip 0']]);
    const [capture] = of.captures.list;
    expect(capture!.rows.map(({ deviceIndex }) => deviceIndex)).to.deep.equal([1]);
    expect(capture!.report().verdicts[0]).to.include({ verdict: 'tripped', clause: '6.5.2.6' });
  });

  it('at an alarm of severity error', async () => {
    const of = lab({ types: ['PV-3Phase', 'EVSE'] });
    await of.plant.step(1);
    of.plant.device(1).command({ kind: 'evse.fault', connectorId: 1, errorCode: 'InternalError' }, byRest);
    await of.plant.step(1);
    expect(of.captures.list[0]!.triggers[0]).to.deep.include({ kind: 'alarm', deviceIndex: 1 });
    expect(of.captures.list[0]!.triggers[0]!.title).to.match(/^Alarm connector_fault of /);
  });

  it('not again for the alarm of a trip', async () => {
    const of = lab();
    const told: string[] = [];
    of.plant.onDisturbance((disturbance: Disturbance) => {
      if (disturbance.kind === 'alarm') told.push(disturbance.alarm ?? '');
    });
    sag(of, 0.3, 3);
    await of.plant.step(5);
    expect(of.plant.device(0).alarms.map(({ code }) => code)).to.include('ac_under_volt');
    expect(told).to.deep.equal([]);
    expect(of.captures.list).to.have.length(1);
  });

  it('by request, for all devices or one', async () => {
    const of = lab();
    of.captures.start(byRest, 1);
    await of.plant.step(12);
    const [capture] = of.captures.list;
    expect(capture).to.include({ state: 'complete' });
    expect(capture!.triggers[0]).to.deep.include({ kind: 'request', deviceIndex: 1, by: byRest, call: null });
    expect(capture!.report().summary).to.equal('No device was concerned.');
    of.captures.capacity = 0;
    expect(() => of.captures.start(byRest))
      .to.throw()
      .with.property('code', 'COMMAND_CONFLICT');
    expect(of.captures.list).to.have.length(0);
  });
});

describe('captures share, end and resume', () => {
  it('disturbances closer than 2 s share a capture, others do not', async () => {
    const of = lab();
    dip(of);
    await of.plant.step(5);
    dip(of);
    await of.plant.step(5);
    expect(begins(of)).to.deep.equal([['grid_event 0', 'grid_event 2.5']]);
    await of.plant.step(4);
    dip(of);
    expect(begins(of)).to.deep.equal([['grid_event 0', 'grid_event 2.5'], ['grid_event 0']]);
  });

  it('after a trip the way back to service follows in ticks, at most 10 min', async () => {
    const of = lab({ models: { '703': { ESDlyTms: 20, ESRmpTms: 10 } } });
    sag(of, 0.3, 3, 0);
    await of.plant.step(200);
    const [capture] = of.captures.list;
    expect(capture).to.include({ state: 'complete' });
    expect(capture!.endS).to.be.within(33, 34);
    expect(capture!.report().verdicts[0]).to.include({ verdict: 'tripped', marginS: -1, duringKw: 0 });
    expect(capture!.report().verdicts[0]!.backAfterS).to.be.within(25, 30.5);
    expect(subSteps(capture!).length).to.be.below(capture!.rows[0]!.columns.length - 50);
  });

  it('is cut 10 min after its sub-steps while a device is still out', async () => {
    const of = lab({ tickIntervalS: 10 });
    of.plant.setGrid({ outage: true }, 0, byRest);
    await of.plant.step(60);
    expect(of.captures.list[0]).to.include({ state: 'recording' });
    await of.plant.step(3);
    expect(of.captures.list[0]).to.include({ state: 'cut' });
    expect(of.captures.list[0]!.report().verdicts[0]!.verdict).to.equal('tripped');
  });

  it('records at most 30 s of sub-steps, and those again in which the grid returns', async () => {
    const of = lab();
    of.plant.startGridEvent('oscillation', { quantity: 'voltage', amplitude: 0.03, duration_s: 40 }, undefined, byRest);
    await of.plant.step(100);
    expect(Math.max(...subSteps(of.captures.list[0]!))).to.be.at.most(30);
    sag(of, 0.8, 15);
    await of.plant.step(60);
    const steps = subSteps(of.captures.list[1]!);
    expect(steps.some((tS) => tS > 6 && tS < 13)).to.equal(false);
    expect(steps).to.include(15);
  });

  it('a trip belongs to the capture that waits for its time to end', async () => {
    const of = lab();
    of.plant.setGrid({ voltagePu: 0.8 }, undefined, byRest);
    await of.plant.step(60);
    const [capture] = of.captures.list;
    expect(of.captures.list).to.have.length(1);
    expect(capture!.report().verdicts[0]).to.include({ verdict: 'tripped', clause: '6.4.1, Table 13', marginS: 0 - 9 });
    expect(subSteps(capture!).some((tS) => tS > 21 && tS < 22)).to.equal(true);
  });

  it('other devices that trip join from the trip on', async () => {
    const of = lab({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'] }, { bounds: { devices: 1 } });
    sag(of, 0.3, 3);
    await of.plant.step(4);
    const [capture] = of.captures.list;
    expect(capture!.devicesLeftOut).to.equal(2);
    await of.plant.step(2);
    expect(capture!.rows.map(({ deviceIndex, columns }) => [deviceIndex, columns.tS[0]])).to.deep.equal([
      [0, -1],
      [1, 2],
      [2, 2],
    ]);
  });
});

describe('the report of a capture', () => {
  it('is made device by device: a part looks at the rows of one device at most', async () => {
    const of = lab({ types: Array.from({ length: 6 }, () => 'PV-3Phase') });
    of.captures.start(byRest);
    await of.plant.step(3);
    const capture = of.captures.list[0]!;
    let parts = 0;
    const work = capture.reporting();
    for (let part = work.next(); part.done !== true; part = work.next()) parts += 1;
    expect(parts).to.equal(6);
  });

  it('in parts is that of its begin, whatever is recorded meanwhile, and is not kept for later', async () => {
    const of = lab({ types: ['PV-3Phase', 'PV-3Phase'] });
    of.captures.start(byRest);
    await of.plant.step(3);
    const [capture] = of.captures.list;
    const first = capture!.report();
    const work = capture!.reporting();
    expect(work.next().value, 'nothing has changed: that of before').to.equal(first);
    await of.plant.step(1);
    const late = capture!.reporting();
    late.next();
    sag(of, 0.4, 5);
    await of.plant.step(6);
    let part = late.next();
    while (part.done !== true) part = late.next();
    expect(part.value.summary).to.equal(first.summary);
    expect(capture!.report().summary).to.equal('All tripped.');
  });
});

describe('bounds of captures', () => {
  const fill = async (of: Lab, count: number) => {
    for (let n = 0; n < count; n += 1) {
      dip(of);
      await of.plant.step(12);
    }
  };

  it('the oldest that is not pinned is dropped, and one place stays for the next', async () => {
    const of = lab();
    of.captures.capacity = 3;
    await fill(of, 3);
    expect(of.captures.pin(1, true).pinned).to.equal(true);
    of.captures.pin(2, true);
    expect(() => of.captures.pin(3, true))
      .to.throw()
      .with.property('code', 'COMMAND_CONFLICT');
    await fill(of, 2);
    expect(of.captures.list.map(({ id }) => id)).to.deep.equal([1, 2, 5]);
    of.captures.pin(1, false);
    await fill(of, 1);
    expect(of.captures.list.map(({ id }) => id)).to.deep.equal([2, 5, 6]);
    of.captures.capacity = 1;
    expect(of.captures.list.map(({ id }) => id)).to.deep.equal([2, 6]);
    expect(() => of.captures.pin(6, true)).to.throw('only one capture is kept');
    of.captures.capacity = 3;
    await fill(of, 1);
    expect(of.captures.remove(7).id).to.equal(7);
    expect(() => of.captures.get(7))
      .to.throw()
      .with.property('code', 'UNKNOWN_RESOURCE');
  });

  it('memory drops older ones, and cuts the one that is too large alone', async () => {
    const { captures: measured, ...one } = lab();
    await fill({ captures: measured, ...one }, 1);
    const of = lab({}, { bounds: { bytes: 4 * measured.bytes } });
    await fill(of, 6);
    expect(of.captures.list.length).to.be.within(2, 4);
    expect(of.captures.bytes).to.be.at.most(4 * measured.bytes);
    const tiny = lab({}, { bounds: { bytes: 1000 } });
    dip(tiny);
    expect(tiny.captures.list[0]).to.include({ state: 'cut' });
  });

  it('of a fast run those of failed steps and the last ten stay', async () => {
    const simStartMs = lab().plant.time.dateMs;
    const report = {
      simStartMs,
      name: 'sags',
      pace: 'fast',
      steps: () => [{ state: 'failed', atS: 12.5 }],
      assertions: () => [],
    } as unknown as RunReport;
    const of = lab({}, { run: () => report });
    await fill(of, 14);
    expect(of.captures.list.map(({ id }) => id)).to.deep.equal([3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    expect(of.captures.list[0]).to.include({ scenario: 'sags' });
  });
});

describe('captures and physics', () => {
  async function course(on: boolean) {
    const of = lab({ tickIntervalS: 1.5, models: { '703': { ESDlyTms: 5, ESRmpTms: 5 } } });
    if (!on) of.captures.capacity = 0;
    sag(of, 0.3, 3);
    await of.plant.step(5);
    of.plant.setGrid({ frequencyHz: 61.5, rampS: 2, durationS: 4 }, undefined, byRest);
    await of.plant.step(15);
    return { of, dump: of.plant.devices.map(({ bank }) => bank.read(40000, 120).toString('hex')) };
  }

  it('rows are the same for the same seed and steps, registers the same without captures', async () => {
    const [first, second, off] = [await course(true), await course(true), await course(false)];
    expect(first.of.captures.list.map(rowsOf)).to.deep.equal(second.of.captures.list.map(rowsOf));
    expect(first.of.captures.list.map((capture) => capture.report())).to.deep.equal(
      second.of.captures.list.map((capture) => capture.report()),
    );
    expect(first.of.captures.list.length).to.be.above(0);
    expect(off.of.captures.list).to.have.length(0);
    expect(first.dump).to.deep.equal(off.dump);
  });

  it('nothing is followed after the end of a capture', async () => {
    const of = lab();
    dip(of);
    await of.plant.step(12);
    const { bytes } = of.captures;
    await of.plant.step(20);
    expect(of.captures.bytes).to.equal(bytes);
  });
});
