/** What a client of IEEE 2030.5 owes and does survives the end of its process at any instant. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventStatusNow, ListedControl, ListedDefault, ListedProgram } from '../../../src/csip/events/model.ts';
import type { ModeName } from '../../../src/csip/control/model.ts';
import { pick } from '../../support/depth.ts';
import { holdsAsync } from '../../support/property.ts';
import { control, program } from '../events/scene.ts';
import { beginS, World } from './world.ts';
import type { Cut, HeadEnd } from './world.ts';

const limit = 'opModMaxLimW';

/** An event of one mode, with a value of its own. @param startS from the begin of the world */
function limited(mrid: string, startS: number, durationS: number, over: Partial<ListedControl> = {}): ListedControl {
  const value = 1000 * (Number.parseInt(mrid, 16) % 10);
  const [mode = limit] = over.modes ?? [];
  const base = mode === 'opModFixedVar' ? { [mode]: { refType: 2, value } } : { [mode]: value };
  return control(mrid, {
    modes: [mode],
    control: { base, curves: new Map() },
    startS: beginS + startS,
    durationS,
    responseRequired: 3,
    ...over,
  });
}

const held = (world: World) => world.held['WMaxLimPct'];
const standard = (value: number) => ({
  mrid: 'D0',
  href: null,
  description: null,
  modes: [limit] as const,
  control: { base: { [limit]: value }, curves: new Map() },
});

