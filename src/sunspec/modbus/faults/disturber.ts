/** Carries out the transport faults of Modbus on connections and requests. */
import { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../../core/faults/active-fault.ts';
import { meterIndex } from '../../../core/faults/kinds.ts';
import type { FaultSource } from '../../../core/faults/registry.ts';
import { mapTargetOf } from '../../../fault-kinds/rows.ts';
import {
  aliasUnitFault,
  connectionLimitFault,
  deafAfterConnectFault,
  delayFault,
  disconnectFault,
  dropFault,
  exceptionFault,
  greetingFault,
  ignoreUnitFault,
  modbusTransportFaults,
  outageFault,
  reconnectPauseFault,
  requestIntervalFault,
  splitFault,
} from '../../../fault-kinds/modbus-transport.ts';
import type { Deafness, Disturbance, Disturber, Reception, RequestFacts } from '../server/context.ts';
import { modbusException } from '../server/unit.ts';
import type { FramingName } from '../framing/framing.ts';
import { canRewrite, chunkPauseMs, rewriteOf } from './rewrites.ts';

/** A run of registers, by PDU address. */
export interface Span {
  readonly address: number;
  readonly count: number;
}

/** Devices that are off. */
export interface SilentDevices {
  /** their indexes; changed in place */
  readonly indexes: ReadonlySet<number>;
  /** Calls back when a device goes off or returns. The returned function unsubscribes. */
  onChange(listener: () => void): () => void;
}

export interface DisturberOptions extends FaultSource {
  /** monotonic time, real ms */
  readonly monotonicMs: () => number;
  /** indexes of the present devices */
  readonly deviceIndexes: () => readonly number[];
  /** devices that never answer, with or without faults */
  readonly silent?: SilentDevices;
  /** addresses in the undisturbed map of the registers of a request; default: the requested addresses */
  readonly mapRanges?: (deviceIndex: number, requested: Span) => readonly Span[];
  /** registers of the points that a fault names, in the undisturbed map */
  readonly spans: (points: readonly string[], deviceIndex: number) => readonly Span[];
}

/**
 * Decides about a request, in this order; a fault counts an occasion only when its decision is reached: 1. a device
 * that is off, `outage`, then `ignore_unit`: no answer, and the request is not carried out; 2. the first of `drop`,
 * `disconnect`, `exception` and `request_interval`, in order of injection, that strikes; 3. if an answer is sent, the
 * delays of all `delay` faults add up, and the rewriting faults change the answer (`rewrites.ts`). A request to an
 * unserved unit id meets only faults of all devices, and no `exception`.
 */
export function createDisturber(options: DisturberOptions): Disturber {
  return new WireDisturber(options);
}

type Kinds = readonly { readonly kind: string }[];

const connectionKinds: Kinds = [connectionLimitFault, reconnectPauseFault, deafAfterConnectFault, greetingFault];
const reachKinds: Kinds = [outageFault, ignoreUnitFault];
const outcomeKinds: Kinds = [dropFault, disconnectFault, exceptionFault, requestIntervalFault];
const noFaults: readonly ActiveFault[] = [];
const unheard: Disturbance = { silence: { carriedOut: false } };

const noDevices: ReadonlySet<number> = new Set();

class WireDisturber implements Disturber {
  #hasFaults = false;
  readonly #silent: ReadonlySet<number>;
  readonly #options: DisturberOptions;
  // transport faults of `registry.active`, by the object that they act on
  #connection = noFaults;
  #outage = noFaults;
  #ignore = noFaults;
  #alias = noFaults;
  #outcome = noFaults;
  #answer = noFaults;
  #hasInterval = false;
  /** time of the last served request by device index, monotonic ms; kept while a `request_interval` fault is active */
  readonly #servedMs = new Map<number | undefined, number>();

  constructor(options: DisturberOptions) {
    this.#options = options;
    this.#silent = options.silent?.indexes ?? noDevices;
    options.registry.onChange(() => {
      this.#sort();
    });
    this.#sort();
  }

  get active(): boolean {
    return this.#hasFaults || this.#silent.size > 0;
  }

  onConnect(deviceIndex: number | undefined, open: number): Reception {
    const faults = (group: readonly ActiveFault[]) => group.filter((fault) => this.#meets(fault, deviceIndex));
    const strikes = (fault: ActiveFault) => fault.strikes(deviceIndex ?? null);
    for (const fault of faults(this.#outage)) {
      if (fault.isOf(outageFault) && fault.parameters.mode !== 'silent' && strikes(fault)) return { kind: 'refuse' };
    }
    let left = Infinity;
    const greetings: Buffer[] = [];
    const deafening: ActiveFault[] = [];
    let deafMs = 0;
    for (const fault of faults(this.#connection)) {
      if (fault.isOf(connectionLimitFault)) {
        if (open < fault.parameters.connections || !strikes(fault)) continue;
        if (fault.parameters.policy === 'refuse' || fault.parameters.connections === 0) return { kind: 'refuse' };
        left = Math.min(left, fault.parameters.connections - 1);
      } else if (fault.isOf(deafAfterConnectFault) && strikes(fault)) {
        deafening.push(fault);
        deafMs = Math.max(deafMs, fault.parameters.deaf_ms);
      } else if (fault.isOf(greetingFault) && strikes(fault)) {
        greetings.push(Buffer.from(fault.parameters.octets));
      }
    }
    const deaf: Deafness = { ms: deafMs, isTakenBack: () => areTakenBack(deafening) };
    return {
      kind: 'serve',
      ...(left < open && { left }),
      ...(deafMs > 0 && { deaf }),
      ...(greetings.length > 0 && { greeting: Buffer.concat(greetings) }),
    };
  }

  shutForMs(deviceIndex: number | undefined, sinceCloseMs: number): number {
    if (deviceIndex !== undefined && this.#silent.has(deviceIndex)) return Infinity;
    if (
      this.#outage.some(
        (fault) => fault.isOf(outageFault) && fault.parameters.mode !== 'silent' && this.#lasts(fault, deviceIndex),
      )
    )
      return Infinity;
    let shutMs = 0;
    for (const fault of this.#connection) {
      if (fault.isOf(connectionLimitFault)) {
        // at a higher limit the port stays open: a master that ends one connection begins the next at once
        if (fault.parameters.connections === 0 && this.#lasts(fault, deviceIndex)) return Infinity;
      } else if (fault.isOf(reconnectPauseFault) && this.#lasts(fault, deviceIndex)) {
        shutMs = Math.max(shutMs, fault.parameters.pause_ms - sinceCloseMs);
      }
    }
    return shutMs;
  }

  onChange(listener: () => void): () => void {
    const { registry, silent } = this.#options;
    const forget = [registry.onChange(listener), silent?.onChange(listener)];
    return () => {
      for (const each of forget) each?.();
    };
  }

  /** True if a fault strikes at every occasion: a closed port has no occasions to count. */
  #lasts(fault: ActiveFault, deviceIndex: number | undefined): boolean {
    const { probability, every, count } = fault.facts;
    return probability === 1 && every === 1 && count === null && this.#meets(fault, deviceIndex);
  }

  onRequest(request: RequestFacts, framing: FramingName): Disturbance | null {
    if (request.deviceIndex !== undefined && this.#silent.has(request.deviceIndex)) return unheard;
    const ofThis = (faults: readonly ActiveFault[]) =>
      faults.length === 0
        ? faults
        : faults.filter((fault) => this.#meets(fault, request.deviceIndex) && this.#aimedAt(fault, request));
    const strikes = (fault: ActiveFault) => strikesAt(fault, request);
    if (ofThis(this.#outage).some(strikes)) return unheard;
    const ignores = (fault: ActiveFault) =>
      fault.isOf(ignoreUnitFault) && fault.parameters.unit_ids.includes(request.unitId);
    if (ofThis(this.#ignore).some((fault) => ignores(fault) && strikes(fault))) return unheard;
    const outcome = this.#outcomeOf(ofThis(this.#outcome), request);
    if (outcome?.silence !== undefined || !request.answered) return outcome;
    const struck = ofThis(this.#answer).filter(
      (fault) => (fault.isOf(delayFault) || canRewrite(fault, request, framing)) && strikes(fault),
    );
    return struck.length === 0
      ? outcome
      : { ...outcome, ...answerOf(struck, framing), onTakenBack: (then) => this.#whenTakenBack(struck, then) };
  }

  cuts(deviceIndex: number | undefined): boolean {
    return this.#outage.some(
      (fault) =>
        fault.isOf(outageFault) &&
        fault.parameters.mode === 'close' &&
        // a fault that strikes only sometimes lets connections in
        fault.facts.probability === 1 &&
        fault.facts.every === 1 &&
        this.#meets(fault, deviceIndex),
    );
  }

  aliasOf(deviceIndex: number | undefined, unitId: number): number | undefined {
    for (const fault of this.#alias) {
      if (!fault.isOf(aliasUnitFault) || !fault.parameters.unit_ids.includes(unitId)) continue;
      const { deviceIndex: named } = fault.facts;
      // on a shared port the fault must name the device; the meter belongs to any port
      const device = named === meterIndex ? named : (deviceIndex ?? named ?? undefined);
      if (device !== undefined && this.#meets(fault, device) && fault.strikes(device)) return device;
    }
    return undefined;
  }

  /** The outcome of the first fault that strikes; null: none strikes, and the request is recorded as served. */
  #outcomeOf(faults: readonly ActiveFault[], request: RequestFacts): Disturbance | null {
    for (const fault of faults) {
      const outcome = this.#possibleOutcome(fault, request);
      if (outcome !== null && strikesAt(fault, request)) return outcome;
    }
    this.#recordServed(request);
    return null;
  }

  /** The outcome of a request if the fault strikes; null: the fault does not apply to the request. */
  #possibleOutcome(fault: ActiveFault, request: RequestFacts): Disturbance | null {
    if (fault.isOf(dropFault)) return { silence: { carriedOut: fault.parameters.carried_out } };
    if (fault.isOf(disconnectFault)) return { silence: { carriedOut: fault.parameters.carried_out }, close: true };
    if (!fault.isOf(requestIntervalFault)) return exceptionOf(fault, request);
    const servedMs = this.#servedMs.get(request.deviceIndex) ?? -Infinity;
    const { min_ms: minMs, result } = fault.parameters;
    return this.#options.monotonicMs() - servedMs < minMs ? tooSoon[result] : null;
  }

  #recordServed({ deviceIndex }: RequestFacts): void {
    if (this.#hasInterval) this.#servedMs.set(deviceIndex, this.#options.monotonicMs());
  }

  #whenTakenBack(faults: readonly ActiveFault[], then: () => void): () => void {
    const waiting = faults.filter(makesWait);
    const forget = this.#options.registry.onChange(() => {
      if (!areTakenBack(waiting)) return;
      forget();
      then();
    });
    return forget;
  }

  #sort(): void {
    const ours = this.#options.registry.active.filter(isTransport);
    const ofKinds = (kinds: Kinds) => {
      const chosen = ours.filter((fault) => kinds.some(({ kind }) => kind === fault.facts.kind.kind));
      return chosen.length === 0 ? noFaults : chosen;
    };
    this.#connection = ofKinds(connectionKinds);
    this.#outage = ofKinds([outageFault]);
    this.#ignore = ofKinds([ignoreUnitFault]);
    this.#alias = ofKinds([aliasUnitFault]);
    this.#outcome = ofKinds(outcomeKinds);
    const before = [...connectionKinds, ...reachKinds, ...outcomeKinds, aliasUnitFault];
    this.#answer = ours.filter((fault) => !before.some(({ kind }) => kind === fault.facts.kind.kind));
    this.#hasFaults = ours.length > 0;
    this.#hasInterval = this.#outcome.some((fault) => fault.isOf(requestIntervalFault));
    if (!this.#hasInterval) this.#servedMs.clear();
  }

  /**
   * True if a fault is in force for the target of a connection or request. For one device, its condition decides. For
   * no device or several, only faults of all devices count, and their condition must be met at each device.
   */
  #meets(fault: ActiveFault, deviceIndex: number | undefined): boolean {
    if (fault.isOver) return false;
    const { when } = fault.facts;
    if (deviceIndex !== undefined)
      return fault.concerns(deviceIndex) && (when === null || this.#options.holds(fault, deviceIndex));
    return (
      fault.isOfAll &&
      (when === null || this.#options.deviceIndexes().every((index) => this.#options.holds(fault, index)))
    );
  }

  #aimedAt(fault: ActiveFault, { deviceIndex, functionCode, address, count }: RequestFacts): boolean {
    const { functions, registers, points } = mapTargetOf(fault.facts.target);
    if (functions !== undefined && !functions.includes(functionCode)) return false;
    if (registers === undefined && points === undefined) return true;
    if (address === null) return false;
    const requested: Span = { address, count: count ?? 1 };
    if (registers !== undefined && overlap(registers, requested)) return true;
    if (points === undefined || deviceIndex === undefined) return false;
    const { spans, mapRanges } = this.#options;
    const mapSpans = mapRanges?.(deviceIndex, requested) ?? [requested];
    return spans(points, deviceIndex).some((span) => mapSpans.some((one) => overlap(span, one)));
  }
}

const overlap = (a: Span, b: Span): boolean => a.address < b.address + b.count && b.address < a.address + a.count;

function isTransport(fault: ActiveFault): boolean {
  return fault.protocol === 'modbus' && modbusTransportFaults.some(({ kind }) => kind === fault.facts.kind.kind);
}

/** True if a fault delays an answer or a part of it. */
function makesWait(fault: ActiveFault): boolean {
  if (fault.isOf(delayFault)) return fault.parameters.delay_ms + fault.parameters.jitter_ms > 0;
  return fault.isOf(splitFault) && fault.parameters.gap_ms > 0;
}

const areTakenBack = (faults: readonly ActiveFault[]): boolean => faults.every(({ isTakenBack }) => isTakenBack);

/** True if a fault strikes the device of the request; counts an occasion. */
const strikesAt = (fault: ActiveFault, { deviceIndex }: RequestFacts): boolean => fault.strikes(deviceIndex ?? null);

/** The exception of a fault, if the request has a size that it names; null: not this request. */
function exceptionOf(fault: ActiveFault, request: RequestFacts): Disturbance | null {
  if (!fault.isOf(exceptionFault) || request.deviceIndex === undefined) return null;
  const { code, carried_out: carriedOut, quantity_min: min = 0, quantity_max: max = Infinity } = fault.parameters;
  const count = request.count ?? (request.address === null ? null : 1);
  const sized = (min === 0 && max === Infinity) || (count !== null && count >= min && count <= max);
  return sized ? { exception: { code, carriedOut } } : null;
}

const tooSoon = {
  silent: unheard,
  busy: { exception: { code: modbusException.serverDeviceBusy, carriedOut: false } },
  disconnect: { silence: { carriedOut: false }, close: true },
} as const satisfies Record<string, Disturbance>;

function answerOf(struck: readonly ActiveFault[], framing: FramingName): Disturbance {
  let delayMs = 0;
  for (const fault of struck) {
    if (!fault.isOf(delayFault)) continue;
    const { delay_ms: base, jitter_ms: jitter } = fault.parameters;
    delayMs += base + (jitter > 0 ? jitter * fault.random.next() : 0);
  }
  const rewrite = rewriteOf(struck, framing);
  const gapMs = chunkPauseMs(struck);
  return { ...(delayMs > 0 && { delayMs }), ...(rewrite !== undefined && { rewrite }), ...(gapMs > 0 && { gapMs }) };
}
