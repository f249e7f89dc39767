/**
 * One request and its answer, over a TCP or TLS connection or a serial line. The wire log gets both while it has an
 * observer.
 */
import { Buffer } from 'node:buffer';
import type { Later } from '../../../core/time/timers.ts';
import type { ModbusContext, Disturbance, RequestFacts } from './context.ts';
import { modbusException } from './unit.ts';
import type { ModbusUnit } from './unit.ts';
import { maxAdu } from '../framing/framing.ts';
import type { Framing } from '../framing/framing.ts';
import { spanOf } from '../../../core/wire/modbus.ts';
import type { TappedExchange, ModbusTap } from '../../../core/wire/modbus.ts';
import { answer, answerException, isException } from './pdu.ts';
import type { Asker } from './pdu.ts';
import { namesOf } from './report.ts';

/** Octets of a frame after its PDU. */
const tailOctets = { mbap: 0, rtu: 2 } as const;

/** Reports the request at hand. @param unit its target, as faults identify it */
function tapRequest(
  tap: ModbusTap,
  request: Framing,
  { foreignUnit }: Pick<ModbusContext, 'foreignUnit'>,
  unit: ModbusUnit | undefined,
  { peer }: Asker,
): TappedExchange {
  const { name: framing, buffer, pduStart, pduEnd, unitId } = request;
  const { functionCode, address, count } = spanOf(buffer, pduStart, pduEnd);
  // on a serial line the frame is one between other devices, possibly an answer
  const isForeign = unit === undefined && framing === 'rtu';
  const broadcast = unit?.mute === true;
  const unserved = unit === undefined && foreignUnit === 'silent';
  return tap.request({
    kind: isForeign ? 'foreign' : 'request',
    direction: 'in',
    peer,
    deviceIndex: unit?.deviceIndex ?? null,
    raw: aduOf(request),
    framing,
    unitId,
    functionCode,
    address,
    count,
    broadcast,
    names: namesOf(unit, functionCode, address, count),
    unanswered: isForeign ? null : broadcast ? 'broadcast' : unserved ? 'unit_not_served' : 'suppressed',
  });
}

/** Reports an answer sent at once: the octets of `out` from `at` to `end`; empty if no answer is due. */
export function tapAnswer(tapped: TappedExchange, out: Buffer, at: number, end: number): void {
  if (end > at) tapped.answered(out.subarray(at, end));
  else tapped.ended();
}

/** The service at one port or line. */
export interface Service {
  readonly context: ModbusContext;
  /** the device in log lines; undefined: several */
  readonly deviceIndex: number | undefined;
  /** the unit of a unit id; undefined: not served */
  readonly units: (unitId: number) => ModbusUnit | undefined;
  /** the unit of a device by index; absent: units are found by unit id alone */
  readonly unitOf?: (deviceIndex: number) => ModbusUnit | undefined;
}

/** Answers the request at hand with an ADU into `out` from `at`. @returns the end of the answer; `at`: no answer */
export function serve(request: Framing, service: Service, asker: Asker, out: Buffer, at: number): number {
  return serveUnit(request, service, service.units(request.unitId), asker, out, at);
}

function serveUnit(
  request: Framing,
  service: Service,
  unit: ModbusUnit | undefined,
  asker: Asker,
  out: Buffer,
  at: number,
): number {
  const { counters, report } = service.context;
  if (unit === undefined) return foreign(request, service, asker, out, at);
  counters.requests += 1;
  const pduAt = at + request.headSize;
  const pduEnd = answer(request, unit, asker, report, out, pduAt);
  asker.judge?.served(request, unit, isException(out, pduAt) ? (out[pduAt + 1] ?? 0) : 0);
  if (unit.mute === true) return at;
  return answered(request, service, out, at, pduEnd);
}

const isWrite = ({ buffer, pduStart }: Framing) => buffer[pduStart] === 6 || buffer[pduStart] === 16;

/** Answers with an exception, without the unit. */
function refuse(request: Framing, service: Service, code: number, out: Buffer, at: number): number {
  return answered(request, service, out, at, answerException(request, code, out, at + request.headSize));
}

