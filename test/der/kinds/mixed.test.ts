/** A site of every kind: the same course from the same seed, one grid for all, and invariants under random inputs. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { SourceCommand } from '../../../src/contract/device.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { RandomStream } from '../../../src/core/random.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { pick } from '../../support/depth.ts';
import { expectWithin, same } from '../../support/expect.ts';
import { casesOf } from '../../support/random.ts';
import { countersOf, dumpOf, firstNonFinite, fleetKinds, kindPlant, kindSpec, master, operator } from './support.ts';
import type { FleetKind, KindSpec } from './support.ts';

const v2g: KindSpec = { args: ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'] };
const reversible: KindSpec = { args: ['-d', 'Fuelcell-3Phase', '-f', 'Fuelcell-PEM-5kW-reversible-3Phase'] };
const duo: KindSpec = { args: ['--evse_profile', 'EVSE-AC-7.4kW-2port'] };
const kinds: Readonly<Record<string, KindSpec>> = {
  ...Object.fromEntries(fleetKinds.map((kind) => [kind, kindSpec(kind)])),
  v2g,
  reversible,
  duo,
};
const site = Object.values(kinds);
const indexOf = (kind: FleetKind) => fleetKinds.indexOf(kind);

type Act = (plant: SimPlant) => void;
const set = (plant: SimPlant, device: number, change: (tx: WritableMapView) => void) => {
  plant.device(device).bank.transact(master, change);
};
const plugAll: Act = (plant) => {
  for (const device of plant.devices)
    if (device.assetType === 'evse') device.command({ kind: 'evse.plug', connectorId: 1 }, operator);
};

const courseTicks = 320;
/** A course leaves out all ticks but one of so many; the actions come all the same. */
const pace = pick({ quick: 8, ci: 1 });

/** Actions by the tick that they precede. */
const events: Readonly<Record<number, Act>> = {
  5: plugAll,
  20: (plant) => {
    plant.device(indexOf('battery')).command({ kind: 'battery.control', mode: 'charge', powerW: 4000 }, operator);
  },
  40: (plant) => {
    for (const device of plant.devices)
      set(plant, device.index, ({ m704 }) => {
        m704.WMaxLimPctEna = 'ENABLED';
        m704.WMaxLimPct = 60;
      });
  },
  80: (plant) => {
    plant.startGridEvent('sag', {});
  },
  120: (plant) => {
    plant.setGrid({ frequencyHz: 59.4, rampS: 20, durationS: 90 });
  },
  200: (plant) => {
    plant.device(site.indexOf(reversible)).bank.transact(master, ({ m704 }) => {
      Object.assign(m704, { WSetMod: 'WATTS', WSet: -3000, WSetEna: 'ENABLED' });
    });
  },
  240: (plant) => {
    plant.device(indexOf('hybrid')).command({ kind: 'hybrid.policy', policy: 'pv_priority' }, operator);
  },
  260: (plant) => {
    plant.setGrid({ voltagePu: 0.4, durationS: 2.7 });
  },
};

interface Course {
  readonly dumps: readonly Buffer[];
  readonly details: readonly string[];
  readonly hash: string;
}

async function course(seed: number, between: Act = () => undefined, ticks = courseTicks): Promise<Course> {
  const plant = kindPlant(site, { tickIntervalS: 1.5, seed });
  for (const { index } of plant.devices)
    set(plant, index, ({ m703 }) => {
      Object.assign(m703, { ESDlyTms: 5, ESRndTms: 20, ESRmpTms: 10 });
    });
  const hash = createHash('sha256');
  for (let tick = 0; tick < ticks; tick += pace) {
    for (let at = tick; at < tick + pace; at += 1) events[at]?.(plant);
    between(plant);
    await plant.step(1);
    for (const device of plant.devices) hash.update(dumpOf(device));
  }
  return {
    dumps: plant.devices.map(dumpOf),
    details: plant.devices.map(({ detail }) => JSON.stringify(detail)),
    hash: hash.digest('hex'),
  };
}

