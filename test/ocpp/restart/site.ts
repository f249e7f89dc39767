/**
 * A station with a real device whose process ends at any instant: at a step of the disk, before a frame goes out, or
 * after it has arrived. What it kept is in a folder that loses what was not synchronised. The device is saved once a
 * second, and with the changes that a frame waits for.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EvseCommand } from '../../../src/contract/kinds/evse-commands.ts';
import { errorText, SimError } from '../../../src/core/errors.ts';
import { keptList } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { createRandom } from '../../../src/core/random.ts';
import type { JsonValue } from '../../../src/core/store.ts';
import type { RemoteClock } from '../../../src/core/time/remote-clock.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { OcppVersion } from '../../../src/contract/ocpp.ts';
import { versionTable } from '../../../src/ocpp/adapter.ts';
import { createStationPort } from '../../../src/ocpp/bridge.ts';
import { SentLimits } from '../../../src/ocpp/charging/sent-limits.ts';
import { CallError, noAnswer, noDisturber } from '../../../src/ocpp/rpc/model.ts';
import type { CallOutcome, Line, OcppSubprotocol, Payload } from '../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import { KeptOffset } from '../../../src/ocpp/station/kept-offset.ts';
import { createInsistence } from '../../../src/ocpp/station/insistence.ts';
import { stationSlots } from '../../../src/ocpp/station/stack.ts';
import type { StackOptions, VersionStack } from '../../../src/ocpp/station/stack.ts';
import type { StationPort } from '../../../src/ocpp/station/port.ts';
import { createFileStore } from '../../../src/state/file-store.ts';
import type { FileStore } from '../../../src/state/file-store.ts';
import { KindRig, operator } from '../../der/kinds/support.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import type { CentralAnswer } from '../central/answers.ts';

/** How a process ends without warning. */
export interface Cut {
  /** steps of disk and line until then */
  readonly steps: number;
  readonly kind: 'kill' | 'power';
  /** octets beyond the synchronised ones that survive a loss of power by luck */
  readonly luck: number;
}

export interface RestartOptions {
  readonly version: OcppVersion;
  readonly profile?: string;
  /** true: processes have no connection at their start */
  readonly startsOffline?: boolean;
  /** of the station; default: it keeps no lines */
  readonly log?: Logger;
  /** by action; `nowMs`: the time of the central system */
  readonly answers: (nowMs: () => number) => Readonly<Record<string, CentralAnswer>>;
}

const dead = new Promise<never>(() => undefined);
/** Turns of the event loop after which disk and line are at rest. */
const quietTurns = 8;
const slotOfPlant = 'plant';

const access = { url: 'ws://central.test', guarded: false, securityProfile: 0, password: null } as const;
const network: StackOptions['network'] = {
  access,
  settings: access,
  slot: null,
  password: null,
  hasConnected: false,
  setAccess: () => undefined,
  takeAddress: () => false,
  setBackOff: () => undefined,
  setMessageTimeout: () => undefined,
  setWildcards: () => undefined,
};
const connection: StackOptions['connection'] = {
  securityProfile: 0,
  password: null,
  reconnect: () => undefined,
  restart: () => undefined,
  setPassword: () => undefined,
  setSecurityProfile: () => undefined,
  setCertificates: () => undefined,
  setPingInterval: () => undefined,
};

