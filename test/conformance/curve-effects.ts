/** SunSpec Modbus conformance, CRV-2 and CRV-3: what is in force is what the measurements follow; what was refused is not. */
import { expect } from 'chai';
import type { GridPatch } from '../../src/contract/environment.ts';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { DeviceMap } from '../support/conformance/device-map.ts';
import { exceptionOf } from '../support/conformance/master.ts';

type Settings = Readonly<Record<string, number | string>>;
type Pairs = readonly (readonly [x: number, y: number])[];

const nominal: GridPatch = { voltagePu: 1, frequencyHz: 60 };
/** More than every response time in use takes to end. */
const settledS = 60;

interface Staged {
  readonly id: number;
  readonly set: 'Crv' | 'Ctl';
  /** by path inside the set */
  readonly good: Settings;
  /** a good set with this in it cannot be adopted, or is not even stored */
  readonly wrong: Settings;
}

/** A function that moves the output. */
interface Follower extends Staged {
  readonly prepare?: Settings;
  readonly measured: '701.W' | '701.Var';
  readonly grids: readonly GridPatch[];
  /** What 701 must show by what set 1 and 702 hold. @param beforeW power in the normal grid */
  readonly expected: (map: DeviceMap, beforeW: number) => Promise<number>;
}

/** A function that disconnects; times in seconds. */
interface Trip extends Staged {
  /** at which the set at the start trips, and the good one does not */
  readonly between: { readonly grid: GridPatch; readonly forS: number };
  /** at which the good set trips */
  readonly beyond: { readonly grid: GridPatch; readonly afterS: number };
}

const points = (prefix: string, x: string, y: string, pairs: Pairs): Settings =>
  Object.fromEntries([
    [`${prefix}ActPt`, pairs.length],
    ...pairs.flatMap(([a, b], i): [string, number][] => [
      [`${prefix}Pt[${i}].${x}`, a],
      [`${prefix}Pt[${i}].${y}`, b],
    ]),
  ]);

/** The curve that set 1 shows, as a master reads it: straight between its points, level beyond them. */
async function inForce(map: DeviceMap, id: number, [x, y]: readonly [string, string], at: number): Promise<number> {
  const number = (path: string) => map.number(`${id}.Crv[0].${path}`);
  const count = await number('ActPt');
  const pairs: [number, number][] = [];
  for (let i = 0; i < count; i += 1) pairs.push([await number(`Pt[${i}].${x}`), await number(`Pt[${i}].${y}`)]);
  const right = pairs.findIndex(([edge]) => at <= edge);
  // beyond the last point -1: the last one again
  const [x1, y1] = pairs.at(right > 0 ? right - 1 : right)!;
  const [x2, y2] = pairs.at(right)!;
  return x1 === x2 ? y2 : y1 + ((y2 - y1) * (at - x1)) / (x2 - x1);
}

const volts = async (map: DeviceMap) => (100 * (await map.number('701.LLV'))) / (await map.number('702.VNom'));

/** Percent of what set 1 names as its reference. */
async function vars(map: DeviceMap, id: number, percent: number): Promise<number> {
  const side = percent < 0 ? 'Abs' : 'Inj';
  const references: Readonly<Record<string, string>> = {
    W_MAX_PCT: '702.WMax',
    VAR_MAX_PCT: `702.VarMax${side}`,
    VA_MAX_PCT: '702.VAMax',
  };
  const reference = references[String(await map.value(`${id}.Crv[0].DeptRef`))];
  if (reference === undefined) throw new Error(`${id}: the reference of set 1 is not known here`);
  return (percent / 100) * (await map.number(reference));
}

