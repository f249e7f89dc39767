/** All faults of the process, of every protocol: injects, lists and ends them. */
import { ActiveFault } from './active-fault.ts';
import type { FaultDue, FaultEnd, FaultEnds } from './active-fault.ts';
import { addSeconds, secondsBetween } from '../time/clock.ts';
import type { SimTime, WallClock } from '../time/clock.ts';
import type { Origin } from '../origin.ts';
import { errorText, SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import { Listeners } from '../listeners.ts';
import { didYouMean } from '../nearest.ts';
import { concernedBy, kindIssues, numberIssues, proposed, meterIndex } from './kinds.ts';
import type { FaultCheck, FaultKind, FaultProtocol, FaultRequest, ProposedFault } from './kinds.ts';
import { callLater } from '../time/timers.ts';
import type { Later } from '../time/timers.ts';
import { keptRecord, keptCount } from '../kept.ts';
import type { Kept } from '../kept.ts';
import { createRandom } from '../random.ts';
import { keptFault, restoredFault } from './kept-fault.ts';
import type { KeptFault } from './kept-fault.ts';

/** Maximum number of faults in force at one time. */
export const maxActiveFaults = 1000;
/**
 * Maximum number of register-map copies, some 3 kB each, that all faults keep together; a fault of all devices keeps
 * many.
 */
export const maxKeptMaps = 100_000;
/** ended faults that remain listed */
export const keptEnded = 100;
/** maximum delay of a timer of Node */
const maxWaitMs = 2 ** 31 - 1;

/** A fault that is over. */
export interface EndedFault {
  readonly fault: ActiveFault;
  readonly end: FaultEnd;
  /** wall time, ms since the epoch */
  readonly endedAtMs: number;
}

/** Faults that began and ended; for listeners that keep state per fault. */
export interface FaultChange {
  readonly begun: readonly ActiveFault[];
  readonly ended: readonly ActiveFault[];
}

/** Selects faults; all members must match. */
export interface FaultFilter {
  readonly id?: number;
  readonly protocol?: FaultProtocol;
  readonly kind?: string;
  /** the device that a fault names; null: faults of all devices */
  readonly deviceIndex?: number | null;
  readonly profile?: string;
}

/** Requests that are injected together. */
export interface FaultSet {
  readonly requests: readonly FaultRequest[];
  /** the fault profile of the requests; null: none */
  readonly profile: string | null;
  /** the device profile that defines them; absent: none */
  readonly deviceProfile?: string;
}

interface RegistryLog {
  info(message: string, deviceIndex?: number): void;
  error(message: string, deviceIndex?: number, printedOnly?: string): void;
}

export interface FaultRegistryOptions {
  readonly wall: WallClock;
  readonly sim: () => SimTime;
  /** seed of the process */
  readonly seed: number;
  readonly deviceIndexes: () => readonly number[];
  /** true if the connection point has a meter; absent: it has none */
  readonly hasMeter?: () => boolean;
  /** Devices with an equal value give the same result in every check; default: each device by itself. */
  readonly shapeOf?: (deviceIndex: number) => unknown;
  readonly log?: RegistryLog;
  /** timer of the wall clock; default `callLater` */
  readonly later?: Later;
}

/** Active faults, for a component that applies those of its protocol. */
export interface FaultSource {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** true if the condition of a fault holds at a device */
  readonly holds: (fault: ActiveFault, deviceIndex: number) => boolean;
}

/** The same source for one adapter, whose subscriptions `end` together. */
export function endableSource({ registry, holds }: FaultSource): FaultSource & { readonly end: () => void } {
  const ends: (() => void)[] = [];
  return {
    registry: {
      get active() {
        return registry.active;
      },
      onChange(listener) {
        const end = registry.onChange(listener);
        ends.push(end);
        return end;
      },
    },
    holds,
    end() {
      for (const end of ends.splice(0)) end();
    },
  };
}

export class FaultRegistry {
  readonly #options: FaultRegistryOptions;
  readonly #kinds = new Map<string, FaultKind>();
  readonly #checks = new Map<FaultKind, FaultCheck[]>();
  readonly #listeners = new Listeners<[change: FaultChange]>((error) => {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    this.#options.log?.error(`a listener for changes of faults failed: ${message}`, undefined, stack);
  });
  /** changes not yet announced to all listeners */
  readonly #pending: FaultChange[] = [];
  #active: readonly ActiveFault[] = [];
  #ended: readonly EndedFault[] = [];
  #nextId = 1;
  readonly #faultEnds: FaultEnds = {
    isDue: (of) => this.#isDue(of),
    spent: (fault) => {
      this.#end([fault], 'count');
    },
  };
  #stopWaiting: (() => void) | null = null;

  constructor(options: FaultRegistryOptions) {
    this.#options = options;
  }

  /** Registers kinds, or adds a check to known ones; call it before any injection. */
  define(kinds: readonly FaultKind[], check?: FaultCheck): void {
    for (const kind of kinds) {
      this.#kinds.set(nameOf(kind.protocol, kind.kind), kind);
      if (check !== undefined) this.#checks.set(kind, [...(this.#checks.get(kind) ?? []), check]);
    }
  }

  /** The catalogue, in order of definition. */
  get kinds(): readonly FaultKind[] {
    return [...this.#kinds.values()];
  }

  /** Faults in force, oldest first; replaced as a whole by each change. */
  get active(): readonly ActiveFault[] {
    return this.#active;
  }

  /** Faults that are over, newest first. */
  get ended(): readonly EndedFault[] {
    return this.#ended;
  }

  /** Seconds (simulated; in layer `transport` wall time) until a fault ends by its duration; null: it has none. */
  remainingS(fault: ActiveFault): number | null {
    const { sim, monotonicMs } = fault.due;
    if (sim !== null) return Math.max(0, secondsBetween(this.#options.sim(), sim));
    return monotonicMs === null ? null : Math.max(0, (monotonicMs - this.#options.wall.monotonicMs()) / 1000);
  }

  /**
   * Injects faults, all or none. A fault of all devices must fit at least one of them, and strikes those that it fits.
   * @param profile name of the fault profile of the requests; null: none
   * @throws SimError COMMAND_BAD_VALUE with an issue for each wrong member, named by a pointer that begins with the
   *   number of the request (`/0/parameters/code`); UNKNOWN_DEVICE; COMMAND_CONFLICT at the limits of active faults and
   *   kept maps; and what the checks of a kind throw without naming a member
   */
  inject(requests: readonly FaultRequest[], by: Origin, profile: string | null = null): readonly ActiveFault[] {
    return this.injectSets([{ requests, profile }], by);
  }

  /** As `inject` for several sets, all or none; requests are numbered across the sets. */
  injectSets(sets: readonly FaultSet[], by: Origin): readonly ActiveFault[] {
    const requested = sets.flatMap((set) => set.requests.map((request) => ({ request, set })));
    this.#checkRoom(requested.length);
    const accepted = this.#accept(requested.map(({ request }) => request));
    this.#checkKeptMaps(accepted);
    const injected = accepted.map((fault, i) => this.#create(fault, by, requested[i]?.set));
    if (injected.length === 0) return injected;
    this.#active = [...this.#active, ...injected];
    for (const fault of injected) this.#logChange(fault, 'begins');
    this.#watchWall();
    this.#announce({ begun: injected, ended: [] });
    return injected;
  }

  /** Ends the faults that match the filter (all without one). @returns their number */
  clear(filter: FaultFilter = {}, end: FaultEnd = 'cleared'): number {
    return this.#end(
      this.#active.filter((fault) => fits(fault, filter)),
      end,
    );
  }

  /** Ends the faults that name a removed device, and those of groups without a remaining device. */
  deviceRemoved(deviceIndex: number): void {
    this.clear({ deviceIndex }, 'device_removed');
    for (const fault of this.#active) fault.forget(deviceIndex);
    const withoutDevice = this.#active.filter(({ groupSize }) => groupSize === 0);
    this.#end(withoutDevice, 'device_removed');
  }

  /** Ends the faults that name a device, after its reset, except those from its configuration. */
  deviceReset(deviceIndex: number): void {
    const resetFaults = this.#active.filter(
      (fault) => fits(fault, { deviceIndex }) && fault.facts.by.source !== 'profile',
    );
    this.#end(resetFaults, 'device_reset');
  }

  /** Ends faults whose duration is over; called with each tick and before each listing. */
  expire(): void {
    if (this.#active.length === 0) return;
    this.#end(
      this.#active.filter(({ due }) => this.#isDue(due)),
      'duration',
    );
  }

  /** Stops the timer of faults that end by the wall clock. */
  close(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
  }

  /**
   * The listener is called synchronously after each change, in order: a change made by a listener is announced after
   * all listeners have received the current one. The returned function unsubscribes.
   */
  onChange(listener: (change: FaultChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * State that a restart keeps. It is restored when the devices exist and the clock runs from its kept instant, before
   * the state of the devices and before adapters: who follows faults reads `active` when created. An end by the wall
   * clock keeps its wall time. Faults that fit no device any more are dropped.
   */
  kept(): Kept {
    return keptRecord(
      () => ({
        nextId: this.#nextId,
        active: this.#active.map(keptFault),
        ended: this.#ended.map(({ fault, end, endedAtMs }) => ({ fault: keptFault(fault), end, endedAtMs })),
      }),
      ({ nextId, active, ended }) => {
        this.#nextId = Math.max(this.#nextId, keptCount(nextId, 'id of the next fault'));
        this.#active = active.flatMap((saved) => this.#restoredActive(saved) ?? []);
        this.#ended = ended.flatMap(({ fault: saved, ...end }) => {
          const fault = this.#restored(saved);
          return fault === null ? [] : [{ fault, ...end }];
        });
        this.#watchWall();
        // components that read `active` at each change do so
        this.#announce({ begun: [], ended: [] });
      },
    );
  }

  /** A fault of an earlier process; null: this version has no such kind, or no such parameters. */
  #restored(saved: KeptFault): ActiveFault | null {
    const kind = this.#kinds.get(nameOf(saved.protocol, saved.kind));
    const { parameters, durationS, beganAtMs } = saved.facts;
    if (kind?.parameters.safeParse(parameters).success !== true) return null;
    if (durationS === null || kind.layer !== 'transport') return restoredFault(saved, kind, this.#faultEnds);
    const { wall } = this.#options;
    // a wall clock that was set back must not make the fault longer
    const leftMs = Math.min(durationS * 1000, Math.max(0, beganAtMs + durationS * 1000 - wall.nowMs()));
    return restoredFault(saved, kind, this.#faultEnds, wall.monotonicMs() + leftMs);
  }

  /** As `#restored`; null also where no device is left that the fault fits. */
  #restoredActive(saved: KeptFault): ActiveFault | null {
    const fault = this.#restored(saved);
    const issue = fault === null ? 'this version does not have it' : this.#misfit(fault);
    if (issue === null) return fault;
    const { id } = saved.facts;
    this.#options.log?.info(
      `${Number.isInteger(id) ? `fault ${id}` : 'a fault'} of the earlier process, ${saved.protocol} ${saved.kind}, is dropped: ${issue}`,
    );
    return null;
  }

  /** The reason why a fault of an earlier process fits no device; null: it does. Absent devices leave its group. */
  #misfit(fault: ActiveFault): string | null {
    const indexes = this.#options.deviceIndexes();
    for (const index of fault.group ?? []) if (!indexes.includes(index)) fault.forget(index);
    const { group } = fault;
    if (group?.length === 0) return 'no device of its group is left';
    const { kind, parameters, deviceIndex, target, when } = fault.facts;
    const request: FaultRequest = {
      protocol: kind.protocol,
      kind: kind.kind,
      deviceIndex,
      target,
      parameters: parameters as Readonly<Record<string, unknown>>,
      ...(when && { when }),
      ...(group && { group }),
    };
    try {
      const concerned = concernedBy(request, indexes, this.#options.hasMeter?.() === true);
      return this.#deviceIssues({ kind, request, parameters }, concerned)[0]?.detail ?? null;
    } catch (error) {
      return errorText(error);
    }
  }

  #isDue({ sim, monotonicMs }: FaultDue): boolean {
    return (
      (sim !== null && sim <= this.#options.sim()) ||
      (monotonicMs !== null && monotonicMs <= this.#options.wall.monotonicMs())
    );
  }

  #checkRoom(further: number): void {
    if (this.#active.length + further <= maxActiveFaults) return;
    throw new SimError(
      'COMMAND_CONFLICT',
      `${this.#active.length} faults are active and ${further} more are requested; ${maxActiveFaults} are possible`,
    );
  }

  #checkKeptMaps(accepted: readonly ProposedFault[]): void {
    const devices = this.#options.deviceIndexes().length;
    const mapsOf = ({ keptMaps = 0 }: FaultKind, deviceIndex: number | null, groupSize = devices) =>
      keptMaps * (deviceIndex === null ? groupSize : 1);
    const before = this.#active.reduce(
      (sum, { facts: { kind, deviceIndex }, groupSize }) => sum + mapsOf(kind, deviceIndex, groupSize ?? devices),
      0,
    );
    const further = accepted.reduce(
      (sum, { kind, request: { deviceIndex = null, group } }) => sum + mapsOf(kind, deviceIndex, group?.length),
      0,
    );
    if (further === 0 || before + further <= maxKeptMaps) return;
    throw new SimError(
      'COMMAND_CONFLICT',
      `the active faults keep up to ${before} copies of register maps and these would keep ${further} more; ${maxKeptMaps} are possible`,
    );
  }

  /** @throws SimError with every issue of all requests */
  #accept(requests: readonly FaultRequest[]): ProposedFault[] {
    const issues: Issue[] = [];
    const indexes = this.#options.deviceIndexes();
    const accepted = requests.flatMap((request, i): ProposedFault[] => {
      const kind = this.#kinds.get(nameOf(request.protocol, request.kind));
      const requestIssues =
        kind === undefined ? [this.#unknownKind(request)] : [...kindIssues(kind, request), ...numberIssues(request)];
      issues.push(...requestIssues.map((issue) => ({ ...issue, name: `/${i}${issue.name}` })));
      if (kind === undefined || requestIssues.length > 0) return [];
      const fault = proposed(kind, request);
      issues.push(
        ...this.#deviceIssues(fault, concernedBy(request, indexes, this.#options.hasMeter?.() === true)).map(
          (issue) => ({
            ...issue,
            name: `/${i}${issue.name}`,
          }),
        ),
      );
      return [fault];
    });
    if (issues.length > 0)
      throw new SimError('COMMAND_BAD_VALUE', 'the faults cannot be injected as requested', issues);
    return accepted;
  }

  #unknownKind({ protocol, kind }: FaultRequest): Issue {
    const allowed = this.kinds.filter((other) => other.protocol === protocol).map((other) => other.kind);
    return { name: '/kind', detail: `there is no fault ${kind} of ${protocol}${didYouMean(kind, allowed)}`, allowed };
  }

  /** Issues of the first device if the fault fits no device, else none. @throws the error of a check without issues */
  #deviceIssues(fault: ProposedFault, indexes: readonly number[]): readonly Issue[] {
    const checks = this.#checks.get(fault.kind);
    if (checks === undefined) return [];
    const { shapeOf = (index: number) => index } = this.#options;
    const checked = new Set<unknown>();
    let firstError: unknown;
    for (const index of indexes) {
      const shape = shapeOf(index);
      if (checked.has(shape)) continue;
      checked.add(shape);
      try {
        for (const check of checks) check(fault, index);
        return [];
      } catch (error) {
        firstError ??= error;
      }
    }
    if (firstError === undefined) return [];
    if (firstError instanceof SimError && firstError.issues.length > 0) return firstError.issues;
    throw firstError as Error;
  }

  #create({ kind, request, parameters }: ProposedFault, by: Origin, set: FaultSet | undefined): ActiveFault {
    const { wall, sim, seed } = this.#options;
    const id = this.#nextId++;
    const { durationS = null } = request;
    const onWall = kind.layer === 'transport';
    const due = {
      sim: durationS === null || onWall ? null : addSeconds(sim(), durationS),
      monotonicMs: durationS === null || !onWall ? null : wall.monotonicMs() + durationS * 1000,
    };
    return new ActiveFault(
      {
        id,
        kind,
        parameters,
        profile: set?.profile ?? null,
        deviceProfile: set?.deviceProfile ?? null,
        by,
        deviceIndex: request.deviceIndex ?? null,
        target: request.target ?? {},
        when: request.when ?? null,
        count: request.count ?? null,
        durationS,
        probability: request.probability ?? 1,
        every: request.every ?? 1,
        seed: request.seed ?? defaultSeed(seed, id),
        beganAtMs: wall.nowMs(),
      },
      due,
      this.#faultEnds,
      request.group,
    );
  }

  #end(over: readonly ActiveFault[], end: FaultEnd): number {
    if (over.length === 0) return 0;
    const endedFaults = new Set(over);
    this.#active = this.#active.filter((fault) => !endedFaults.has(fault));
    const endedAtMs = this.#options.wall.nowMs();
    this.#ended = [...over.map((fault) => ({ fault, end, endedAtMs })).reverse(), ...this.#ended].slice(0, keptEnded);
    for (const fault of over) {
      fault.end = end;
      this.#logChange(fault, `ends (${end})`);
    }
    this.#watchWall();
    this.#announce({ begun: [], ended: over });
    return over.length;
  }

  #logChange({ facts: { id, kind, deviceIndex, by }, groupSize }: ActiveFault, what: string): void {
    const device = deviceIndex === null || deviceIndex === meterIndex ? undefined : deviceIndex;
    const several = groupSize === null ? 'every device' : `${groupSize} devices`;
    const whose = device !== undefined ? `device ${device}` : deviceIndex === null ? several : 'the meter';
    const who = by.peer === undefined ? by.source : `${by.source}, ${by.peer}`;
    this.#options.log?.info(`fault ${id} ${what}: ${kind.protocol} ${kind.kind} of ${whose}, asked by ${who}`, device);
  }

  /** Sets the timer for the next end by the wall clock, which runs also while simulated time is paused. */
  #watchWall(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
    const dueMs = this.#active.reduce((first, { due }) => Math.min(first, due.monotonicMs ?? Infinity), Infinity);
    if (dueMs === Infinity) return;
    const waitMs = Math.min(maxWaitMs, Math.max(1, Math.ceil(dueMs - this.#options.wall.monotonicMs())));
    this.#stopWaiting = (this.#options.later ?? callLater)(waitMs, () => {
      this.expire();
      this.#watchWall();
    });
  }

  #announce(change: FaultChange): void {
    this.#pending.push(change);
    // called from within a listener: the outer call announces this change as well
    if (this.#pending.length > 1) return;
    for (let next = this.#pending[0]; next !== undefined; next = this.#pending[0]) {
      this.#listeners.notify(next);
      this.#pending.shift();
    }
  }
}

const nameOf = (protocol: FaultProtocol, kind: string) => `${protocol}.${kind}`;

/** The seed of a fault without a requested one; a request with this seed repeats its numbers. */
function defaultSeed(seed: number, id: number): number {
  return Math.floor(createRandom(seed, 'fault', id).next() * 2 ** 32);
}

function fits(fault: ActiveFault, filter: FaultFilter): boolean {
  const { facts, protocol } = fault;
  return (
    (filter.id === undefined || facts.id === filter.id) &&
    (filter.protocol === undefined || protocol === filter.protocol) &&
    (filter.kind === undefined || facts.kind.kind === filter.kind) &&
    (filter.deviceIndex === undefined ||
      (filter.deviceIndex === null ? fault.isOfAll : facts.deviceIndex === filter.deviceIndex)) &&
    (filter.profile === undefined || facts.profile === filter.profile)
  );
}
