/**
 * An EndDevice with its registers in a state folder, at a head-end with a book of responses. A cut ends the process at an
 * exact operation: a step of the disk, or the arrival of a response or of its answer.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KeepPart } from '../../../src/contract/adapter-parts.ts';
import type { CsipSettings } from '../../../src/contract/csip-settings.ts';
import { keptList } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { JsonValue, Slot } from '../../../src/core/store.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { RemoteClock } from '../../../src/core/time/remote-clock.ts';
import type { ListedProgram } from '../../../src/csip/events/model.ts';
import { makeMember } from '../../../src/csip/members.ts';
import type { FullMember, MemberParts } from '../../../src/csip/members.ts';
import type { SepAnswer, SepExchange, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type { FoundProgram } from '../../../src/csip/walk/model.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { replaceContents } from '../../../src/state/contents.ts';
import type { Contents } from '../../../src/state/contents.ts';
import { createFileStore } from '../../../src/state/file-store.ts';
import { journalFile } from '../../../src/state/journal.ts';
import { replay } from '../../../src/state/record.ts';
import { pointValue } from '../../../src/sunspec/map/bank.ts';
import { testPlant } from '../../support/plant.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
/** Server time at the begin of a world, s: that of the wall clock. */
export const beginS = new HandWall().nowMs() / 1000;
/** Turns of the event loop in which client, disk and head-end come to rest. */
const turnsOfRest = 14;

export interface Response {
  readonly mrid: string;
  readonly status: number;
  readonly createdS: number;
}

/** The end of a process. */
export interface Cut {
  /** operations of the process before its end */
  readonly after: number;
  /** octets beyond the synchronised ones that survive; Infinity: the machine goes on, so that all do */
  readonly keepBytes: number;
}

/** What the server has, and the book of what it got. */
export class HeadEnd {
  /** of the programs at a time of the server */
  programs: (nowS: number) => readonly ListedProgram[] = () => [];
  readonly book: Response[] = [];
  /** false: it answers 405 to a GET of its ResponseList */
  isReadable = true;
  reads = 0;
  /** called when a response has arrived */
  onResponse: (response: Response) => void = () => undefined;

  take({ body }: SepRequest): number {
    if (body?.name !== 'DERControlResponse') throw new Error(`the server gets ${body?.name}`);
    const { subject, status = 0, createdDateTime = 0 } = body.value;
    const response = { mrid: subject, status, createdS: createdDateTime };
    this.book.push(response);
    this.onResponse(response);
    return 201;
  }

  /** The ResponseList in pages of ten at most, newest first, beside a response of another EndDevice. */
  list(href: string): Pick<SepAnswer, 'status' | 'document'> {
    this.reads += 1;
    if (!this.isReadable) return { status: 405, document: null };
    const query = new URL(href).searchParams;
    const own = this.book.map(({ mrid, status, createdS }) => ({
      createdDateTime: createdS,
      endDeviceLFDI: lfdi.toLowerCase(),
      status,
      subject: mrid.toLowerCase(),
    }));
    const all = [
      ...own,
      { createdDateTime: beginS, endDeviceLFDI: 'F'.repeat(40), status: 1, subject: 'AA' },
    ].reverse();
    const start = Number(query.get('s') ?? 0);
    const page = all.slice(start, start + Math.min(10, Number(query.get('l') ?? 1)));
    const value = { all: all.length, results: page.length, Response: page };
    return { status: 200, document: { name: 'ResponseList', value } };
  }

  statuses(mrid: string): readonly number[] {
    return this.book.filter((response) => response.mrid === mrid).map(({ status }) => status);
  }
}

const settings: Pick<CsipSettings, 'identity' | 'aus' | 'supersededResponse' | 'pen' | 'notifications' | 'readings'> = {
  identity: 'per_device',
  aus: null,
  supersededResponse: 'at_start',
  pen: 40_732,
  notifications: { subscribe: false, host: '127.0.0.1', port: 0, tls: false, uri: null },
  readings: { flow: 'net', positive: 'import', device: true, site: true },
};

/** Parts with names, saved with the registers; as the keeping of the simulator does it. */
class Parts {
  readonly #saved: Readonly<Record<string, JsonValue>>;
  readonly #parts = new Map<string, Kept>();

