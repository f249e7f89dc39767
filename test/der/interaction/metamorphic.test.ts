import { expect } from 'chai';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import type { Kind, Stimulus } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';
import { planOf, rowsOf } from '../../support/interaction-rows.ts';
import type { FunctionRow } from '../../support/interaction-rows.ts';

const tolerance = 0.00105;
const state = ({ map: { m701 } }: InteractionRig) => `${m701.St!} ${m701.InvSt!} ${m701.ConnSt!}`;

/** The functions, and of the places of each those that are visited: in turn below, in and above its region. */
function visitsOf(kind: Kind): readonly (readonly [FunctionRow, readonly Stimulus[]])[] {
  return rowsOf(kind).map((row, i) => [row, dealt(row.visits(kind), pick({ quick: 3, ci: 1 }), i)]);
}

/** Where two devices differ that are visited with the same function on, the second under `other` stimuli. */
async function differences(
  a: InteractionRig,
  b: InteractionRig,
  other: (stimulus: Stimulus) => Stimulus = (same) => same,
): Promise<string[]> {
  const found: string[] = [];
  for (const [row, visits] of visitsOf(a.kind)) {
    a.configure(planOf(row));
    b.configure(planOf(row));
    for (const stimulus of visits) {
      await a.visit(stimulus);
      await b.visit(other(stimulus));
      const same = Math.abs(a.p - b.p) <= tolerance && Math.abs(a.q - b.q) <= tolerance && state(a) === state(b);
      if (!same)
        found.push(
          `${row.name} at ${JSON.stringify(stimulus)}: ${a.p} ${a.q} ${state(a)}, and ${b.p} ${b.q} ${state(b)}`,
        );
    }
  }
  return found;
}

/** Different voltages on the phases with the same mean and about the same extremes, in any order. */
const spread =
  (order: readonly [number, number, number]) =>
  ({ v = 1, ...others }: Stimulus): Stimulus => {
    const mean = typeof v === 'number' ? v : (v[0] + v[1] + v[2]) / 3;
    const all = [mean - 0.005, mean, mean + 0.005];
    return { ...others, v: [all[order[0]]!, all[order[1]]!, all[order[2]]!] };
  };

describe('Equivalent situations give equivalent results', () => {
  for (const kind of ['pv', 'store'] satisfies Kind[]) {
    it(`${kind}: twice the ratings, same per unit`, async () => {
      const found = await differences(new InteractionRig({ kind }), new InteractionRig({ kind, scale: 2 }));
      expect(found, found.join('\n')).to.have.length(0);
    });

    it(`${kind}: a 50 Hz device responds the same to the same distance from nominal`, async () => {
      const found = await differences(new InteractionRig({ kind }), new InteractionRig({ kind, nominalHz: 50 }));
      expect(found, found.join('\n')).to.have.length(0);
    });

    for (const order of [
      [1, 2, 0],
      [2, 1, 0],
    ] as const) {
      it(`${kind}: phases in the order ${order.join(' ')} give the same totals`, async () => {
        const plain = spread([0, 1, 2]);
        const [a, b] = [new InteractionRig({ kind }), new InteractionRig({ kind })];
        const found: string[] = [];
        for (const [row, visits] of visitsOf(kind)) {
          a.configure(planOf(row));
          b.configure(planOf(row));
          for (const stimulus of visits) {
            await a.visit(plain(stimulus));
            await b.visit(spread(order)(stimulus));
            if (Math.abs(a.p - b.p) > tolerance || Math.abs(a.q - b.q) > tolerance || state(a) !== state(b))
              found.push(`${row.name} at ${JSON.stringify(stimulus)}`);
          }
        }
        expect(found, found.join('\n')).to.have.length(0);
      });
    }
  }
});