describe('mixed plant: determinism', () => {
  let reference: Course;

  before(async () => {
    reference = await course(7);
  });

  it('the same seed and steps give the same registers of every device, byte by byte', async () => {
    const again = await course(7);
    again.dumps.forEach((dump, i) => {
      expect(dump.equals(reference.dumps[i] ?? Buffer.alloc(0)), `device ${i}`).to.equal(true);
    });
    expect(again.hash).to.equal(reference.hash);
  });

  it('reads between the ticks change nothing', async () => {
    let looks = 0;
    const look: Act = (plant) => {
      for (const device of plant.devices) {
        looks += [
          device.detail,
          device.storageTree(),
          device.chargingSessions(),
          device.alarms,
          device.statusMessage,
          device.trace.now,
        ].length;
        if (device.assetType !== 'wind' && device.assetType !== 'evse')
          looks += device.dcCurve(undefined, 20).curve.length;
      }
      looks += [plant.surroundings(0), plant.grid(1), plant.latest].length;
    };
    expect((await course(7, look)).hash).to.equal(reference.hash);
    expect(looks).to.be.above(1000 / pace);
  });

  it('another seed changes the course of random sources, and no other', async () => {
    const other = await course(8, undefined, 75);
    const same = await course(7, undefined, 75);
    const differs = (kind: FleetKind) => other.details[indexOf(kind)] !== same.details[indexOf(kind)];
    for (const kind of ['windT3', 'windT4', 'battery', 'hybrid', 'evse'] as const)
      expect(differs(kind), kind).to.equal(true);
    for (const kind of ['pv', 'fuelCell'] as const) expect(differs(kind), kind).to.equal(false);
    expect(other.dumps[indexOf('battery')]?.equals(same.dumps[indexOf('battery')] ?? Buffer.alloc(0))).to.equal(false);
  });

  it('a device does not depend on its neighbours', async () => {
    const alone = kindPlant([kindSpec('windT3')], { tickIntervalS: 1.5, seed: 3 });
    const among = kindPlant([kindSpec('windT3'), ...site], { tickIntervalS: 1.5, seed: 3 });
    const ticks = pick({ quick: 20, ci: 100 });
    await alone.step(ticks);
    await among.step(ticks);
    expect(dumpOf(alone.device(0)).equals(dumpOf(among.device(0)))).to.equal(true);
  });
});

describe('mixed plant: one tick, one grid', () => {
  it('the snapshots of a tick come together, in the order of the devices', async () => {
    const plant = kindPlant(site, { tickIntervalS: 1.5 });
    const seen: (readonly number[])[] = [];
    const off = plant.onTick(({ tick, published }) => {
      seen.push(published.map(({ snapshot }) => snapshot.device_index));
      for (const { snapshot, detail, json } of published) {
        expect([snapshot.tick, JSON.parse(json.toString())]).to.deep.equal([tick, snapshot]);
        expect(detail).to.equal(plant.device(snapshot.device_index).detail);
      }
      expect(new Set(published.map(({ snapshot }) => snapshot.metrics.timestamp)).size).to.equal(1);
    });
    await plant.step(3);
    off();
    expect(seen).to.deep.equal(Array.from({ length: 3 }, () => site.map((_, i) => i)));
  });

  it('a grid event reaches every kind at the same instant, at its own nominal voltage', async () => {
    const plant = kindPlant(site, { tickIntervalS: 0.1 });
    plant.setGrid({ voltagePu: 0.93, frequencyHz: 60.3 });
    await plant.step(1);
    for (const {
      name,
      bank: { map },
    } of plant.devices) {
      expect(map.m701.Hz, name).to.be.closeTo(60.3, 1e-3);
      expect((map.m701.LLV ?? NaN) / (map.m702.VNomRtg ?? NaN), name).to.be.closeTo(0.93, 1e-3);
    }
    plant.setGrid({ voltagePu: 0.3, durationS: 3 });
    plant.setTime({ rate: 25 });
    await plant.step(1);
    expect(plant.devices.map(({ bank: { map } }) => map.m701.ConnSt)).to.deep.equal(site.map(() => 'DISCONNECTED'));
    for (const device of plant.devices)
      expect(
        device.alarms.map(({ code }) => code),
        device.name,
      ).to.include('ac_under_volt');
  });

  it('a local event affects its device alone', async () => {
    const plant = kindPlant(site, { tickIntervalS: 1.5 });
    plant.setGrid({ frequencyHz: 61 }, indexOf('windT4'));
    await plant.step(2);
    plant.devices.forEach(({ bank: { map } }, i) => {
      expect(map.m701.Hz).to.equal(i === indexOf('windT4') ? 61 : 60);
    });
  });
});

const drawn = <T>(random: RandomStream, list: readonly T[]): T =>
  list[Math.floor(random.next() * list.length)] ?? list[0]!;
const between = (random: RandomStream, low: number, high: number) => low + random.next() * (high - low);

