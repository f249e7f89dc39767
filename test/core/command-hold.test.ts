import fc from 'fast-check';
import { CommandHold } from '../../src/core/command-hold.ts';
import { keptParts, keptRecord } from '../../src/core/kept.ts';
import type { Kept } from '../../src/core/kept.ts';
import type { Origin } from '../../src/core/origin.ts';
import { cuts, expectContinuation } from '../support/continuation.ts';
import { holds } from '../support/property.ts';

type Act =
  | { readonly kind: 'control'; readonly id: string | null; readonly value: number | null }
  | { readonly kind: 'other'; readonly value: number | null }
  | { readonly kind: 'forget' };

/** A state without a register, its last writer, and a hold of it. */
class Rig {
  #value: number | null = 5;
  #writer: Origin = { source: 'profile' };
  #written: readonly string[] = [];
  readonly #hold = new CommandHold<number | null>(
    {
      read: () => this.#value,
      write: (value, by) => {
        this.#write(value, by);
      },
      mark: () => this.#writer,
    },
    'csip',
  );

  #write(value: number | null, by: Origin): void {
    this.#value = value;
    this.#writer = { ...by };
    this.#written = [...this.#written, `${value} by ${by.source} ${by.peer}`];
  }

  kept(): Kept {
    return keptParts({
      rig: keptRecord(
        () => ({ value: this.#value, writer: this.#writer, written: this.#written }),
        ({ value, writer, written }) => {
          this.#value = value;
          this.#writer = writer;
          this.#written = written;
        },
      ),
      hold: this.#hold.kept(),
    });
  }

  do(act: Act): void {
    if (act.kind === 'control') this.#hold.change(act.id === null ? null : { id: act.id, value: act.value });
    else if (act.kind === 'other') this.#write(act.value, { source: 'rest' });
    else this.#hold.forget();
  }

  get seen(): unknown {
    return [this.#value, this.#written, this.#hold.id, this.#hold.overwritten];
  }
}

const value = fc.constantFrom(null, 1, 2, 3);
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('control' as const), id: fc.constantFrom('a', 'b', null), value }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('other' as const), value }) },
  { weight: 1, arbitrary: fc.constant<Act>({ kind: 'forget' }) },
);

describe('the hold of a state without a register', () => {
  it('goes on over a restart, also where another writer has changed the state', () => {
    holds('a command hold goes on', [fc.array(acts, { minLength: 4, maxLength: 16 }), cuts], (course, cut) => {
      const before = Math.round(cut * course.length);
      expectContinuation({
        make: () => new Rig(),
        drive: (rig, at) => {
          rig.do(course[at]!);
        },
        observe: (rig) => rig.seen,
        before,
        after: course.length - before,
      });
    });
  });
});
