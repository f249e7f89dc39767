/** Log lines about masters: refused writes at `warning`, unknown unit ids at `info`, everything else at `debug`. */
import type { AdapterError } from '../../../core/adapter.ts';
import type { Buffer } from 'node:buffer';
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log/log.ts';
import { PeerLimitedLog } from '../../../core/log/limited-log.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import type { Later } from '../../../core/time/timers.ts';
import { exceptionNames, functionNames, spanOf } from '../../../core/wire/modbus.ts';
import type { RegisterNames } from '../../../core/wire/modbus.ts';
import type { FramingName } from '../framing/framing.ts';
import type { RequestPdu, ModbusUnit, Requester } from './unit.ts';

/** Functions that write, served or not. */
const writeFunctions: ReadonlySet<number> = new Set([5, 6, 15, 16, 21, 22, 23]);
/** Served functions, all of which name registers. */
const registerFunctions: ReadonlySet<number> = new Set([3, 4, 6, 16]);
/** Requests for more registers are refused. */
const maxNamed = 125;
/** Maximum number of points of a request named in a line. */
const maxPointsShown = 8;
const unitIds = Array.from({ length: 256 }, (_, id) => id);

/** A request to a unit id that is not served. */
export interface UnservedRequest {
  readonly request: Pick<RequestPdu, 'unitId'>;
  readonly framing: FramingName;
  /** units served by the port */
  readonly units: (unitId: number) => ModbusUnit | undefined;
  /** the device in log lines; undefined: several */
  readonly deviceIndex: number | undefined;
  /** exception in the answer; null: no answer */
  readonly exception: number | null;
}

/** The points of a request; null: the request has no valid registers, or the unit does not name them. */
export function namesOf(
  unit: ModbusUnit | undefined,
  functionCode: number,
  address: number | null,
  count: number | null,
): (() => RegisterNames) | null {
  if (unit?.names === undefined || address === null || count === null) return null;
  if (!registerFunctions.has(functionCode) || count < 1 || count > maxNamed) return null;
  return unit.names(functionCode, address, count);
}

/** Least time between two texts of refused reads, ms: a scanner makes many. */
const minErrorGapMs = 100;

/**
 * Log lines about the requests of one group of listeners. At level `info` a request carried out costs one test, and
 * refused writes give at most ten lines per peer and second; the text of a suppressed line is never built.
 */
export class RequestReport {
  readonly #log: Logger;
  readonly #refusals: PeerLimitedLog;
  readonly #unserved: PeerLimitedLog;
  /** unit ids already reported, by connection */
  readonly #named = new WeakMap<Requester, Set<number>>();
  readonly #clock: WallClock;
  #lastError: AdapterError | null = null;

  constructor(log: Logger, clock: WallClock, later: Later) {
    this.#log = log;
    this.#clock = clock;
    this.#refusals = new PeerLimitedLog(log, clock, 'refused writes', later);
    this.#unserved = new PeerLimitedLog(log, clock, 'unit ids that are not served', later);
  }

  /** The last exception, broken stream or failed handshake; null: none yet. */
  get lastError(): AdapterError | null {
    return this.#lastError;
  }

  /** Keeps the last error. @returns its text */
  failed(text: string): string {
    this.#lastError = { text, atMs: this.#clock.nowMs() };
    return text;
  }

  /** True if requests carried out are reported. */
  get detailed(): boolean {
    return this.#log.keepsDebug === true;
  }

  /** Reports a write carried out, if `detailed`. */
  written(request: RequestPdu, unit: ModbusUnit, by: Requester): void {
    this.#log.debug(`${requestInWords(request, unit, by, true)} carried out`, unit.deviceIndex);
  }

