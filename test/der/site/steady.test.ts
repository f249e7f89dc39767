import { expect } from 'chai';
import type { SitePatch } from '../../../src/contract/site.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { kindPlant, master } from '../kinds/support.ts';
import type { KindSpec } from '../kinds/support.ts';
import { casesOf } from '../../support/random.ts';
import { battery, by, demand, evse, fuelCell, powersOf, pv, reversible } from './support.ts';

const v2g: KindSpec = { args: ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'] };
/** rounding of sums, W */
const roundingW = 1e-3;

interface Part {
  readonly spec: KindSpec;
  readonly setPointW?: number;
}

/** Set-points that are reached, then limits; every device at the same 704.WRmp, percent per second. */
async function settled(parts: readonly Part[], rampPctS: number, patch: SitePatch): Promise<SimPlant> {
  const plant = kindPlant(
    parts.map(({ spec }) => spec),
    { tickIntervalS: 1 },
  );
  plant.setSurroundings({ irradianceWm2: 600, cellTemperatureC: 25 });
  for (const [i, { setPointW }] of parts.entries()) {
    const device = plant.device(i);
    device.bank.transact(master, ({ m704 }) => {
      m704.WRmp = rampPctS;
    });
    if (setPointW !== undefined) demand(plant, i, setPointW);
    if (device.assetType === 'evse') device.command({ kind: 'evse.plug', connectorId: 1 }, by);
  }
  await plant.step(120);
  plant.setSite(patch);
  await plant.step(180);
  return plant;
}

/** Maximum power above a limit in a number of ticks of a second, and all powers of the devices. */
async function watched(plant: SimPlant, seconds: number): Promise<{ worstW: number; seen: Set<string> }> {
  let worstW = 0;
  const seen = new Set<string>();
  for (let tick = 0; tick < seconds; tick += 1) {
    await plant.step(1);
    const { netW, consumptionW, limits } = plant.site;
    worstW = Math.max(worstW, netW - (limits.export.limitW ?? Infinity));
    if (consumptionW > roundingW) worstW = Math.max(worstW, -netW - (limits.import.limitW ?? Infinity));
    seen.add(powersOf(plant).join(' '));
  }
  return { worstW, seen };
}

describe('Connection point: every second of steady conditions', () => {
  const none = { export: 0, import: 0 };
  const cases: readonly (readonly [string, readonly Part[], SitePatch])[] = [
    [
      'a fuel cell and too little absorption for its least load',
      [
        { spec: reversible, setPointW: 3000 },
        { spec: battery, setPointW: -12 },
      ],
      none,
    ],
    [
      'four fuel cells and the same',
      [...Array.from({ length: 4 }, () => ({ spec: reversible, setPointW: 3000 })), { spec: battery, setPointW: -12 }],
      none,
    ],
    [
      'fuel cells whose equal part is too small, and an electrolyser',
      [
        { spec: battery, setPointW: 3000 },
        { spec: battery, setPointW: 3000 },
        { spec: reversible, setPointW: 3000 },
        { spec: reversible, setPointW: 3000 },
        { spec: reversible, setPointW: -674 },
      ],
      none,
    ],
    [
      'sun and batteries at two limits',
      [{ spec: pv }, { spec: pv }, { spec: battery, setPointW: -6000 }, { spec: battery, setPointW: -6000 }],
      { export: 0, import: 2930 },
    ],
    ['a vehicle that would discharge', [{ spec: v2g, setPointW: 30_000 }], { export: 0 }],
    ['a vehicle and sun that just reaches for it', [{ spec: pv }, { spec: evse }], { export: 0, import: 200 }],
    [
      'fuel cells without a set-point',
      [{ spec: fuelCell }, { spec: fuelCell }, { spec: battery, setPointW: -100 }],
      none,
    ],
  ];
  for (const [i, [name, parts, patch]] of cases.entries()) {
    it(`${name}: no limit is exceeded and nothing swings`, async () => {
      for (const rampPctS of pick({ quick: dealt([20, 100, 2], 3, i), ci: [2, 20, 100] })) {
        const { worstW, seen } = await watched(await settled(parts, rampPctS, patch), 120);
        expect(worstW).to.be.at.most(roundingW);
        expect([...seen], `at ${rampPctS} % per second`).to.have.lengthOf(1);
      }
    });
  }

  it('a station keeps its standby rather than turn it into discharge', async () => {
    const plant = await settled([{ spec: v2g, setPointW: 30_000 }], 20, { export: 0 });
    expect(powersOf(plant)).to.deep.equal([-5]);
    expect(plant.device(0).trace.now.activeDecidedBy).to.equal('site');
  });

  it('what sleeping inverters take leaves less for the others, and is within import and load limit', async () => {
    const plant = await settled([...Array.from({ length: 30 }, () => ({ spec: pv })), { spec: evse }], 100, {
      import: 6000,
    });
    plant.setSurroundings({ irradianceWm2: 0 });
    await plant.step(60);
    expect(powersOf(plant)).to.deep.equal([...Array.from({ length: 30 }, () => -2), -5940]);
    expect(plant.site).to.deep.include({ netW: -6000, consumptionW: 6000 });
    expect(plant.site.limits.import).to.include({ binding: true, exceeded: false });
    plant.setSite({ import: null, load: 5000 });
    await plant.step(3);
    expect(powersOf(plant).at(-1)).to.equal(-4940);
    expect(plant.site.limits.load).to.include({ binding: true, exceeded: false });
    plant.setSite({ load: 50 });
    await plant.step(3);
    expect(powersOf(plant).at(-1)).to.equal(0);
    expect(plant.site).to.include({ consumptionW: 60 });
    expect(plant.site.limits.load).to.include({ exceeded: true });
  });

  it('what sleeping inverters take leaves room for injection', async () => {
    const plant = await settled([{ spec: pv }, { spec: battery, setPointW: 3000 }], 100, { export: 1000 });
    plant.setSurroundings({ irradianceWm2: 0 });
    await plant.step(60);
    expect(powersOf(plant)).to.deep.equal([-2, 1002]);
    expect(plant.site.netW).to.be.closeTo(1000, roundingW);
  });

  it('a charge that only the converter consumes is within the limit too', async () => {
    const plant = await settled([{ spec: battery, setPointW: -16 }], 20, { import: 0 });
    plant.device(0).command({ kind: 'battery.control', socPct: 100 }, by);
    await plant.step(5);
    expect(powersOf(plant)).to.deep.equal([0]);
    expect(plant.device(0).trace.now.activeDecidedBy).to.equal('site');
    plant.setSite({ import: null });
    await plant.step(5);
    expect(powersOf(plant)).to.deep.equal([-16]);
  });

  const held: readonly (readonly [string, KindSpec, SitePatch, SitePatch])[] = [
    ['a fuel cell', fuelCell, { generation: 300 }, { generation: null }],
    ['a vehicle', evse, { load: 4500 }, { load: null }],
  ];
  for (const [name, spec, limit, end] of held) {
    it(`${name} that was limited counts for no more than its ramp reaches`, async () => {
      const plant = await settled([{ spec }], 100, limit);
      const share = plant.device(0).siteShare;
      const [beforeW, reachW] = [Math.abs(share.powerW), Math.abs(share.reachW(1))];
      plant.setSite(end);
      await plant.step(1);
      expect(reachW).to.be.within(beforeW, Math.abs(share.powerW) + 1);
    });
  }

  it('random set-points, sun and limits, each watched once all ramps are over', async () => {
    const random = casesOf('steady');
    const parts = [pv, pv, battery, battery, reversible, reversible, evse, evse].map((spec) => ({ spec }));
    const plant = await settled(parts, 20, none);
    const limit = () => (random.next() < 0.5 ? 0 : random.next() * 3000);
    for (let round = 0; round < pick({ quick: 3, ci: 12 }); round += 1) {
      if (round % 3 === 0) plant.setSite({ export: limit(), import: limit() });
      for (const i of [2, 3]) demand(plant, i, (random.next() - 0.5) * 16_000);
      for (const i of [4, 5]) demand(plant, i, (random.next() - 0.5) * 10_000);
      plant.setSurroundings({ irradianceWm2: random.next() * 1000 });
      await plant.step(150);
      const { worstW } = await watched(plant, 30);
      expect(worstW, `round ${round}`).to.be.at.most(roundingW);
    }
  });
});
