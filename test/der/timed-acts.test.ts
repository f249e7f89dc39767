/** The same script of timed acts over other ticks and rates: the same registers at the same instants. */
import { expect } from 'chai';
import type { SourceCommand } from '../../src/contract/device.ts';
import { addSeconds } from '../../src/core/time/clock.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { PointSlot } from '../../src/sunspec/map/layout.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { pick } from '../support/depth.ts';
import { testPlant } from '../support/plant.ts';
import { byTest } from '../support/rig.ts';
import { HandWall } from '../support/wall.ts';

// no turbine: above 50 times real time it follows its steady curve
const types = ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase', 'Fuelcell-3Phase', 'EVSE'];

/** Ticks of `tickS` run by hand, or in real time at a rate. */
interface Way {
  readonly tickS: number;
  readonly rate?: number;
}

type Act = readonly [seconds: number, act: (plant: SimPlant) => void];

function setAll(change: (tx: WritableMapView) => void): (plant: SimPlant) => void {
  return ({ devices }) => {
    for (const { bank } of devices) bank.transact(byTest, change);
  };
}

function setOne(index: number, change: (tx: WritableMapView) => void): (plant: SimPlant) => void {
  return (plant) => {
    plant.device(index).bank.transact(byTest, change);
  };
}

function command(index: number, kind: SourceCommand | { readonly kind: 'stop' | 'start' }): (plant: SimPlant) => void {
  return (plant) => {
    plant.device(index).command(kind, byTest);
  };
}

const controls: readonly Act[] = [
  [
    7.3,
    setAll((tx) => {
      Object.assign(tx.m704, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 40, WRmp: 2, WMaxLimPctRvrtTms: 100 });
    }),
  ],
  [33.35, command(4, { kind: 'evse.plug', connectorId: 1, ev: { id: 'car', socPct: 30 } })],
  [
    80.123456,
    setAll((tx) => {
      Object.assign(tx.m704, { WSetEna: 'ENABLED', WSetMod: 'W_MAX_PCT', WSetPct: 30, WRmp: 1 });
    }),
  ],
  [
    120.05,
    setOne(0, (tx) => {
      tx.m705.Ena = 'ENABLED';
    }),
  ],
  [
    130.7,
    (plant) => {
      plant.startGridEvent('sag', {}, undefined, byTest);
    },
  ],
  [
    150.01,
    (plant) => {
      plant.setGrid({ frequencyHz: 60.3, rampS: 7 }, undefined, byTest);
    },
  ],
  [
    170,
    (plant) => {
      plant.setGrid({ frequencyHz: 60, rampS: 3 }, undefined, byTest);
    },
  ],
  [190.2, command(0, { kind: 'stop' })],
  [205.2, command(0, { kind: 'start' })],
];

const siteLimits: readonly Act[] = [
  [
    181.4,
    (plant) => {
      plant.setSite({ export: 3000 }, byTest);
    },
  ],
  [
    188.9,
    (plant) => {
      plant.setSite({ export: null }, byTest);
    },
  ],
];

async function runTo(plant: SimPlant, wall: HandWall, way: Way, seconds: number): Promise<void> {
  const { rate } = way;
  const target = addSeconds(plant.simAt(Date.UTC(2026, 5, 21, 12)), seconds);
  if (rate !== undefined) {
    plant.setTime({ mode: 'accelerated', rate });
    while (addSeconds(plant.latest.sim, rate * way.tickS) <= target) {
      wall.advance(way.tickS * 1000);
      await plant.tick();
    }
    plant.setTime({ mode: 'paused' });
  }
  await plant.runTo(target);
  expect(plant.latest.sim).to.equal(target);
}

/** The differing points of two images of a device. */
function differences(slots: readonly PointSlot[], base: number, left: Buffer, right: Buffer): string[] {
  return slots.flatMap(({ address, def, modelId, path }) => {
    const [from, to] = [(address - base) * 2, (address - base + def.size) * 2];
    const [a, b] = [left.subarray(from, to), right.subarray(from, to)];
    return a.equals(b) ? [] : [`${modelId}.${path}: ${a.toString('hex')} instead of ${b.toString('hex')}`];
  });
}

