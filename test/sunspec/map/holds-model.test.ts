import { expect } from 'chai';
import fc from 'fast-check';
import type { Origin } from '../../../src/core/origin.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { Owner } from '../../support/holds.ts';
import type { Ended, Values } from '../../support/holds.ts';
import { HoldsModel, timerOf } from '../../support/holds-model.ts';
import { byModbus, byRest, createTestBank, named } from '../../support/map.ts';
import type { Sizes, TestBank } from '../../support/map.ts';
import { holds } from '../../support/property.ts';

const onOff = fc.constantFrom('ENABLED', 'DISABLED');
const percent = fc.integer({ min: 0, max: 100 });
const revertS = fc.constantFrom(0, 30, 60);
const excitation = fc.constantFrom('OVER_EXCITED', 'UNDER_EXCITED');

/** The points in use of a curve; points of different curves can stand beside each other. */
const curve = (model: 705 | 706, [x, y]: readonly [string, string], firstX: number): fc.Arbitrary<Values> =>
  fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), percent), { minLength: 2, maxLength: 4 }).map((points) => ({
    [`${model}.Crv[0].ActPt`]: points.length,
    ...Object.fromEntries(
      points.flatMap(([dx, value], i): [string, AnyPointValue][] => [
        [`${model}.Crv[0].Pt[${i}].${x}`, firstX + 10 * i + dx],
        [`${model}.Crv[0].Pt[${i}].${y}`, value],
      ]),
    ),
  }));

const some = (fields: Record<string, fc.Arbitrary<AnyPointValue>>): fc.Arbitrary<Values> =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Values>;

/** Values of a hold, by what a head-end would put into one control. */
const parts: readonly fc.Arbitrary<Values>[] = [
  some({ '704.WMaxLimPct': percent, '704.WMaxLimPctEna': onOff }),
  fc.record({ '704.WMaxLimPct': percent, '704.WMaxLimPctEna': onOff, '704.WMaxLimPctRvrtTms': revertS }),
  some({ '704.WSetEna': onOff, '704.WSetMod': fc.constantFrom('W_MAX_PCT', 'WATTS'), '704.WSetPct': percent }),
  some({ '704.VarSetEna': onOff, '704.VarSetPct': percent }),
  fc.record({ '704.PFWInjEna': onOff, '704.PFWInj.PF': fc.constantFrom(0.9, 0.95), '704.PFWInj.Ext': excitation }),
  some({ '704.PFWAbsEna': onOff, '712.Ena': onOff }),
  fc.tuple(some({ '705.Ena': onOff }), curve(705, ['V', 'Var'], 80)).map(([ena, points]) => ({ ...ena, ...points })),
  fc.tuple(some({ '706.Ena': onOff }), curve(706, ['V', 'W'], 100)).map(([ena, points]) => ({ ...ena, ...points })),
  some({ '705.Crv[0].RspTms': percent, '711.Ctl[0].RspTms': percent, '711.Ena': onOff }),
  some({ '703.ESDlyTms': percent, '704.WRmp': fc.integer({ min: 1, max: 100 }) }),
];
const control = fc
  .uniqueArray(fc.integer({ min: 0, max: parts.length - 1 }), { minLength: 1, maxLength: 3 })
  .chain((chosen) => fc.tuple(...chosen.map((i) => parts[i]!)))
  .map((values): Values => Object.assign({}, ...values));

/** What a master writes, in one request. */
const master: fc.Arbitrary<Values> = fc.oneof(
  some({ '704.WMaxLimPct': percent, '704.WMaxLimPctEna': onOff, '704.WMaxLimPctRvrtTms': revertS }),
  some({ '704.VarSetEna': onOff, '704.VarSetPct': percent, '704.VarSetRvrtTms': revertS }),
  some({ '705.Ena': onOff, '705.RvrtTms': revertS, '705.RvrtCrv': fc.integer({ min: 0, max: 3 }) }),
  some({ '704.PFWInjEna': onOff, '704.WSetEna': onOff, '712.Ena': onOff, '711.Ena': onOff }),
  some({ '705.Crv[1].RspTms': percent, '706.Crv[2].RspTms': percent, '705.Crv[2].Pt[1].Var': percent }),
);

