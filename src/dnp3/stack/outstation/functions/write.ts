/** WRITE: indications, time and deadbands. Every header is checked before one of them acts. IEEE 1815 4.4.3 */
import type { Buffer } from 'node:buffer';
import { iin } from '../../application/types.ts';
import type { ObjectHeader } from '../../application/types.ts';
import type { FunctionContext } from '../types.ts';

/** Carries out a header; a number: bits of IIN2 that refuse it. */
type Act = () => void;

/** Index of DEVICE_RESTART among the indications. */
const restartIndex = 7;

export interface TimeBook {
  /** arrival of the last RECORD_CURRENT_TIME, monotonic ms; null: none, or used */
  recordedMs: number | null;
}

function indications({ objects }: ObjectHeader, context: FunctionContext): Act | number {
  const isClear = objects.every(({ index, octets }) => index === restartIndex && octets[0] === 0);
  return isClear && objects.length > 0 ? () => context.clearRestart() : iin.parameterError;
}

const time48 = (octets: Buffer) => octets.readUIntLE(0, 6);

function time(header: ObjectHeader, context: FunctionContext, book: TimeBook): Act | number {
  const { variation, range, objects } = header;
  const [object] = objects;
  if (variation !== 1 && variation !== 3) return iin.objectUnknown;
  if (range.kind !== 'count' || range.count !== 1 || object === undefined) return iin.parameterError;
  const atMs = variation === 1 ? context.receivedMs : book.recordedMs;
  const ms = time48(object.octets);
  if (atMs === null) return iin.parameterError;
  return () => {
    if (variation === 3) book.recordedMs = null;
    context.time.sync(ms, atMs);
  };
}

function deadbandOf(variation: number, octets: Buffer): number {
  if (variation === 1) return octets.readUInt16LE(0);
  return variation === 2 ? octets.readUInt32LE(0) : octets.readFloatLE(0);
}

function deadbands({ variation, objects }: ObjectHeader, { outstation }: FunctionContext): Act | number {
  const { database } = outstation;
  const wanted = objects.map(({ index, octets }) => ({ index: index ?? -1, deadband: deadbandOf(variation, octets) }));
  const isGood = wanted.every(
    ({ index, deadband }) =>
      database.point('analogInput', index) !== undefined && Number.isFinite(deadband) && deadband >= 0,
  );
  if (!isGood) return iin.parameterError;
  return () => {
    for (const { index, deadband } of wanted) database.setDeadband(index, deadband);
  };
}

/** @returns bits of IIN2, 0: all is done */
export function write(headers: readonly ObjectHeader[], context: FunctionContext, book: TimeBook): number {
  if (headers.length === 0) return iin.parameterError;
  const acts: Act[] = [];
  let iin2 = 0;
  for (const header of headers) {
    const act =
      header.group === 80
        ? indications(header, context)
        : header.group === 50
          ? time(header, context, book)
          : header.group === 34
            ? deadbands(header, context)
            : iin.objectUnknown;
    if (typeof act === 'number') iin2 |= act;
    else acts.push(act);
  }
  if (iin2 === 0) for (const act of acts) act();
  return iin2;
}
