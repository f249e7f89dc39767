/** SunSpec Modbus conformance for the models before the 700 series: 101 to 124 and 160, alone and beside the others. */
import { expect } from 'chai';
import type { MapShape } from '../../src/contract/map-layout.ts';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { definitionsFrom } from '../support/conformance/definitions.ts';
import { DeviceMap } from '../support/conformance/device-map.ts';
import type { PlacedPoint } from '../support/conformance/device-map.ts';
import { exceptionOf } from '../support/conformance/master.ts';
import type { Master } from '../support/conformance/master.ts';
import { adjustablePoints, rawWrongs } from '../support/conformance/ranges.ts';
import { isAbsent, numberTypeOf, wordsOf } from '../support/conformance/registers.ts';
import { checkModelOne, checkModelTwo, checkScaleFactors } from './models.ts';
import type { Dut } from './models.ts';

interface ClassicDut {
  readonly type: 'PV-3Phase' | 'PV-2Phase' | 'PV-1Phase' | 'Batt-3Phase' | 'HybridDC-3Phase';
  readonly map: Partial<MapShape>;
  readonly chain: readonly number[];
}

const current = [701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];
const withStorage = [1, 103, 120, 121, 122, 123, 124, 160];
const classic = { layout: 'classic' } as const;

/** Maps in which all models are read; those of the first two are written as well. */
export const classicDuts: readonly [ClassicDut, ClassicDut, ...ClassicDut[]] = [
  { type: 'PV-3Phase', map: classic, chain: [1, 103, 120, 121, 122, 123, 160] },
  { type: 'Batt-3Phase', map: classic, chain: [...withStorage, 802] },
  { type: 'PV-2Phase', map: classic, chain: [1, 102, 120, 121, 122, 123, 160] },
  { type: 'PV-1Phase', map: { ...classic, float: true }, chain: [1, 111, 120, 121, 122, 123, 160] },
  { type: 'HybridDC-3Phase', map: { ...classic, base: 0 }, chain: [...withStorage, 802] },
  { type: 'Batt-3Phase', map: { layout: 'both' }, chain: [...withStorage, ...current, 802] },
  { type: 'PV-3Phase', map: { layout: 'mixed', base: 50_000 }, chain: [1, 123, ...current] },
];

const limit123 = { enable: '123.WMaxLim_Ena', percent: '123.WMaxLimPct' };
const refusals = [2, 3];
const isClassic = ({ modelId }: PlacedPoint) => modelId > 100 && modelId < 200;
/** Seconds that ramps and responses take at most. */
const responseS = 20;

/** The points of the older models. */
const older = (map: DeviceMap) => map.models.flatMap(({ points }) => points).filter(isClassic);

async function refusesWrongValues(map: DeviceMap): Promise<void> {
  let tried = 0;
  for (const point of (await adjustablePoints(map)).filter(isClassic)) {
    const before = await map.words(point);
    for (const number of await rawWrongs(map, point)) {
      const words = wordsOf(point.def, number);
      expect(await exceptionOf(map.writeWords(point, words)), `${point.name} = ${number}`).to.be.oneOf(refusals);
      tried += 1;
    }
    expect(await map.words(point), point.name).to.deep.equal(before);
  }
  expect(tried).to.be.above(40);
}

async function refusesLockedPoints(map: DeviceMap): Promise<void> {
  for (const point of older(map)) {
    const before = await map.words(point);
    if (point.def.writable && !(numberTypeOf(point.def) && isAbsent(point.def, before))) continue;
    const words = before.map((word) => word ^ 1);
    expect(await exceptionOf(map.writeWords(point, words)), point.name).to.be.oneOf(refusals);
    expect(await map.words(point), point.name).to.deep.equal(before);
  }
}

/** Model 123 in one request from its ID on, with zeros where a client has nothing to say: only settings change. */
async function takesControlsWhole(map: DeviceMap, master: Master): Promise<void> {
  const { address, length, points } = map.model(123);
  const before = await master.read(address, length + 2);
  const words = points.flatMap((point) => {
    const at = point.address - address;
    return point.def.writable ? before.slice(at, at + point.def.size) : Array<number>(point.def.size).fill(0);
  });
  const at = (name: string) => map.point(`123.${name}`).address - address;
  words[at('WMaxLimPct')] = 4000;
  words[at('WMaxLim_Ena')] = 1;
  await master.writeMany(address, words);
  const expected = [...before];
  expected[at('WMaxLimPct')] = 4000;
  expected[at('WMaxLim_Ena')] = 1;
  expect(await master.read(address, length + 2)).to.deep.equal(expected);
}

