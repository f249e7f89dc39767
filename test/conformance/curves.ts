/** SunSpec Modbus conformance, CRV-1 to CRV-3: curves and control sets are stored, adopted and refused. */
import { expect } from 'chai';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { DeviceMap } from '../support/conformance/device-map.ts';
import type { PlacedPoint } from '../support/conformance/device-map.ts';
import { exceptionOf } from '../support/conformance/master.ts';
import { wordsOf } from '../support/conformance/registers.ts';

type Settings = Readonly<Record<string, number | string>>;

interface CurveModel {
  readonly id: number;
  readonly set: 'Crv' | 'Ctl';
  readonly count: string;
  readonly request: string;
  readonly result: string;
  /** by path inside the set */
  readonly good: Settings;
  /** what makes a good set a wrong one */
  readonly wrong: readonly Settings[];
}

const curve = { set: 'Crv', count: 'NCrv', request: 'AdptCrvReq', result: 'AdptCrvRslt' } as const;

/** Points of a curve by path: `Pt[0].V`. */
function points(prefix: string, x: string, y: string, pairs: readonly (readonly [number, number])[]): Settings {
  return Object.fromEntries([
    [`${prefix}ActPt`, pairs.length],
    ...pairs.flatMap(([a, b], i) => [
      [`${prefix}Pt[${i}].${x}`, a],
      [`${prefix}Pt[${i}].${y}`, b],
    ]),
  ]) as Settings;
}

const trip = (
  id: number,
  x: 'V' | 'Hz',
  pairs: readonly (readonly [number, number])[],
  wrongSide: number,
): CurveModel => ({
  ...curve,
  id,
  count: 'NCrvSet',
  good: points('MustTrip.', x, 'Tms', pairs),
  wrong: [{ [`MustTrip.Pt[0].${x}`]: wrongSide }, { 'MustTrip.ActPt': 0 }],
});

const models: readonly CurveModel[] = [
  {
    ...curve,
    id: 705,
    wrong: [{ 'Pt[2].V': 90 }, { ActPt: 0 }],
    good: {
      DeptRef: 'VAR_MAX_PCT',
      Pri: 'REACTIVE',
      VRef: 100,
      VRefAutoEna: 'DISABLED',
      VRefAutoTms: 300,
      RspTms: 10,
      ...points('', 'V', 'Var', [
        [91, 40],
        [97, 0],
        [103, 0],
        [109, -40],
      ]),
    },
  },
  {
    ...curve,
    id: 706,
    wrong: [{ 'Pt[1].V': 100 }, { ActPt: 0 }],
    good: {
      DeptRef: 'W_MAX_PCT',
      RspTms: 5,
      ...points('', 'V', 'W', [
        [105, 100],
        [109, 20],
      ]),
    },
  },
  trip(
    707,
    'V',
    [
      [45, 1],
      [85, 10],
    ],
    120,
  ),
  trip(
    708,
    'V',
    [
      [112, 12],
      [121, 0.2],
    ],
    80,
  ),
  trip(
    709,
    'Hz',
    [
      [56, 0.5],
      [58, 200],
    ],
    20,
  ),
  trip(
    710,
    'Hz',
    [
      [61.5, 200],
      [62.5, 0.5],
    ],
    90,
  ),
  {
    id: 711,
    set: 'Ctl',
    count: 'NCtl',
    request: 'AdptCtlReq',
    result: 'AdptCtlRslt',
    good: { DbOf: 0.05, DbUf: 0.06, KOf: 0.04, KUf: 0.03, RspTms: 3, PMin: 10 },
    wrong: [],
  },
  {
    ...curve,
    id: 712,
    wrong: [{ 'Pt[1].W': 10 }, { ActPt: 0 }],
    good: {
      DeptRef: 'VAR_MAX_PCT',
      Pri: 'REACTIVE',
      ...points('', 'W', 'Var', [
        [20, 0],
        [50, 0],
        [100, -40],
      ]),
    },
  },
];

