import { expect } from 'chai';
import fc from 'fast-check';
import { createHistory } from '../../src/api/history/history.ts';
import type { History } from '../../src/api/history/history.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { testPlant } from '../support/plant.ts';
import { holdsAsync } from '../support/property.ts';
import { HandWall } from '../support/wall.ts';

const types = ['PV', 'Batt', 'PV-1Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'PV'];
const by = { source: 'modbus', peer: '192.0.2.1:1' } as const;
/** working time of the plant between two readings of the time; a slice ends after 2 */
const sliceMs = 3;

/** A wall clock that shows the passing of working time to the slices of a tick alone. */
class WorkWall extends HandWall {
  readonly #stepsMs: readonly number[];
  #workMs = 0;
  #readings = 0;

  /** @param stepsMs working time up to each reading of the time, over and over */
  constructor(stepsMs: readonly number[]) {
    super();
    this.#stepsMs = stepsMs;
  }

  override monotonicMs(): number {
    this.#workMs += this.#stepsMs[this.#readings % this.#stepsMs.length] ?? 0;
    this.#readings += 1;
    return super.monotonicMs() + this.#workMs;
  }
}

interface Fleet {
  readonly plant: SimPlant;
  readonly history: History;
}

/** @param meter divides each tick at whole seconds */
function fleetOf(stepsMs: readonly number[], meter?: { readonly float: boolean }): Fleet {
  const plant = testPlant({
    types,
    wall: new WorkWall(stepsMs),
    seed: 7,
    spreadPct: 20,
    weatherSource: 'clear_sky',
    clouds: 'scattered',
    ...(meter && { meter }),
  });
  // requests come between this listener and the history
  plant.onTick(() => undefined);
  return { plant, history: createHistory(plant, { samplesPerDevice: 100 }) };
}

const newestSample = ({ history, plant }: Fleet, index: number) => {
  const { runs, width } = history.of(plant.device(index)).cut();
  const { values, to } = runs.at(-1)!;
  return [...values.subarray((to - 1) * width, to * width)];
};

/** Everything that interfaces show. */
function dump(fleet: Fleet): unknown {
  const { plant } = fleet;
  return {
    registers: plant.devices.map(({ bank }) => bank.image().toString('hex')),
    snapshots: plant.latest.published.map(({ json }) => json.toString()),
    samples: plant.devices.map((device) => [fleet.history.of(device).count, newestSample(fleet, device.index)]),
    energies: [plant.energy, plant.devices.map(({ index }) => plant.energyOf(index))],
    site: plant.site,
    meter: plant.meter?.bank.image().toString('hex'),
  };
}

/** Registers and snapshot of every device between two slices show one tick, and its history that of its snapshot. */
function expectWholeTick(fleet: Fleet): void {
  const { plant } = fleet;
  const { tick, published } = plant.latest;
  expect(published.map(({ snapshot }) => snapshot.tick)).to.deep.equal(plant.devices.map(() => tick));
  for (const { index } of plant.devices) expect(newestSample(fleet, index)[2]).to.equal(tick);
}

/** Runs ticks; `between` is called with the number of each turn of the event loop that a tick leaves to others. */
async function stepWith({ plant }: Fleet, ticks: number, between: (turn: number) => void): Promise<number> {
  let [turns, isRunning] = [0, true];
  const failures: unknown[] = [];
  const look = () => {
    if (!isRunning) return;
    try {
      between(turns);
    } catch (error) {
      failures.push(error);
    }
    turns += 1;
    setImmediate(look);
  };
  setImmediate(look);
  for (let i = 0; i < ticks; i += 1) await plant.step(1);
  isRunning = false;
  if (failures.length > 0) throw failures[0];
  return turns;
}

const steps = fc.array(fc.constantFrom(0, 1, sliceMs), { minLength: 1, maxLength: 12 }).map((ms) => [...ms, sliceMs]);

describe('A sliced tick', () => {
  it('equals one at once byte for byte, with readers between its slices', async () => {
    const ticks = 3;
    const whole = fleetOf([0], { float: false });
    await whole.plant.step(ticks);
    const expected = dump(whole);
    await holdsAsync(
      'sliced as whole',
      [steps],
      async (stepsMs) => {
        const fleet = fleetOf(stepsMs, { float: false });
        const turns = await stepWith(fleet, ticks, () => {
          expectWholeTick(fleet);
          dump(fleet);
        });
        expect(turns).to.be.above(ticks);
        expect(dump(fleet)).to.deep.equal(expected);
      },
      { runs: 40 },
    );
  });

  it('takes a write between two slices as one before the tick or after it, and every protocol reads it at once', async () => {
    const limit = ({ plant }: Fleet, device: number, pct: number) => {
      const { bank } = plant.device(device);
      bank.transact(by, (tx) => {
        tx.m704.WMaxLimPct = pct;
        tx.m704.WMaxLimPctEna = 'ENABLED';
      });
      expect([bank.map.m704.WMaxLimPct, bank.map.m704.WMaxLimPctEna]).to.deep.equal([pct, 'ENABLED']);
    };
    const dumpOf = async (device: number, pct: number, before: boolean) => {
      const fleet = fleetOf([0]);
      if (before) limit(fleet, device, pct);
      await fleet.plant.step(1);
      if (!before) limit(fleet, device, pct);
      await fleet.plant.step(1);
      return dump(fleet);
    };
    await holdsAsync(
      'a write between two slices',
      [steps, fc.nat(types.length - 1), fc.integer({ min: 5, max: 60 }), fc.nat(12)],
      async (stepsMs, device, pct, turn) => {
        const fleet = fleetOf(stepsMs);
        const turns = await stepWith(fleet, 1, (now) => {
          if (now === turn) limit(fleet, device, pct);
        });
        if (turns <= turn) limit(fleet, device, pct);
        await fleet.plant.step(1);
        expect([await dumpOf(device, pct, true), await dumpOf(device, pct, false)]).to.deep.include(dump(fleet));
      },
      { runs: 40 },
    );
  });

  it('works off its listeners in parts and calls none that has gone', async () => {
    const { plant } = fleetOf([sliceMs]);
    const calls: string[] = [];
    const ends = ['a', 'b'].map((name) =>
      plant.onTick(({ tick }) => {
        calls.push(`${name}${tick}`);
      }),
    );
    plant.onTickInParts(function* ({ tick }) {
      for (const part of [1, 2]) {
        calls.push(`part ${part} of ${tick}`);
        yield;
      }
    });
    const stepped = stepWith({ plant } as Fleet, 1, () => {
      if (calls.at(-1) === 'a1') ends[1]!();
      if (calls.at(-1) === 'part 1 of 1') calls.push('reader');
    });
    await stepped;
    expect(calls).to.deep.equal(['a1', 'part 1 of 1', 'reader', 'part 2 of 1']);
  });
});