  constructor(saved: Readonly<Record<string, JsonValue>>) {
    this.#saved = saved;
  }

  readonly keep: KeepPart = (name, part) => {
    const saved = this.#saved[name];
    if (saved !== undefined) part.restore(saved);
    this.#parts.set(name, part);
    return () => this.#parts.delete(name);
  };

  save(): Record<string, JsonValue> {
    return Object.fromEntries([...this.#parts].map(([name, part]) => [name, part.save()]));
  }
}

/** One process, from its begin to its cut. */
class Process {
  readonly plant: SimPlant;
  readonly member: FullMember;
  readonly #remoteClock: RemoteClock;
  readonly #wall: HandWall;
  readonly #timers: HandTimers;
  readonly #map: Slot;
  readonly #parts: Parts;

  constructor(
    of: Pick<Process, 'plant' | 'member'> & { wall: HandWall; timers: HandTimers },
    map: Slot,
    parts: Parts,
    remoteClock: RemoteClock,
  ) {
    this.plant = of.plant;
    this.member = of.member;
    this.#wall = of.wall;
    this.#timers = of.timers;
    this.#map = map;
    this.#parts = parts;
    this.#remoteClock = remoteClock;
  }

  /** A tick of a second: registers are kept at its end. */
  async second(): Promise<void> {
    this.#timers.pass(1000);
    await this.plant.step(1);
    this.keepMap();
  }

  keepMap(): void {
    void this.#map.replace([keptPlant(this.plant).save(), this.#parts.save()]);
  }

  poll(programs: readonly ListedProgram[]): void {
    this.#remoteClock.sync(this.#wall.nowMs(), this.#wall.monotonicMs());
    this.member.submissions.reachable(true);
    this.member.endDevice.follow(programs.map((listed) => ({ listed }) as unknown as FoundProgram));
  }
}

const keptPlant = (plant: SimPlant): Kept => plant.kept(keptList(plant.devices.map((device) => device.kept())));

export interface WorldOptions {
  readonly headEnd?: HeadEnd;
  /** decides the random offsets of a process by its number, from 1 */
  readonly seedOf?: (process: number) => number;
  readonly types?: readonly string[];
}

export class World {
  readonly wall = new HandWall();
  readonly headEnd: HeadEnd;
  /** warnings and errors of all processes */
  readonly lines: string[] = [];
  readonly #options: WorldOptions;
  #folder = new TestFolder();
  #process: Process | null = null;
  #count = 0;
  #operations = 0;
  #cut: Cut | null = null;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.headEnd = options.headEnd ?? new HeadEnd();
  }

  readonly #line = (line: string): void => {
    this.lines.push(line);
  };