describe('CSIP: an event over the end of the process', () => {
  const seconds = async (world: World, count: number, isPoll = false) => {
    for (let at = 0; at < count; at += 1) await world.second(isPoll);
  };
  const begin = async (controls: readonly ListedControl[], defaultControl: ListedDefault | null = null) => {
    const world = new World({ seedOf: (process) => process });
    world.headEnd.programs = () => [program('P', 1, controls, { defaultControl })];
    await world.start();
    await world.second(true);
    return world;
  };

  it('goes on at once where no server answers, and nothing is answered twice', async () => {
    const world = await begin([limited('05', 3, 60)]);
    await seconds(world, 10);
    expect(held(world)).to.equal(50);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2]);
    world.kill();
    await seconds(world, 5);
    await world.start();
    expect(held(world)).to.equal(50);
    const [known] = world.process.member.endDevice.controls;
    expect(known).to.include({ state: 'active', started: true });
    await seconds(world, 50);
    expect(held(world)).to.equal(100);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2]);
    await world.second(true);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2, 3]);
  });

  it('that had been carried out and ended meanwhile is completed, at its end, and its point is given back', async () => {
    const world = await begin([limited('05', 3, 20)]);
    await seconds(world, 10);
    world.kill();
    await seconds(world, 60);
    await world.start();
    expect(world.held).to.include({ WMaxLimPct: 100, WMaxLimPctEna: 'DISABLED' });
    await world.second(true);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2, 3]);
    expect(world.headEnd.book.at(-1)?.createdS).to.equal(beginS + 23);
    await seconds(world, 3, true);
    expect(world.headEnd.book).to.have.length(3);
  });

  it('that began and ended meanwhile had no participation, but superseded what it had to', async () => {
    const world = await begin(
      [
        limited('05', 3, 200),
        limited('06', 20, 10, { creationS: 5 }),
        limited('07', 60, 20, { modes: ['opModFixedVar'] }),
      ],
      standard(9000),
    );
    await seconds(world, 10);
    world.kill();
    await seconds(world, 30);
    await world.start();
    expect(held(world)).to.equal(90);
    await seconds(world, 60, true);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2, 7]);
    expect(world.headEnd.statuses('06')).to.deep.equal([1, 10]);
    expect(world.headEnd.statuses('07')).to.deep.equal([1, 2, 3]);
    expect(world.headEnd.book.map(({ status }) => status)).to.deep.equal([1, 1, 1, 2, 7, 10, 2, 3]);
  });

  it('keeps its random start and duration in a process that would draw others', async () => {
    const events = Array.from({ length: 6 }, (_, at) =>
      limited(`0${at + 1}`, 100 + 100 * at, 50, { randomizeStartS: 30, randomizeDurationS: 30 }),
    );
    const world = await begin(events);
    const periods = () =>
      world.process.member.endDevice.controls.map(({ effectiveStartS, effectiveDurationS }) => [
        effectiveStartS,
        effectiveDurationS,
      ]);
    const before = periods();
    world.kill();
    await world.start();
    await world.second(true);
    expect(periods()).to.deep.equal(before);
  });

  it('a response whose answer was lost is not sent again, unless the server lets its list not be read', async () => {
    for (const isReadable of [true, false]) {
      const world = await begin([limited('05', 3, 60)]);
      world.headEnd.isReadable = isReadable;
      world.headEnd.onResponse = ({ status }) => {
        if (status === 2) world.kill();
      };
      await seconds(world, 6);
      expect(world.isAlive).to.equal(false);
      world.headEnd.onResponse = () => undefined;
      await world.start();
      await seconds(world, 3, true);
      expect(world.headEnd.statuses('05')).to.deep.equal(isReadable ? [1, 2] : [1, 2, 2]);
      expect(world.headEnd.reads).to.equal(1);
      const created = world.headEnd.book.filter(({ status }) => status === 2).map(({ createdS }) => createdS);
      expect(new Set(created).size).to.equal(1);
    }
  });

  it('whose schedule the store has refused meanwhile, but not its responses, is not answered again', async () => {
    const world = await begin([limited('05', 3, 10)]);
    const [name] = [...world.contents.keys()].filter((slot) => slot.endsWith('/events'));
    const scheduled = world.contents.get(name ?? '') ?? [];
    await seconds(world, 6, true);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2]);
    await world.startOn(new Map(world.contents).set(name ?? '', scheduled));
    await seconds(world, 10, true);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2, 3]);
  });

  it('that is cancelled is answered with 6, or was never cancelled: power lost at each octet of the decision', async () => {
    const books = new Set<string>();
    const stepBytes = pick({ quick: 400, ci: 150 });
    for (let keepBytes = 0; keepBytes < 2400; keepBytes += stepBytes) {
      const event = limited('05', 3, 20);
      const world = await begin([event]);
      await seconds(world, 6);
      const cancelled = { ...event, status: 'cancelled', statusS: beginS + 7 } as const;
      world.headEnd.programs = () => [program('P', 1, [cancelled])];
      world.cutAfterWrite(keepBytes);
      await world.poll();
      expect(world.isAlive).to.equal(false);
      await world.start();
      await seconds(world, 20);
      // the server has forgotten the event meanwhile
      world.headEnd.programs = () => [program('P', 1, [])];
      await seconds(world, 2, true);
      books.add(world.headEnd.statuses('05').join());
    }
    expect([...books].sort()).to.deep.equal(['1,2,3', '1,2,6']);
  });

  /** What no register shows, of a device at its connection point. */
  const beside = ({ process: { plant } }: World) => {
    const { switchClosed, gradient } = plant.device(0);
    return { switchClosed, slope: gradient.w.pctPerS, exportW: plant.siteOf([0]).limits.export.limitW };
  };

  for (const isOpen of [true, false])
    it(`without a register goes on and ends too: ${isOpen ? 'the switch' : 'a slope'}, a limit of the connection point`, async () => {
      const base = { ...(isOpen && { opModConnect: false }), opModExpLimW: { multiplier: 0, value: 700 } };
      const event = control('05', {
        modes: isOpen ? ['opModConnect', 'opModExpLimW'] : ['opModExpLimW'],
        control: { base, curves: new Map() },
        startS: beginS + 3,
        durationS: 30,
        responseRequired: 3,
      });
      const settings = { setGradW: 50 };
      const slow = { ...standard(9000), control: { ...standard(9000).control, settings } };
      const world = await begin([]);
      const fresh = beside(world);
      world.headEnd.programs = () => [program('P', 1, [event], { defaultControl: slow })];
      await seconds(world, 10, true);
      const before = beside(world);
      if (isOpen) expect(before.switchClosed).to.equal(false);
      else expect(before.slope).to.equal(0.5);
      world.kill();
      await world.start();
      const first = beside(world);
      expect(first).to.include({ switchClosed: before.switchClosed, slope: before.slope });
      await seconds(world, 10);
      expect(beside(world).switchClosed).to.equal(before.switchClosed);
      world.headEnd.programs = () => [program('P', 1, [event])];
      await seconds(world, 30, true);
      expect(beside(world)).to.deep.equal(fresh);
      expect(world.headEnd.statuses('05')).to.deep.equal([1, 2, 3]);
    });

  it('a refused PIN stays refused until the server confirms it: no control acts', async () => {
    const world = await begin([limited('05', 3, 60)]);
    await seconds(world, 6);
    await world.process.member.endDevice.cease();
    world.process.keepMap();
    await seconds(world, 1);
    world.kill();
    await world.start();
    await seconds(world, 5);
    expect(held(world)).to.equal(100);
    world.process.member.endDevice.facts = {} as never;
    expect(held(world)).to.equal(50);
    expect(world.headEnd.statuses('05')).to.deep.equal([1, 2]);
  });

  it('after a long loss of communication default controls alone act, also in the next process', async () => {
    const world = await begin([limited('05', 3, 60)], standard(9000));
    await seconds(world, 6);
    world.process.member.endDevice.expire(true);
    await seconds(world, 1);
    world.kill();
    await world.start();
    expect(held(world)).to.equal(90);
    world.process.member.endDevice.expire(false);
    expect(held(world)).to.equal(50);
  });
});