/** Numbers of 123 that a limit has before, in force, and after its reversion. */
async function revertsLimit(map: DeviceMap, bed: Bed): Promise<void> {
  const power = async () => (await map.number('103.W')) / (await map.number('121.WMax'));
  await map.write('123.WMaxLimPct', 50);
  await map.write('123.WMaxLim_Ena', 'ENABLED');
  await map.write('123.WMaxLimPct_RvrtTms', 60);
  await bed.step(58);
  expect(await map.value('123.WMaxLim_Ena')).to.equal('ENABLED');
  expect(await power()).to.be.closeTo(0.5, 0.01);
  await bed.step(4);
  expect(await map.value('123.WMaxLim_Ena')).to.equal('DISABLED');
  await bed.step(responseS);
  expect(await power()).to.be.above(0.9);
}

async function disconnectsForATime(map: DeviceMap, bed: Bed): Promise<void> {
  await map.write('123.Conn_RvrtTms', 30);
  await map.write('123.Conn', 'DISCONNECT');
  await bed.step(responseS);
  expect(await map.number('103.W')).to.be.at.most(0);
  expect(await map.value('123.Conn')).to.equal('DISCONNECT');
  await bed.step(15);
  expect(await map.value('123.Conn')).to.equal('CONNECT');
}

export function classicProcedures(line: Line, duts: readonly ClassicDut[] = classicDuts): void {
  for (const { type, map: shape, chain } of duts) {
    const { layout, float = false, base = 40_000 } = shape;
    const map = `${layout}${float ? ' with floats' : ''}`;
    describe(`Conformance over ${line.name}: ${type}, ${map} at ${base} (by ${definitionsFrom})`, function () {
      this.timeout(30_000);
      let dut: Dut;

      before(async () => {
        const bed = await openBed(line, [type], shape);
        const master = await bed.master();
        await bed.restart();
        dut = { bed, master, type, map: await DeviceMap.scan(master) };
      });
      after(() => dut.bed.close());

      it('DEV-1, DEV-2: the chain is that of its kind, and ends', async () => {
        const { map, master } = dut;
        expect(map.models.map(({ id }) => id)).to.deep.equal(chain);
        expect([map.base, map.models[0]!.length, map.end.length]).to.deep.equal([base, 66, 0]);
        expect(await exceptionOf(master.read(map.end.address + 2, 1)), 'behind the end').to.equal(2);
      });
      it('MOD-1: lengths, mandatory points, each point alone and in range', () => checkModelOne(dut));
      it('MOD-2: models in one read, or in consecutive ones of at most 125', () => checkModelTwo(dut));
      it('SF-1: scale factors are in range, present where points refer to them, and static', () =>
        checkScaleFactors(dut, limit123, 25));
    });
  }
}

/** Procedures that write, against a PV inverter with classic models alone. */
export function classicControlProcedures(line: Line): void {
  describe(`Conformance over ${line.name}: controls of the classic map`, function () {
    this.timeout(30_000);
    let bed: Bed;
    let master: Master;
    let map: DeviceMap;

    before(async () => {
      bed = await openBed(line, ['PV-3Phase'], classic);
      master = await bed.master();
      map = await DeviceMap.scan(master);
    });
    beforeEach(() => bed.restart());
    after(() => bed.close());

    it('EXC-1: each point refuses values outside its range, unknown symbols and "not implemented"', () =>
      refusesWrongValues(map));
    it('EXC-2: points that are read-only or not implemented refuse a write of their own', () =>
      refusesLockedPoints(map));
    it('MOD-3: 123 is written whole, its read-only registers being ignored', () => takesControlsWhole(map, master));
    it('REV-1: the limit of 123 ends by its time', () => revertsLimit(map, bed));
    it('REV-1: a disconnection by 123 ends by its time', () => disconnectsForATime(map, bed));
  });
}
