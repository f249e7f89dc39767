import { expect } from 'chai';
import { checkRequest } from '../../../../src/app/scenarios/checks.ts';
import { dealt } from '../../../support/choice.ts';
import { pick } from '../../../support/depth.ts';
import { runSeed } from '../../../support/seed.ts';
import { bundledScenarioPath } from '../../../../src/config/profile/bundled.ts';
import { sourceOfFile, sourceOfRequest } from '../../../../src/scenario/file/source.ts';
import type { Source } from '../../../../src/scenario/file/source.ts';
import { readScenario } from '../../../../src/scenario/file/read.ts';
import { reportDocument } from '../../../../src/scenario/report/document.ts';
import { ScenarioRun } from '../../../../src/scenario/run/run.ts';
import { byTest } from '../../../support/rig.ts';
import { configOfBundled, scenarioFleet, wholeApp } from '../../support/scenario-fleet.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The document of a run in one process, without its real times. */
async function alone(config: Mapping, source: Source): Promise<Mapping> {
  const app = wholeApp(config);
  const scenario = readScenario(source, 'test', {}, checkRequest);
  const run = new ScenarioRun(scenario, app.scenarioHost(scenario.name), { pace: 'fast', by: byTest });
  const document = reportDocument(await run.finished, {
    version: '1.2.3',
    buildId: 'build',
    seed: Number(config['seed'] ?? 0),
  });
  return plain(JSON.parse(JSON.stringify(document)) as Mapping);
}

const plain = (document: Mapping): Mapping =>
  Object.fromEntries(Object.entries(document).filter(([name]) => name !== 'real'));

/** The same of a run in a fleet. */
async function overShards(config: Mapping, sizes: readonly number[], addition: Mapping): Promise<Mapping> {
  const { ask, ended } = await scenarioFleet(config, sizes);
  const added = await ask('POST', '/scenarios', addition);
  expect(added.status, JSON.stringify(added.body)).to.equal(201);
  const started = await ask('POST', '/scenarios/1/start', {});
  expect(started.status, JSON.stringify(started.body)).to.equal(200);
  return plain(await ended('1'));
}

const bundledRuns = [
  ['freq-droop', [1, 1], { tick: 0.5 }],
  ['pv-cloudy-day', [1], { tick: 60 }],
  ['watt-var', [2, 1], { tick: 0.5 }],
] as const;
/** one by the seed, since each takes some seconds */
const one = dealt(bundledRuns, bundledRuns.length, runSeed);
const chosen = pick({ quick: one, ci: one, full: [...bundledRuns] });

describe('fleet/gateway: scenarios', function () {
  this.timeout(60_000);
  for (const [name, sizes, over] of chosen)
    it(`${name} has over shards the result of one process`, async () => {
      const config = { ...configOfBundled(name), ...over };
      const whole = await alone(config, sourceOfFile(bundledScenarioPath(name) ?? ''));
      const fleet = await overShards(config, sizes, { bundled: name });
      expect(fleet).to.deep.equal(whole);
      expect(whole['state']).to.equal('passed');
    });
});

