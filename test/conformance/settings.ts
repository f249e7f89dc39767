/** SunSpec Modbus conformance, MOD-3: every writable point accepts its declared range, one by one and in groups. */
import { expect } from 'chai';
import type { MapShape } from '../../src/contract/map-layout.ts';
import { dealt } from '../support/choice.ts';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { definitionsFrom } from '../support/conformance/definitions.ts';
import { pick } from '../support/depth.ts';
import { DeviceMap, maxWrite } from '../support/conformance/device-map.ts';
import type { PlacedPoint } from '../support/conformance/device-map.ts';
import type { Master } from '../support/conformance/master.ts';
import { adjustablePoints, otherNames, rawValues, selfClearing } from '../support/conformance/ranges.ts';
import { wordsOf } from '../support/conformance/registers.ts';

/** The words that a read returns after a write. */
const shown = (point: PlacedPoint, number: number) => wordsOf(point.def, selfClearing.has(point.name) ? 0 : number);

/** Each type of device has other points, and of each point other values. */
const { hands, valuesOf } = pick<{
  hands: number;
  valuesOf: (values: readonly number[], turn: number) => readonly number[];
}>({
  quick: { hands: 4, valuesOf: (values, turn) => dealt(values, Math.max(1, Math.ceil(values.length / 2)), turn) },
  ci: { hands: 1, valuesOf: (values) => values },
});

/** Runs of points without a gap between their addresses, each no longer than one request. */
function groupsOf(points: readonly PlacedPoint[]): PlacedPoint[][] {
  const groups: PlacedPoint[][] = [];
  for (const point of points) {
    const group = groups.at(-1);
    const first = group?.[0];
    const last = group?.at(-1);
    const follows =
      last !== undefined &&
      first !== undefined &&
      otherNames[point.name] !== last.name &&
      last.address + last.def.size === point.address &&
      point.address + point.def.size - first.address <= maxWrite;
    if (group && follows) group.push(point);
    else groups.push([point]);
  }
  return groups;
}

/** A map, and how many adjustable points and runs of them it has at least. */
interface Expected {
  readonly map: Partial<MapShape>;
  readonly points: number;
  readonly groups: number;
}
const ofDefaultMap: Expected = { map: {}, points: 600, groups: 20 };

export function settingProcedures(line: Line, types: readonly string[], expected = ofDefaultMap): void {
  const { layout = 'current' } = expected.map;
  describe(`Conformance over ${line.name}: settings of the ${layout} map (by ${definitionsFrom})`, () => {
    let bed: Bed;

    before(async () => {
      bed = await openBed(line, types, expected.map);
    });
    after(() => bed.close());

    for (const [index, type] of types.entries()) {
      describe(type, () => {
        let master: Master;
        let map: DeviceMap;
        let adjustable: readonly PlacedPoint[];

        /** Writes the former words and reads them back. */
        async function restore(point: PlacedPoint, before: readonly number[]): Promise<void> {
          await map.writeWords(point, before);
          expect(await map.words(point), `${point.name} restored`).to.deep.equal(before);
        }

        before(async () => {
          master = await bed.master(index);
          map = await DeviceMap.scan(master);
          adjustable = await adjustablePoints(map);
        });

        it('MOD-3: minimum, maximum and three values between, every symbol, one by one', async () => {
          expect(adjustable.length).to.be.at.least(expected.points);
          for (const [turn, point] of dealt(adjustable, hands, index).entries()) {
            const before = await map.words(point);
            for (const number of valuesOf(await rawValues(map, point), index + turn)) {
              const words = wordsOf(point.def, number);
              try {
                await map.writeWords(point, words);
              } catch (error) {
                throw new Error(`${point.name} does not take ${number}: ${String(error)}`, { cause: error });
              }
              expect(await map.words(point), `${point.name} = ${number}`).to.deep.equal(shown(point, number));
            }
            await restore(point, before);
          }
        });

        it('MOD-3: the same in groups', async () => {
          const groups = groupsOf(adjustable).filter(({ length }) => length > 1);
          expect(groups.length).to.be.at.least(expected.groups);
          for (const group of dealt(groups, hands, index)) {
            const [first] = group;
            const name = `${first!.name}..${group.at(-1)!.name}`;
            const size = group.reduce((sum, { def }) => sum + def.size, 0);
            const before = await master.read(first!.address, size);
            const choices: number[][] = [];
            for (const point of group) choices.push(await rawValues(map, point));
            for (let i = 0; i < 5; i += 1) {
              const numbers = choices.map((values) => values[Math.min(i, values.length - 1)]!);
              const words = group.flatMap(({ def }, at) => wordsOf(def, numbers[at]!));
              try {
                await master.writeMany(first!.address, words);
              } catch (error) {
                throw new Error(`${name}, values ${i}: ${String(error)}`, { cause: error });
              }
              expect(await master.read(first!.address, size), `${name}, values ${i}`).to.deep.equal(
                group.flatMap((point, at) => shown(point, numbers[at]!)),
              );
            }
            await master.writeMany(first!.address, before);
            expect(await master.read(first!.address, size), `${name} restored`).to.deep.equal(before);
          }
        });
      });
    }
  });
}
