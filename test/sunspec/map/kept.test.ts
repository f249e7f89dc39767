import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../src/core/errors.ts';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { Origin } from '../../../src/core/origin.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { Scheduler } from '../../../src/core/time/scheduler.ts';
import { Holds } from '../../../src/sunspec/map/holds.ts';
import { PointHolds } from '../../../src/sunspec/map/point-holds.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { AdoptionTimers, ReversionTimers } from '../../../src/sunspec/map/timers.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { cuts, expectContinuation, throughFile } from '../../support/continuation.ts';
import { byModbus, codeOf, createTestBank, leanSizes, mapLayout, named } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';
import { holds } from '../../support/property.ts';

type Values = Readonly<Record<string, AnyPointValue>>;

type Act =
  | { readonly kind: 'write'; readonly values: Values; readonly by: Origin }
  | { readonly kind: 'begin'; readonly id: string; readonly values: Values; readonly ends: boolean }
  | { readonly kind: 'end'; readonly id: string }
  | { readonly kind: 'follow'; readonly controls: readonly (readonly [id: string, values: Values])[] }
  | { readonly kind: 'reset' }
  | { readonly kind: 'pass'; readonly seconds: number };

/** A bank with its timers and the holds of two owners. */
class Rig {
  readonly #layout = mapLayout({ storage: true });
  readonly #scheduler = new Scheduler();
  readonly #bank: RegisterBank;
  readonly #reversions: ReversionTimers;
  readonly #adoptions: AdoptionTimers;
  readonly #holds: Holds;
  readonly #controls: PointHolds;
  #now: SimTime = simTimeFromMs(Date.UTC(2030, 5, 1, 12));
  /** results of acts */
  #log: readonly string[] = [];

