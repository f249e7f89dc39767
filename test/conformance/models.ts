/** SunSpec Modbus conformance: the models of every kind of device, as they are read. */
import { expect } from 'chai';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { definitionsFrom } from '../support/conformance/definitions.ts';
import { DeviceMap, maxRead } from '../support/conformance/device-map.ts';
import type { FoundModel, PlacedPoint } from '../support/conformance/device-map.ts';
import { exceptionOf } from '../support/conformance/master.ts';
import type { Master } from '../support/conformance/master.ts';
import { profilePoints } from '../support/conformance/profile-1547.ts';
import type { Phases } from '../support/conformance/profile-1547.ts';
import { isAbsent, numberIn, numberTypeOf } from '../support/conformance/registers.ts';

const standardChain = [1, 701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];

export interface Dut {
  readonly bed: Bed;
  readonly master: Master;
  readonly map: DeviceMap;
  readonly type: string;
}

/** All registers of a model, in requests of at most 125. */
async function image(master: Master, { address, length }: FoundModel): Promise<number[]> {
  const words: number[] = [];
  for (let at = 0; at < length + 2; at += maxRead)
    words.push(...(await master.read(address + at, Math.min(maxRead, length + 2 - at))));
  return words;
}

const wordsAt = (words: readonly number[], { address }: FoundModel, point: PlacedPoint) =>
  words.slice(point.address - address, point.address - address + point.def.size);

/** Two devices read at different instants differ where they measure: what does not move between ticks, does not. */
export async function checkModelOne({ master, map }: Dut): Promise<void> {
  for (const model of map.models) {
    const [first] = model.points;
    const last = model.points.at(-1)!;
    expect(await master.read(model.address, 2), `model ${model.id}`).to.deep.equal([model.id, model.length]);
    expect(last.address + last.def.size - model.address - 2, `L of model ${model.id}`).to.equal(model.length);
    expect(first?.address).to.equal(model.address);
    const words = await image(master, model);
    for (const point of model.points) {
      const alone = await map.words(point);
      expect(alone, point.name).to.deep.equal(wordsAt(words, model, point));
      const type = numberTypeOf(point.def);
      const absent = isAbsent(point.def, alone);
      // an accumulator of 0 has not counted yet
      if (point.def.mandatory && point.def.type !== 'string' && !point.def.type.startsWith('acc') && type)
        expect(absent, `${point.name} is mandatory`).to.equal(false);
      if (!type || absent) continue;
      const number = numberIn(point.def, alone);
      expect(number, point.name).to.be.within(type.min, type.max);
      if (!point.def.symbols) continue;
      const known = Object.values(point.def.symbols);
      if (point.def.type.startsWith('enum')) expect(known, `${point.name} = ${number}`).to.include(number);
      else
        expect(
          Number(BigInt(number) & ~known.reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n)),
          `${point.name} = ${number}`,
        ).to.equal(0);
    }
  }
}

export async function checkModelTwo({ master, map }: Dut): Promise<void> {
  for (const model of map.models) {
    const size = model.length + 2;
    if (size <= maxRead) expect(await master.read(model.address, size), `model ${model.id}`).to.have.length(size);
    else
      expect(await exceptionOf(master.read(model.address, Math.min(size, 126))), `model ${model.id} at once`).to.equal(
        3,
      );
    const byParts = await image(master, model);
    const byPoints: number[] = [];
    for (const point of model.points) byPoints.push(...(await map.words(point)));
    expect(byParts, `model ${model.id}`).to.deep.equal(byPoints);
  }
}

