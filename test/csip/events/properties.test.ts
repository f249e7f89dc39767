import { expect } from 'chai';
import fc from 'fast-check';
import type { ControlInForce, ModeName } from '../../../src/csip/control/model.ts';
import type { EventStatusNow, ListedControl, ListedProgram } from '../../../src/csip/events/model.ts';
import { restoreSchedule, saveSchedule } from '../../../src/csip/events/state.ts';
import { holds } from '../../support/property.ts';
import { Reference } from './reference.ts';
import type { ReferenceEvent, ReferenceProgram } from './reference.ts';
import { applied, control, defaults, outcome, program, resolved, Scene } from './scene.ts';

const modes: readonly ModeName[] = ['opModMaxLimW', 'opModFixedVar', 'opModConnect'];
const lastTick = 75;

const tick = (max = lastTick) => fc.integer({ min: 0, max });
const someModes = fc.subarray([...modes], { minLength: 1 });

const eventPlan = fc.record({
  programs: fc.subarray([0, 1, 2], { minLength: 1, maxLength: 2 }),
  // a grid of 5 s makes many events follow one another without a gap
  startS: fc.integer({ min: 1, max: 9 }).map((n) => 5 * n),
  durationS: fc.constantFrom(0, 1, 5, 5, 10, 10, 20),
  // longer than some events, so that others wait beyond their time
  randomizeStartS: fc.constantFrom(0, 0, 3, -3, 12),
  randomizeDurationS: fc.constantFrom(0, 0, 4, -4, -20),
  picks: fc.tuple(tick(9), tick(9), tick(9)),
  creationS: tick(2),
  modes: someModes,
  seenFrom: tick(40),
  goneFrom: fc.oneof(fc.constant(Infinity), tick()),
  ends: fc.option(
    fc.record({
      at: tick(),
      status: fc.constantFrom<EventStatusNow>('cancelled', 'cancelled with randomization', 'superseded'),
    }),
  ),
  // while events run
  opts: fc.array(fc.record({ at: tick(50), in: fc.boolean() }), { maxLength: 3 }),
  deaf: fc.boolean().map((deaf) => deaf),
});
type EventPlan = typeof eventPlan extends fc.Arbitrary<infer T> ? T : never;

const span = fc.option(fc.record({ from: tick(), length: fc.integer({ min: 1, max: 20 }) }));
const programPlan = fc.record({
  primacy: tick(2),
  laterPrimacy: tick(2),
  swapAt: tick(),
  defaultModes: fc.subarray([...modes]),
  unreadable: span,
  away: span,
});

const anyPlan = fc.record({
  events: fc.array(eventPlan, { minLength: 1, maxLength: 7 }),
  programs: fc.tuple(programPlan, programPlan, programPlan),
  pollEvery: fc.integer({ min: 1, max: 6 }),
  jumps: fc.array(fc.record({ at: tick(), byS: fc.integer({ min: -12, max: 12 }) }), { maxLength: 2 }),
});
// an event that was left begins again beside its follower where the clock is set back to before its end: not judged here
const plan = anyPlan.map((made) =>
  made.programs.some(({ away }) => away !== null) ? { ...made, jumps: made.jumps.filter(({ byS }) => byS > 0) } : made,
);
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

const inSpan = (at: number, of: { from: number; length: number } | null) =>
  of !== null && at >= of.from && at < of.from + of.length;

/** From the bound towards it, by the number that was picked. */
const offset = (boundS: number, pick: number) =>
  Math.sign(boundS) * Math.floor((pick / 10) * (Math.abs(boundS) + 1)) + 0;

const purposes = ['start', 'duration', 'cancel'] as const;
const nameOf = (index: number) => `E${index}`;

function listed(event: EventPlan, index: number, at: number): ListedControl {
  const { startS, durationS, randomizeStartS, randomizeDurationS, creationS } = event;
  const ended = event.ends !== null && at >= event.ends.at ? event.ends.status : null;
  return control(nameOf(index), {
    startS,
    durationS,
    randomizeStartS,
    randomizeDurationS,
    creationS,
    modes: event.modes,
    control: resolved(event.modes),
    status: ended ?? 'scheduled',
  });
}