function sourceCommands(random: RandomStream): readonly SourceCommand[] {
  const connectorId = drawn(random, [1, 1, 2]);
  return [
    {
      kind: 'wind.override',
      speedMS: drawn(random, [null, -5, 0, 4, 9, 13, 24, 30, 90]),
      height: drawn(random, ['hub', 'anemometer'] as const),
    },
    {
      kind: 'battery.control',
      mode: drawn(random, ['charge', 'discharge', 'idle', 'auto'] as const),
      powerW: between(random, 0, 20_000),
    },
    { kind: 'battery.control', socPct: between(random, 0, 100) },
    { kind: 'fuelcell.tank', levelPct: drawn(random, [0, 4, 5.01, 50, 94.9, 100]) },
    { kind: 'hybrid.policy', policy: drawn(random, ['self_consumption', 'pv_priority', 'manual'] as const) },
    { kind: 'hybrid.battery', powerW: drawn(random, [null, -5000, 0, 8000]) },
    {
      kind: 'pv.shading',
      shading: drawn(random, [null, { shadedShare: random.next(), irradianceShare: random.next() }]),
    },
    { kind: 'evse.plug', connectorId, ev: { socPct: between(random, 0, 100), phases: drawn(random, [1, 3] as const) } },
    { kind: drawn(random, ['evse.unplug', 'evse.clear_fault', 'evse.lock', 'evse.unlock'] as const), connectorId },
    { kind: 'evse.fault', connectorId, errorCode: drawn(random, ['GroundFailure', 'OtherError']) },
    { kind: 'evse.discharge', connectorId, powerW: drawn(random, [null, 0, 20_000]) },
    { kind: 'evse.limit', connectorId, powerW: drawn(random, [null, 0, 3000, 9000]) },
    { kind: 'evse.profile_limit', connectorId, limitW: null, limitA: drawn(random, [null, 0, 5, 6, 16]) },
  ];
}

function settings(random: RandomStream, map: SimDevice['bank']['map']): readonly ((tx: WritableMapView) => void)[] {
  const ena = drawn(random, ['ENABLED', 'DISABLED'] as const);
  const ratedW = map.m702.WMaxRtg ?? 0;
  const share = drawn(random, [-1, -0.3, 0, 0.02, 0.5, 1]);
  return [
    (tx) => {
      Object.assign(tx.m704, { WSetEna: ena, WSetMod: 'WATTS', WSet: share * ratedW });
    },
    (tx) => {
      Object.assign(tx.m704, { WMaxLimPctEna: ena, WMaxLimPct: 100 * Math.abs(share) });
    },
    (tx) => {
      Object.assign(tx.m704, { VarSetEna: ena, VarSetMod: 'VAR_MAX_PCT', VarSetPct: 100 * share });
    },
    (tx) => {
      tx.m704.PFWInjEna = ena;
      tx.m704.PFWInj.PF = between(random, 0.9, 1);
    },
    (tx) => {
      tx.m705.Ena = ena;
    },
    (tx) => {
      tx.m706.Ena = ena;
    },
    (tx) => {
      Object.assign(tx.m704, { WRmp: drawn(random, [1, 20, 1000]) });
    },
    (tx) => {
      tx.m715.OpCtl = drawn(random, ['STOP', 'START', 'START', 'ENTER_STANDBY', 'EXIT_STANDBY'] as const);
    },
    (tx) => {
      tx.m703.ES = drawn(random, ['ENABLED', 'ENABLED', 'DISABLED'] as const);
    },
    (tx) => {
      tx.m702.WMax = between(random, 0.3, 1) * ratedW;
    },
    (tx) => {
      tx.m702.WChaRteMax = between(random, 0, 1) * ratedW;
    },
    (tx) => {
      tx.m715.AlarmReset = 1;
    },
  ];
}

/** Ignores refusals; any other error is a bug. */
function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof SimError) || error.code === 'INTERNAL') throw error;
  }
}

function randomGrid(random: RandomStream, plant: SimPlant): void {
  plant.setGrid({
    voltagePu: drawn(random, [0, 0.2, 0.45, 0.7, 0.9, 1, 1, 1, 1.08, 1.15, 1.3]),
    frequencyHz: drawn(random, [56, 58.6, 59.6, 60, 60, 60, 60.5, 62.5]),
    rampS: drawn(random, [0, 0, 3]),
    durationS: drawn(random, [0.1, 1.5, 20]),
  });
}

/** Rounding of a register of power: 701.W of a 15 MW turbine counts in kilowatts. */
const roundingOf = (ratedW: number) => 2 + 2e-4 * ratedW;