async function modelFour({ map, type }: Dut): Promise<void> {
  const rating = await map.value('702.WChaRteMaxRtg');
  const phases: Phases = ({ SINGLE_PHASE: 'single', SPLIT_PHASE: 'split', THREE_PHASE: 'three' } as const)[
    String(await map.value('701.ACType'))
  ]!;
  const missing: string[] = [];
  for (const [id, names] of profilePoints(phases, typeof rating === 'number' && rating > 0)) {
    const points = map
      .model(id)
      .points.filter(({ plainName }) => names.includes(plainName.slice(plainName.indexOf('.') + 1)));
    const there = new Set(points.map(({ plainName }) => plainName.slice(plainName.indexOf('.') + 1)));
    missing.push(...names.filter((name) => !there.has(name)).map((name) => `${id}.${name}`));
    for (const point of points) {
      // spare points of a curve are not in use; the first one of that in force is
      if (
        (!point.path.includes('.Pt[') || /^Crv\[0\].*Pt\[0\]/.test(point.path)) &&
        isAbsent(point.def, await map.words(point))
      )
        missing.push(point.name);
    }
  }
  expect(missing, type).to.deep.equal([]);
  if (!map.models.some(({ id }) => id === 802)) expect(await map.value('713.SoC')).to.equal(0);
}

/**
 * @param limit the points that move the power meanwhile
 * @param least number of scale factors
 */
export async function checkScaleFactors(
  { map, bed }: Dut,
  limit = { enable: '704.WMaxLimPctEna', percent: '704.WMaxLimPct' },
  least = 36,
): Promise<void> {
  const factors = map.models.flatMap(({ points }) => points).filter(({ def }) => def.type === 'sunssf');
  expect(factors.length).to.be.at.least(least);
  const before = new Map<string, number>();
  for (const point of factors) {
    const words = await map.words(point);
    if (!isAbsent(point.def, words)) expect(numberIn(point.def, words), point.name).to.be.within(-10, 10);
    before.set(point.name, words[0]!);
  }
  for (const point of map.models.flatMap(({ points }) => points).filter(({ def }) => typeof def.sf === 'string')) {
    if (isAbsent(point.def, await map.words(point))) continue;
    const factor = map.scaleFactor(point);
    if (typeof factor !== 'number')
      expect(before.get(factor.name), `${point.name} without ${factor.name}`).to.not.equal(0x8000);
  }
  await bed.step(5);
  await map.write(limit.enable, 'ENABLED');
  await map.write(limit.percent, 10);
  await bed.step(30);
  for (const point of factors)
    expect((await map.words(point))[0], `${point.name} is static`).to.equal(before.get(point.name));
}

export function modelProcedures(line: Line, types: readonly string[]): void {
  describe(`Conformance over ${line.name}: models (by ${definitionsFrom})`, function () {
    this.timeout(30_000);
    let bed: Bed;
    let duts: Dut[];

    before(async () => {
      bed = await openBed(line, types);
      duts = [];
      for (const [index, type] of types.entries()) {
        const master = await bed.master(index);
        duts.push({ bed, master, type, map: await DeviceMap.scan(master) });
      }
    });
    after(() => bed.close());

    for (const [index, type] of types.entries()) {
      const dut = () => duts[index]!;
      it(`DEV-1, DEV-2: ${type} has the chain of its kind`, async () => {
        const { map } = dut();
        expect([map.base, map.end.length]).to.deep.equal([40_000, 0]);
        const storage = (await map.value('713.WHRtg')) !== null;
        expect(map.models.map(({ id }) => id)).to.deep.equal(storage ? [...standardChain, 802] : standardChain);
        expect(map.models[0]!.length).to.equal(66);
      });
      it(`MOD-1: ${type}: lengths, mandatory points, each point alone and in range`, () => checkModelOne(dut()));
      it(`MOD-2: ${type}: models in one read, or in consecutive ones of at most 125`, () => checkModelTwo(dut()));
      it(`MOD-4: ${type}: all models and points of the IEEE 1547-2018 profile`, () => modelFour(dut()));
      it(`SF-1: ${type}: scale factors are in range, present where points refer to them, and static`, () =>
        checkScaleFactors(dut()));
    }
  });
}