  constructor() {
    const clock = { sim: () => this.#now, wallMs: () => this.#now / 1000 };
    this.#bank = new RegisterBank(this.#layout, startImage(this.#layout), clock);
    this.#reversions = new ReversionTimers(this.#bank, this.#scheduler, clock, (message) => {
      this.#note(message);
    });
    this.#adoptions = new AdoptionTimers(this.#bank, this.#scheduler, clock, { adoptionS: 2 });
    this.#bank.join([this.#adoptions, this.#reversions]);
    this.#holds = new Holds(this.#bank, 'rest');
    this.#controls = new PointHolds(this.#bank, 'csip');
  }

  kept(): Kept {
    return keptParts({
      rig: keptRecord(
        () => ({ now: this.#now, log: this.#log }),
        (saved) => {
          ({ now: this.#now, log: this.#log } = saved);
        },
      ),
      scheduler: this.#scheduler.kept(),
      bank: this.#bank.kept(startImage(this.#layout)),
      reversions: this.#reversions.kept(),
      adoptions: this.#adoptions.kept(),
      holds: this.#holds.kept(),
      controls: this.#controls.kept(),
    });
  }

  #note(text: string): void {
    this.#log = [...this.#log, text];
  }

  do(act: Act): void {
    try {
      this.#carryOut(act);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      this.#note(error.code);
    }
  }

  #slotted(values: Values) {
    return Object.entries(values).map(([name, value]) => ({ slot: named(this.#layout, name), value }));
  }

  #carryOut(act: Act): void {
    switch (act.kind) {
      case 'write':
        this.#bank.assign(act.by, this.#slotted(act.values));
        break;
      case 'begin': {
        const begin = { id: act.id, source: 'rest' as const, values: this.#slotted(act.values) };
        const end = act.ends ? this.#holds.ids.slice(0, 1) : [];
        this.#note(this.#ended(this.#holds.change({ begin, end })));
        break;
      }
      case 'end':
        this.#note(this.#ended(this.#holds.change({ end: [act.id] })));
        break;
      case 'follow': {
        const points = (values: Values) =>
          new Map(this.#slotted(values).map(({ slot, value }) => [slot, value] as const));
        const results = this.#controls.follow(new Map(act.controls.map(([id, values]) => [id, points(values)])));
        this.#note(JSON.stringify([...results]));
        break;
      }
      case 'reset':
        this.#reversions.clear();
        this.#scheduler.clear();
        this.#controls.forget();
        this.#bank.reload(startImage(this.#layout), { source: 'rest' });
        break;
      case 'pass':
        this.#now = addSeconds(this.#now, act.seconds);
        this.#scheduler.runDue(this.#now);
        this.#reversions.publish(this.#now);
        break;
    }
  }

  #ended(ended: ReturnType<Holds['change']>): string {
    return JSON.stringify(
      ended.map(({ id, restored, left, handedOver }) => [
        id,
        ...[restored, left, handedOver].map((list) => list.map(pointName)),
      ]),
    );
  }

  get seen(): unknown {
    const bank = this.#bank;
    return {
      image: bank.image().toString('hex'),
      writers: bank.layout.slots.map((slot) => bank.provenance(slot) ?? null),
      last: bank.lastWrite && { ...bank.lastWrite, slot: pointName(bank.lastWrite.slot) },
      due: this.#scheduler.nextDue,
      log: this.#log,
      holds: this.#holds.ids.map((id) => [
        id,
        this.#holds.points(id).map(({ slot, ...point }) => ({ name: pointName(slot), ...point })),
      ]),
      controls: this.#controls.ids.map((id) => [id, this.#controls.isOverwritten(id)]),
    };
  }
}

const limit = (pct: number, seconds: number): Values => ({
  '704.WMaxLimPct': pct,
  '704.WMaxLimPctRvrtTms': seconds,
  '704.WMaxLimPctEnaRvrt': 'DISABLED',
  '704.WMaxLimPctEna': 'ENABLED',
});

const writes: readonly Values[] = [
  limit(40, 3),
  limit(70, 5),
  { '704.WMaxLimPct': 55 },
  { '704.WMaxLimPctRvrtTms': 0 },
  { '704.VarSetPct': 10, '704.VarSetRvrtTms': 3, '704.VarSetEnaRvrt': 'DISABLED', '704.VarSetEna': 'ENABLED' },
  { '704.PFWInjEna': 'ENABLED' },
  { '705.AdptCrvReq': 2 },
  { '705.Crv[1].RspTms': 7, '705.AdptCrvReq': 2 },
  { '705.AdptCrvReq': 3 },
  { '711.AdptCtlReq': 2 },
  { '705.RvrtTms': 4, '705.RvrtCrv': 3, '705.Ena': 'ENABLED' },
  { '703.ESDlyTms': 12 },
];

const ids = ['a', 'b', 'c'];
/** One of them is also the writer of a hold: only its identity tells them apart. */
const writers: readonly Origin[] = [byModbus, { source: 'rest', peer: 'a' }, { source: 'csip', peer: 'b' }];

const values = fc.constantFrom(...writes);
const held = fc.constantFrom<Values>(
  { '704.WMaxLimPct': 30, '704.WMaxLimPctEna': 'ENABLED' },
  { '704.WMaxLimPct': 20 },
  { '704.VarSetPct': 25, '704.VarSetEna': 'ENABLED' },
  { '703.ESDlyTms': 30, '704.PFWInjEna': 'ENABLED' },
  { '705.Ena': 'ENABLED', '705.Crv[0].RspTms': 9 },
);
const id = fc.constantFrom(...ids);

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('write' as const), values, by: fc.constantFrom(...writers) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('begin' as const), id, values: held, ends: fc.boolean() }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), id }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('follow' as const),
        controls: fc.uniqueArray(fc.tuple(id, held), { maxLength: 3, selector: ([each]) => each }),
      }),
    },
    { weight: 1, arbitrary: fc.constant<Act>({ kind: 'reset' }) },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(0.5, 1, 2, 2.5) }),
    },
  ),
  { minLength: 6, maxLength: 30 },
);

describe('the state of registers over a restart', () => {
  it('registers, writers, timers and holds go on where they were', () => {
    holds('registers', [acts, cuts], (all, cut) => {
      const before = Math.round(cut * all.length);
      expectContinuation({
        make: () => new Rig(),
        drive: (rig, at) => {
          rig.do(all[at]!);
        },
        observe: (rig) => rig.seen,
        before,
        after: all.length - before,
      });
    });
  });

  it('registers of another map are refused, and nothing changes', () => {
    const first = createTestBank();
    const second = createTestBank({ sizes: leanSizes });
    first.set(limit(40, 3));
    const before = second.dump();
    const saved = throughFile(first.bank.kept(Buffer.alloc(first.dump().length)).save());
    expect(codeOf(() => second.bank.kept(Buffer.alloc(before.length)).restore(saved))).to.equal('INTERNAL');
    expect(second.dump().equals(before)).to.equal(true);
  });
});
