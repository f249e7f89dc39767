import { expect } from 'chai';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { expected } from '../../support/interaction-oracle.ts';
import type { Kind } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';
import { planOf, rowsOf, visitsOf } from '../../support/interaction-rows.ts';
import type { FunctionRow } from '../../support/interaction-rows.ts';

/** 0.1 % of rated, and what the registers round away. */
const tolerance = 0.00105;

/** Differences between device and oracle with these functions on. */
async function differences(
  rig: InteractionRig,
  rows: readonly FunctionRow[],
  visited: readonly FunctionRow[],
  visits = visitsOf(rig.kind, visited[0]!, visited.at(-1)!),
): Promise<string[]> {
  const plan = planOf(...rows);
  rig.configure(plan);
  const found: string[] = [];
  for (const stimulus of visits) {
    await rig.visit(stimulus);
    const { p, q, connected } = expected(rig.kind, plan, stimulus);
    const same = Math.abs(rig.p - p) <= tolerance && Math.abs(rig.q - q) <= tolerance;
    if (same && (rig.map.m701.ConnSt === 'CONNECTED') === connected) continue;
    const got = `${rig.p.toFixed(4)} ${rig.q.toFixed(4)} ${rig.map.m701.ConnSt!}`;
    found.push(
      `${visited.map(({ name }) => name).join(' + ')} at ${JSON.stringify(stimulus)}: ${got}, not ` +
        `${p.toFixed(4)} ${q.toFixed(4)} ${connected}`,
    );
  }
  return found;
}

/** Each pair of functions visits one of so many of its places: each place comes up with many another function. */
const hands = pick({ quick: 9, ci: 1 });

/** Of these the one enabled last acts: both orders count. */
const isReactive = (row: FunctionRow) => planOf(row).reactive.length > 0;

describe('Interaction of the grid-support functions (IEEE 1547-2018 4.7, 5.3, 5.4, 6.5.2.7)', () => {
  for (const kind of ['pv', 'store'] satisfies Kind[]) {
    const rows = rowsOf(kind);

    it(`${kind}: each function alone, off and on`, async () => {
      const rig = new InteractionRig({ kind });
      const found: string[] = [];
      for (const row of rows)
        found.push(...(await differences(rig, [], [row])), ...(await differences(rig, [row], [row])));
      expect(found, found.slice(0, 20).join('\n')).to.have.length(0);
    });

    it(`${kind}: every two functions, each place of one with each place of the other`, async () => {
      const rig = new InteractionRig({ kind });
      const found: string[] = [];
      let pairs = 0;
      for (const [i, a] of rows.entries()) {
        for (const b of rows.slice(i + 1)) {
          pairs += 1;
          const visits = dealt(visitsOf(kind, a, b), hands, pairs);
          found.push(...(await differences(rig, [a, b], [a, b], visits)));
          if (isReactive(a) && isReactive(b)) found.push(...(await differences(rig, [b, a], [a, b], visits)));
        }
      }
      expect(found, found.slice(0, 20).join('\n')).to.have.length(0);
    });
  }
});
