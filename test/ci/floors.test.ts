import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

type Floors = Readonly<Record<string, readonly number[]>>;
interface Lowered {
  readonly file: string;
  readonly name: string;
  readonly floors: readonly number[];
}

describe('floors of coverage and mutation scores', () => {
  let sunkFloors: (file: string, floors: Floors, earlier: readonly Floors[], lowered: readonly Lowered[]) => string[];

  before(async () => {
    ({ sunkFloors } = (await import(packageFile('scripts/ci/floors.mjs'))) as { sunkFloors: typeof sunkFloors });
  });

  it('may rise, stay, begin and go', () => {
    const earlier = [{ a: [90, 80], gone: [99] }, { a: [91, 80] }];
    expect(sunkFloors('f', { a: [91, 81], new: [1] }, earlier, [])).to.deep.equal([]);
  });

  it('may not fall below any earlier value, each number by itself', () => {
    const earlier = [{ a: [90, 80], b: [5] }, { a: [91, 80] }];
    expect(sunkFloors('f', { a: [90, 85], b: [4.9] }, earlier, [])).to.deep.equal([
      'f: a sank from 91 to 90',
      'f: b sank from 5 to 4.9',
    ]);
  });

  it('may not be left out, of all that there were', () => {
    const earlier = [{ a: [90, 80] }];
    expect(sunkFloors('f', { a: [95] }, earlier, [])).to.deep.equal(['f: a has no floor 2']);
    expect(sunkFloors('f', { a: [] }, earlier, [])).to.have.length(2);
    expect(sunkFloors('f', { a: [NaN, 80] }, earlier, [])).to.deep.equal(['f: a has no floor 1']);
    const lowered = [{ file: 'f', name: 'a', floors: [85] }];
    expect(sunkFloors('f', { a: [85, 79] }, earlier, lowered)).to.deep.equal(['f: a sank from 80 to 79']);
  });

  it('may sink to an exception, no further, in its file alone', () => {
    const lowered = [{ file: 'f', name: 'a', floors: [85, 75] }];
    const sunk = (file: string, a: readonly number[]) => sunkFloors(file, { a }, [{ a: [90, 80] }], lowered);
    expect(sunk('f', [85, 75])).to.deep.equal([]);
    expect(sunk('f', [84, 80])).to.deep.equal(['f: a sank from 85 to 84']);
    expect(sunk('g', [85, 80])).to.deep.equal(['g: a sank from 90 to 85']);
  });
});