export function curveProcedures(line: Line): void {
  describe(`Conformance over ${line.name}: curves`, () => {
    let bed: Bed;
    let map: DeviceMap;

    before(async () => {
      bed = await openBed(line);
      map = await DeviceMap.scan(await bed.master());
    });
    after(() => bed.close());

    for (const model of models) {
      const { id, set } = model;
      const inSet = (number: number) =>
        map.model(id).points.filter(({ path }) => path.startsWith(`${set}[${number - 1}].`));

      /** Registers of a set without its flag. */
      async function contents(number: number): Promise<(readonly [string, readonly number[]])[]> {
        const found: (readonly [string, readonly number[]])[] = [];
        for (const point of inSet(number)) {
          const path = point.path.slice(point.path.indexOf('.') + 1);
          // what the device finds out by itself is not part of the settings
          if (path !== 'ReadOnly' && path !== 'VRefAuto') found.push([path, await map.words(point)]);
        }
        return found;
      }

      const writeSet = async (number: number, settings: Settings) => {
        for (const [path, value] of Object.entries(settings))
          await map.write(`${id}.${set}[${number - 1}].${path}`, value);
      };

      it(`CRV-1: ${id}: set 1 exists, is flagged read only and refuses writes; the others are open`, async () => {
        const count = await map.number(`${id}.${model.count}`);
        expect(count).to.be.at.least(2);
        for (let number = 1; number <= count; number += 1) {
          expect(await map.value(`${id}.${set}[${number - 1}].ReadOnly`), `set ${number}`).to.equal(
            number === 1 ? 'R' : 'RW',
          );
        }
        const before = await contents(1);
        const writable = (point: PlacedPoint) => point.def.writable;
        for (const point of inSet(1).filter(writable)) {
          expect(await exceptionOf(map.writeWords(point, await map.words(point))), point.name).to.be.oneOf([2, 3, 4]);
        }
        expect(await contents(1)).to.deep.equal(before);
      });

      it(`CRV-2: ${id}: settings are stored, adopted and in force; later edits of the store do not leak`, async () => {
        await writeSet(2, model.good);
        for (const [path, value] of Object.entries(model.good))
          expect(await map.value(`${id}.${set}[1].${path}`), path).to.equal(value);
        expect(await contents(1)).to.not.deep.equal(await contents(2));
        await map.write(`${id}.${model.request}`, 2);
        expect(await map.value(`${id}.${model.result}`)).to.equal('COMPLETED');
        const adopted = await contents(1);
        expect(adopted).to.deep.equal(await contents(2));
        await map.write(`${id}.Ena`, 'ENABLED');
        expect(await map.value(`${id}.Ena`)).to.equal('ENABLED');
        await bed.step(2);
        const [path, value] = Object.entries(model.good).find(
          (entry): entry is [string, number] => typeof entry[1] === 'number' && !entry[0].endsWith('ActPt'),
        )!;
        await map.write(`${id}.${set}[1].${path}`, value + 0.5);
        expect(await contents(1)).to.deep.equal(adopted);
        await writeSet(2, model.good);
      });

      it(`CRV-2: ${id}: every set can be adopted, unused points included; set 1 stays flagged`, async () => {
        const last = await map.number(`${id}.${model.count}`);
        await writeSet(last, model.good);
        const spare = inSet(last)
          .filter(({ def }) => def.writable)
          .at(-1)!;
        await map.writeWords(spare, wordsOf(spare.def, 1));
        expect(await contents(last)).to.not.deep.equal(await contents(2));
        await map.write(`${id}.${model.request}`, last);
        expect(await map.value(`${id}.${model.result}`)).to.equal('COMPLETED');
        expect(await contents(1)).to.deep.equal(await contents(last));
        expect(await map.value(`${id}.${set}[0].ReadOnly`)).to.equal('R');
      });

      it(`CRV-3: ${id}: wrong settings end in an exception or in FAILED, and set 1 keeps its values`, async () => {
        const before = await contents(1);
        for (const wrong of model.wrong) {
          await writeSet(2, model.good);
          const refused =
            (await exceptionOf(writeSet(2, wrong))) || (await exceptionOf(map.write(`${id}.${model.request}`, 2)));
          if (refused === 0) expect(await map.value(`${id}.${model.result}`), JSON.stringify(wrong)).to.equal('FAILED');
          else expect(refused).to.be.oneOf([2, 3, 4]);
          expect(await contents(1), JSON.stringify(wrong)).to.deep.equal(before);
        }
        const beyond = 1 + (await map.number(`${id}.${model.count}`));
        expect(await exceptionOf(map.write(`${id}.${model.request}`, beyond)), `set ${beyond}`).to.be.oneOf([2, 3, 4]);
        if (id === 711) expect(await exceptionOf(map.write('711.Ctl[1].KOf', 0))).to.be.oneOf([2, 3, 4]);
        else
          expect(
            await exceptionOf(
              map.write(
                `${id}.${set}[1].${id >= 707 && id <= 710 ? 'MustTrip.' : ''}ActPt`,
                1 + (await map.number(`${id}.NPt`)),
              ),
            ),
          ).to.be.oneOf([2, 3, 4]);
        expect(await contents(1)).to.deep.equal(before);
        await writeSet(2, model.good);
      });
    }
  });
}
