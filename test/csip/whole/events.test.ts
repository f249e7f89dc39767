/** Groups, programs, defaults and the rules of events, as a head-end sees them: responses, their instants, and registers. */
import { expect } from 'chai';
import type { ControlOptions, HeadEnd } from '../head-end/head-end.ts';
import type { Control, Program } from '../head-end/model.ts';
import { Site } from './site.ts';
import { pick } from '../../support/depth.ts';

const limit = (percent: number) => ({ opModMaxLimW: percent * 100 });
const reactive = (percent: number) => ({ opModFixedVar: { refType: 2, value: percent * 100 } });

/** A site that is running, with two programs: of a system (primacy 20) and of a service point (primacy 5). */
async function running(prepare?: (headEnd: HeadEnd) => void): Promise<Site> {
  const site = await Site.open({
    prepare(headEnd, [lfdi = '']) {
      headEnd.register(lfdi);
      if (prepare !== undefined) {
        prepare(headEnd);
        return;
      }
      headEnd.program({ fsa: headEnd.fsa('system'), primacy: 20 });
      headEnd.program({ fsa: headEnd.fsa('service point'), primacy: 5 });
    },
  });
  await site.until('the groups', 60, () => site.headEnd.sent('GET', /derc$/)[0]);
  await site.advance(70);
  return site;
}