function referenceEvent(event: EventPlan, index: number): ReferenceEvent {
  const { startS, durationS, randomizeStartS, randomizeDurationS, creationS, deaf, picks } = event;
  return {
    mrid: nameOf(index),
    startS,
    durationS,
    creationS,
    deaf,
    modes: event.modes,
    startOffsetS: offset(randomizeStartS, picks[0]),
    durationOffsetS: offset(randomizeDurationS, picks[1]),
    cancelDelayS: offset(Math.max(Math.abs(randomizeStartS), Math.abs(randomizeDurationS)), picks[2]),
  };
}

/** The programs of one reading, for the scheduler and for the reference. */
function reading({ events, programs }: Plan, at: number): [ListedProgram[], ReferenceProgram[]] {
  const here = programs.flatMap((each, key) => (inSpan(at, each.away) ? [] : [{ ...each, key }]));
  const lists = here.map(({ key, primacy, laterPrimacy, swapAt, defaultModes, unreadable }) => {
    const shown = events.flatMap((event, index) =>
      event.programs.includes(key) && at >= event.seenFrom && at < event.goneFrom ? [{ event, index }] : [],
    );
    const now = at >= swapAt ? laterPrimacy : primacy;
    return { name: `P${key}`, now, defaultModes, shown: inSpan(at, unreadable) ? null : shown };
  });
  return [
    lists.map(({ name, now, defaultModes, shown }) =>
      program(
        name,
        now,
        shown?.map(({ event, index }) => listed(event, index, at)),
        {
          defaultControl: defaults(name, defaultModes),
        },
      ),
    ),
    lists.map(({ name, now, defaultModes, shown }) => ({
      key: name,
      primacy: now,
      defaultModes,
      shown:
        shown?.map(({ event, index }) => {
          return { event: referenceEvent(event, index), status: listed(event, index, at).status };
        }) ?? null,
    })),
  ];
}

function sceneOf({ events }: Plan, over: ConstructorParameters<typeof Scene>[0] = {}): Scene {
  const scene = new Scene({
    pick: (mrid, purpose) => (events[Number(mrid.slice(1))]?.picks[purposes.indexOf(purpose)] ?? 0) / 10,
    ...over,
  });
  scene.outcomeOf = (id) => (events[Number(id.slice(1))]?.deaf === true ? outcome('waiting') : applied);
  return scene;
}

/** Which control has each mode. @throws if two have it */
function holders(inForce: readonly ControlInForce[]): Record<string, string> {
  const of: Record<string, string> = {};
  for (const { id, modes: held } of inForce)
    for (const mode of held) {
      expect(of[mode], `${mode} is held twice`).to.equal(undefined);
      of[mode] = id;
    }
  return of;
}

const without = (line: string) => line.slice(line.indexOf(' ') + 1);

/** 1 first; 2 once; 4 and 5 in turn; at most one ending, and nothing after it. A program that came back begins anew. */
const legal = /^(1 ([45] )*(2 ([45] )*)?((3|6|7|8|9|10|254) )?)+$/;
const once = /^1 ([45] )*(2 ([45] )*)?((3|6|7|8|9|10|254) )?$/;

/** Runs a plan; `visit` is called after each tick. */
function drive(made: Plan, scene: Scene, visit: (at: number, nowS: number, read: ReferenceProgram[] | null) => void) {
  let nowS = 0;
  for (let at = 0; at <= lastTick; at++) {
    nowS += 1 + made.jumps.filter((jump) => jump.at === at).reduce((sum, { byS }) => sum + byS, 0);
    const polls = at % made.pollEvery === 0;
    const [programs, reference] = reading(made, at);
    if (polls) scene.read(nowS, ...programs);
    else scene.time(nowS);
    visit(at, nowS, polls ? reference : null);
  }
}