/** One process of the station. */
class Process {
  readonly kind: KindRig;
  readonly port: StationPort;
  readonly store: FileStore;
  readonly wall: HandWall;
  readonly timers: HandTimers;
  readonly clock: RemoteClock;
  stack: VersionStack;
  isAlive = true;
  isOpen = false;
  /** frames on their way */
  busy = 0;
  readonly #site: RestartSite;
  readonly #parts: Readonly<Record<string, Kept>>;
  readonly #further = new Map<string, Kept>();
  readonly #saved: Readonly<Record<string, JsonValue>>;
  readonly #limits: SentLimits;
  readonly #offset: KeptOffset;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(site: RestartSite) {
    this.#site = site;
    const { version, profile = 'EVSE-AC-7.4kW-2port', log = silentLogger } = site.options;
    this.wall = site.wall;
    this.timers = new HandTimers(this.wall);
    this.store = createFileStore({
      folder: site.folder,
      log: silentLogger,
      later: this.timers.later,
      nowMs: () => this.wall.nowMs(),
      limits: { compactBytes: 200_000 },
    });
    this.kind = new KindRig({ args: ['--evse_profile', profile], evse: { startDelayMinS: 1, startDelayMaxS: 1 } });
    this.#parts = { plant: this.kind.plant.kept(keptList([this.kind.device.kept()])) };
    const [saved] = this.store.values(slotOfPlant);
    this.#saved = (saved ?? {}) as Readonly<Record<string, JsonValue>>;
    for (const [name, part] of Object.entries(this.#parts)) this.#restore(name, part);
    this.port = createStationPort(this.kind.device, this.kind.plant, 'CP-1', (part) => {
      this.#restore('der', part);
      this.#further.set('der', part);
      return () => this.#further.delete('der');
    });
    const releases = createInsistence(this.timers.later, silentLogger, 0);
    this.#limits = new SentLimits({
      device: this.port,
      log,
      releases,
      slot: this.store.slot('station/limits'),
    });
    this.clock = this.#clock();
    this.#offset = new KeptOffset({
      clock: this.clock,
      wall: this.wall,
      slot: this.store.slot('station/clock'),
      log,
      failed: () => undefined,
    });
    const { subprotocol, makeStack } = versionTable[version];
    payloadChecks.prepare(subprotocol);
    this.stack = makeStack({
      id: 'CP-1',
      device: this.port,
      clock: this.clock,
      clockSet: this.#offset.save,
      wall: this.wall,
      later: this.timers.later,
      random: createRandom(1, 'restart'),
      log,
      store: (name) => this.store.slot(stationSlots.has(name) ? `station/${name}` : `${subprotocol}/${name}`),
      line: this.#line(subprotocol),
      connection,
      network,
      limits: this.#limits,
      releases,
      certificates: { rootCert: null, ownCert: null },
      readLog: () => [],
      disturber: noDisturber,
      autoAuthorize: false,
      ready: () => false,
      finding: () => undefined,
    });
  }

  #restore(name: string, part: Kept): void {
    const saved = this.#saved[name];
    if (saved !== undefined) part.restore(saved);
  }

  #clock() {
    const { plant } = this.kind;
    return remoteClocks({
      mode: 'simulated',
      wall: this.wall,
      later: this.timers.later,
      log: silentLogger,
      timeline: {
        sim: () => plant.time.sim,
        dateMs: (t) => plant.dateMs(t),
        rate: () => plant.time.rate,
        paused: () => plant.time.mode === 'paused',
        at: (t, act) => plant.at(t, act),
      },
    })(silentLogger);
  }

  async begin(): Promise<void> {
    await this.store.open();
    await this.#offset.load();
    await this.#limits.load();
    await this.stack.load();
    if (this.#site.options.startsOffline === true) return;
    this.isOpen = true;
    this.stack.opened({ subprotocol: versionTable[this.#site.options.version].subprotocol });
    await this.settle();
  }

  save(): void {
    const parts = Object.entries({ ...this.#parts, ...Object.fromEntries(this.#further) });
    const saved = Object.fromEntries(parts.map(([name, part]) => [name, part.save()]));
    void this.store.slot(slotOfPlant).replace([saved]);
  }

  /** Resolves when the changes so far are on the disk together with the device; never after the end. */
  async durable(): Promise<void> {
    if (this.store.durable() !== null) {
      this.save();
      await this.store.durable();
    }
    if (!this.isAlive) await dead;
  }

  async step(): Promise<void> {
    this.#site.step();
    if (!this.isAlive) await dead;
  }

  #line(subprotocol: OcppSubprotocol): Line {
    const isOpen = () => this.isOpen;
    const isBusy = () => this.busy;
    const deliver = async (action: string, payload: Payload): Promise<CallOutcome> => {
      await this.durable();
      await this.step();
      const issue = payloadChecks.check(subprotocol, action, 'request', payload);
      if (issue !== null) this.#site.issues.push(`${action}: ${issue.description} ${JSON.stringify(payload)}`);
      const reply = (await this.#site.answer(action, payload)) as Payload;
      await this.step();
      return { kind: 'result', payload: reply, durationMs: 1 };
    };
    return {
      get open() {
        return isOpen();
      },
      get waiting() {
        return isBusy();
      },
      call: (action, payload) => {
        if (!this.isOpen) return Promise.resolve({ kind: 'unsent', why: 'no connection' });
        this.busy += 1;
        const outcome = this.#tail.then(() => deliver(action, payload));
        this.#tail = outcome;
        return outcome.finally(() => {
          this.busy -= 1;
        });
      },
      send: () => undefined,
    };
  }

  /** A call of the central system. @returns null: its answer has not come */
  async ask(action: string, payload: Payload): Promise<Payload | null> {
    const followUps: (() => void)[] = [];
    const answer = (async () => {
      const reply = await this.stack.handle(action, payload, (act) => followUps.push(act));
      for (const act of followUps) act();
      await this.durable();
      await this.step();
      if (reply === noAnswer) throw new Error(`${action} gets no answer`);
      return reply;
    })().catch((error: unknown): Payload => {
      if (error instanceof CallError) return { code: error.code, description: error.message };
      throw error;
    });
    const replies: Payload[] = [];
    const ended = answer.then((reply) => replies.push(reply));
    for (let turns = 0; turns < 200 && this.isAlive && replies.length === 0; turns += 1) await nextTurn();
    if (replies.length > 0) await ended;
    return replies[0] ?? null;
  }

  /** Until disk and line are at rest, or the process has ended. */
  async settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < quietTurns && turns < 2000 && this.isAlive; turns += 1) {
      await nextTurn();
      quiet = this.busy > 0 || this.store.durable() !== null ? 0 : quiet + 1;
    }
  }

  stop(): void {
    this.isOpen = false;
    this.stack.stop();
  }
}

export class RestartSite {
  readonly options: RestartOptions;
  readonly wall = new HandWall();
  folder = new TestFolder();
  /** rules that the station has broken */
  readonly issues: string[] = [];
  restarts = 0;
  #process: Process | null = null;
  readonly #answers: Readonly<Record<string, CentralAnswer>>;
  #latestMs = 0;
  #cut: Cut | null = null;
  #left: TestFolder | null = null;

  constructor(options: RestartOptions) {
    this.options = options;
    this.#answers = options.answers(() => this.#nowMs());
  }

  /** The simulated time, which never goes back for the central system. */
  #nowMs(): number {
    const { plant } = this.process.kind;
    this.#latestMs = Math.max(this.#latestMs, plant.dateMs(plant.time.sim));
    return this.#latestMs;
  }

  /** @param folder of an earlier process; default: an empty one */
  static async open(options: RestartOptions, folder = new TestFolder()): Promise<RestartSite> {
    const site = new RestartSite(options);
    site.folder = folder;
    await site.#begin();
    return site;
  }

  get process(): Process {
    if (this.#process === null) throw new Error('no process runs');
    return this.#process;
  }

  async answer(action: string, payload: Payload): Promise<Record<string, unknown>> {
    const answer = this.#answers[action];
    if (answer === undefined) throw new Error(`the central system does not answer ${action}`);
    return answer({ ...payload });
  }

  async #begin(): Promise<void> {
    this.folder.beforeStep = () => {
      this.step();
      return Promise.resolve();
    };
    this.#process = new Process(this);
    await this.#process.begin();
    await this.#follow();
  }

  /** A step of disk or line, at which a planned cut may end the process. */
  step(): void {
    if (this.#cut === null || this.#process?.isAlive !== true) return;
    const { steps, kind, luck } = this.#cut;
    if (steps > 0) {
      this.#cut = { steps: steps - 1, kind, luck };
      return;
    }
    this.#cut = null;
    this.#left = kind === 'kill' ? this.folder.afterKill() : this.folder.afterPowerLoss(luck);
    this.#process.isAlive = false;
  }

  /** Starts the next process where a cut has ended the present one. */
  async #follow(): Promise<void> {
    while (this.#left !== null) {
      this.#process?.stop();
      this.folder = this.#left;
      this.#left = null;
      this.restarts += 1;
      await this.#begin();
    }
  }

  plan(cut: Cut): void {
    this.#cut = cut;
  }

  /** Ends the process now, and starts the next one. @param awayS time between them */
  async kill(kind: Cut['kind'] = 'kill', awayS = 0): Promise<void> {
    this.#cut = { steps: 0, kind, luck: 0 };
    this.step();
    this.wall.advance(awayS * 1000);
    await this.#follow();
  }

  /** An orderly end, and the next process. */
  async restart(): Promise<void> {
    this.process.stop();
    this.process.save();
    await this.process.store.close();
    this.process.isAlive = false;
    this.restarts += 1;
    await this.#begin();
  }

  /** Lets time pass in pieces of up to a second. */
  async run(seconds: number): Promise<void> {
    for (let left = seconds; left > 1e-9; ) {
      const piece = Math.min(1, left);
      const { process } = this;
      await process.kind.run(piece);
      process.timers.pass(piece * 1000);
      process.save();
      await process.settle();
      await this.#follow();
      left -= piece;
    }
  }

  /** By a person at the station; what the device refuses changes nothing. */
  async do(command: EvseCommand): Promise<void> {
    try {
      this.process.kind.device.command(command, operator);
    } catch (error) {
      if (!(error instanceof SimError)) throw new Error(errorText(error), { cause: error });
    }
    await this.process.settle();
    await this.#follow();
  }

  async ask(action: string, payload: Payload): Promise<Payload | null> {
    const reply = await this.process.ask(action, payload);
    await this.process.settle();
    await this.#follow();
    return reply;
  }

  async connect(isOpen: boolean): Promise<void> {
    const { process } = this;
    if (process.isOpen === isOpen) return;
    process.isOpen = isOpen;
    if (isOpen) process.stack.opened({ subprotocol: versionTable[this.options.version].subprotocol });
    else process.stack.closed({ code: 1006, reason: 'cut' });
    await process.settle();
    await this.#follow();
  }

  close(): void {
    this.#cut = null;
    this.process.isAlive = false;
    this.process.stop();
  }
}