interface PlannedEvent {
  readonly seenS: number;
  readonly startS: number;
  readonly durationS: number;
  readonly at: number;
  readonly mode: ModeName;
  readonly randomizeStartS: number;
  readonly randomizeDurationS: number;
  readonly creationS: number;
  readonly ends: { readonly atS: number; readonly status: EventStatusNow } | null;
}

const event: fc.Arbitrary<PlannedEvent> = fc.record({
  seenS: fc.integer({ min: 0, max: 30 }),
  startS: fc.integer({ min: 0, max: 50 }),
  durationS: fc.constantFrom(5, 10, 20, 40),
  at: fc.constantFrom(0, 1),
  mode: fc.constantFrom<ModeName>(limit, limit, 'opModFixedVar'),
  randomizeStartS: fc.constantFrom(0, 0, 6, -6),
  randomizeDurationS: fc.constantFrom(0, 0, 5),
  creationS: fc.integer({ min: 0, max: 3 }),
  ends: fc.option(
    fc.record({
      atS: fc.integer({ min: 5, max: 70 }),
      status: fc.constantFrom<EventStatusNow>('cancelled', 'cancelled', 'superseded'),
    }),
    { freq: 3 },
  ),
});

interface PlannedCut extends Cut {
  /** s without a process */
  readonly downS: number;
  /** s until the server can be reached again */
  readonly unreachableS: number;
}

/** octets that outlast a process whose machine goes on */
const all = 1e9;

const cut: fc.Arbitrary<PlannedCut> = fc.record({
  after: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 120 })),
  keepBytes: fc.constantFrom(all, all, 0, 0, 37, 500),
  downS: fc.constantFrom(0, 0, 1, 4, 12),
  unreachableS: fc.constantFrom(0, 0, 5, 15),
});