  /** What the process has kept so far. */
  get contents(): Contents {
    return replay(this.#folder.octets(journalFile)).slots;
  }

  /** Ends the process, and starts one with these contents. */
  async startOn(contents: Contents): Promise<void> {
    this.kill();
    this.#folder = new TestFolder();
    await replaceContents(this.#folder, contents);
    await this.start();
  }

  get process(): Process {
    if (this.#process === null) throw new Error('no process runs');
    return this.#process;
  }

  get isAlive(): boolean {
    return this.#process !== null;
  }

  get nowS(): number {
    return this.wall.nowMs() / 1000;
  }

  /** Starts a process on what the last one has left; its cut may come before the start is complete. */
  async start(cut: Cut | null = null): Promise<void> {
    this.#count += 1;
    this.#operations = 0;
    this.#cut = cut;
    const ended = this.#starting();
    await Promise.race([ended, this.#rest(2)]);
  }

  async #starting(): Promise<void> {
    const number = this.#count;
    const folder = this.#folder;
    folder.beforeStep = () => this.#operation(number);
    const timers = new HandTimers(this.wall);
    const store = createFileStore({ folder, log: silentLogger, later: timers.later, nowMs: () => this.wall.nowMs() });
    await store.open();
    const { types = ['PV-3Phase'], seedOf = () => 1 } = this.#options;
    const plant = testPlant({ types, wall: this.wall, tickIntervalS: 1, rate: 1 });
    const map = store.slot('map');
    const [registers, saved = {}] = await map.read();
    if (registers !== undefined) keptPlant(plant).restore(registers);
    const parts = new Parts(saved as Readonly<Record<string, JsonValue>>);
    const remoteClock = this.#remoteClock(plant, timers);
    const exchange: SepExchange = {
      origin: 'https://server',
      negotiated: null,
      close: () => Promise.resolve(),
      request: (request) => this.#exchange(number, request),
    };
    const memberParts: Partial<MemberParts> = {
      settings: settings as CsipSettings,
      inForce: { revision: '2018', postRateS: null, sendsAlarms: true, lfdis: new Map(), nmis: [] },
      plant,
      seed: seedOf(number),
      clock: this.wall,
      later: timers.later,
      store,
      keepPart: parts.keep,
      log: { ...silentLogger, warning: this.#line, error: this.#line },
      eventsChanged: () => undefined,
    };
    const facts = { lfdi, sfdi: 1, subject: '', issuer: '', notBeforeMs: 0, notAfterMs: 0, chainLength: 1 };
    const member = await makeMember(memberParts as MemberParts, {
      certificate: facts,
      devices: plant.devices,
      exchange,
      remoteClock,
      onLost: () => undefined,
    });
    await member.endDevice.open();
    if (number !== this.#count) return;
    this.#process = new Process({ plant, member, wall: this.wall, timers }, map, parts, remoteClock);
  }

  #remoteClock(plant: SimPlant, timers: HandTimers): RemoteClock {
    const timeline = {
      sim: () => plant.time.sim,
      dateMs: (t: Parameters<typeof plant.dateMs>[0]) => plant.dateMs(t),
      rate: () => plant.time.rate,
      paused: () => false,
      at: (...args: Parameters<typeof plant.at>) => plant.at(...args),
    };
    const make = remoteClocks({ mode: 'wall', wall: this.wall, later: timers.later, log: silentLogger, timeline });
    return make(silentLogger);
  }

  async #exchange(number: number, request: SepRequest): Promise<SepAnswer> {
    await this.#operation(number);
    const answer = request.method === 'GET' ? this.headEnd.list(request.href) : { status: this.headEnd.take(request) };
    await this.#operation(number);
    return { url: request.href, location: null, document: null, middleMonotonicMs: 0, ...answer };
  }

  /** Counts an operation of a process. Never resolves in one that has ended, or ends now. */
  #operation(number: number): Promise<void> {
    if (number !== this.#count) return new Promise(() => undefined);
    this.#operations += 1;
    if (this.#cut === null || this.#operations <= this.#cut.after) return Promise.resolve();
    this.kill(this.#cut.keepBytes);
    return new Promise(() => undefined);
  }

  /** The next write to the disk is the last one: the process ends before it is synchronised. */
  cutAfterWrite(keepBytes: number): void {
    this.#cut = { after: this.#operations + 1, keepBytes };
  }

  /** Ends the process without warning. */
  kill(keepBytes = Infinity): void {
    this.#count += 1;
    this.#process = null;
    this.#folder = this.#folder.afterPowerLoss(keepBytes);
  }

  async #rest(factor = 1): Promise<void> {
    for (let turn = 0; turn < factor * turnsOfRest; turn += 1) await nextTurn();
  }

  /** The process reads the programs, without any time passing. */
  async poll(): Promise<void> {
    this.#process?.poll(this.headEnd.programs(this.nowS));
    await this.#rest();
  }

  /** A second passes; with a poll at its end, the process reads the programs. */
  async second(isPoll: boolean): Promise<void> {
    if (this.#process === null) this.wall.advance(1000);
    else await this.#process.second();
    await this.#rest();
    if (isPoll) await this.poll();
  }

  /** The points that the controls of the tests write. */
  get held(): Readonly<Record<string, unknown>> {
    const { bank } = this.process.plant.device(0);
    const names = ['WMaxLimPctEna', 'WMaxLimPct', 'VarSetEna', 'VarSetPct', 'PFWInjEna'];
    return Object.fromEntries(names.map((name) => [name, pointValue(bank, 704, name)]));
  }
}
