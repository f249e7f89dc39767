/** The functions of one association, without READ, CONFIRM and those of unsolicited responses. */
import { Buffer } from 'node:buffer';
import { functionCodes, iin } from '../application/types.ts';
import type { Answer, ObjectHeader } from '../application/types.ts';
import type { FunctionContext, FunctionHandler, FunctionSet, OutstationOptions, Database } from './types.ts';
import { kindOfStaticGroup, pointsNamed } from './point-table.ts';
import type { PointClass, PointKind, Stamp } from '../points.ts';
import { Controls } from './controls.ts';

const counterGroup = 20;
const classGroup = 60;

/** Indexes of the existing points that a header names; `missing`: true if others are named too, or none at all. */
function namedIndexes(database: Database, kind: PointKind, { range }: ObjectHeader) {
  const { specs } = database.list(kind);
  const { places, missing } = pointsNamed(specs, range) ?? { places: [], missing: true };
  return { indexes: places.flatMap((place) => specs[place]?.index ?? []), missing };
}

/** Freezes counters. IEEE 1815 4.4.8 @returns bits of IIN2 */
function freeze(
  headers: readonly ObjectHeader[],
  database: Database,
  { clear, stamp }: { readonly clear: boolean; readonly stamp: Stamp },
): number {
  if (headers.length === 0) return iin.parameterError;
  if (headers.some(({ group, variation }) => group !== counterGroup || variation !== 0)) return iin.objectUnknown;
  let iin2 = 0;
  for (const header of headers) {
    const { indexes, missing } = namedIndexes(database, 'counter', header);
    if (missing) iin2 |= iin.parameterError;
    database.freeze(indexes, clear, stamp);
  }
  return iin2;
}

const classes: Readonly<Record<number, PointClass>> = { 1: 0, 2: 1, 3: 2, 4: 3 };

/**
 * Assigns a class to the points behind each class object. IEEE 1815 4.4.15
 * @returns bits of IIN2; valid objects are carried out even if others are refused, up to an invalid class object
 */
function assignClass(headers: readonly ObjectHeader[], database: Database): number {
  let to: PointClass | undefined;
  let iin2 = headers.length === 0 ? iin.parameterError : 0;
  for (const header of headers) {
    const { group, variation, range } = header;
    if (group === classGroup) {
      to = classes[variation];
      if (to === undefined || range.kind !== 'all') return iin2 | iin.parameterError;
      continue;
    }
    const kind = kindOfStaticGroup(group);
    if (kind === undefined || variation !== 0 || database.list(kind).specs.length === 0) iin2 |= iin.objectUnknown;
    else if (to === undefined) iin2 |= iin.parameterError;
    else iin2 |= assign(header, kind, to, database);
  }
  return iin2;
}

function assign(header: ObjectHeader, kind: PointKind, to: PointClass, database: Database): number {
  const { indexes, missing } = namedIndexes(database, kind, header);
  const refused = indexes.filter((index) => !database.assignClass(kind, index, to));
  // a header of all points skips points without events
  const isRefused = header.range.kind === 'all' ? refused.length === indexes.length : refused.length > 0;
  return missing || isRefused ? iin.parameterError : 0;
}

/** Carries out a checked header. The check of a header returns one, or the bits of IIN2 that refuse the header. */
type Act = () => void;

/** Index of DEVICE_RESTART among the indications. */
const restartIndex = 7;

interface RecordedTime {
  /** arrival of the last RECORD_CURRENT_TIME, monotonic ms; null: none, or used by a write */
  atMs: number | null;
}

/** Checks a write of indications: DEVICE_RESTART alone can be written, with 0. */
function checkIndications({ objects }: ObjectHeader, context: FunctionContext): Act | number {
  const isClear = objects.every(({ index, octets }) => index === restartIndex && octets[0] === 0);
  return isClear && objects.length > 0 ? () => context.clearRestart() : iin.parameterError;
}

const time48 = (octets: Buffer) => octets.readUIntLE(0, 6);

function checkTime(header: ObjectHeader, context: FunctionContext, recorded: RecordedTime): Act | number {
  const { variation, range, objects } = header;
  const [object] = objects;
  if (variation !== 1 && variation !== 3) return iin.objectUnknown;
  if (range.kind !== 'count' || range.count !== 1 || object === undefined) return iin.parameterError;
  const atMs = variation === 1 ? context.receivedMs : recorded.atMs;
  const ms = time48(object.octets);
  if (atMs === null) return iin.parameterError;
  return () => {
    if (variation === 3) recorded.atMs = null;
    context.time.sync(ms, atMs);
  };
}

function deadbandOf(variation: number, octets: Buffer): number {
  if (variation === 1) return octets.readUInt16LE(0);
  return variation === 2 ? octets.readUInt32LE(0) : octets.readFloatLE(0);
}

