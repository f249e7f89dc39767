/**
 * A simulator with all six kinds of devices and all protocols on, at peers of the tests: a central system of OCPP 2.1, a
 * head-end of IEEE 2030.5 and a master of DNP3. Nothing passes but in `advance`. The peers depend on nothing but the time,
 * so that two processes meet the same ones.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Device } from '../../../src/contract/device.ts';
import type { OcppStations } from '../../../src/contract/ocpp.ts';
import type { DeviceAdapter } from '../../../src/core/device-adapter.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import { HeadEnd } from '../../csip/head-end/head-end.ts';
import { TestMaster } from '../../dnp3/rig/master.ts';
import { hex } from '../../dnp3/rig/frames.ts';
import { Central } from '../../ocpp/central/central.ts';
import { headEndPki } from '../../support/head-end.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export const labTypes = ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'EVSE'];
/** The instant at which a lab begins, simulated and real. */
export const labStartMs = Date.UTC(2026, 5, 21, 12);
/** Seconds after that at which the state of a fixture ends. */
export const fixtureS = 1860;
const storages = [1, 2];
const station = 5;
const chargePoint = 'CP-1';
/** EndDevices behind the aggregator, in the order of the devices. */
const lfdis = labTypes.map((_, index) => `${index + 1}`.repeat(40));
/** Seconds between the polls of a client of the head-end. */
const pollS = 600;
/** Turns of the event loop without any message, after which all sides are at rest. */
const quietTurns = 10;

/** Faults, holds and limits of the first hour; some of them end in the second. */
const faults: readonly Json[] = [
  { protocol: 'device', kind: 'ignore_effect', device: 0, points: ['704.VarSetPct'] },
  { protocol: 'device', kind: 'late_effect', device: 2, delay_s: 90 },
  { protocol: 'device', kind: 'second_limiter', device: 4, limit_pct: 60, duration_s: 5000 },
  { protocol: 'modbus', kind: 'scale', factor: 1.5, points: ['701.W'], device: 1 },
  { protocol: 'device', kind: 'alarm', codes: ['over_temp'], device: 3, duration_s: 4500 },
];

export class Lab {
  readonly wall: HandWall;
  readonly timers: HandTimers;
  readonly lines: string[] = [];
  readonly #central: Central;
  readonly #headEnd: HeadEnd;
  #running: { readonly app: App; readonly port: number } | null = null;

  private constructor(central: Central, headEnd: HeadEnd, wall: HandWall) {
    [this.#central, this.#headEnd, this.wall] = [central, headEnd, wall];
    this.timers = new HandTimers(wall);
  }

  /** @param startMs wall clock */
  static async open(startMs = labStartMs): Promise<Lab> {
    const wall = new HandWall(startMs);
    const nowMs = () => wall.nowMs();
    // a central system of the second process has not seen the begin of its transaction
    const central = await Central.open({ nowMs, subprotocols: ['ocpp2.1'], wrong: () => undefined });
    const headEnd = await HeadEnd.open({ tls: null, nowMs });
    const polls = ['dcap', 'time', 'fsas', 'programs', 'ders', 'endDevices', 'mirrors', 'mirrorPost'] as const;
    for (const name of polls) headEnd.rates[name] = pollS;
    return new Lab(central, headEnd, wall);
  }

  /** Programs of the utility, with a control that lasts beyond the restart, one that begins after it, and a default. */
  #schedule(fromMs: number): void {
    const headEnd = this.#headEnd;
    for (const lfdi of lfdis) headEnd.register(lfdi);
    const program = headEnd.program({ default: { opModMaxLimW: 9500 } });
    const inS = (s: number) => (fromMs - this.wall.nowMs()) / 1000 + s;
    headEnd.control(program, { modes: { opModMaxLimW: 7000 }, inS: inS(1500), durationS: 4000, mRID: 'A'.repeat(32) });
    headEnd.control(program, {
      modes: { opModFixedPFInjectW: { displacement: 95, excitation: false } },
      inS: inS(4800),
      durationS: 1200,
      mRID: 'B'.repeat(32),
      randomizeStartS: 300,
    });
  }