const followers: readonly Follower[] = [
  {
    id: 705,
    set: 'Crv',
    measured: '701.Var',
    grids: [{ voltagePu: 0.94 }, { voltagePu: 1 }, { voltagePu: 1.055 }],
    good: {
      DeptRef: 'VAR_MAX_PCT',
      RspTms: 10,
      ...points('', 'V', 'Var', [
        [91, 40],
        [97, 0],
        [103, 0],
        [109, -40],
      ]),
    },
    wrong: { 'Pt[2].V': 90 },
    expected: async (map) => vars(map, 705, await inForce(map, 705, ['V', 'Var'], await volts(map))),
  },
  {
    id: 706,
    set: 'Crv',
    measured: '701.W',
    grids: [{ voltagePu: 1.02 }, { voltagePu: 1.07 }, { voltagePu: 1.08 }],
    good: {
      DeptRef: 'W_MAX_PCT',
      RspTms: 5,
      ...points('', 'V', 'W', [
        [105, 100],
        [109, 20],
      ]),
    },
    wrong: { 'Pt[1].V': 100 },
    expected: async (map) =>
      ((await inForce(map, 706, ['V', 'W'], await volts(map))) / 100) * (await map.number('702.WMax')),
  },
  {
    id: 711,
    set: 'Ctl',
    measured: '701.W',
    grids: [{ frequencyHz: 60.03 }, { frequencyHz: 60.5 }, { frequencyHz: 59.6 }],
    prepare: { '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED' },
    good: { DbOf: 0.05, DbUf: 0.06, KOf: 0.04, KUf: 0.03, RspTms: 3, PMin: 10 },
    wrong: { KOf: 0 },
    async expected(map, beforeW) {
      const offHz = (await map.number('701.Hz')) - 60;
      const side = offHz > 0 ? 'Of' : 'Uf';
      const beyondHz = Math.max(0, Math.abs(offHz) - (await map.number(`711.Ctl[0].Db${side}`)));
      return (
        beforeW -
        ((Math.sign(offHz) * beyondHz) / 60 / (await map.number(`711.Ctl[0].K${side}`))) *
          (await map.number('702.WMax'))
      );
    },
  },
  {
    id: 712,
    set: 'Crv',
    measured: '701.Var',
    grids: [nominal],
    prepare: { '704.WMaxLimPct': 75, '704.WMaxLimPctEna': 'ENABLED' },
    good: {
      DeptRef: 'VAR_MAX_PCT',
      ...points('', 'W', 'Var', [
        [20, 0],
        [50, 0],
        [100, -30],
      ]),
    },
    wrong: { 'Pt[1].W': 10 },
    expected: async (map) =>
      vars(
        map,
        712,
        await inForce(map, 712, ['W', 'Var'], (100 * (await map.number('701.W'))) / (await map.number('702.WMax'))),
      ),
  },
];

const must = (x: 'V' | 'Hz', pairs: Pairs) => points('MustTrip.', x, 'Tms', pairs);

const trips: readonly Trip[] = [
  {
    id: 707,
    set: 'Crv',
    good: must('V', [
      [45, 1],
      [85, 10],
    ]),
    wrong: { 'MustTrip.Pt[0].V': 120 },
    between: { grid: { voltagePu: 0.87 }, forS: 30 },
    beyond: { grid: { voltagePu: 0.84 }, afterS: 10 },
  },
  {
    id: 708,
    set: 'Crv',
    good: {
      ...must('V', [
        [112, 12],
        [121, 3],
      ]),
      'MomCess.ActPt': 0,
    },
    wrong: { 'MustTrip.Pt[0].V': 80 },
    between: { grid: { voltagePu: 1.11 }, forS: 30 },
    beyond: { grid: { voltagePu: 1.13 }, afterS: 12 },
  },
  {
    id: 709,
    set: 'Crv',
    good: must('Hz', [
      [56, 5],
      [58, 200],
    ]),
    wrong: { 'MustTrip.Pt[0].Hz': 20 },
    between: { grid: { frequencyHz: 56.3 }, forS: 30 },
    beyond: { grid: { frequencyHz: 55.9 }, afterS: 5 },
  },
  {
    id: 710,
    set: 'Crv',
    good: must('Hz', [
      [61.5, 200],
      [62.5, 5],
    ]),
    wrong: { 'MustTrip.ActPt': 0 },
    between: { grid: { frequencyHz: 62.3 }, forS: 30 },
    beyond: { grid: { frequencyHz: 62.6 }, afterS: 5 },
  },
];