function checkDeadbands({ variation, objects }: ObjectHeader, { outstation }: FunctionContext): Act | number {
  const { database } = outstation;
  const settings = objects.map(({ index, octets }) => ({
    index: index ?? -1,
    deadband: deadbandOf(variation, octets),
  }));
  const areValid = settings.every(
    ({ index, deadband }) =>
      database.point('analogInput', index) !== undefined && Number.isFinite(deadband) && deadband >= 0,
  );
  if (!areValid) return iin.parameterError;
  return () => {
    for (const { index, deadband } of settings) database.setDeadband(index, deadband);
  };
}

/**
 * WRITE: indications, time and deadbands. All headers are checked before the first write. IEEE 1815 4.4.3
 * @returns bits of IIN2; 0: all written
 */
function write(headers: readonly ObjectHeader[], context: FunctionContext, recorded: RecordedTime): number {
  if (headers.length === 0) return iin.parameterError;
  const writes: Act[] = [];
  let iin2 = 0;
  for (const header of headers) {
    const outcome =
      header.group === 80
        ? checkIndications(header, context)
        : header.group === 50
          ? checkTime(header, context, recorded)
          : header.group === 34
            ? checkDeadbands(header, context)
            : iin.objectUnknown;
    if (typeof outcome === 'number') iin2 |= outcome;
    else writes.push(outcome);
  }
  if (iin2 === 0) for (const apply of writes) apply();
  return iin2;
}

/** An answer without objects. */
const answer = (iin2: number): Answer => ({ objects: Buffer.alloc(0), iin2 });

const maxMs = 0xffff;

/** A delay as g52: v2 in milliseconds, above 65535 ms v1 in seconds. */
function delay(ms: number): Answer {
  const inMs = ms <= maxMs;
  const count = Math.min(0xffff, Math.round(inMs ? ms : ms / 1000));
  return { objects: Buffer.from([52, inMs ? 2 : 1, 0x07, 1, count & 0xff, count >> 8]), iin2: 0 };
}

function freezing(clear: boolean): FunctionHandler {
  return ({ headers }, { outstation: { database, clock } }) =>
    answer(freeze(headers, database, { clear, stamp: clock.stamp() }));
}

function restarting(kind: 'cold' | 'warm'): FunctionHandler {
  return ({ headers }, context) => {
    if (headers.length > 0) return answer(iin.parameterError);
    context.requestRestart(kind);
    return delay(context.outstation.restartDelayMs);
  };
}

function timing({ outstation: { clock }, receivedMs }: FunctionContext): Answer {
  return delay(Math.max(0, clock.monotonicMs() - receivedMs));
}

/** Refuses objects in requests of functions that have none. */
const withoutObjects =
  (handler: FunctionHandler): FunctionHandler =>
  (request, context) =>
    request.headers.length > 0 ? answer(iin.parameterError) : handler(request, context);

/** Creates the functions of one association. */
export function createFunctionSet({ limits, clock }: Pick<OutstationOptions, 'limits' | 'clock'>): FunctionSet {
  const controls = new Controls(limits.selectTimeoutMs, () => clock.monotonicMs());
  const recorded: RecordedTime = { atMs: null };
  const direct: FunctionHandler = (request, context) => controls.direct(request, context);
  const handlers: Readonly<Record<number, FunctionHandler>> = {
    [functionCodes.write]: ({ headers }, context) => answer(write(headers, context, recorded)),
    [functionCodes.select]: (request, context) => controls.select(request, context),
    [functionCodes.operate]: (request, context) => controls.operate(request, context),
    [functionCodes.directOperate]: direct,
    [functionCodes.directOperateNr]: direct,
    [functionCodes.immediateFreeze]: freezing(false),
    [functionCodes.immediateFreezeNr]: freezing(false),
    [functionCodes.freezeClear]: freezing(true),
    [functionCodes.freezeClearNr]: freezing(true),
    [functionCodes.coldRestart]: restarting('cold'),
    [functionCodes.warmRestart]: restarting('warm'),
    [functionCodes.assignClass]: ({ headers }, { outstation: { database } }) => answer(assignClass(headers, database)),
    [functionCodes.delayMeasure]: withoutObjects((_, context) => timing(context)),
    [functionCodes.recordCurrentTime]: withoutObjects((_, { receivedMs }) => {
      recorded.atMs = receivedMs;
      return answer(0);
    }),
  };
  return {
    handler: (code) => handlers[code],
    precede: (request) => controls.precede(request),
    get hasSelect() {
      return controls.hasSelect;
    },
    isSelected: (kind, index) => controls.isSelected(kind, index),
    sessionEnded() {
      controls.drop();
      recorded.atMs = null;
    },
  };
}
