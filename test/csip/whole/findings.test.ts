/** What the whole simulator finds at the head-end of the tests: nothing at a good one, and each mistake by its id alone. */
import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { drawn } from '../../support/random.ts';
import type { HeadEnd } from '../head-end/head-end.ts';
import type { Trick } from '../head-end/tricks.ts';
import type { Control, Program } from '../head-end/model.ts';
import { Site } from './site.ts';

const limit = (percent: number) => ({ opModMaxLimW: percent * 100 });
const rewrite = (from: string | RegExp, to: string): Trick => ({
  kind: 'rewrite',
  change: (xml) => xml.replace(from, to),
});
const refused = (status: number): Trick => ({ kind: 'answer', status });

interface Stage {
  readonly site: Site;
  readonly headEnd: HeadEnd;
  readonly program: Program;
  /** under way, for an hour */
  readonly control: Control;
}

describe('findings at a head-end', () => {
  let site: Site;
  afterEach(() => site.close());

  /** A head-end with one event under way, after two minutes. */
  async function open(flags: readonly string[] = []): Promise<Stage> {
    site = await Site.open({
      flags: ['--csip_pin', '111115', ...flags],
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi, { pin: 111_115 });
        headEnd.program({ default: limit(90), primacy: 5 });
        headEnd.program({ default: limit(80), primacy: 2 });
        headEnd.subscribable = true;
        headEnd.notifies = true;
      },
    });
    await site.advance(90);
    const { headEnd } = site;
    const [program] = headEnd.programs;
    if (program === undefined) throw new Error('the head-end has no program');
    const control = headEnd.control(program, { modes: limit(50), durationS: 3600 });
    await site.advance(90);
    return { site, headEnd, program, control };
  }

  it('a good one has none: events that follow, overlap, randomize and are cancelled, with notifications', async () => {
    const { headEnd, program } = await open(['--csip_subscribe', 'yes']);
    const [, other] = headEnd.programs;
    if (other === undefined) throw new Error('the head-end has one program');
    const cancelled = headEnd.control(other, { modes: { opModFixedW: 4000 }, inS: 30, durationS: 600 });
    headEnd.control(other, { modes: limit(30), inS: 60, durationS: 60, randomizeStartS: 20 });
    await site.advance(120);
    headEnd.control(program, { modes: limit(20), inS: 60, durationS: 60 });
    headEnd.control(program, { modes: limit(10), inS: 120, durationS: 60 });
    headEnd.end(cancelled, 2);
    await site.advance(420, 5);
    expect(await site.findings()).to.deep.equal([]);
  });

  /** Mistakes, and the ids of the rules that they break. */
  const mistakes: Readonly<Record<string, readonly [(stage: Stage) => unknown, ...(readonly string[])]>> = {
    'an invalid value': [
      ({ headEnd }) => headEnd.trick('GET', '/tm', rewrite(/<quality>7/, '<quality>700')),
      'csip.schema',
    ],
    'elements in another order': [
      ({ headEnd }) => headEnd.trick('GET', '/tm', rewrite(/(<localTime>.*<\/localTime>)(.*)(?=<\/Time>)/, '$2$1')),
      'csip.element_order',
    ],
    'an event that vanishes': [
      ({ headEnd, program, control }) => headEnd.withdraw(program, control),
      'csip.event_vanished',
    ],
    'an event that is rewritten': [
      ({ headEnd }) => headEnd.trick('GET', /derc$/, rewrite('<opModMaxLimW>5000', '<opModMaxLimW>4000')),
      'csip.event_rewritten',
    ],
    'an outage': [
      ({ headEnd }) => headEnd.trick('GET', '/tm', refused(503)),
      'csip.retry_after_missing',
      'csip.server_errors',
    ],
    'a link to a rogue host': [
      ({ headEnd }) => headEnd.trick('GET', '/dcap', rewrite('href="/tm"', 'href="https://rogue.example/tm"')),
      'csip.link_elsewhere',
    ],
    'a loop of redirects': [
      ({ headEnd }) => headEnd.trick('GET', '/tm', { kind: 'redirect', status: 302, to: '/tm' }),
      'csip.redirect_endless',
    ],
    'a link that leads nowhere': [
      async ({ headEnd }) => {
        headEnd.trick('GET', /fsa\/1\/derp$/, refused(404));
        await site.advance(960, 30);
      },
      'csip.link_dead',
    ],
    'a time that jumps': [({ headEnd }) => (headEnd.clock.aheadS = 30), 'csip.time_jump'],
    'refused responses': [
      ({ headEnd, program }) => {
        headEnd.trick('POST', /rsp$/, refused(400));
        headEnd.control(program, { modes: { opModFixedW: 1000 }, inS: 60 });
      },
      'csip.response_refused',
    ],
    'a list that counts wrong': [
      ({ headEnd }) => headEnd.trick('GET', /derc$/, rewrite('results="1"', 'results="2"')),
      'csip.list_counts',
    ],
    'an event that was over before it was created': [
      ({ headEnd, program }) => {
        headEnd.keepsEnded = true;
        headEnd.control(program, { modes: { opModFixedW: 1000 }, inS: -600, durationS: 60, responseRequired: null });
      },
      'csip.event_over',
    ],
    'powers in the wrong unit': [
      ({ headEnd, program }) => {
        for (const value of [5, 6, 7])
          headEnd.control(program, {
            modes: { opModTargetW: { multiplier: 6, value } },
            inS: 600 * (value - 4),
            durationS: 600,
          });
      },
      'csip.value_scale',
    ],
    'a change without a notification': [
      ({ headEnd, program }) => {
        headEnd.notifies = false;
        headEnd.control(program, { modes: { opModFixedW: 1000 }, inS: 60 });
      },
      'csip.notification_missing',
    ],
  };

  const all = Object.entries(mistakes);
  for (const [name, [act, ...ids]] of pick({ quick: drawn('mistakes', all, 4), ci: all }))
    it(`${name}: ${ids.join(', ')} and no other`, async () => {
      await act(await open(name.includes('notification') ? ['--csip_subscribe', 'yes'] : []));
      await site.advance(240, 5);
      expect((await site.findings()).sort()).to.deep.equal(ids);
    });

  it('nothing counts against the server while a fault changes what the client sends', async () => {
    const { headEnd, program } = await open();
    await site.post('faults', { inject: [{ protocol: 'csip', kind: 'wrong_lfdi' }] });
    headEnd.trick('POST', /rsp$/, refused(400));
    headEnd.control(program, { modes: { opModFixedW: 1000 }, inS: 10 });
    await site.advance(90);
    expect(headEnd.sent('POST', /rsp$/).filter(({ status }) => status === 400)).to.not.deep.equal([]);
    expect(await site.findings()).to.deep.equal([]);
  });
});