const optsAt = ({ events }: Plan, at: number) =>
  events.flatMap(({ opts }, index) =>
    opts.filter((opt) => opt.at === at).map((opt) => ({ mrid: nameOf(index), in: opt.in })),
  );

describe('CSIP events: properties', () => {
  it('equal a reference that gives out every mode at every second', () => {
    const check = (made: Plan) => {
      const scene = sceneOf(made);
      const reference = new Reference();
      let told = 0;
      drive(made, scene, (at, nowS, read) => {
        if (read) reference.read(read, nowS);
        let expected = reference.at(nowS);
        for (const { mrid, in: takesPart } of optsAt(made, at)) {
          scene.opt(nowS, mrid, takesPart);
          reference.opt(mrid, takesPart, nowS);
          expected = reference.at(nowS);
        }
        const place = `at tick ${at}, ${nowS} s`;
        expect(holders(scene.inForce), place).to.deep.equal(Object.fromEntries(expected));
        expect(scene.responses.slice(told).map(without).sort(), place).to.deep.equal([...reference.responses].sort());
        told = scene.responses.length;
        reference.responses = [];
      });
    };
    holds('modes of each second', plan, check, { runs: 450 });
  }).timeout(60_000);

  it('respond in a legal order, with one ending each, and 7 before the 2 of the winner', () => {
    const check = (made: Plan) => {
      for (const supersededResponse of ['at_start', 'at_discovery'] as const) {
        const scene = sceneOf(made, { supersededResponse });
        drive(made, scene, (at, nowS) => {
          for (const opt of optsAt(made, at)) scene.opt(nowS, opt.mrid, opt.in);
        });
        const left = made.programs.some(({ away }) => away !== null);
        for (const index of made.events.keys()) {
          const all = scene
            .of(nameOf(index))
            .map((status) => `${status} `)
            .join('');
          if (all !== '') expect(all).to.match(left ? legal : once);
        }
        const instants = new Set(scene.responses.map((line) => line.split(' ')[0]));
        for (const instant of instants) {
          const statuses = scene.responses.filter((line) => line.startsWith(`${instant} `)).map((l) => l.split(' ')[2]);
          const superseding =
            optsAt(made, 0).length === 0 && made.jumps.length === 0 && made.events.every((e) => e.opts.length === 0);
          if (superseding && statuses.includes('2'))
            expect(statuses.lastIndexOf('7')).to.be.below(statuses.indexOf('2'));
        }
      }
    };
    holds('responses in a legal order', plan, check, { runs: 100 });
  }).timeout(60_000);

  it('need no step but those that nextS asks for', () => {
    const check = (made: Plan) => {
      const steady = { ...made, jumps: [] };
      const dense = sceneOf(steady);
      drive(steady, dense, () => undefined);
      const sparse = sceneOf(steady);
      for (let at = 0; at <= lastTick; at += steady.pollEvery) {
        while (sparse.nextS !== null && sparse.nextS < at + 1) sparse.time(sparse.nextS);
        sparse.read(at + 1, ...reading(steady, at)[0]);
      }
      while (sparse.nextS !== null && sparse.nextS <= lastTick + 1) sparse.time(sparse.nextS);
      expect(sparse.responses).to.deep.equal(dense.responses);
    };
    holds('nextS names every step', plan, check, { runs: 80 });
  }).timeout(60_000);

  it('are the same when the state goes through JSON at every second', () => {
    const check = (made: Plan) => {
      const straight = sceneOf(made);
      const stored = sceneOf(made);
      const seen: unknown[] = [];
      drive(made, straight, () => seen.push(holders(straight.inForce)));
      drive(made, stored, (at) => {
        expect(holders(stored.inForce)).to.deep.equal(seen[at]);
        stored.state = restoreSchedule(saveSchedule(stored.state));
      });
      expect(stored.responses).to.deep.equal(straight.responses);
    };
    holds('state goes through JSON', plan, check, { runs: 40 });
  }).timeout(60_000);
});