describe('a client at a head-end: groups, programs and events', () => {
  let site: Site;
  let system: Program;
  let point: Program;
  beforeEach(async () => {
    site = await running();
    [system, point] = site.headEnd.programs as [Program, Program];
  });
  afterEach(() => site.close());

  const give = (program: Program, options: ControlOptions): Control => site.headEnd.control(program, options);
  /** instants of the responses to a control: `[status, seconds after its start]` */
  const told = ({ mRID, startS }: Control) =>
    site.headEnd.responses
      .filter((known) => known.mRID === mRID)
      .map(({ status, createdS }) => [status, createdS - startS]);
  const points = async () => {
    const { WMaxLimPctEna, WMaxLimPct, VarSetEna, VarSetPct } = await site.points(704);
    return [WMaxLimPctEna === 1 ? WMaxLimPct : null, VarSetEna === 1 ? VarSetPct : null];
  };

  it('BASIC-016, CORE-012, CORE-013: of two programs with defaults the one of lower primacy counts, mode by mode', async () => {
    site.headEnd.setDefault(system, { ...limit(40), ...reactive(10) });
    site.headEnd.setDefault(point, limit(70));
    await site.advance(130);
    expect(await points()).to.deep.equal([70, 10]);
    expect(site.headEnd.responses).to.deep.equal([]);
  });

  it('BASIC-017, BASIC-018, ALL-18: an event alone, then over a default that returns at its end', async () => {
    const alone = give(point, { modes: limit(50), inS: 100, durationS: 60 });
    await site.advance(130);
    expect(await points()).to.deep.equal([50, null]);
    await site.responded(alone, 3);
    expect(await points()).to.deep.equal([null, null]);
    expect(told(alone).slice(1)).to.deep.equal([
      [2, 0],
      [3, 60],
    ]);
    site.headEnd.setDefault(point, limit(80));
    const over = give(point, { modes: limit(30), inS: 100, durationS: 60 });
    await site.advance(90);
    expect(await points()).to.deep.equal([80, null]);
    await site.responded(over, 2);
    expect(await points()).to.deep.equal([30, null]);
    await site.responded(over, 3);
    expect(await points()).to.deep.equal([80, null]);
  });

  it('an event with a mode in a foreign namespace leaves that mode to the default control', async () => {
    const change = (xml: string) => xml.replace(/<(\/?)opModMaxLimW/g, '<$1csipaus:opModMaxLimW');
    site.headEnd.trick('GET', /\/derc$/, { kind: 'rewrite', change });
    site.headEnd.setDefault(point, limit(80));
    const event = give(point, { modes: { ...reactive(20), ...limit(30) }, inS: 100, durationS: 60 });
    await site.responded(event, 2);
    expect(await points()).to.deep.equal([80, 20]);
  });

  it('a clock of the server that goes an hour back: ended events stay ended, active ones last until their end by it', async () => {
    const ended = give(point, { modes: limit(50), inS: 80, durationS: 20 });
    const active = give(point, { modes: limit(30), inS: 110, durationS: 300 });
    const scheduled = give(point, { modes: limit(70), inS: 500, durationS: 60 });
    await site.responded(ended, 3);
    await site.responded(active, 2);
    site.headEnd.clock.aheadS -= 3600;
    await site.post('csip/poll', {});
    await site.advance(1000, 100);
    const states = async () => {
      const { controls } = await site.get('csip/controls');
      return [ended, active, scheduled].map(
        ({ mRID }) => (controls as { mrid: string; state: string }[]).find(({ mrid }) => mrid === mRID)?.state,
      );
    };
    expect(await states()).to.deep.equal(['completed', 'active', 'scheduled']);
    expect(await points()).to.deep.equal([30, null]);
    await site.advance(3200, 200);
    await site.responded(scheduled, 3, 600);
    expect(await states()).to.deep.equal(['completed', 'completed', 'completed']);
    const all = (control: Control) => told(control).slice(1);
    expect([all(ended), all(active), all(scheduled)]).to.deep.equal([
      [
        [2, 0],
        [3, 20],
      ],
      [
        [2, 0],
        [3, 300],
      ],
      [
        [2, 0],
        [3, 60],
      ],
    ]);
  });

  for (const [id, same] of [
    ['BASIC-019', true],
    ['BASIC-020', false],
  ] as const) {
    it(`${id}: two events one after the other in ${same ? 'one program' : 'two programs'}`, async () => {
      const first = give(system, { modes: limit(60), inS: 100, durationS: 60 });
      const second = give(same ? system : point, { modes: limit(40), inS: 160, durationS: 60 });
      await site.responded(second, 2, 300);
      expect(await points()).to.deep.equal([40, null]);
      await site.responded(second, 3, 300);
      expect(told(first).slice(1)).to.deep.equal([
        [2, 0],
        [3, 60],
      ]);
      expect(told(second).slice(1)).to.deep.equal([
        [2, 0],
        [3, 60],
      ]);
    });
  }

  it('BASIC-021, CORE-023: system first, service point before the start: the former is superseded at the start of the latter', async () => {
    const lower = give(system, { modes: limit(60), inS: 200, durationS: 100 });
    const higher = give(point, { modes: limit(40), inS: 200, durationS: 100 });
    await site.responded(higher, 3, 400);
    expect(site.headEnd.statuses(lower.mRID)).to.deep.equal([1, 7]);
    expect(told(lower)[1]).to.deep.equal([7, 0]);
    expect(site.headEnd.statuses(higher.mRID)).to.deep.equal([1, 2, 3]);
    const order = site.headEnd.responses
      .filter(({ status }) => status === 7 || status === 2)
      .map(({ status }) => status);
    expect(order).to.deep.equal([7, 2]);
  });

  it('BASIC-022: service point first, then system: the former stays', async () => {
    const higher = give(point, { modes: limit(40), inS: 200, durationS: 60 });
    await site.responded(higher, 1);
    const lower = give(system, { modes: limit(60), inS: 200 - 100, durationS: 30 });
    await site.responded(higher, 3, 400);
    expect(site.headEnd.statuses(higher.mRID)).to.deep.equal([1, 2, 3]);
    expect(site.headEnd.statuses(lower.mRID)).to.include(1);
  });

  it('BASIC-023: an event of the service point takes over from a running one of the system, which does not resume', async () => {
    const lower = give(system, { modes: limit(60), inS: 80, durationS: 400 });
    await site.responded(lower, 2);
    const higher = give(point, { modes: limit(40), inS: 80, durationS: 60 });
    await site.responded(higher, 2, 200);
    expect(await points()).to.deep.equal([40, null]);
    await site.responded(higher, 3, 200);
    expect(await points()).to.deep.equal([null, null]);
    await site.advance(400);
    expect(site.headEnd.statuses(lower.mRID)).to.deep.equal([1, 2, 7]);
  });

  it('BASIC-024, BASIC-025, BASIC-026: overlapping events of independent modes both run', async () => {
    const lower = give(system, { modes: limit(60), inS: 80, durationS: 200 });
    const higher = give(point, { modes: reactive(-20), inS: 120, durationS: 60 });
    await site.responded(higher, 2, 300);
    expect(await points()).to.deep.equal([60, -20]);
    await site.responded(higher, 3, 300);
    expect(await points()).to.deep.equal([60, null]);
    await site.responded(lower, 3, 300);
    for (const { mRID } of [lower, higher]) expect(site.headEnd.statuses(mRID)).to.deep.equal([1, 2, 3]);
  });

  it('CORE-021, ALL-22: random starts stay within their bound and are drawn once', async () => {
    const controls = Array.from({ length: pick({ quick: 3, ci: 5 }) }, (_, index) =>
      give(point, { modes: limit(50), inS: 100 + 300 * index, durationS: 60, randomizeStartS: 60 }),
    );
    await site.responded(controls.at(-1) as Control, 3, 2000);
    const delays = controls.map((control) => told(control).find(([status]) => status === 2)?.[1] ?? -1);
    for (const delay of delays) expect(delay).to.be.within(0, 60);
    expect(new Set(delays).size).to.be.greaterThan(1);
    controls.forEach((control, index) => {
      const [, , ended] = told(control);
      expect(ended).to.deep.equal([3, (delays[index] ?? 0) + 60]);
    });
  });

  it('CORE-022: received, started, completed and cancelled, each once, and none where none is asked for', async () => {
    const completed = give(point, { modes: limit(50), inS: 80, durationS: 30 });
    const scheduled = give(point, { modes: limit(50), inS: 800, durationS: 30 });
    const silent = give(system, { modes: reactive(10), inS: 80, durationS: 30, responseRequired: null });
    const receivedOnly = give(system, { modes: reactive(10), inS: 200, durationS: 30, responseRequired: '01' });
    await site.responded(completed, 3, 200);
    site.headEnd.end(scheduled, 2);
    await site.responded(scheduled, 6);
    const active = give(point, { modes: limit(20), durationS: 3600 });
    await site.responded(active, 2);
    site.headEnd.end(active, 2);
    await site.responded(active, 6);
    expect(await points()).to.deep.equal([null, null]);
    await site.advance(400);
    expect(site.headEnd.statuses(completed.mRID)).to.deep.equal([1, 2, 3]);
    expect(site.headEnd.statuses(scheduled.mRID)).to.deep.equal([1, 6]);
    expect(site.headEnd.statuses(active.mRID)).to.deep.equal([1, 2, 6]);
    expect(site.headEnd.statuses(silent.mRID)).to.deep.equal([]);
    expect(site.headEnd.statuses(receivedOnly.mRID)).to.deep.equal([1]);
  });

  it('an event that leaves its list, or whose server is lost, runs to its end and is answered then', async () => {
    const control = give(point, { modes: limit(50), inS: 60, durationS: 300 });
    await site.responded(control, 2);
    site.headEnd.withdraw(point, control);
    await site.advance(100);
    expect(await points()).to.deep.equal([50, null]);
    const restore = site.headEnd.trick('*', /./, { kind: 'reset' });
    await site.advance(200);
    expect(await points()).to.deep.equal([null, null]);
    restore();
    await site.responded(control, 3, 700);
    expect(told(control).at(-1)).to.deep.equal([3, 300]);
  });

  it('ALL-23: without communication stored events run, then the default; afterwards new ones are taken', async () => {
    site.headEnd.setDefault(point, limit(90));
    const controls = [50, 30, 40].map((percent, index) =>
      give(point, { modes: limit(percent), inS: 130 + 120 * index, durationS: 120 }),
    );
    await site.responded(controls[0] as Control, 2, 200);
    const restore = site.headEnd.trick('*', /./, { kind: 'reset' });
    await site.advance(130);
    expect(await points()).to.deep.equal([30, null]);
    await site.advance(120);
    expect(await points()).to.deep.equal([40, null]);
    await site.advance(130);
    expect(await points()).to.deep.equal([90, null]);
    restore();
    const late = give(point, { modes: limit(20), durationS: 1200 });
    await site.responded(late, 2, 700);
    for (const { mRID } of controls) expect(site.headEnd.statuses(mRID)).to.deep.equal([1, 2, 3]);
  });

  it('BASIC-002, BASIC-003, MAINT-003: a group that the EndDevice leaves takes its controls along', async () => {
    const control = give(point, { modes: limit(50), inS: 30, durationS: 3600 });
    const other = give(system, { modes: reactive(15), inS: 30, durationS: 3600 });
    await site.responded(control, 2);
    site.device.fsas = new Set([system.fsaId]);
    await site.until('the group has gone', 200, async () => ((await points())[0] === null ? true : undefined));
    expect(await points()).to.deep.equal([null, 15]);
    expect(site.headEnd.statuses(other.mRID)).to.deep.equal([1, 2]);
    site.device.fsas = null;
    const third = give(point, { modes: limit(45), inS: 150, durationS: 60 });
    await site.responded(third, 2, 300);
    expect((await points())[0]).to.equal(45);
  });

  it('MAINT-004, MAINT-005: controls come and go at run time, and primacies change places', async () => {
    site.headEnd.setDefault(system, limit(60));
    site.headEnd.setDefault(point, limit(40));
    await site.advance(130);
    expect((await points())[0]).to.equal(40);
    system.primacy = 1;
    await site.advance(130);
    expect((await points())[0]).to.equal(60);
    const control = give(system, { modes: limit(25), durationS: 120 });
    await site.responded(control, 2);
    expect((await points())[0]).to.equal(25);
    await site.responded(control, 3, 200);
    expect((await points())[0]).to.equal(60);
  });
});

describe('a client at a head-end: many groups', () => {
  for (const [id, levels] of [
    ['CORE-010', 7],
    ['CORE-011', 15],
  ] as const) {
    it(`${id}: ${levels} levels of groups, of which the nearest counts`, async () => {
      const site = await running((headEnd) => {
        for (let level = 1; level <= levels; level += 1) {
          headEnd.program({
            fsa: headEnd.fsa(`level ${level}`),
            primacy: 100 - level,
            default: { opModMaxLimW: 9000 - 100 * level },
          });
        }
      });
      try {
        await site.until('the limit', 200, async () => {
          return (await site.points(704)).WMaxLimPct === 90 - levels ? true : undefined;
        });
        expect(new Set(site.headEnd.sent('GET', /dderc$/).map(({ path }) => path)).size).to.equal(levels);
      } finally {
        await site.close();
      }
    });
  }
});
