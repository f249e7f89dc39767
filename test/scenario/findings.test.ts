import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { checkRequest, scenarioNames } from '../../src/app/scenarios/checks.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import type { Peer } from '../../src/core/findings/peer.ts';
import type { RuleHandle } from '../../src/core/findings/rule.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { dropFault } from '../../src/fault-kinds/modbus-transport.ts';
import { layoutIssues } from '../../src/scenario/file/layout.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import { reportDocument } from '../../src/scenario/report/document.ts';
import { htmlPage } from '../../src/scenario/report/html.ts';
import { junitXml } from '../../src/scenario/report/junit.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { configOf } from '../support/configured.ts';
import { plainRule as row } from '../support/findings.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const wrong = () => ({ text: 'wrote too much' });

describe('assertions of scenarios about peers', () => {
  let app: App;
  let wall: HandWall;
  let peer: Peer;
  let rules: { readonly t_bad: RuleHandle; readonly t_mild: RuleHandle; readonly t_timed: RuleHandle };

  function start(...flags: readonly string[]): void {
    wall = new HandWall();
    const config = configOf('--device_type', 'PV-3Phase', '--start_paused', 'yes', ...flags);
    app = createApp(config, {
      logBook: createLogBook({ write: () => undefined }),
      wall,
      later: new HandTimers(wall).later,
      checkReplies: true,
    });
    rules = app.findings.rules('modbus', {
      t_bad: row,
      t_mild: { ...row, severity: 'remark' },
      t_timed: { ...row, mixesClocks: true },
    });
    peer = app.findings.peer({ protocol: 'modbus', address: '127.0.0.2' });
    peer.isValid = true;
  }
  beforeEach(() => {
    start();
  });

  /** Runs a scenario in which `acts` happen at their ticks. */
  async function run(content: unknown, acts: readonly (() => void)[] = []): Promise<RunReport> {
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const started = new ScenarioRun(scenario, app.scenarioHost('test'), { pace: 'fast', by: { source: 'rest' } });
    const left = [...acts];
    const end = app.plant.onTick(() => left.shift()?.());
    const report = await started.finished;
    end();
    return report;
  }
  const verdicts = (report: RunReport) => report.assertions().map(({ state, message }) => `${state}: ${message}`);
  const bad = () => {
    rules.t_bad.broken(peer, 0, wrong);
  };
  const throughout = (no_findings: unknown) => ({ steps: [{ expect: { no_findings, for: 5 } }] });

  it('fail with rule, peer, case and clause, and say how many checks came up', async () => {
    const [verdict] = verdicts(await run(throughout(true), [() => rules.t_mild.exercised(peer), bad]));
    expect(verdict).to.match(
      /^failed: no violation by a peer for 5 s: broken [\d.]+ s after the step; modbus\.t_bad \(violation\) by 127\.0\.0\.2: wrote too much \(Standard 1\.2\); 2 of \d+ checks came up; \d+ are not judged/,
    );
  });

  it('count from the begin of the step, also repetitions of earlier cases', async () => {
    bad();
    const steps = [{ expect: { no_findings: true, for: 2 } }];
    expect(verdicts(await run({ steps }))[0]).to.match(/^passed: there was none; 0 of/);
    expect(verdicts(await run({ steps }, [bad]))[0]).to.match(/^failed: /);
    expect(app.findings.ruleOf('modbus.t_bad')).to.include({ severity: 'violation' });
    expect(peer.cells.flatMap((cell) => cell?.broken ?? [])).to.deep.equal([1]);
  });

  it('count from the start of the run in always and finally', async () => {
    bad();
    const content = {
      steps: [{ after: 3 }],
      always: [{ no_findings: true }],
      finally: [{ expect: { no_findings: true } }],
    };
    expect(verdicts(await run(content)).map((text) => text.slice(0, 6))).to.deep.equal(['passed', 'passed']);
    expect(verdicts(await run(content, [bad])).map((text) => text.slice(0, 6))).to.deep.equal(['failed', 'failed']);
  });

  it('take violations alone by default, and what they name', async () => {
    const mild = () => rules.t_mild.broken(peer, 0, wrong);
    const state = async (no_findings: unknown) => (await run(throughout(no_findings), [mild])).assertions()[0]?.state;
    expect(await state(true)).to.equal('passed');
    expect(await state({ severity: 'remark' })).to.equal('failed');
    expect(await state({ severity: 'remark', protocol: 'dnp3' })).to.equal('passed');
    expect(await state({ severity: 'remark', protocol: 'modbus' })).to.equal('failed');
    expect(await state({ severity: 'remark', except: ['modbus.t_mild'] })).to.equal('passed');
  });

  it('count neither excused nor waived cases', async () => {
    app.faults.inject([{ protocol: 'modbus', kind: dropFault.kind }], { source: 'rest' });
    const content = {
      steps: [
        {
          expect: [
            { no_findings: true, for: 5 },
            { finding: { rule: 'modbus.t_bad' }, within: 5 },
          ],
        },
      ],
    };
    const states = (report: RunReport) => report.assertions().map(({ state }) => state);
    expect(states(await run(content, [bad]))).to.deep.equal(['passed', 'failed']);
    app.faults.clear({});
    wall.advance(30_000);
    // the requests until the second one after the fault may be consequences of it
    peer.requests += 3;
    expect(states(await run(content, [bad]))).to.deep.equal(['failed', 'passed']);
    app.findings.waivers.add({ rule: 'modbus.t_bad', peer: null, reason: 'agreed', untilMs: null });
    expect(states(await run(content, [bad]))).to.deep.equal(['passed', 'failed']);
  });

  it('catch a peer that is wrong on purpose, so many times', async () => {
    const content = { steps: [{ expect: { finding: { rule: 'modbus.t_bad', at_least: 3 }, within: 9 } }] };
    expect(verdicts(await run(content, [bad, bad, bad]))[0]).to.match(/^passed: it came 3 times/);
    expect(verdicts(await run(content, [bad, bad]))[0]).to.match(
      /^failed: a peer breaks modbus\.t_bad 3 times within 9 s: .* it came 2 times/,
    );
  });

  it('ask that checks came up, and name the situation of those that did not', async () => {
    const content = { steps: [{ expect: { exercised: ['modbus.t_bad', 'modbus.t_mild'], within: 9 } }] };
    const exercise = () => rules.t_mild.exercised(peer);
    exercise();
    expect(verdicts(await run(content, [bad, exercise]))).to.deep.equal(['passed: all came up']);
    expect(verdicts(await run(content, [bad]))[0]).to.contain('never came up: modbus.t_mild (The peer does it.)');
  });

  it('name five cases at most', async () => {
    const peers = Array.from({ length: 7 }, (_, n) =>
      app.findings.peer({ protocol: 'modbus', address: `10.0.0.${n}` }),
    );
    const all = () => {
      for (const each of peers) {
        each.isValid = true;
        rules.t_bad.broken(each, 0, wrong);
      }
    };
    const [verdict = ''] = verdicts(await run(throughout(true), [all]));
    expect(verdict.match(/wrote too much/g)).to.have.length(5);
    expect(verdict).to.contain('; and 2 more; ');
  });

  it('fail while findings are off', async () => {
    start('--findings', 'no');
    expect(verdicts(await run(throughout(true)))[0]).to.match(/^failed: .*findings are off$/);
  });

  it('go on with finally when no peer has anything to do any more', async () => {
    peer.connected(0);
    const wait = {
      rule: rules.t_bad,
      peer,
      deviceIndex: 0,
      waitMs: 5000,
      presence: 'connected',
      expired: wrong,
    } as const;
    app.findings.waitFor(wait);
    const content = { steps: [{ after: 1 }], finally: [{ expect: { no_findings: true } }] };
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const host = app.scenarioHost('test');
    let stood = 0;
    const timers = new HandTimers(wall);
    const later: typeof host.later = (_ms, work) => {
      stood += 1;
      queueMicrotask(() => {
        timers.pass(0);
        if (stood === 3) rules.t_bad.broken(peer, 0, wrong);
        if (stood === 3) app.findings.close();
        work();
      });
      return () => undefined;
    };
    const report = await new ScenarioRun(scenario, { ...host, later }, { pace: 'fast', by: { source: 'rest' } })
      .finished;
    expect(stood).to.equal(3);
    expect(report.state).to.equal('failed');
  });

  it('are checked for rules that there are', () => {
    const content = {
      steps: [
        { expect: [{ no_findings: { except: ['modbus.t_bda'] } }, { finding: { rule: 'x' } }, { exercised: ['y'] }] },
      ],
    };
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const names = { ...scenarioNames(), findingRules: ['modbus.t_bad'] };
    const issues = [...layoutIssues(scenario, { plant: app.plant, hasCsip: false, names })].flatMap((issue) =>
      issue === null ? [] : issue.detail,
    );
    expect(issues).to.deep.equal([
      'there is no rule modbus.t_bda; did you mean modbus.t_bad?; GET findings/rules lists them',
      'there is no rule x; GET findings/rules lists them',
      'there is no rule y; GET findings/rules lists them',
    ]);
  });

  it('have the number of checks in every form of the result', async () => {
    const report = await run({ steps: [{ after: 3 }] }, [bad]);
    const { rules: all = 0 } = report.checksOfPeers ?? {};
    expect(report.checksOfPeers?.exercised).to.equal(1);
    const origin = { version: '1', buildId: 'b', seed: 1 };
    expect(reportDocument(report, origin).checks_of_peers).to.deep.equal({ exercised: 1, rules: all });
    expect(htmlPage(report, origin)).to.contain(`<th scope="row">Checks of peers</th><td>1 of ${all} came up</td>`);
    expect(junitXml([report])).to.contain('<property name="checks_of_peers.exercised" value="1"/>');
    peer.isValid = false;
    const alone = await run({ steps: [{ after: 3 }] });
    expect(htmlPage(alone, origin)).not.to.contain('Checks of peers');
    expect(junitXml([alone])).not.to.contain('properties');
  });
});