const pv = { device_type: 'PV-3Phase', profile: '10kW-3Phase' };
const fourPv = { seed: 3, devices: [pv, pv, pv, pv], tick: 1 };
const stepped = {
  name: 'steps',
  always: [{ no_alarm: true }],
  steps: [
    { environment: { irradiance_w_m2: 1000 }, grid: { voltage_pu: 1.01 } },
    {
      device: 3,
      name: 'a limit',
      registers: { 704: { WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED' } },
      expect: [
        { device: 3, point: '704.WMaxLimPctEna', equals: 'ENABLED' },
        { device: 3, point: '701.W', at_most: 4000, tolerance: 1, within: '10 s' },
        { device: 0, snapshot: 'metrics.power_kw', above: 8, after: '10 s', for: '5 s' },
      ],
    },
    { after: 2.5, mark: 'before', device: 1, hold: { id: 'peak', values: { '704.WMaxLimPct': 50 }, duration_s: 60 } },
    { when: { device: 1, point: '701.W', below: 5200, timeout: '30 s' }, device: 2, command: 'stop' },
    {
      when: { device: 2, point: '701.W', equals: 0, timeout: '2 min' },
      expect: [{ device: 1, point: '701.W', below: 0, since: 'before' }],
    },
    { device: 3, local: true, expect: { get: 'controls/local?device=3', pointer: '/local', equals: true } },
    {
      after: 1,
      fault: [
        { device: 0, protocol: 'device', kind: 'reboot', off_s: 5 },
        { device: 2, protocol: 'device', kind: 'reboot', off_s: 5 },
      ],
    },
    { after: 1, clear_faults: true },
    {
      after: '90 s',
      device: 1,
      expect: [{ nothing_left: { device: 1 } }, { point: '704.WMaxLimPctEna', equals: 'DISABLED' }],
    },
  ],
  finally: [{ expect: { consistent: true } }],
};

describe('fleet/gateway: steps of scenarios', function () {
  this.timeout(30_000);

  it('have their effect at the shard of their device, with the report of one process', async () => {
    const whole = await alone(fourPv, sourceOfRequest(stepped));
    const fleet = await overShards(fourPv, [2, 2], { scenario: stepped });
    expect(fleet).to.deep.equal(whole);
    const { steps } = whole as {
      readonly steps: readonly { readonly actions: readonly { readonly status: number }[] }[];
    };
    const statuses = steps.flatMap(({ actions }) => actions.map(({ status }) => status));
    expect(statuses).to.have.length(8);
    expect(Math.max(...statuses)).to.be.below(300);
  });

  it('limit the site as a whole, with the report of one process', async () => {
    const limited = [0, 3].map((device) => ({ device, point: '701.W', equals: 1250, tolerance: 2, within: '5 s' }));
    const scenario = {
      name: 'a limit',
      steps: [
        { environment: { irradiance_w_m2: 1000 }, expect: { device: 0, point: '701.W', above: 8000, within: '10 s' } },
        { after: 10, site: { export_limit_kw: 5 }, expect: limited },
      ],
    };
    const whole = await alone(fourPv, sourceOfRequest(scenario));
    const fleet = await overShards(fourPv, [2, 2], { scenario });
    expect([whole['state'], whole['failures']]).to.deep.equal(['passed', []]);
    expect(fleet).to.deep.equal(whole);
  });

  it('that shards cannot have are refused by name before anything starts', async () => {
    const { ask } = await scenarioFleet(fourPv, [4]);
    const scenario = {
      steps: [
        { call: { request: 'POST /sunspec-client/connect', body: { host: '127.0.0.1' } } },
        { after: 1, expect: { no_findings: true } },
        { when: { write: { model: 704 }, timeout: '5 s' }, call: { request: 'POST /exchange', body: {} } },
        { registers: { 704: { Nonsense: 1 } }, expect: { answered: true } },
      ],
    };
    const { status, body } = await ask('POST', '/scenarios/check', { scenario });
    const { errors } = body as { readonly errors: readonly { readonly name: string; readonly detail: string }[] };
    expect(status).to.equal(422);
    const found = Object.fromEntries(errors.map(({ name, detail }) => [name.slice('/scenario/steps/'.length), detail]));
    expect(Object.keys(found)).to.have.members(['0/call', '1/expect', '2', '2/call', '3/registers', '3/expect']);
    expect(found['0/call']).to.match(/^POST \/sunspec-client\/connect: the SunSpec client is one of a single process/);
    expect(found['1/expect']).to.match(/^judges peers/);
    expect(found['2']).to.match(/^waits for a write of a peer/);
    expect(found['2/call']).to.match(/^POST \/exchange is not served over shards\. Co-simulation/);
    expect(found['3/expect']).to.match(/^compares commands with the messages/);
    const beside = await ask('POST', '/scenario-runs', { scenario });
    expect([beside.status, (beside.body as Mapping)['code']]).to.deep.equal([501, 'fleet-unsupported']);
  });
});

describe('fleet/gateway: the clock of a scenario', function () {
  this.timeout(30_000);
  const long = { name: 'long', duration: '30 h', steps: [{ expect: { point: '701.W', above: -1 } }] };

  const started = async (sizes: readonly number[]) => {
    const fleet = await scenarioFleet({ ...fourPv, tick: 5 }, sizes);
    expect((await fleet.ask('POST', '/scenarios', { scenario: long })).status).to.equal(201);
    expect((await fleet.ask('POST', '/scenarios/1/start', {})).status).to.equal(200);
    return fleet;
  };

  it('is that of one scenario, and of no other client', async () => {
    const { ask, ended } = await started([4]);
    for (const [path, body] of [
      ['/controls/time', { mode: 'accelerated' }],
      ['/controls/time/step', { ticks: 1 }],
    ] as const) {
      const { status, body: problem } = await ask('POST', path, body);
      expect([status, (problem as Mapping)['detail']]).to.deep.equal([
        409,
        'the scenario "long" has the clock until it ends; POST scenarios/{id}/stop ends it',
      ]);
    }
    const second = await ask('POST', '/scenarios/1/start', {});
    expect([second.status, (second.body as Mapping)['detail']]).to.deep.equal([
      409,
      'the scenario "long" runs; one runs at a time',
    ]);
    expect(((await ask('GET', '/scenarios')).body as Mapping)['clock_owner']).to.equal('long');
    await ask('POST', '/scenarios/1/stop');
    expect((await ended('1'))['state']).to.equal('stopped');
    expect((await ask('POST', '/controls/time/step', { ticks: 1 })).status).to.equal(200);
  });

  it('runs on at the pace real, and stands again after the run', async () => {
    const { ask, ended, pass } = await scenarioFleet(fourPv, [2, 2]);
    const scenario = {
      name: 'real',
      steps: [
        { after: 2.5, device: 3, registers: { 704: { WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED' } } },
        {
          when: { device: 3, point: '701.W', below: 4001, timeout: '20 s' },
          expect: { device: 0, point: '701.W', above: 8000 },
        },
      ],
    };
    expect((await ask('POST', '/scenarios', { scenario })).status).to.equal(201);
    const starting = ask('POST', '/scenarios/1/start', { pace: 'real' });
    await pass(1000);
    expect((await starting).status).to.equal(200);
    await pass(20_000);
    const { state, failures, simulated, steps } = await ended('1');
    expect([state, failures]).to.deep.equal(['passed', []]);
    expect((simulated as Mapping)['pace']).to.equal('real');
    // a tick lasts 1 s, and does not end for a step
    expect((steps as readonly Mapping[])[0]?.['at_s']).to.equal(3);
    await pass(3000);
    expect(((await ask('GET', '/controls/time')).body as Mapping)['mode']).to.equal('paused');
  });

  it('is led by one gateway, to which the others pass requests on', async () => {
    const { gatewayOf, ended, ask } = await started([2, 2]);
    const other = await gatewayOf();
    expect(other.lead.isLeader).to.equal(false);
    const text = await other.ask('GET', '/scenarios/text?id=1');
    expect([text.status, JSON.parse(String(text.body)).name]).to.deep.equal([200, 'long']);
    const stopped = await other.ask('POST', '/scenarios/1/stop');
    expect(stopped.status).to.equal(200);
    expect((await ended('1'))['state']).to.equal('stopped');
    expect((await other.ask('GET', '/scenario-runs')).body).to.deep.equal((await ask('GET', '/scenario-runs')).body);
  });

  it('is lost with its gateway: the next leader has the run as an error', async () => {
    const { gatewayOf, link, pass, settle } = await started([2, 2]);
    const other = await gatewayOf();
    await settle(50);
    await link.close();
    await pass(6000);
    expect(other.lead.isLeader).to.equal(true);
    const { runs } = (await other.ask('GET', '/scenario-runs')).body as { readonly runs: readonly Mapping[] };
    expect(runs).to.have.length(1);
    expect(runs[0]?.['run']).to.deep.include({ state: 'error', error: 'the gateway that ran it is gone' });
  });

  it('leaves its ended runs to the next leader, but for those that were removed', async () => {
    const { gatewayOf, ask, ended, lead, link, pass, settle } = await started([2, 2]);
    const other = await gatewayOf();
    const listed = async (from: typeof ask) =>
      ((await from('GET', '/scenario-runs')).body as { readonly runs: readonly { readonly run: Mapping }[] }).runs;
    for (const run of ['1', '2']) {
      await ask('POST', '/scenarios/1/stop');
      await ended(run);
      await pass(1000);
      if (run === '1') expect((await ask('POST', '/scenarios/1/start', {})).status).to.equal(200);
    }
    const [newest] = await listed(ask);
    expect((await ask('DELETE', '/scenario-runs/1')).status).to.equal(200);
    await lead.stop();
    await link.close();
    await pass(6000);
    expect(other.lead.isLeader).to.equal(true);
    await settle(50);
    expect((await listed(other.ask)).map(({ run }) => run)).to.deep.equal([newest?.run]);
    const report = (await other.ask('GET', '/scenario-runs/1/report')).body as Mapping;
    expect([report['state'], report['steps']]).to.deep.equal(['stopped', (await other.ended('1'))['steps']]);
    expect((report['steps'] as readonly unknown[]).length).to.equal(1);
  });

  it('ends with the run when a shard is lost', async () => {
    const { shards, ended, settle, pass } = await started([2, 2]);
    await settle(50);
    await shards[1]?.member.close();
    await pass(2000);
    const { state, error } = await ended('1');
    expect([state, error]).to.deep.equal(['error', 'the shard "b" is lost']);
  });
});