function answered(
  request: Framing,
  { context: { counters } }: Service,
  out: Buffer,
  at: number,
  pduEnd: number,
): number {
  counters.answers += 1;
  const refused = isException(out, at + request.headSize);
  if (refused) counters.exceptions += 1;
  if (isWrite(request)) {
    if (refused) counters.refusedWrites += 1;
    else counters.writes += 1;
  }
  return request.wrap(out, at, pduEnd);
}

/** Answers to an unserved unit id: nothing on a serial line; over TCP a gateway may answer. */
function foreign(request: Framing, service: Service, asker: Asker, out: Buffer, at: number): number {
  const {
    context: { counters, foreignUnit, report },
    units,
    deviceIndex,
  } = service;
  const { name: framing } = request;
  counters.foreign += 1;
  const isSilent = framing === 'rtu' || foreignUnit === 'silent';
  const exception = isSilent ? null : modbusException.gatewayTargetFailed;
  report.unserved({ request, framing, units, deviceIndex, exception }, asker);
  if (framing !== 'rtu') {
    counters.requests += 1;
    asker.judge?.served(request, undefined, exception ?? -1);
  }
  return exception === null ? at : refuse(request, service, exception, out, at);
}

/** The outcome of a request under faults or with an observer. */
interface WatchedExchange {
  /** as returned by `serve` */
  readonly end: number;
  /** delay and chunks of the answer; null: sent at once */
  readonly late: LateAnswer | null;
  /** receives an answer sent at once; null: no observer */
  readonly tapped: TappedExchange | null;
}

/** As `serve`, with fault injection and the wire log as far as they are active. */
export function serveWatched(
  request: Framing,
  service: Service,
  asker: Asker,
  out: Buffer,
  at: number,
): WatchedExchange {
  const { disturber, tap } = service.context;
  const isDisturbed = disturber?.active === true;
  const unit = service.units(request.unitId) ?? (isDisturbed ? aliased(request, service) : undefined);
  const tapped = tap?.active === true ? tapRequest(tap, request, service.context, unit, asker) : null;
  if (tapped !== null) asker.judge?.logged(tapped.id);
  if (!isDisturbed) return { end: serveUnit(request, service, unit, asker, out, at), late: null, tapped };
  const { end, late } = serveDisturbed(request, service, unit, asker, out, at);
  return { end, late: late === null || tapped === null ? late : { ...late, tapped }, tapped };
}

type DisturbedExchange = Omit<WatchedExchange, 'tapped'>;

/** As `serve`, under active fault injection. */
function serveDisturbed(
  request: Framing,
  service: Service,
  unit: ModbusUnit | undefined,
  asker: Asker,
  out: Buffer,
  at: number,
): DisturbedExchange {
  const { disturber } = service.context;
  const facts = factsOf(request, service, unit);
  const disturbed = (deviceIndex: number | undefined) =>
    disturber?.onRequest({ ...facts, deviceIndex }, request.name) ?? null;
  if (unit?.subset !== undefined) {
    // each device has its own faults; a master sees only whether it acts
    const acting = unit.subset((deviceIndex) => isCarriedOut(disturbed(deviceIndex)));
    return { end: serveUnit(request, service, acting, asker, out, at), late: null };
  }
  // on a serial line, frames to other devices and their answers are not requests
  const disturbance =
    unit === undefined && request.name === 'rtu' ? null : disturbed(unit?.faultIndex ?? unit?.deviceIndex);
  if (disturbance === null) return { end: serveUnit(request, service, unit, asker, out, at), late: null };
  asker.judge?.disturbed();
  const end = carryOut(request, service, unit, asker, disturbance, out, at);
  return { end, late: lateAnswer(disturbance, Buffer.from(out.subarray(at, end)), aduOf(request)) };
}

function aliased(
  { unitId }: Framing,
  { context: { disturber }, deviceIndex, unitOf }: Service,
): ModbusUnit | undefined {
  const index = disturber?.aliasOf(deviceIndex, unitId);
  return index === undefined ? undefined : unitOf?.(index);
}

const isCarriedOut = (disturbance: Disturbance | null) =>
  (disturbance?.silence ?? disturbance?.exception)?.carriedOut ?? true;

