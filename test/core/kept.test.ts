import { expect } from 'chai';
import fc from 'fast-check';
import { keptArray, keptCount, keptList, keptMembers, keptParts, keptRecord } from '../../src/core/kept.ts';
import type { Kept } from '../../src/core/kept.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { createRandom } from '../../src/core/random.ts';
import { expectContinuation, throughFile } from '../support/continuation.ts';
import { codeOf } from '../support/map.ts';
import { holds } from '../support/property.ts';

class Thing {
  level = 1.5;
  name: string | null = 'a';
  readonly cells = new Float64Array(3);
  #hidden: { readonly at: number; readonly list: readonly number[] } = { at: 0, list: [] };

  set hidden(value: { readonly at: number; readonly list: readonly number[] }) {
    this.#hidden = value;
  }

  get all(): unknown {
    return { level: this.level, name: this.name, cells: [...this.cells], hidden: this.#hidden };
  }

  kept(): Kept {
    return keptParts({
      members: keptMembers(this, 'level', 'name'),
      cells: keptArray(this.cells),
      hidden: keptRecord(
        () => this.#hidden,
        (values) => {
          this.#hidden = values;
        },
      ),
    });
  }
}

const anyNumber = fc.double();

describe('kept state', () => {
  it('comes back exactly, special numbers included', () => {
    holds(
      'state through a file',
      [anyNumber, fc.option(fc.string()), fc.array(anyNumber, { minLength: 3, maxLength: 3 }), fc.array(anyNumber)],
      (level, name, cells, list) => {
        const first = new Thing();
        first.level = level;
        first.name = name;
        first.cells.set(cells);
        first.hidden = { at: -0, list };
        const second = new Thing();
        second.kept().restore(throughFile(first.kept().save()));
        expect(second.all).to.deep.equal(first.all);
      },
    );
  });

  it('a text that names a special number stays a text', () => {
    const first = new Thing();
    first.name = 'NaN';
    const second = new Thing();
    second.kept().restore(throughFile(first.kept().save()));
    expect(second.name).to.equal('NaN');
  });

  it('members of another version of the program: new ones keep their start, former ones are ignored', () => {
    const thing = new Thing();
    thing.kept().restore({ members: { level: 7, gone: 1 }, former: { x: 1 } });
    expect(thing.level).to.equal(7);
    expect(thing.name).to.equal('a');
  });

  it('refuses another number of values, and what is no record', () => {
    const thing = new Thing();
    expect(codeOf(() => keptArray(thing.cells).restore([1, 2]))).to.equal('INTERNAL');
    expect(codeOf(() => keptList([thing.kept()]).restore([]))).to.equal('INTERNAL');
    expect(codeOf(() => thing.kept().restore([]))).to.equal('INTERNAL');
    expect(codeOf(() => thing.kept().restore(null))).to.equal('INTERNAL');
  });

  it('a random stream goes on where it was', () => {
    for (const before of [0, 1, 2, 3])
      expectContinuation({
        make: () => createRandom(7, 'kept'),
        drive: (random, step) => (step % 3 === 2 ? random.next() : random.normal()),
        observe: () => null,
        before,
        after: 5,
      });
  });

  it('a member of another kind is refused, and changes nothing', () => {
    const whole = new Thing().kept().save() as Readonly<Record<string, JsonValue>>;
    const odd: readonly JsonValue[] = [
      { ...whole, members: { level: 'x', name: null } },
      { ...whole, members: [] },
      { ...whole, cells: [1, '2', 3] },
      { ...whole, cells: [1, 2] },
      { ...whole, hidden: { at: 1, list: {} } },
      { ...whole, hidden: { at: {}, list: [] } },
    ];
    for (const saved of odd) {
      const thing = new Thing();
      expect(
        codeOf(() => thing.kept().restore(saved)),
        JSON.stringify(saved),
      ).to.equal('INTERNAL');
      expect(thing.all, JSON.stringify(saved)).to.deep.equal(new Thing().all);
    }
  });

  it('a count is a whole number from 0 on', () => {
    expect([keptCount(0, 'n'), keptCount(7, 'n')]).to.deep.equal([0, 7]);
    for (const odd of [-1, 0.5, NaN, 1e300, '1', null])
      expect(
        codeOf(() => keptCount(odd, 'n')),
        String(odd),
      ).to.equal('INTERNAL');
  });
});
