/**
 * The whole simulator with charge points at a central system of the tests, over real sockets in one process. Nothing
 * passes but in `advance`: the simulated clock and the wall clock with its timers move together, and each step waits until
 * both sides have nothing left to do. The central system has the simulated time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from '../../../src/app/start-stop.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { addSeconds } from '../../../src/core/time/clock.ts';
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import type { EvseConnectorDetail } from '../../../src/contract/kinds/evse.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { OcppStations } from '../../../src/contract/ocpp.ts';
import type { Adapter } from '../../../src/core/adapter.ts';
import type { DeviceAdapter } from '../../../src/core/device-adapter.ts';
import { ask } from '../../support/http.ts';
import type { Json, JsonAnswer } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningOptions } from '../../support/running-app.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { Central } from '../central/central.ts';
import type { CentralOptions } from '../central/central.ts';
import type { CentralStation } from '../central/station.ts';

/** Turns of the event loop in which neither side does anything, after which both are at rest. */
const quietTurns = 6;
const maxTurns = 20_000;

export const id = 'CP-1';

export interface SiteOptions {
  /** default: one EVSE */
  readonly types?: readonly string[];
  readonly flags?: readonly string[];
  readonly central?: Omit<CentralOptions, 'nowMs'>;
  readonly app?: RunningOptions;
}

export class Site {
  readonly central: Central;
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly #begin: () => Promise<{ readonly app: App; readonly port: number }>;
  #running: { readonly app: App; readonly port: number } | null = null;

  private constructor(central: Central, { types = ['EVSE'], flags = [], app = {} }: SiteOptions) {
    this.central = central;
    // what is kept over a restart of the simulator
    const store = createMemoryStore();
    const all = [
      ...['--tick', '1', '--remote_clock', 'simulated', '--ocpp_enable', 'yes', '--ocpp_csms_url', central.url],
      ...['--ocpp_csid', id, '--ocpp_auto_authorize', 'no'],
      ...flags,
    ];
    this.#begin = () => startApp(types, all, { store, ...app, wall: this.wall, later: this.timers.later });
  }

  static async open(options: SiteOptions = {}): Promise<Site> {
    const nowMs = (): number => site.nowMs();
    const site: Site = new Site(await Central.open({ ...options.central, nowMs }), options);
    try {
      await site.start();
    } catch (error) {
      await site.central.close();
      throw error;
    }
    return site;
  }

  async start(): Promise<void> {
    this.#running = await this.#begin();
    await this.settle();
  }

  /** Ends the simulator; the central system goes on. */
  async stop(): Promise<void> {
    await this.#running?.app.stop();
    this.#running = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.central.close();
  }

  get app(): App {
    if (this.#running === null) throw new Error('the simulator is not running');
    return this.#running.app;
  }

  get port(): number {
    return this.#running?.port ?? 0;
  }

  /** Simulated time, ms since the epoch. */
  nowMs(): number {
    const plant = this.#running?.app.plant;
    return plant === undefined ? this.wall.nowMs() : plant.dateMs(plant.time.sim);
  }

  /** The first station as the central system has it. */
  get station(): CentralStation {
    return this.central.station(id);
  }

  /** undefined: OCPP is off */
  get #present(): DeviceAdapter<Device, OcppStations> | undefined {
    const isOcpp = (adapter: Adapter): adapter is DeviceAdapter<Device, OcppStations> => adapter.comm === 'ocpp';
    return this.app.adapters.find(isOcpp);
  }

  get #adapter(): DeviceAdapter<Device, OcppStations> {
    const adapter = this.#present;
    if (adapter === undefined) throw new Error('OCPP is off');
    return adapter;
  }

  get stations(): OcppStations {
    return this.#adapter.view;
  }

  /** Stations that are connected. */
  get peers(): number | null {
    return this.#adapter.status().peers;
  }

  connector(connectorId = 1, device = 0): EvseConnectorDetail {
    const { detail } = this.app.plant.device(device);
    const found = detail.kind === 'evse' ? detail.connectors.find((each) => each.connectorId === connectorId) : null;
    if (!found) throw new Error(`device ${device} has no connector ${connectorId}`);
    return found;
  }

  /** By a person at the station. */
  do(command: EvseCommand, device = 0): void {
    this.app.plant.device(device).command(command, { source: 'rest', peer: 'test' });
  }

  /** Frames so far and connections so far. */
  #doings(): string {
    const { stations, requests } = this.central;
    const frames = stations.reduce((sum, station) => sum + station.frames.length, 0);
    return `${frames} ${requests.length}`;
  }

  /** Neither side waits for the other, and both have the same connections. */
  #isAtRest(): boolean {
    const stations = this.#present?.view.list ?? [];
    return stations.every(({ status }) => {
      if (status.url !== this.central.url) return true;
      const station = this.central.station(status.id);
      const isConnected = status.connectionState === 'connected';
      if (!isConnected && status.connectionState === 'connecting' && status.reconnectInS === null) return false;
      if (isConnected !== station.connected || station.waiting > 0) return false;
      return station.silent || status.queue.calls === 0;
    });
  }

  /** Until stations and central system have answered each other. */
  async settle(): Promise<void> {
    let seen = '';
    for (let quiet = 0, turns = 0; quiet < quietTurns && turns < maxTurns; quiet += 1, turns += 1) {
      await nextTurn();
      const doings = this.#doings();
      if (doings !== seen || !this.#isAtRest()) quiet = 0;
      seen = doings;
    }
  }

  /** Lets time pass. @param stepS longest piece: what both sides do about a piece happens at its end */
  async advance(seconds: number, stepS = 1): Promise<void> {
    const { plant } = this.app;
    for (let left = seconds; left > 1e-9; ) {
      const piece = Math.min(stepS, left);
      await plant.runTo(addSeconds(plant.time.sim, piece));
      this.timers.pass(piece * 1000);
      await this.settle();
      left -= piece;
    }
  }

  /** Lets time pass until something is so. @throws Error after `maxS` */
  async until(what: string, isSo: () => boolean | Promise<boolean>, maxS = 60): Promise<void> {
    for (let passed = 0; !(await isSo()); passed += 1) {
      if (passed >= maxS) throw new Error(`${what}: not within ${maxS} s\n${this.story()}`);
      await this.advance(1);
    }
  }

  /** Both sides go on while a request of REST waits for its answer. */
  rest(path: string, body?: unknown, method?: string): Promise<JsonAnswer> {
    const given = body === undefined ? {} : { body };
    return ask(this.port, `/api/sim/${path}`, { ...given, ...(method !== undefined && { method }) });
  }

  async get(path: string): Promise<Json> {
    const { status, json, text } = await this.rest(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  async post(path: string, body: unknown = {}): Promise<Json> {
    const { status, json, text } = await this.rest(path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return json;
  }

  /** A call of the central system; its payload, or the code of a CALLERROR. */
  async call(action: string, payload: Json = {}, station = this.station): Promise<Json> {
    const reply = await station.call(action, payload);
    return reply.kind === 'result' ? reply.payload : reply;
  }

  /** The frames so far, for messages. */
  story(): string {
    return this.station.frames
      .slice(-60)
      .map(({ direction, text }) => `${direction} ${text}`)
      .join('\n');
  }
}