  /**
   * Starts the simulator with its state in a folder.
   * @param fromMs wall clock at which the programs of the utility begin
   */
  async start(folder: string, fromMs = this.wall.nowMs(), flags: readonly string[] = []): Promise<void> {
    if (this.#headEnd.programs.length === 0) this.#schedule(fromMs);
    const { device, root } = await headEndPki();
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const csip = [
      ...['--csip_client_enable', 'yes', '--csip_server_port', String(this.#headEnd.port), '--csip_website_port', '0'],
      ...['--csip_enc', 'no', '--csip_identity', 'aggregator', '--csip_pen', '40732', '--csip_lfdi', lfdis.join()],
      ...['--csip_cert', file('cert.pem', device.cert), '--csip_key', file('key.pem', device.key)],
      ...['--csip_root_cert', file('root.pem', root.cert)],
    ];
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', this.#central.url, '--ocpp_csid', chargePoint];
    const options = {
      wall: this.wall,
      later: this.timers.later,
      logBook: createLogBook({ write: (line) => this.lines.push(line) }),
    };
    this.#running = await startApp(
      labTypes,
      [
        ...['--state_dir', join(folder, 'state'), '--remote_clock', 'simulated', '--tick', '60', '-N', '6'],
        ...['--start_date', '2026-06-21', '--start_clock_time', '12:00:00'],
        ...['--clouds', 'broken', '--irradiance_source', 'clear_sky'],
        ...csip,
        ...[...ocpp, '--ocpp_version', 'ocpp2.1', '--ocpp_auto_authorize', 'no'],
        ...['--dnp3_enable', 'yes', '--dnp3_port', '0', ...flags],
      ],
      options,
    );
    await this.settle();
  }

  get app(): App {
    if (this.#running === null) throw new Error('the simulator is not running');
    return this.#running.app;
  }

  async stop(): Promise<void> {
    await this.#running?.app.stop();
    this.#running = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#central.close();
    await this.#headEnd.close();
  }

  /** Until nobody has anything left to say. */
  async settle(): Promise<void> {
    let seen = '';
    for (let quiet = 0; quiet < quietTurns; quiet += 1) {
      await nextTurn();
      const frames = this.#central.stations.reduce((sum, { frames: { length } }) => sum + length, 0);
      const messages = `${frames} ${this.#central.requests.length} ${this.#headEnd.requests.length}`;
      if (messages !== seen || this.#headEnd.open > 0 || this.#isOwedAnswer()) quiet = 0;
      seen = messages;
    }
  }

  /** True while the station connects or waits for an answer. */
  #isOwedAnswer(): boolean {
    const adapter = this.app.adapters.find(
      (each): each is DeviceAdapter<Device, OcppStations> => each.comm === 'ocpp' && 'view' in each,
    );
    return (adapter?.view.list ?? []).some(
      ({ status }) => status.connectionState !== 'connected' || status.queue.calls > 0,
    );
  }

  async advance(seconds: number, stepS = 60): Promise<void> {
    const { plant } = this.app;
    for (let left = seconds; left > 0; left -= stepS) {
      await plant.runTo(addSeconds(plant.time.sim, Math.min(stepS, left)));
      this.timers.pass(Math.min(stepS, left) * 1000);
      await this.settle();
    }
  }

  async post(path: string, body: unknown): Promise<Json> {
    const { status, json, text } = await ask(this.#running?.port ?? 0, `/api/sim/${path}`, { method: 'POST', body });
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  async get(path: string): Promise<Json> {
    return (await ask(this.#running?.port ?? 0, `/api/sim/${path}`)).json;
  }

  /** What clients, the central system and a master do in the first hour. */
  async act(): Promise<void> {
    await this.post('faults', { inject: faults });
    const values = { '704.VarSetPct': 12, '704.VarSetEna': 'ENABLED' };
    await this.post('controls/holds?device=1', { id: 'short', values, duration_s: 900 });
    await this.post('controls/holds?device=2', { id: 'long', values, duration_s: 5400 });
    await this.post('site', { export_limit_kw: 6005 });
    for (const index of storages)
      this.app.plant.device(index).bank.transact({ source: 'modbus', peer: '192.0.2.1:502' }, ({ m704 }) => {
        [m704.WSetMod, m704.WSetPct, m704.WSetEna] = ['W_MAX_PCT', 20, 'ENABLED'];
      });
    await this.#charge();
    const { app } = this;
    const endpoint = app.adapters.map((adapter) => adapter.endpointOf?.(3)).find((each) => each?.protocol === 'dnp3');
    if (endpoint?.protocol !== 'dnp3') throw new Error('no outstation');
    const master = await TestMaster.connect({ port: endpoint.port, outstation: endpoint.outstation });
    await master.ask(5, hex('29 01 28 01 00 58 00 90 01 00 00 00'));
    await master.close();
    await this.settle();
  }

  /** A vehicle charges in a transaction that goes on after a loss of power, below a limit of the central system. */
  async #charge(): Promise<void> {
    const variable = { component: { name: 'TxCtrlr' }, variable: { name: 'ResumptionTimeout' } };
    const call = (action: string, payload: Json) => this.#central.station(chargePoint).call(action, payload);
    await call('SetVariables', { setVariableData: [{ ...variable, attributeValue: '86400' }] });
    const device = this.app.plant.device(station);
    const ev = { socPct: 10, batteryCapacityWh: 500_000 };
    device.command({ kind: 'evse.plug', connectorId: 1, ev }, { source: 'rest' });
    device.command({ kind: 'evse.authorize', connectorId: 1, idToken: 'CARD' }, { source: 'rest' });
    await this.settle();
    await this.advance(60);
    await call('SetChargingProfile', {
      evseId: 0,
      chargingProfile: {
        id: 1,
        stackLevel: 1,
        chargingProfilePurpose: 'ChargingStationMaxProfile',
        chargingProfileKind: 'Absolute',
        chargingSchedule: [
          {
            id: 1,
            chargingRateUnit: 'W',
            startSchedule: new Date(this.wall.nowMs()).toISOString(),
            chargingSchedulePeriod: [
              { startPeriod: 0, limit: 5000 },
              { startPeriod: 4500, limit: 4500 },
            ],
          },
        ],
      },
    });
    await this.settle();
  }

  /** Registers of each device. */
  registers(): readonly Buffer[] {
    return this.app.plant.devices.map(({ bank }) => Buffer.from(bank.image()));
  }

  /** Points in which the registers differ from other ones, as `0 701.W`. */
  differences(others: readonly Buffer[]): readonly string[] {
    const present = this.registers();
    return this.app.plant.devices.flatMap(({ index, bank: { layout } }) =>
      layout.slots.flatMap(({ address, def, modelName, path }) => {
        const [from, to] = [2 * (address - layout.base), 2 * (address - layout.base + def.size)];
        const [a, b] = [present[index]?.subarray(from, to), others[index]?.subarray(from, to)];
        return a && b && a.equals(b)
          ? []
          : [`${index} ${modelName}.${path} ${a?.toString('hex')} ${b?.toString('hex')}`];
      }),
    );
  }

  /** What a fixture of the state must show again: changed settings, counters, holds and faults. */
  async shown(): Promise<Json> {
    const devices: Json[] = [];
    for (const { index, bank } of this.app.plant.devices) {
      const { changes } = await this.get(`registers/changes?device=${index}`);
      const settings = Object.fromEntries((changes as Json[]).map(({ point, value }) => [point, value]));
      const counters = bank.layout.slots.filter(({ def, implemented }) => implemented && def.name.startsWith('Tot'));
      devices.push({
        settings,
        counters: Object.fromEntries(
          counters.map((slot) => [`${slot.modelName}.${slot.path}`, Number(bank.value(slot))]),
        ),
      });
    }
    const { holds } = await this.get('controls/holds');
    return {
      devices,
      holds: (holds as Json[]).map(({ id, device_index, state }) => ({ id, device_index, state })),
      faults: this.app.faults.active.map(({ facts: { id, kind } }) => `${id} ${kind.kind}`),
    };
  }
}
