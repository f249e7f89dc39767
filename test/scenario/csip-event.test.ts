import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { CsipEvent, CsipEvents } from '../../src/contract/csip-reports.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { addSeconds } from '../../src/core/time/clock.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { layoutIssues } from '../../src/scenario/file/layout.ts';
import { checkRequest, scenarioNames } from '../../src/app/scenarios/checks.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { Site } from '../csip/whole/site.ts';
import { configOf } from '../support/configured.ts';

/** Events that the test moves from state to state. */
class MadeUpEvents implements CsipEvents {
  readonly enabled = true;
  readonly #known = new Map<string, CsipEvent>();
  readonly #followers = new Set<(event: CsipEvent) => void>();

  events(): readonly CsipEvent[] {
    return [...this.#known.values()];
  }

  onEvent(listener: (event: CsipEvent) => void): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }

  put(mrid: string, state: CsipEvent['state'], more: Partial<CsipEvent> = {}): void {
    const fresh = {
      programHref: 'https://server:8443/derp/1',
      programMrid: 'A1',
      primacy: 1,
      endDeviceLfdi: 'F0',
      deviceIndices: [0],
      started: false,
      nextAt: Infinity,
    };
    const event = { ...fresh, ...this.#known.get(mrid), mrid, state, ...more };
    this.#known.set(mrid, event);
    for (const tell of this.#followers) tell(event);
  }
}

const check = (content: unknown) => readScenario(sourceOfRequest(content), 'test', {}, checkRequest);

/** Runs a scenario; `at` are seconds after its start at which events change. */
async function run(
  content: unknown,
  at: Readonly<Record<number, (events: MadeUpEvents, start: SimTime) => void>>,
): Promise<RunReport> {
  const config = configOf('--device_type', 'PV-3Phase', '--start_paused', 'yes', '--tick', '1');
  const app = createApp(config, { logBook: createLogBook({ write: () => undefined }), checkReplies: true });
  const { plant } = app;
  const events = new MadeUpEvents();
  const start = plant.now;
  for (const [s, act] of Object.entries(at)) plant.at(addSeconds(start, Number(s)), () => act(events, start));
  const host = { ...app.scenarioHost('test'), csip: events };
  return new ScenarioRun(check(content), host, { pace: 'fast', by: { source: 'rest' } }).finished;
}

const instants = (report: RunReport) => report.steps().map(({ place, atS }) => `${place} ${atS}`);

describe('events of IEEE 2030.5 as conditions', () => {
  it('are met by an event that comes, or is in a state that lasts', async () => {
    const report = await run(
      {
        steps: [
          { when: { csip_event: { state: 'scheduled' } } },
          { when: { csip_event: { state: 'started' } } },
          // it was active before it was carried out, and still is
          { when: { csip_event: { state: 'active' } } },
          { when: { csip_event: { state: 'completed' } } },
          // an end is over: without its name the next one is meant
          { when: { csip_event: { state: 'completed', mrid: 'e1' } } },
          { when: { csip_event: { state: 'completed' }, timeout: '5 s' } },
        ],
      },
      {
        3: (events) => events.put('E1', 'scheduled'),
        5: (events) => events.put('E1', 'active'),
        8: (events) => events.put('E1', 'active', { started: true }),
        20: (events) => events.put('E1', 'completed'),
      },
    );
    expect(instants(report).slice(0, 5)).to.deep.equal([
      '/steps/0 3',
      '/steps/1 8',
      '/steps/2 8',
      '/steps/3 20',
      '/steps/4 20',
    ]);
    expect(report.failures).to.deep.equal([
      '/steps/5: waited 5 s in vain: CSIP event completed did not come; known: E1 is completed',
    ]);
  });

  it('are met at the very instant where the start is known, and stay met', async () => {
    const report = await run(
      {
        steps: [
          {
            when: {
              all: [{ csip_event: { state: 'active' } }, { point: '701.W', above: 0, for: '4 s' }],
            },
          },
          { when: { any: [{ csip_event: { state: 'superseded' } }, { csip_event: { state: 'cancelled' } }] } },
        ],
      },
      {
        1.25: (made) => made.put('E1', 'active'),
        1.5: (made) => made.put('E1', 'completed'),
        6: (made, start) => made.put('E2', 'scheduled', { nextAt: addSeconds(start, 7.125) }),
        7.125: (made) => made.put('E2', 'cancelled'),
      },
    );
    expect(report.failures).to.deep.equal([]);
    expect(report.steps()[0]?.atS).to.equal(4);
    expect(report.steps()[1]?.atS).to.be.closeTo(7.125, 1e-6);
  });

  it('choose by event, device, EndDevice and program', async () => {
    const tests = [{ mrid: 'b2' }, { device: 3 }, { lfdi: 'ab' }, { program: 'c4' }, { program: '/derp/7' }];
    const report = await run(
      { steps: tests.map((test) => ({ when: { csip_event: { state: 'active', ...test } } })) },
      {
        1: (events) => events.put('A1', 'active'),
        2: (events) => events.put('B2', 'active'),
        3: (events) => events.put('B3', 'active', { deviceIndices: [2, 3] }),
        4: (events) => events.put('B4', 'active', { endDeviceLfdi: 'AB' }),
        5: (events) => events.put('B5', 'active', { programMrid: 'C4' }),
        6: (events) => events.put('B6', 'active', { programHref: 'https://server:8443/derp/7' }),
      },
    );
    expect(report.steps().map(({ atS }) => atS)).to.deep.equal([2, 3, 4, 5, 6]);
  });

  it('run a rule once for each event', async () => {
    const report = await run(
      {
        duration: '30 s',
        steps: [{ at: 1 }],
        rules: [{ when: { csip_event: { state: 'started' } }, steps: [{ name: 'mark', mark: 'event' }] }],
      },
      {
        5: (events) => events.put('E1', 'active', { started: true }),
        9: (events) => {
          events.put('E2', 'active', { started: true });
          events.put('E3', 'active', { started: true });
        },
        20: (events) => events.put('E1', 'completed'),
      },
    );
    const runs = instants(report).filter((each) => each.startsWith('/rules'));
    expect(runs).to.deep.equal(['/rules/0/steps/0 5', '/rules/0/steps/0 9', '/rules/0/steps/0 9']);
  });

  it('are refused where no client runs, and with states that there are not', () => {
    const app = createApp(configOf('--device_type', 'PV-3Phase'), {
      logBook: createLogBook({ write: () => undefined }),
    });
    const scenario = check({ steps: [{ at: 1 }, { when: { any: [{ csip_event: { state: 'active' } }] } }] });
    const issues = (hasCsip: boolean) =>
      [...layoutIssues(scenario, { plant: app.plant, hasCsip, names: scenarioNames() })].filter(
        (each) => each !== null,
      );
    expect(issues(true)).to.deep.equal([]);
    const [issue] = issues(false);
    expect(issue?.name).to.equal('/steps/1');
    expect(issue?.detail).to.include('the client is switched off');
    expect(() => check({ steps: [{ when: { csip_event: { state: 'begun' } } }] })).to.throw();
  });
});

describe('events of IEEE 2030.5 of a head-end as conditions', () => {
  let site: Site;
  afterEach(() => site.close());

  it('wake a scenario at the start and the end of an event, to the second of the server', async () => {
    site = await Site.open({
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi);
        headEnd.control(headEnd.program({ default: {} }), { modes: { opModMaxLimW: 4000 }, inS: 120, durationS: 60 });
      },
    });
    // the clock of the server is no multiple of a tick
    await site.advance(30.3, 0.5);
    const { server_time: now } = await site.get('csip/time');
    const [{ start }] = (await site.get('csip/controls')).controls;
    const inS = (Date.parse(start) - Date.parse(now)) / 1000;
    const scenario = check({
      steps: [
        { when: { csip_event: { state: 'scheduled' } } },
        {
          when: { csip_event: { state: 'started', device: 0 } },
          expect: { point: '701.W', at_most: 4000, tolerance: 20, within: 10 },
        },
        { when: { csip_event: { state: 'completed' } }, expect: { point: '704.WMaxLimPctEna', equals: 'DISABLED' } },
      ],
    });
    const report = await new ScenarioRun(scenario, site.app.scenarioHost('test'), {
      pace: 'fast',
      by: { source: 'rest' },
    }).finished;
    expect(report.state, report.failures.join()).to.equal('passed');
    const [known, started, completed] = report.steps().map(({ atS }) => atS ?? NaN);
    expect(known).to.equal(0);
    expect(started).to.be.closeTo(inS, 0.001);
    expect(completed).to.be.closeTo(inS + 60, 0.001);
  });
});
