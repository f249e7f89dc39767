import { expect } from 'chai';
import fc from 'fast-check';
import type { OperatorCommand } from '../../../src/contract/plant.ts';
import { keptMembers, keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { OperatorQueue } from '../../../src/der/plant/commands.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { Roster } from '../../../src/der/plant/roster.ts';
import { expectContinuation, throughFile } from '../../support/continuation.ts';
import { testPlant } from '../../support/plant.ts';
import { holds } from '../../support/property.ts';
import { byTest } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';

type Act =
  | { readonly submit: OperatorCommand; readonly device: number }
  | { readonly tickS: number }
  | { readonly state: string; readonly device: number }
  | { readonly cancel: number };

class DrivenQueue {
  at = 0;
  wallMs = 1000;
  states = ['RUNNING', 'OFF'];
  carriedOut: string[] = [];
  lines: string[] = [];
  readonly queue = new OperatorQueue(() => (this.wallMs += 1), {
    info: (text) => this.lines.push(text),
  });
  readonly devices = this.states.map((_, index) => {
    const m703 = { ESDlyTms: 2, ESRndTms: 1, ESRmpTms: 3 };
    const state = () => this.states[index];
    const m701 = {
      get InvSt() {
        return state();
      },
    };
    const command = ({ kind }: { kind: string }) => this.carriedOut.push(`${index} ${kind}`);
    const gradient = { w: { pctPerS: 10 }, var: { pctPerS: 20 } };
    return { index, bank: { map: { m701, m703 } }, gradient, command } as unknown as SimDevice;
  });

  act(act: Act): void {
    [this.carriedOut, this.lines] = [[], []];
    const { queue } = this;
    if ('submit' in act)
      queue.submit({ command: act.submit, deviceIndex: act.device }, { source: 'rest', peer: `${act.device}` });
    else if ('state' in act) this.states = this.states.map((state, i) => (i === act.device ? act.state : state));
    else if ('cancel' in act) queue.cancelOf(act.cancel, 'the device was removed');
    else {
      for (const device of this.devices) queue.begin(device, this.at as SimTime);
      this.at = addSeconds(this.at as SimTime, act.tickS);
      for (const device of this.devices) queue.settle(device, this.at as SimTime);
    }
  }

  kept(): Kept {
    return keptParts({
      members: keptMembers(this, 'at', 'wallMs'),
      outside: keptRecord(
        () => ({ states: this.states, carriedOut: this.carriedOut, lines: this.lines }),
        ({ states, carriedOut, lines }) => {
          Object.assign(this, { states, carriedOut, lines });
        },
      ),
      queue: this.queue.kept(),
    });
  }
}

const indexes = fc.constantFrom(0, 1);
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ submit: fc.constantFrom<OperatorCommand>('start', 'stop', 'reset'), device: indexes }),
  },
  { weight: 4, arbitrary: fc.record({ tickS: fc.constantFrom(1.5, 30, 50) }) },
  { weight: 2, arbitrary: fc.record({ state: fc.constantFrom('RUNNING', 'OFF', 'STARTING'), device: indexes }) },
  { weight: 1, arbitrary: fc.record({ cancel: indexes }) },
);

describe('operator commands: state that a restart keeps', () => {
  it('waiting and running ones go on, and records stay', () => {
    holds(
      'commands go on',
      [fc.array(acts, { minLength: 2, maxLength: 25 }), fc.nat({ max: 25 })],
      (list, cut) => {
        const before = Math.min(cut, list.length);
        const tail: readonly Act[] = [{ submit: 'start', device: 0 }, { tickS: 30 }, { tickS: 50 }, { tickS: 50 }];
        const course = [...list, ...tail];
        expectContinuation({
          make: () => new DrivenQueue(),
          drive: (driven, step) => {
            driven.act(course[step] ?? { tickS: 1.5 });
          },
          observe: ({ queue, carriedOut, lines }) => ({ records: queue.list(), carriedOut, lines }),
          before,
          after: course.length - before,
        });
      },
      { runs: 200 },
    );
  });
});

describe('roster: state that a restart keeps', () => {
  it('the index of a removed device is not used again', () => {
    const devices = [3, 4].map((index) => ({ index }) as SimDevice);
    const [first, second] = [new Roster(devices, silentLogger), new Roster(devices, silentLogger)];
    first.add({ index: 5 } as SimDevice);
    first.remove(5);
    second.kept().restore(throughFile(first.kept().save()));
    expect([first.nextIndex, second.nextIndex]).to.deep.equal([6, 6]);
    expect(() => second.device(5)).to.throw('device 5 was removed');
    // the configuration has more devices than before
    const more = new Roster([...devices, ...[5, 6, 7].map((index) => ({ index }) as SimDevice)], silentLogger);
    more.kept().restore(throughFile(first.kept().save()));
    expect(more.nextIndex).to.equal(8);
  });
});

