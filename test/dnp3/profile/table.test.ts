import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { an2018Rows, unitBlocks } from '../../../src/dnp3/profile/table/rows.ts';
import { skip } from '../../support/skip.ts';

const dataFile = new URL('../../../../shared/data/dnp3/an2018-001-points.json', import.meta.url);

/** Ranges wider than published: the value of an output, and that of a schedule, would not fit. */
const widened: Readonly<Record<string, readonly [number, number]>> = {
  AI573: [0, 30],
  AI783: [-(2 ** 31), 2 ** 31 - 1],
};

interface Published {
  readonly type: string;
  readonly index: number;
  readonly class?: number;
  readonly min?: number;
  readonly max?: number;
  readonly multiplier?: number;
  readonly unit?: string;
  readonly iec61850?: string;
  readonly read_back?: string;
}

describe('the table of AN2018-001', () => {
  it('has each point once, and every mirror', () => {
    const names = an2018Rows.map(({ type, index }) => `${type}${index}`);
    expect(new Set(names).size).to.equal(names.length);
    const missing = an2018Rows.filter(({ readBack }) => readBack !== undefined && !names.includes(readBack));
    expect(missing).to.deep.equal([]);
    const counts = Object.fromEntries(
      ['BI', 'BO', 'AI', 'AO', 'CTR'].map((type) => [type, an2018Rows.filter((row) => row.type === type).length]),
    );
    expect(counts).to.deep.equal({ BI: 117, BO: 50, AI: 784, AO: 670, CTR: 4 });
  });

  it('names every point of the map, in rows or in blocks', function () {
    if (!existsSync(dataFile)) skip(this, 'the published points are missing');
    const published = JSON.parse(readFileSync(dataFile, 'utf8')) as Published[];
    const names = new Set(an2018Rows.map(({ type, index }) => `${type}${index}`));
    for (const { type, from, to } of unitBlocks)
      for (let index = from; index <= to; index += 1) {
        expect(names.has(`${type}${index}`), `${type}${index}`).to.equal(false);
        names.add(`${type}${index}`);
      }
    const counters = an2018Rows.filter(({ type }) => type === 'CTR').length;
    expect(published.filter(({ type, index }) => !names.has(`${type}${index}`))).to.deep.equal([]);
    expect(names.size).to.equal(published.length + counters);
  });

  it('has names that differ within a type, and end in whole words', () => {
    for (const type of ['BI', 'BO', 'AI', 'AO', 'CTR']) {
      const names = an2018Rows.filter((row) => row.type === type).map(({ name }) => name);
      expect(names.filter((name, i) => names.indexOf(name) !== i)).to.deep.equal([]);
      expect(names.filter((name) => /^Output|[^A-Za-z0-9 ,()/#-]/.test(name))).to.deep.equal([]);
    }
  });

  it('agrees with the published points in every figure', function () {
    if (!existsSync(dataFile)) skip(this, 'the published points are missing');
    const published = JSON.parse(readFileSync(dataFile, 'utf8')) as Published[];
    const own = new Map(an2018Rows.map((row) => [`${row.type}${row.index}`, row]));
    const isUnit = ({ type, index }: Published) =>
      unitBlocks.some((block) => block.type === type && index >= block.from && index <= block.to);
    for (const point of published.filter((each) => !isUnit(each))) {
      const name = `${point.type}${point.index}`;
      const row = own.get(name);
      if (row === undefined) throw new Error(`${name} is missing`);
      expect(row.readBack ?? null, name).to.equal(point.read_back ?? null);
      if (point.class !== undefined) expect(row.class, name).to.equal(point.class);
      if (point.min !== undefined)
        expect([row.min, row.max], name).to.deep.equal(widened[name] ?? [point.min, point.max]);
      // of the points of curves and schedules the publications describe the first ones alone
      if (point.multiplier !== undefined) expect(row.multiplier ?? 1, name).to.equal(point.multiplier);
      if (point.unit !== undefined) expect(row.unit ?? '', name).to.equal(point.unit);
      if (point.iec61850 !== undefined) expect(row.iec61850, name).to.equal(point.iec61850);
    }
  });
});