function check(device: SimDevice, where: () => string): void {
  const { m701, m702, m714 } = device.bank.map;
  for (const slot of device.bank.layout.slots) {
    const value = device.bank.value(slot);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`${where()}: ${slot.modelId}.${slot.path} is ${value}`);
  }
  const slack = roundingOf(m702.WMaxRtg ?? 0);
  const [w, q] = [m701.W ?? NaN, m701.Var ?? NaN];
  expectWithin(Math.hypot(w, q), 0, (m702.VAMax ?? NaN) + slack, () => `${where()}: S`);
  expectWithin(w, -(m702.WChaRteMax ?? 0) - slack, (m702.WMax ?? NaN) + slack, () => `${where()}: P`);
  if (m701.ConnSt === 'DISCONNECTED')
    same([w, q, m701.A, m714.DCW ?? 0], [0, 0, 0, 0], () => `${where()}: disconnected`);
  same(firstNonFinite(device.detail), null, where);
}

/** Of the rating, in the first rounds: so the counters of both directions have begun before acts come at random. */
const firstShares = [0.5, -0.5];

/** A minute at a share of the rating, as far as a device can. */
function demandAll(plant: SimPlant, share: number): void {
  for (const { index, bank } of plant.devices)
    attempt(() => {
      set(plant, index, ({ m704 }) => {
        const watts = share * (bank.map.m702.WMaxRtg ?? 0);
        Object.assign(m704, { WSetEna: 'ENABLED', WSetMod: 'WATTS', WSet: watts, WRmp: 100 });
      });
    });
  plant.setTime({ rate: 600 });
}

/** Rounds of random acts on every device of a site, with a look at all of it after each. */
async function expectSound(specs: readonly KindSpec[], seed: number, rounds: number): Promise<void> {
  const random = casesOf('mixed', seed);
  const plant = kindPlant(specs, { tickIntervalS: 0.1, seed });
  const before = plant.devices.map(countersOf);
  for (const { index } of plant.devices)
    set(plant, index, ({ m703 }) => {
      Object.assign(m703, { ESDlyTms: 2, ESRndTms: 0, ESRmpTms: 3 });
    });
  for (let round = 0; round < rounds; round += 1) {
    const share = firstShares[round];
    if (share === undefined) actAtRandom(random, plant);
    else demandAll(plant, share);
    await plant.step(1);
    plant.devices.forEach((device, i) => {
      const where = () => `seed ${seed}, round ${round}, ${device.name}`;
      check(device, where);
      const now = countersOf(device);
      now.forEach((value, at) => {
        expectWithin(value, before[i]?.[at] ?? NaN, Infinity, () => `${where()}: counter ${at}`);
      });
      before[i] = now;
      same(firstNonFinite(plant.latest.published[i]?.snapshot), null, where);
    });
  }
}

function actAtRandom(random: RandomStream, plant: SimPlant): void {
  if (random.next() < 0.4) randomGrid(random, plant);
  if (random.next() < 0.1)
    plant.setSurroundings({
      irradianceWm2: between(random, 0, 1300),
      rampS: 2,
      ambientTemperatureC: between(random, -30, 45),
    });
  for (const device of plant.devices) {
    attempt(() => {
      device.command(drawn(random, sourceCommands(random)), operator);
    });
    if (random.next() < 0.5)
      attempt(() => {
        set(plant, device.index, drawn(random, settings(random, device.bank.map)));
      });
  }
  // seldom the fastest: a tick of it has 600 steps
  plant.setTime({ rate: drawn(random, [0.5, 0.5, 10, 10, 15, 15, 70, 70, 70, 600]) });
}

describe('random commands, settings and grids: numbers stay finite, S within VAMax, nothing flows when disconnected, counters rise', () => {
  for (const [kind, spec] of Object.entries(kinds)) {
    it(kind, async () => {
      for (const seed of pick({ quick: [1], ci: [1, 2] }))
        await expectSound([spec], seed, pick({ quick: 30, ci: 120 }));
    });
  }

  it('all of them beside each other', async () => {
    for (const seed of pick({ quick: [1], ci: [1, 2] })) await expectSound(site, seed, pick({ quick: 4, ci: 30 }));
  });
});

describe('mixed plant: surroundings', () => {
  it('the clear sky gives the sun and leaves the wind to its series', async () => {
    const plant = kindPlant([kindSpec('pv'), kindSpec('windT4')]);
    await plant.step(1);
    const before = plant.surroundings(1);
    plant.setSurroundings({ source: 'clear_sky' });
    await plant.step(1);
    expect(plant.surroundings(0).source).to.equal('clear_sky');
    expect(plant.surroundings(1).windSpeedMS).to.be.closeTo(before.windSpeedMS, 0.01);
    expect(plant.surroundings(1).windSpeedMS).to.be.above(3);
  });
});
