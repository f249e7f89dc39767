import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { closed, freePorts } from '../support/ports.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, installedPath } from './support/peers.ts';

const deployed = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));
const program = (name: 'prometheus' | 'promtool') => join(installedPath('prometheus'), name);

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(deployed('grafana/dashboards/derbench.json'), 'utf8')) as {
  panels: readonly (Panel & { readonly type: string })[];
};
const drawn = panels.filter(({ type }) => type !== 'row');

/** An expression as Grafana sends it for all simulators. */
const sent = (expr: string, device: string) =>
  expr
    .replaceAll('$__rate_interval', '10s')
    .replaceAll(/\$(?:instance|job)/g, '.*')
    .replaceAll('$device', device);

/** A server between Prometheus and the simulator that counts the scrapes. */
class Relay {
  readonly #server: Server;
  #scrapes = 0;
  /** the third scrape has begun: the samples of two are stored */
  readonly third: Promise<void>;

  constructor(port: number) {
    let resolveThird: () => void;
    this.third = new Promise((resolve) => {
      resolveThird = resolve;
    });
    this.#server = createServer((request, response) => {
      this.#scrapes += 1;
      if (this.#scrapes === 3) resolveThird();
      ask(port, request.url ?? '').then(
        ({ status, headers, text }) =>
          response.writeHead(status, { 'content-type': headers['content-type'] }).end(text),
        (error: unknown) => response.destroy(error as Error),
      );
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return closed(this.#server);
  }
}

describeWith(['prometheus'], 'behind the dashboard of Grafana', () => {
  let folder: string;
  let simulator: RunningSimulator;
  let relay: Relay;
  let prometheus: ChildProcess;
  let port: number;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-'));
    const central = await freePorts(2);
    port = central + 1;
    const protocols = ['-d3', 'yes', '--dnp3_port', '0', '--ocpp_enable', 'yes'];
    simulator = await startSimulator([
      ...['--config', 'mixed-site', ...protocols],
      ...['--ocpp_csms_url', `ws://127.0.0.1:${central}`],
    ]);
    relay = new Relay(simulator.httpPort);
    const config = readFileSync(deployed('prometheus.yml'), 'utf8')
      .replaceAll(/(_interval): \w+/g, '$1: 1s')
      .replace('derbench:8111', `127.0.0.1:${await relay.listen()}`);
    writeFileSync(join(folder, 'prometheus.yml'), config);
    copyFileSync(deployed('alerts.yml'), join(folder, 'alerts.yml'));
    prometheus = spawn(
      program('prometheus'),
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    await relay.third;
  });
  after(async () => {
    const ended = once(prometheus, 'close');
    prometheus.kill('SIGTERM');
    await ended;
    await relay.stop();
    expect(await simulator.stop()).to.equal(0);
    rmSync(folder, { recursive: true });
  });

  /** The series that an expression gives now. @throws AssertionError for an expression with an error */
  async function seriesOf(expr: string, device = '.*'): Promise<readonly Json[]> {
    const { json } = await ask(port, `/api/v1/query?query=${encodeURIComponent(sent(expr, device))}`);
    expect(json.status, json.error).to.equal('success');
    return json.data.result;
  }

  const seriesOfPanel = async (title: string, device?: string) => {
    const { targets = [] } = drawn.find((panel) => panel.title === title) ?? {};
    return (await Promise.all(targets.map(({ expr }) => seriesOf(expr, device)))).flat();
  };
  const labelsOf = (series: readonly Json[], label: string) => series.map(({ metric }) => metric[label]).sort();

  for (const { title, targets } of drawn)
    it(`draws "${title}"`, async () => {
      for (const { expr } of targets) expect(await seriesOf(expr), expr).not.to.have.length(0);
    });

  it('shows the devices of the site by name, or those that are chosen', async () => {
    const { json } = await ask(simulator.httpPort, '/api/sim/devices');
    const names = json.devices.map(({ name }: Json) => name).sort();
    expect(labelsOf(await seriesOfPanel('Active power P'), 'name')).to.deep.equal(names);
    expect(labelsOf(await seriesOfPanel('Active power P', 'Carport|Backup'), 'name')).to.deep.equal([
      'Backup',
      'Carport',
    ]);
  });

  it('counts devices, and shows the protocols that run with their states', async () => {
    const counts = await seriesOfPanel('Devices in service');
    expect(counts.map(({ value }) => value[1])).to.deep.equal(['7', '7']);
    const states = (await seriesOfPanel('State')).map(({ metric: { protocol, state } }) => `${protocol} ${state}`);
    expect(states).to.include.members(['modbus_tcp listening', 'dnp3 listening']);
    expect(states.filter((state) => state.startsWith('csip'))).to.deep.equal([]);
  });

  it('has loaded the alerts', async () => {
    const { json } = await ask(port, '/api/v1/rules');
    expect(json.data.groups.flatMap(({ rules }: Json) => rules)).to.have.length(6);
  });
});

/** Values of a series, 10 s apart. */
type Series = Readonly<Record<string, string>>;

const at = (labels = '') => `{instance="lab:8111",job="derbench"${labels}}`;

/** A simulator that is well, at the edge of each rule. */
const well: Series = {
  [`derbench_event_loop_stalls_total${at()}`]: '3x60',
  [`derbench_tick_age_seconds${at()}`]: '7.5x60',
  [`derbench_tick_interval_seconds${at()}`]: '1.5x60',
  [`derbench_clock_paused${at()}`]: '0x60',
  [`derbench_protocol_state${at(',protocol="ocpp",state="retrying"')}`]: '0x60',
  [`derbench_protocol_state${at(',protocol="ocpp",state="connected"')}`]: '1x60',
  [`derbench_protocol_enabled${at(',protocol="ocpp"')}`]: '1x60',
  [`derbench_findings_rules_broken${at(',protocol="ocpp",severity="remark"')}`]: '2x60',
  [`derbench_findings_rules_broken${at(',protocol="ocpp",severity="risk"')}`]: '0x60',
  [`derbench_fleet_alarms${at(',asset_type="pv",severity="warning"')}`]: '2x60',
  [`derbench_fleet_alarms${at(',asset_type="pv",severity="error"')}`]: '0x60',
  [`derbench_log_entries_dropped_total${at()}`]: '100x60',
};

const retrying = `derbench_protocol_state${at(',protocol="ocpp",state="retrying"')}`;
const late = { [`derbench_tick_age_seconds${at()}`]: '7.6x60' };

/** Series that differ from those of a simulator that is well, with the alerts that fire after some time. */
const situations: readonly (readonly [title: string, differs: Series, after: string, alerts: readonly string[]])[] = [
  ['a simulator that is well', {}, '6m', []],
  ['a stall', { [`derbench_event_loop_stalls_total${at()}`]: '3x29 4x30' }, '6m', ['DerbenchStalled']],
  ['a late tick', late, '6m', ['DerbenchTickLate']],
  ['a paused clock', { ...late, [`derbench_clock_paused${at()}`]: '1x60' }, '6m', []],
  ['a protocol that is down for 50 s', { [retrying]: '1x60' }, '50s', []],
  ['a protocol that is down for 70 s', { [retrying]: '1x60' }, '70s', ['DerbenchProtocolDown']],
  [
    'a protocol that is switched off',
    { [retrying]: '1x60', [`derbench_protocol_enabled${at(',protocol="ocpp"')}`]: '0x60' },
    '6m',
    [],
  ],
  [
    'the first finding, whose series begins with it',
    { [`derbench_findings_rules_broken${at(',protocol="dnp3",severity="violation"')}`]: '_x29 1x30' },
    '6m',
    ['DerbenchFinding'],
  ],
  [
    'an alarm that is an error',
    { [`derbench_fleet_alarms${at(',asset_type="pv",severity="error"')}`]: '1x60' },
    '6m',
    ['DerbenchAlarm'],
  ],
  ['a full log', { [`derbench_log_entries_dropped_total${at()}`]: '100+1x60' }, '6m', ['DerbenchLogDropped']],
];

describeWith(['prometheus'], 'promtool', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const promtool = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program('promtool'), args, { encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  it('accepts the configuration and its alerts', () => {
    const { status, output } = promtool('check', 'config', '--lint=all', '--lint-fatal', deployed('prometheus.yml'));
    expect(status, output).to.equal(0);
  });

  for (const [title, differs, after, alerts] of situations)
    it(`${alerts.join() || 'no alert'} for ${title}`, () => {
      const series = Object.entries({ ...well, ...differs }).map(([name, values]) => ({ series: name, values }));
      const firing = {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: after,
        exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      };
      const tests = [{ interval: '10s', input_series: series, promql_expr_test: [firing] }];
      const file = join(folder, 'test.json');
      writeFileSync(file, JSON.stringify({ rule_files: [deployed('alerts.yml')], evaluation_interval: '10s', tests }));
      const { status, output } = promtool('test', 'rules', file);
      expect(status, output).to.equal(0);
    });
});