async function dumps(acts: readonly Act[], instants: readonly number[], way: Way) {
  const wall = new HandWall();
  const plant = testPlant({ types, wall, tickIntervalS: way.tickS });
  // the temperature of the cells in the thermal model depends on the sub-steps by one count
  plant.setSurroundings({ irradianceWm2: 1000, cellTemperatureC: 25 });
  const start = plant.latest.sim;
  const ranAt: number[] = [];
  for (const [seconds, act] of acts) {
    plant.at(addSeconds(start, seconds), () => {
      ranAt.push((plant.time.sim - start) / 1e6);
      act(plant);
    });
  }
  const images: Buffer[][] = [];
  for (const seconds of instants) {
    await runTo(plant, wall, way, seconds);
    images.push(plant.devices.map(({ bank }) => Buffer.from(bank.read(bank.layout.base, bank.layout.size))));
  }
  return { plant, ranAt, images };
}

async function expectSame(acts: readonly Act[], instants: readonly number[], ways: readonly Way[]): Promise<void> {
  const [first, ...others] = ways;
  const wanted = await dumps(acts, instants, first!);
  const due = acts.map(([seconds]) => seconds).sort((a, b) => a - b);
  expect(wanted.ranAt).to.deep.equal(due);
  for (const way of others) {
    const { plant, ranAt, images } = await dumps(acts, instants, way);
    expect(ranAt, JSON.stringify(way)).to.deep.equal(due);
    const found = plant.devices.flatMap(({ name, bank: { layout } }, d) => {
      const slots = layout.models.flatMap((model) => model.slots);
      return instants.flatMap((seconds, i) => {
        const [image, right] = [images[i]![d]!, wanted.images[i]![d]!];
        if (image.equals(right)) return [];
        return differences(slots, layout.base, image, right).map((text) => `${name} at ${seconds} s: ${text}`);
      });
    });
    expect(found, JSON.stringify(way)).to.deep.equal([]);
  }
}

describe('Timed acts over other ticks and rates', () => {
  it('set-points, curves, grid, start and stop, a vehicle: the same registers at every instant', async () => {
    await expectSame(
      controls,
      [5, 20.5, 60, 80.123456, 100.3, 121, 130.8, 145, 155.5, 180, 191, 210.3, 260],
      pick<Way[]>({
        quick: [{ tickS: 1.5 }, { tickS: 60 }, { tickS: 1.5, rate: 60 }],
        ci: [
          { tickS: 0.1 },
          { tickS: 1.5 },
          { tickS: 60 },
          { tickS: 1.5, rate: 1 },
          { tickS: 1.5, rate: 60 },
          { tickS: 1.5, rate: 1000 },
        ],
      }),
    );
  });

  it('limits of the site, which are shared anew at whole seconds wherever ticks end', async () => {
    await expectSame(
      [...controls, ...siteLimits],
      [60.5, 145, 180, 182.3, 185, 189, 190.25, 192, 200, 215, 260],
      pick<Way[]>({
        quick: [{ tickS: 1 }, { tickS: 60 }, { tickS: 1.5, rate: 1000 }],
        ci: [{ tickS: 0.1 }, { tickS: 1 }, { tickS: 60 }, { tickS: 1.5, rate: 1 }, { tickS: 1.5, rate: 60 }],
      }),
    );
  });

  it('energy while limits of the site come and go, each rise a ramp of half a second', async () => {
    const fast = setAll((tx) => {
      tx.m704.WRmp = 150;
    });
    const blinks = Array.from({ length: 20 }, (_, i): Act => {
      const limitW = i % 2 === 0 ? 2000 : null;
      return [
        2.9 + i,
        (plant) => {
          plant.setSite({ export: limitW }, byTest);
        },
      ];
    });
    await expectSame([[1, fast], ...blinks], [60], [{ tickS: 0.5 }, { tickS: 1 }, { tickS: 60 }]);
  });
});