const pick = fc.integer({ min: 0, max: 99 });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('begin' as const),
      owner: fc.nat(1),
      values: control,
      ending: fc.array(pick, { maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      owner: fc.nat(1),
      ending: fc.array(pick, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('master' as const), values: master }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('adopt' as const),
      model: fc.constantFrom(705, 706),
      set: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('in place' as const), rspS: percent }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 80 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'reset' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Enough for the curves of the holds; trips have no part in them. */
const sizes: Sizes = {
  sets: 3,
  ports: 1,
  points: { 705: 4, 706: 4, 707: 2, 708: 2, 709: 2, 710: 2, 712: 2 },
};
const start = createTestBank({ sizes }).dump();
const owners = ['csip', 'rest'] as const;
const models = [703, 704, 705, 706, 711, 712];

/** A bank with two owners beside the reference. */
class Pair {
  readonly test: TestBank = createTestBank({ sizes });
  readonly owners = owners.map((name) => new Owner(this.test.bank, name));
  readonly #startValues: Values;
  readonly model: HoldsModel;
  #number = 0;

  constructor() {
    const slots = this.test.layout.slots.filter(
      ({ modelId, def, implemented, path }) =>
        models.includes(modelId) && def.access === 'RW' && implemented && !path.startsWith('Adpt'),
    );
    this.#startValues = Object.fromEntries(slots.map((slot) => [pointName(slot), this.test.bank.value(slot)]));
    this.model = new HoldsModel(this.#startValues);
    // a reversion is a write of somebody else, with the values that it found
    this.test.bank.onChange(({ by, points }) => {
      if (by.source !== 'reversion' || by.peer !== undefined) return;
      for (const slot of points) {
        const timer = timerOf(pointName(slot));
        if (timer !== null) expect(this.model.value(timer), `${timer} was held at 0`).to.not.equal(0);
      }
      const names = points.map(pointName);
      this.#follow(names, names.find((name) => name.includes('Adpt') && name.endsWith('Req')) ?? null);
    });
  }

  take(one: Step): void {
    switch (one.kind) {
      case 'begin': {
        const id = `h${(this.#number += 1)}`;
        const ids = this.#chosen(one.owner, one.ending);
        this.#expectEnded(
          this.owners[one.owner]!.begin(id, one.values, ids),
          this.model.begin(owners[one.owner]!, id, one.values, ids),
        );
        break;
      }
      case 'end': {
        const ids = this.#chosen(one.owner, one.ending);
        this.#expectEnded(this.owners[one.owner]!.end(...ids), this.model.end(owners[one.owner]!, ids));
        break;
      }
      case 'master':
        this.test.set(one.values, byModbus);
        this.model.foreign(one.values);
        break;
      case 'adopt':
        this.test.set({ [`${one.model}.AdptCrvReq`]: one.set }, byModbus);
        this.#follow([], `${one.model}.AdptCrvReq`);
        break;
      case 'in place': {
        const values = { '705.Crv[0].RspTms': one.rspS };
        this.test.bank.adopt(byRest, (_, set) => {
          set(named(this.test.layout, '705.Crv[0].RspTms'), one.rspS);
        });
        this.model.foreign(values);
        break;
      }
      case 'pass':
        this.test.pass(one.seconds);
        break;
      case 'reset':
        this.test.timers.clear();
        this.test.scheduler.clear();
        this.test.bank.reload(start, byRest satisfies Origin);
        this.model.reset(this.#startValues);
        break;
    }
    this.#compare();
  }

  /** Ids of running holds of an owner, without repetition. */
  #chosen(owner: number, picks: readonly number[]): string[] {
    const ids = this.model.ids(owners[owner]!);
    return ids.length === 0 ? [] : [...new Set(picks.map((each) => ids[each % ids.length]!))];
  }

  /** The model takes over points that somebody else has written, and set 1 of an adoption. */
  #follow(names: readonly string[], request: string | null): void {
    const all = names.filter((name) => this.model.names.includes(name));
    if (request !== null) {
      const set = new RegExp(`^${request.slice(0, 3)}\\.(Crv|Ctl)\\[0\\]`);
      all.push(...this.model.names.filter((name) => set.test(name)));
    }
    this.model.foreign(Object.fromEntries(all.map((name) => [name, this.test.value(name)])));
  }

  #expectEnded(got: readonly Ended[], expected: readonly Ended[]): void {
    const sorted = (all: readonly Ended[]) =>
      all.map(({ id, restored, left, handedOver }) => ({
        id,
        restored: restored.toSorted(),
        left: left.toSorted(),
        handedOver: handedOver.toSorted(),
      }));
    expect(sorted(got)).to.deep.equal(sorted(expected));
  }

  #compare(): void {
    const wrong = this.model.names.filter((name) => this.test.value(name) !== this.model.value(name));
    expect(wrong.map((name) => [name, this.test.value(name), this.model.value(name)])).to.deep.equal([]);
    this.owners.forEach((owner, i) => {
      expect(owner.holds.ids).to.have.members(this.model.ids(owners[i]!));
      for (const id of owner.holds.ids) {
        expect(owner.overwritten(id)).to.have.members(this.model.overwritten(owners[i]!, id));
      }
    });
  }
}

describe('holds against stacks of layers', () => {
  it('two owners, a master, reversion times and resets: the same values, points and ends', () => {
    holds(
      'two owners and a master',
      fc.array(step, { minLength: 1, maxLength: 25 }),
      (steps) => {
        const pair = new Pair();
        for (const one of steps) pair.take(one);
      },
      { runs: 300 },
    );
  }).timeout(60_000);

  it('without a master nothing is left of any holds, in whatever order they end', () => {
    const holdsAlone = step.filter(({ kind }) => kind === 'begin' || kind === 'end');
    holds(
      'no rest of ended holds',
      [fc.array(holdsAlone, { minLength: 1, maxLength: 15 }), fc.array(pick, { maxLength: 30 })],
      (steps, picks) => {
        const pair = new Pair();
        for (const one of steps) pair.take(one);
        picks.forEach((each, i) => {
          pair.take({ kind: 'end', owner: i % 2, ending: [each] });
        });
        for (const [i, owner] of owners.entries()) {
          while (pair.model.ids(owner).length > 0) pair.take({ kind: 'end', owner: i, ending: [0] });
        }
        expect(pair.test.dump().equals(start)).to.equal(true);
        for (const slot of pair.test.layout.slots) {
          if (!slot.path.startsWith('Adpt'))
            expect(pair.test.bank.provenance(slot), pointName(slot)).to.equal(undefined);
        }
      },
      { runs: 150 },
    );
  }).timeout(60_000);
});
