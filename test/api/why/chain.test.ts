import { expect } from 'chai';
import fc from 'fast-check';
import { setPointRangeW } from '../../../src/api/common/points.ts';
import { deviceWhy } from '../../../src/api/why/device-chain.ts';
import type { Why } from '../../../src/api/why/model.ts';
import type { Device, SourceCommand } from '../../../src/contract/device.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { fleetKinds, kindPlant, kindSpec, operator } from '../../der/kinds/support.ts';
import { holdsAsync } from '../../support/property.ts';

/** What a station draws by itself, which no limit reduces. */
const toleranceW = 5;

interface Settings {
  readonly maxPct: number | null;
  readonly setPointPct: number | null;
  readonly exportW: number | null;
  readonly importW: number | null;
  readonly voltagePu: number;
  readonly voltWatt: boolean;
  readonly forced: 'charge' | 'discharge' | 'auto';
}

const maybe = (values: fc.Arbitrary<number>) => fc.option(values, { nil: null });
const settings = fc.record<Settings>({
  maxPct: maybe(fc.integer({ min: 0, max: 100 })),
  setPointPct: maybe(fc.integer({ min: -100, max: 100 })),
  exportW: maybe(fc.integer({ min: 0, max: 20_000 })),
  importW: maybe(fc.integer({ min: 0, max: 20_000 })),
  voltagePu: fc.constantFrom(1, 1.07),
  voltWatt: fc.boolean(),
  forced: fc.constantFrom('charge', 'discharge', 'auto'),
});

/** The set-point in the range of the device. */
function setPointFor({ assetType, bank }: Device, pct: number): number {
  if (assetType === 'evse') return Math.min(0, pct);
  return setPointRangeW(bank).minW < 0 ? pct : Math.max(0, pct);
}

function forcedMode(mode: Settings['forced']): SourceCommand {
  return mode === 'auto' ? { kind: 'battery.control', mode } : { kind: 'battery.control', mode, powerW: 4000 };
}

async function plantWith({ maxPct, setPointPct, exportW, importW, ...of }: Settings): Promise<SimPlant> {
  const plant = kindPlant(
    fleetKinds.map((kind) => kindSpec(kind)),
    { tickIntervalS: 1 },
  );
  plant.setGrid({ voltagePu: of.voltagePu });
  plant.setSite({ export: exportW, import: importW }, operator);
  for (const device of plant.devices) {
    if (device.assetType === 'evse') device.command({ kind: 'evse.plug', connectorId: 1, ev: {} }, operator);
    if (device.assetType === 'battery') device.command(forcedMode(of.forced), operator);
    device.bank.transact(operator, ({ m704, m706 }) => {
      m704.WMaxLimPct = maxPct ?? 100;
      m704.WMaxLimPctEna = maxPct === null ? 'DISABLED' : 'ENABLED';
      m704.WSetMod = 'W_MAX_PCT';
      m704.WSetPct = setPointFor(device, setPointPct ?? 0);
      m704.WSetEna = setPointPct === null ? 'DISABLED' : 'ENABLED';
      m706.Ena = of.voltWatt ? 'ENABLED' : 'DISABLED';
    });
  }
  await plant.step(90);
  return plant;
}

const winnerOf = ({ chain }: Why) => chain.filter(({ state }) => state === 'wins');

/** Ends the limit that holds a device. @returns false: nothing ends it */
function release(plant: SimPlant, index: number, key: string): boolean {
  const { bank } = plant.device(index);
  switch (key) {
    case 'site':
      plant.setSite({ export: null, import: null }, operator);
      return true;
    case 'max_power':
      bank.transact(operator, ({ m704 }) => (m704.WMaxLimPctEna = 'DISABLED'));
      return true;
    case 'active_power':
      bank.transact(operator, ({ m704 }) => (m704.WSetEna = 'DISABLED'));
      return true;
    case 'volt_watt':
      bank.transact(operator, ({ m706 }) => (m706.Ena = 'DISABLED'));
      return true;
    default:
      return false;
  }
}

describe('the chain of limits of every kind of device', () => {
  it('ends with the power that the device delivers, which one limit sets, or none', async () => {
    await holdsAsync(
      'chain ends with the power',
      settings,
      async (of) => {
        const plant = await plantWith(of);
        for (const device of plant.devices) {
          const why = deviceWhy(device, plant);
          const power = device.siteShare.powerW;
          const limits = why.chain.map(({ key, limitW, state }) => [key, limitW, state]);
          const about = `${device.name}: ${JSON.stringify(limits)} ${why.sentence}`;
          expect(why.deliveredW, about).to.equal(Math.abs(power));
          if (Math.abs(power) > toleranceW) expect(why.direction, about).to.equal(power > 0 ? 'delivers' : 'absorbs');
          const [winner, ...more] = winnerOf(why);
          expect(more, about).to.deep.equal([]);
          expect(why.basis.powerW, about).to.be.at.least(why.deliveredW - toleranceW);
          if (winner === undefined) expect(why.basis.powerW, about).to.equal(why.deliveredW);
          else expect(winner.limitW, about).to.be.at.least(why.deliveredW - toleranceW);
          for (const { state, limitW } of why.chain) expect(limitW === null, about).to.equal(state === 'off');
        }
      },
      { runs: 30 },
    );
  });

  it('changes the power when the limit that wins ends', async () => {
    await holdsAsync(
      'end of the limit that wins',
      [settings, fc.integer({ min: 0, max: fleetKinds.length - 1 })],
      async (of, index) => {
        const plant = await plantWith(of);
        const before = deviceWhy(plant.device(index), plant);
        const [winner] = winnerOf(before);
        if (winner === undefined || before.basis.powerW - before.deliveredW < 50) return;
        if (!release(plant, index, winner.key)) return;
        await plant.step(90);
        const after = deviceWhy(plant.device(index), plant);
        const moved = after.direction !== before.direction || Math.abs(after.deliveredW - before.deliveredW) > 1;
        const isHeldByAnother = winnerOf(after).some(({ key }) => key !== winner.key);
        // a set-point may command what the source would choose without it
        const isSame = winner.key === 'active_power' && !['available', 'asked'].includes(after.basis.key);
        expect(moved || isHeldByAnother || isSame, `${before.sentence} -> ${after.sentence}`).to.equal(true);
        expect(
          winnerOf(after).map(({ key }) => key),
          after.sentence,
        ).not.to.include(winner.key);
      },
      { runs: 30 },
    );
  });
});