function factsOf(
  { buffer, pduStart, pduEnd, unitId }: Framing,
  { context }: Service,
  unit: ModbusUnit | undefined,
): Omit<RequestFacts, 'deviceIndex'> {
  return {
    unitId,
    ...spanOf(buffer, pduStart, pduEnd),
    answered: unit === undefined ? context.foreignUnit === 'gateway' : unit.mute !== true,
  };
}

/** An answer sent later or in several chunks. */
export interface LateAnswer {
  readonly chunks: readonly Buffer[];
  readonly delayMs: number;
  /** ms between chunks */
  readonly gapMs: number;
  /** true: close the connection after the last chunk */
  readonly close: boolean;
  /** as in `Disturbance` */
  readonly onTakenBack?: Disturbance['onTakenBack'];
  /** minimum wait, also after the faults behind the delay are removed */
  readonly minDelayMs?: number;
  /** receives each chunk sent, and the end; absent: no observer */
  readonly tapped?: TappedExchange;
}

// eslint-disable-next-line max-params -- runs for every request: an object of arguments would be garbage
function carryOut(
  request: Framing,
  service: Service,
  unit: ModbusUnit | undefined,
  asker: Asker,
  { exception, silence }: Disturbance,
  out: Buffer,
  at: number,
): number {
  if (exception === undefined && silence === undefined) return serveUnit(request, service, unit, asker, out, at);
  service.context.counters.requests += 1;
  const carriedOut = (silence ?? exception)?.carriedOut === true;
  const { report } = service.context;
  if (carriedOut && unit !== undefined) answer(request, unit, asker, report, discarded, 0);
  asker.judge?.withheld(request, unit, silence === undefined ? (exception?.code ?? 0) : 0);
  if (silence !== undefined || exception === undefined) return at;
  if (!carriedOut) report.refused(request, unit, asker, exception.code, 'by fault injection');
  else if (unit !== undefined && !isException(discarded, 0)) report.belied(request, unit, asker, exception.code);
  return refuse(request, service, exception.code, out, at);
}

/** Buffer for answers that are not sent. */
const discarded = Buffer.alloc(maxAdu);

/** The octets of a request, valid until the next one. */
const aduOf = ({ name, buffer, headSize, pduStart, pduEnd }: Framing) =>
  buffer.subarray(pduStart - headSize, pduEnd + tailOctets[name]);

/** @param adu the answer; empty: none */
function lateAnswer(
  { delayMs = 0, gapMs = 0, rewrite, close = false, onTakenBack }: Disturbance,
  adu: Buffer,
  request: Buffer,
): LateAnswer | null {
  if (delayMs <= 0 && rewrite === undefined && !close) return null;
  const whole = adu.length === 0 ? [] : [adu];
  const chunks = rewrite !== undefined && adu.length > 0 ? rewrite(adu, request) : whole;
  return { chunks, delayMs, gapMs, close, ...(onTakenBack !== undefined && delayMs + gapMs > 0 && { onTakenBack }) };
}

/**
 * Sends a late answer, chunk by chunk, always by a timer. Once the faults that cause the delay are removed,
 * the rest is sent together.
 * @param write takes one chunk
 * @param done called after the last chunk
 * @returns cancels the unsent rest
 */
export function sendLate(
  answer: LateAnswer,
  later: Later,
  write: (chunk: Buffer) => void,
  done: () => void,
): () => void {
  const { chunks, delayMs, onTakenBack, minDelayMs = 0, tapped } = answer;
  let { gapMs } = answer;
  let next = 0;
  let cancel: () => void;
  function step(): void {
    do {
      const chunk = chunks[next];
      next += 1;
      if (chunk !== undefined) {
        write(chunk);
        tapped?.answered(chunk);
      }
    } while (gapMs <= 0 && next < chunks.length);
    if (next < chunks.length) {
      cancel = later(gapMs, step);
    } else {
      forget?.();
      tapped?.ended();
      done();
    }
  }
  cancel = later(Math.max(minDelayMs, delayMs), step);
  const forget = onTakenBack?.(() => {
    cancel();
    gapMs = 0;
    cancel = later(next === 0 ? minDelayMs : 0, step);
  });
  return () => {
    cancel();
    forget?.();
    tapped?.ended('connection_ended');
  };
}