const plan = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 5 }),
  cuts: fc.array(cut, { minLength: 1, maxLength: 4 }),
  pollEvery: fc.integer({ min: 1, max: 5 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** All events are over by then. */
const endS = 130;

function programsOf({ events }: Plan): (nowS: number) => readonly ListedProgram[] {
  return (nowS) => {
    const listed = events.map(({ seenS, startS, durationS, at, mode, ends, ...rest }, index) => {
      const isEnded = ends !== null && nowS >= beginS + ends.atS;
      const status = isEnded ? { status: ends.status, statusS: beginS + ends.atS } : {};
      return { seenS, at, of: limited(`0${index + 1}`, startS, durationS, { modes: [mode], ...rest, ...status }) };
    });
    return [0, 1].map((at) =>
      program(
        `P${at}`,
        at,
        listed.filter((each) => each.at === at && nowS >= beginS + each.seenS).map(({ of }) => of),
        at === 0 ? { defaultControl: standard(9500) } : {},
      ),
    );
  };
}

interface Course {
  readonly headEnd: HeadEnd;
  /** by second from the begin: what the controls write; absent: no process, or it ended in this second */
  readonly held: ReadonlyMap<number, object>;
  readonly polls: ReadonlySet<number>;
  /** seconds in which a process ended, or none ran */
  readonly dark: ReadonlySet<number>;
  /** a cut came while the programs were read: what it left of them depends on the instant */
  readonly isPollCut: boolean;
  readonly cuts: number;
}

/** @param polls null: as planned, while a process runs and reaches the server */
async function run(planned: Plan, cuts: readonly PlannedCut[], polls: ReadonlySet<number> | null): Promise<Course> {
  const world = new World();
  world.headEnd.programs = programsOf(planned);
  const waiting = [...cuts];
  const course = { held: new Map<number, object>(), polls: new Set<number>(), dark: new Set<number>() };
  let [current, count, isPollCut, returnsS, reachableS] = [waiting.shift(), 0, false, 0, 0];
  for (let at = 0; at <= endS; at += 1) {
    if (!world.isAlive && at >= returnsS) await world.start(current ?? null);
    const isPoll = polls?.has(at) ?? (at % planned.pollEvery === 0 && at >= reachableS);
    const wasAlive = world.isAlive;
    await world.second(isPoll && wasAlive);
    if (world.isAlive) {
      course.held.set(at, world.held);
      if (isPoll) course.polls.add(at);
      continue;
    }
    course.dark.add(at);
    if (current === undefined || at < returnsS) continue;
    isPollCut ||= isPoll && wasAlive;
    [returnsS, reachableS] = [at + 1 + current.downS, at + 1 + current.downS + current.unreachableS];
    [current, count] = [waiting.shift(), count + 1];
  }
  return { headEnd: world.headEnd, ...course, isPollCut, cuts: count };
}

const finals = [3, 6, 7, 8, 9, 10, 14, 252, 253, 254];

/** Statuses of an event for a device that was dark while the event lasted. */
const withoutPart = (statuses: readonly number[]) =>
  statuses.filter((status) => status !== 2).map((status) => (status === 3 ? 10 : status));

function expectAnsweredOnce({ headEnd }: Course): void {
  for (const mrid of new Set(headEnd.book.map((response) => response.mrid))) {
    const statuses = headEnd.statuses(mrid);
    const text = `${mrid}: ${statuses.join()}`;
    expect(statuses[0], text).to.equal(1);
    expect(new Set(statuses).size, text).to.equal(statuses.length);
    expect(
      statuses.filter((status) => finals.includes(status)),
      text,
    ).to.have.length(1);
    expect(finals, text).to.include(statuses.at(-1));
  }
}

function expectAsWithoutEnd(ended: Course, endless: Course): void {
  for (const [at, values] of ended.held) expect(values, `second ${at}`).to.deep.equal(endless.held.get(at));
  for (const mrid of new Set(endless.headEnd.book.map((response) => response.mrid))) {
    const [statuses, expected] = [ended.headEnd.statuses(mrid), endless.headEnd.statuses(mrid)];
    const isDark = statuses.join() === withoutPart(expected).join() && ended.dark.size > 0;
    if (!isDark) expect(statuses, mrid).to.deep.equal(expected);
  }
}

describe('CSIP: random events over ends of the process at random instants', () => {
  it('are answered once and in order, and act as in a process without end as far as one runs', async function () {
    this.timeout(20_000);
    const check = async (planned: Plan) => {
      const ended = await run(planned, planned.cuts, null);
      expectAnsweredOnce(ended);
      if (!ended.isPollCut) expectAsWithoutEnd(ended, await run(planned, [], ended.polls));
    };
    await holdsAsync('csip.restart.events', plan, check, { runs: 8 });
  });
});