const gridProfile = 'time_s,voltage_pu,frequency_hz\n0,1,60\n43200,0.99,59.95\n200000,1.02,60.1\n';
const options = {
  types: ['PV', 'Batt', 'PV'],
  gridProfile,
  meter: { float: true },
  weatherSource: 'clear_sky',
  clouds: 'broken',
  seed: 5,
  tickIntervalS: 0.7,
} as const;

/** Values that do not depend on the state of devices. */
function surroundingsOf(plant: SimPlant): unknown {
  return {
    time: plant.time,
    tick: [plant.latest.tick, plant.latest.sim],
    stamps: plant.latest.published.map(({ snapshot }) => [
      snapshot.device_index,
      snapshot.tick,
      snapshot.metrics.timestamp,
    ]),
    grid: [plant.grid(), plant.grid(0), plant.grid(1)],
    surroundings: [plant.surroundings(), plant.surroundings(0), plant.surroundings(1)],
    owners: plant.siteScopes.map(({ devices, owners }) => ({ devices, owners })),
    nextIndex: plant.nextIndex,
  };
}

/** The energies of today of devices that start anew begin anew with them. */
function keptWithoutEnergy(plant: SimPlant): unknown {
  const { beforeDevices, afterDevices } = plant.keptShared();
  const { energy, ...others } = { ...beforeDevices, ...afterDevices };
  expect(energy).to.not.equal(undefined);
  return keptParts(others).save();
}

describe('plant: state that a restart keeps', () => {
  it('time, surroundings, limits, meter and commands go on, also over midnight', async () => {
    const wall = new HandWall();
    const first = testPlant({ ...options, wall });
    await first.step(3, byTest);
    first.setTime({ rate: 2, clockTime: '23:59:58', timezone: 'Asia/Kolkata' }, byTest);
    await first.step(5, byTest);
    first.setGrid({ frequencyHz: 60.05, rampS: 20, durationS: 60 }, undefined, byTest);
    first.startGridEvent('sag', { duration_s: 30 }, 0, byTest);
    first.setSurroundings({ loadKw: 3, rampS: 10, durationS: 40 }, 1, byTest);
    first.setSite({ export: 1000 }, byTest);
    first.commands.submit({ command: 'stop', deviceIndex: 0 }, byTest);
    await first.remove(2);
    wall.advance(2000);
    await first.step(1, byTest);
    first.commands.submit({ command: 'reset', deviceIndex: 1 }, byTest);

    const second = testPlant({ ...options, wall, date: '2026-08-01', time: '03:00:00' });
    await second.remove(2);
    second.kept().restore(throughFile(first.kept().save()));
    expect(surroundingsOf(second)).to.deep.equal(surroundingsOf(first));
    expect(second.siteScopes).to.deep.equal(first.siteScopes);
    expect(second.meter?.now).to.deep.equal(first.meter?.now);
    expect(second.commands.list()).to.deep.equal(first.commands.list());
    expect(second.latest.wallMs).to.equal(first.latest.wallMs);
    expect(keptWithoutEnergy(second)).to.deep.equal(keptWithoutEnergy(first));
    // the restart came too early for the command that waits
    expect(second.commands.list({ state: 'queued' })).to.have.length(1);

    for (const plant of [first, second]) await plant.step(12);
    expect(surroundingsOf(second)).to.deep.equal(surroundingsOf(first));
    expect(second.commands.list({ state: 'queued' })).to.have.length(0);
  });

  it('restores devices after the surroundings and before site and snapshots', () => {
    const plant = testPlant({ types: ['PV'] });
    const order: string[] = [];
    const devices: Kept = {
      save: () => ({}),
      restore() {
        order.push(`devices at ${plant.grid().frequencyHz} Hz, tick ${plant.latest.tick}`);
      },
    };
    const other = testPlant({ types: ['PV'] });
    other.setGrid({ frequencyHz: 60.1 });
    plant.kept(devices).restore(other.kept(devices).save());
    expect(order).to.deep.equal(['devices at 60.1 Hz, tick 0']);
  });

  it('counts a kept rate as held until ticks show otherwise', () => {
    const wall = new HandWall();
    const first = testPlant({ types: ['PV'], wall, mode: 'accelerated', rate: 10 });
    const second = testPlant({ types: ['PV'], wall });
    second.kept().restore(throughFile(first.kept().save()));
    expect(second.time).to.deep.equal(first.time);
    expect(second.time).to.include({ mode: 'accelerated', rate: 10, rateEffective: 10 });
  });

  it('goes on with the series where it was', async () => {
    const series = { types: ['PV'], tickIntervalS: 60, time: '23:58:00' } as const;
    const first = testPlant(series);
    await first.step(5);
    const second = testPlant({ ...series, date: '2026-06-22', time: '00:03:00' });
    const present = ({ dataset, irradianceWm2 }: ReturnType<SimPlant['surroundings']>) => [dataset, irradianceWm2];
    second.kept().restore(throughFile(first.kept().save()));
    for (let i = 0; i < 3; i += 1) {
      expect(present(second.surroundings(0))).to.deep.equal(present(first.surroundings(0)));
      for (const plant of [first, second]) await plant.step(1);
    }
    expect(first.surroundings(0).dataset).to.not.equal(null);
  });
});