export function curveEffectProcedures(line: Line): void {
  describe(`Conformance over ${line.name}: curves act`, () => {
    let bed: Bed;
    let map: DeviceMap;

    before(async () => {
      bed = await openBed(line);
      map = await DeviceMap.scan(await bed.master());
    });
    beforeEach(() => bed.restart());
    after(() => bed.close());

    async function inGrid(grid: GridPatch, seconds = settledS): Promise<void> {
      bed.plant.setGrid(grid);
      await bed.step(seconds);
    }

    const writeSet = async ({ id, set }: Staged, settings: Settings) => {
      for (const [path, value] of Object.entries(settings)) await map.write(`${id}.${set}[1].${path}`, value);
    };

    /** @returns whether what is in set 2 is in force now */
    async function adopts({ id, set }: Staged): Promise<boolean> {
      await map.write(`${id}.Adpt${set}Req`, 2);
      return (await map.value(`${id}.Adpt${set}Rslt`)) === 'COMPLETED';
    }

    async function isRefused(staged: Staged): Promise<void> {
      let completed = false;
      const attempt = async () => {
        await writeSet(staged, staged.wrong);
        completed = await adopts(staged);
      };
      expect(await exceptionOf(attempt())).to.be.oneOf([0, 2, 3, 4]);
      expect(completed, 'the adoption of a wrong set').to.equal(false);
    }

    for (const follower of followers) {
      const { id, measured, grids, prepare = {}, expected } = follower;

      /** The measurement in each grid; it is the one that set 1 asks for. */
      async function followed(when: string): Promise<number[]> {
        const seen: number[] = [];
        for (const grid of grids) {
          await inGrid(nominal);
          const beforeW = await map.number('701.W');
          await inGrid(grid);
          const value = await map.number(measured);
          const right = await expected(map, beforeW);
          expect(value, `${measured} at ${JSON.stringify(grid)} ${when}`).to.be.closeTo(
            right,
            0.005 * (await map.number('702.VAMax')),
          );
          seen.push(value);
        }
        return seen;
      }

      it(`CRV-2, CRV-3: ${id}: ${measured} follows set 1: at first, with another set adopted, and a wrong one refused`, async () => {
        for (const [name, value] of Object.entries(prepare)) await map.write(name, value);
        await map.write(`${id}.Ena`, 'ENABLED');
        const first = await followed('at the start');
        await writeSet(follower, follower.good);
        expect(await followed('before the adoption')).to.deep.equal(first);
        expect(await adopts(follower)).to.equal(true);
        const adopted = await followed('after the adoption');
        expect(adopted).to.not.deep.equal(first);
        await isRefused(follower);
        expect(await followed('after the refusal')).to.deep.equal(adopted);
        await map.write(`${id}.Ena`, 'DISABLED');
        await inGrid(grids.at(-1)!);
        expect(await map.number(measured), 'disabled').to.not.be.closeTo(
          adopted.at(-1)!,
          0.02 * (await map.number('702.VAMax')),
        );
      });
    }

    for (const trip of trips) {
      const { between, beyond } = trip;

      async function isConnected(connected: boolean, when: string): Promise<void> {
        expect(await map.value('701.ConnSt'), when).to.equal(connected ? 'CONNECTED' : 'DISCONNECTED');
        const watts = await map.number('701.W');
        if (connected) expect(watts, when).to.be.above(0);
        else expect(watts, when).to.equal(0);
      }

      it(`CRV-2, CRV-3: ${trip.id}: trips by set 1: at first, with another set adopted, and a wrong one refused`, async () => {
        await map.write('703.ESDlyTms', 0);
        await map.write('703.ESRmpTms', 1);
        await map.write(`${trip.id}.Ena`, 'ENABLED');
        await inGrid(between.grid, between.forS);
        await isConnected(false, 'by the set at the start');
        await inGrid(nominal);
        await isConnected(true, 'back again');
        await writeSet(trip, trip.good);
        expect(await adopts(trip)).to.equal(true);
        await inGrid(between.grid, between.forS);
        await isConnected(true, 'by the adopted set, inside');
        await inGrid(nominal);
        await isRefused(trip);
        await inGrid(between.grid, between.forS);
        await isConnected(true, 'after the refusal, inside');
        await inGrid(nominal);
        await inGrid(beyond.grid, beyond.afterS - 1);
        await isConnected(true, 'beyond, just before its time');
        await inGrid(beyond.grid, 2);
        await isConnected(false, 'beyond, just after its time');
      });
    }
  });
}