  /** @param why thrown by the unit, or text */
  refused(request: RequestPdu, unit: ModbusUnit | undefined, by: Requester, exception: number, why: unknown): void {
    const isWrite = writeFunctions.has(request.buffer[request.pduStart] ?? 0);
    const line = () =>
      this.failed(
        `${requestInWords(request, unit, by, false)} refused with ${exceptionInWords(exception)}: ${errorText(why)}`,
      );
    if (isWrite) this.#refusals.warning(by.peer, line, unit?.deviceIndex);
    else if (this.detailed) this.#log.debug(line(), unit?.deviceIndex);
    else if (this.#clock.nowMs() - (this.#lastError?.atMs ?? -Infinity) >= minErrorGapMs) line();
  }

  /** Reports a write carried out although fault injection answers it with an exception. */
  belied(request: RequestPdu, unit: ModbusUnit, by: Requester, exception: number): void {
    if (!writeFunctions.has(request.buffer[request.pduStart] ?? 0)) return;
    this.#refusals.warning(
      by.peer,
      () =>
        `${requestInWords(request, unit, by, true)} carried out, but answered with ${exceptionInWords(exception)} ` +
        'by fault injection',
      unit.deviceIndex,
    );
  }

  /**
   * Reports an unserved unit id, once per connection. On a serial line it may belong to another device, so the line has
   * level `debug`.
   */
  unserved({ request: { unitId }, framing, units, deviceIndex, exception }: UnservedRequest, by: Requester): void {
    if (framing === 'rtu' && !this.detailed) return;
    const named = this.#named.get(by) ?? new Set<number>();
    if (named.has(unitId)) return;
    this.#named.set(by, named.add(unitId));
    const line = () => {
      const served = rangesInWords(unitIds.filter((id) => units(id) !== undefined));
      const outcome = exception === null ? 'it gets no answer' : `it gets ${exceptionInWords(exception)}`;
      return `${peerInWords(by)} asks for unit ${unitId}, which is not served here (served: ${served}): ${outcome}`;
    };
    if (framing === 'rtu') this.#log.debug(line(), deviceIndex);
    else this.#unserved.info(by.peer, line, deviceIndex);
  }

  /** Writes the counts of suppressed lines. */
  flush(): void {
    this.#refusals.flush();
    this.#unserved.flush();
  }
}

/** The peer as in provenance, with its role if it has one. */
function peerInWords({ peer, role }: Requester): string {
  return role === undefined ? peer : `${peer} (${role ?? 'no role'})`;
}

function exceptionInWords(code: number): string {
  const name = exceptionNames[code];
  return name === undefined ? `exception ${code}` : `exception ${code} (${name})`;
}

/** @param withValues true: with the written values after the names */
function requestInWords(request: RequestPdu, unit: ModbusUnit | undefined, by: Requester, withValues: boolean): string {
  const { buffer, pduStart, pduEnd, unitId } = request;
  const { functionCode, address, count } = spanOf(buffer, pduStart, pduEnd);
  const what = `function ${functionCode} (${functionNames[functionCode] ?? 'unknown'})`;
  const registers = address === null ? '' : ` of ${registersInWords(address, count ?? 0)}`;
  const names = namesOf(unit, functionCode, address, count)?.();
  const points = names === undefined ? [] : pointsOf(names, withValues ? wordsOf(request) : null);
  const pointsText = points.length === 0 ? '' : ` (${listInWords(points)})`;
  return `${peerInWords(by)}, unit ${unitId}: ${what}${registers}${pointsText}`;
}

/** The registers in a write of function 6 or 16. */
function wordsOf({ buffer, pduStart, pduEnd }: RequestPdu): Buffer {
  return buffer.subarray(buffer[pduStart] === 6 ? pduEnd - 2 : pduStart + 6, pduEnd);
}

function pointsOf(names: RegisterNames, words: Buffer | null): readonly string[] {
  if (words === null) return names.points;
  const writtenValues = names.values(words);
  const ignored = new Set(names.ignored);
  return names.points.map((name) => {
    if (ignored.has(name)) return `${name} ignored`;
    return name in writtenValues ? `${name} = ${writtenValues[name] ?? 'not implemented'}` : name;
  });
}

function listInWords(points: readonly string[]): string {
  const more = points.length - maxPointsShown;
  const pointNames = points.slice(0, maxPointsShown).join(', ');
  return more > 0 ? `${pointNames} and ${more} more` : pointNames;
}

/** Addresses as in the request, from 0. */
function registersInWords(address: number, count: number): string {
  return count > 1 ? `registers ${address}..${address + count - 1}` : `register ${address}`;
}

/** `0..1, 255` */
function rangesInWords(ids: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === id - 1) last[1] = id;
    else ranges.push([id, id]);
  }
  if (ranges.length === 0) return 'none';
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}..${last}`)).join(', ');
}
