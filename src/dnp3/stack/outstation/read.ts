/** Carries out a READ as steps that fill one fragment after the other. IEEE 1815 4.4.2, 4.1.5 */
import { Buffer } from 'node:buffer';
import { iin } from '../application/types.ts';
import type { ObjectHeader } from '../application/types.ts';
import type { FragmentWriter } from '../application/writer.ts';
import { isPlain, writeTime48, groupFacts, objectType } from '../objects.ts';
import type { ObjectType } from '../objects.ts';
import { groupsOf, pointKinds } from '../points.ts';
import type { PointSpec, PointState } from '../points.ts';
import { SelectedPoints } from './database.ts';
import type { EventBuffer, QueuedEvent } from './events.ts';
import { firstFrom, kindOfStaticGroup, pointsNamed } from './point-table.ts';
import type { AssociationClock, Database, DatabasePoint, DeviceAttribute, PointList } from './types.ts';

/** Data types of attributes. */
const dataType = { text: 1, unsigned: 2, list: 254 } as const;
/** Variations of all attributes in one answer, and of their list. */
const allVariation = 254;
const listVariation = 255;
const maxTextOctets = 255;

function encoded(value: string | number): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value, 'utf8').subarray(0, maxTextOctets);
    return Buffer.concat([Buffer.from([dataType.text, text.length]), text]);
  }
  const octets = Buffer.alloc(4);
  octets.writeUInt32LE(value >>> 0);
  const width = value <= 0xff ? 1 : value <= 0xffff ? 2 : 4;
  return Buffer.concat([Buffer.from([dataType.unsigned, width]), octets.subarray(0, width)]);
}

/** One device attribute of set 0 (g0) with its header. IEEE 1815 annex A.1 */
function attributeObject(variation: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, variation, 0x00, 0, 0]), data]);
}

/**
 * The objects for a read of device attributes.
 * @returns one object for each attribute; null: the device has no such attribute
 */
export function readAttributes(variation: number, attributes: readonly DeviceAttribute[]): readonly Buffer[] | null {
  const sorted = attributes.toSorted((a, b) => a.variation - b.variation);
  if (variation === listVariation) {
    // 0: the attribute cannot be written
    const pairs = sorted.flatMap((each) => [each.variation, 0]);
    return [attributeObject(listVariation, Buffer.from([dataType.list, pairs.length, ...pairs]))];
  }
  const selected = variation === allVariation ? sorted : sorted.filter((each) => each.variation === variation);
  return selected.length === 0 ? null : selected.map((each) => attributeObject(each.variation, encoded(each.value)));
}

/** Part of an answer; `fill` writes as much as fits, and returns true when all is written. */
interface ReadStep {
  fill(writer: FragmentWriter): boolean;
  /** events written by the last `fill` */
  readonly sent?: QueuedEvent[];
}

interface ReadContext {
  readonly database: Database;
  readonly events: EventBuffer;
  readonly time: AssociationClock;
  readonly attributes: readonly DeviceAttribute[];
  /** IIN bits of the next response, for reads of g80 */
  readonly iin: () => number;
}

interface ReadPlan {
  readonly steps: readonly ReadStep[];
  /** all events of the plan, released if the series ends without confirm */
  readonly events: readonly QueuedEvent[];
  readonly iin2: number;
}

/** Static values of one kind, in the requested variation. */
class StaticStep implements ReadStep {
  readonly #points: PointList;
  readonly #variation: number;
  #at: number;
  readonly #end: number;

  /** @param variation 0: that of each point */
  constructor(points: PointList, variation: number, begin = 0, end = points.specs.length) {
    this.#points = points;
    this.#variation = variation;
    this.#at = begin;
    this.#end = end;
  }

  fill(writer: FragmentWriter): boolean {
    while (this.#at < this.#end) {
      const { type, end } = this.#run(this.#at);
      this.#at = type === undefined ? end : writer.addStatics(type, this.#points, this.#at, end);
      if (this.#at < end) return false;
    }
    return true;
  }

  /** Run of points from `begin` on with consecutive indexes and one type; undefined: no such variation. */
  #run(begin: number): { readonly type: ObjectType | undefined; readonly end: number } {
    const points = this.#points;
    const spec = points.specs[begin];
    if (spec === undefined) return { type: undefined, end: begin + 1 };
    const { kind, staticVariation } = spec;
    const type = objectType(groupsOf[kind].static, this.#variation === 0 ? staticVariation : this.#variation);
    // a variation without flags is judged point by point: a point with flags set needs the one with flags
    if (type?.withFlags !== undefined) {
      const state = { value: points.value(begin), flags: points.flags(begin) };
      return { type: withNeededFlags(type, state), end: begin + 1 };
    }
    return { type, end: Math.min(this.#end, endsOfRuns(points.specs)[begin] ?? begin + 1) };
  }
}

const runEnds = new WeakMap<readonly PointSpec[], readonly number[]>();

/** For each place of a list, the end of the run of consecutive indexes with one variation; lists do not change. */
function endsOfRuns(specs: readonly PointSpec[]): readonly number[] {
  let ends = runEnds.get(specs);
  if (ends === undefined) runEnds.set(specs, (ends = findEndsOfRuns(specs)));
  return ends;
}

function findEndsOfRuns(specs: readonly PointSpec[]): readonly number[] {
  const ends: number[] = [];
  let end = specs.length;
  for (let place = specs.length - 1; place >= 0; place -= 1) {
    const [spec, next] = [specs[place], specs[place + 1]];
    const goesOn = spec && next?.index === spec.index + 1 && next.staticVariation === spec.staticVariation;
    if (!goesOn) end = place + 1;
    ends[place] = end;
  }
  return ends;
}

/** The type with flags if the state needs the flags that a type omits; undefined: no such type. */
function withNeededFlags(type: ObjectType, state: PointState): ObjectType | undefined {
  return type.withFlags === undefined || isPlain(type, state) ? type : objectType(type.group, type.withFlags);
}

/** Maximum offset of g2v3 and g4v3 from the common time of occurrence, ms. */
const maxRelativeMs = 0xffff;

class EventStep implements ReadStep {
  readonly sent: QueuedEvent[] = [];
  readonly #events: readonly QueuedEvent[];
  readonly #variation: number;
  readonly #time: AssociationClock;
  #at = 0;
  /** the common time in this fragment; null: none yet */
  #common: { readonly ms: number; readonly synchronised: boolean } | null = null;

  /** @param variation 0: that of each point */
  constructor(events: readonly QueuedEvent[], variation: number, time: AssociationClock) {
    this.#events = events;
    this.#variation = variation;
    this.#time = time;
  }

  fill(writer: FragmentWriter): boolean {
    this.sent.length = 0;
    this.#common = null;
    for (; this.#at < this.#events.length; this.#at += 1) {
      const event = this.#events[this.#at];
      if (event === undefined) continue;
      if (!this.#write(writer, event)) return false;
      this.sent.push(event);
    }
    return true;
  }

  #write(writer: FragmentWriter, { spec, state, at }: QueuedEvent): boolean {
    const { event: group } = groupsOf[spec.kind];
    const { ms, synchronised } = this.#time.timeOf(at);
    const isDefault = this.#variation === 0;
    const requested = isDefault ? spec.eventVariation : this.#variation;
    // absolute time needs a clock that a master has set; without it the default is relative time (TB2017-003)
    const isRelative = isDefault && requested === 2 && !synchronised && (group === 2 || group === 4);
    const type = objectType(group, isRelative ? 3 : requested);
    if (type === undefined) return true;
    if (type.time !== 'relative') return writer.addEvent(type, spec.index, state, ms);
    if (!this.#hasCommonTime(ms, synchronised)) {
      // Math.floor: the common time is a whole number of ms before its events
      this.#common = { ms: Math.floor(ms), synchronised };
      const octets = Buffer.alloc(6);
      writeTime48(octets, 0, this.#common.ms);
      if (!writer.addSingle(51, synchronised ? 1 : 2, octets)) return false;
    }
    return writer.addEvent(type, spec.index, state, ms - (this.#common?.ms ?? ms));
  }

  #hasCommonTime(ms: number, synchronised: boolean): boolean {
    if (this.#common?.synchronised !== synchronised) return false;
    const relativeMs = ms - this.#common.ms;
    return relativeMs >= 0 && relativeMs <= maxRelativeMs;
  }
}

/** Objects that are written whole or wait for the next fragment. */
class RawStep implements ReadStep {
  readonly #pieces: readonly Buffer[];
  #at = 0;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
  }

  fill(writer: FragmentWriter): boolean {
    for (; this.#at < this.#pieces.length; this.#at += 1) {
      const piece = this.#pieces[this.#at];
      // an object larger than a fragment is skipped, or the response would never end
      if (piece !== undefined && !writer.addRaw(piece) && !writer.isEmpty) return false;
    }
    return true;
  }
}

/** The objects of one header without events. */
type StaticPart = { readonly steps: readonly ReadStep[]; readonly iin2: number };
const staticPart = (steps: readonly ReadStep[], iin2 = 0): StaticPart => ({ steps, iin2 });
const objectUnknown = staticPart([], iin.objectUnknown);
const parameterError = staticPart([], iin.parameterError);

/** The points of class 0 of all kinds. */
function class0(database: Database): StaticPart {
  return staticPart(pointKinds.map((kind) => new StaticStep(database.listOfClass0(kind), 0)));
}

function staticRange({ variation, range }: ObjectHeader, points: PointList): StaticPart {
  const { specs } = points;
  if (range.kind === 'all') return staticPart([new StaticStep(points, variation)]);
  if (range.kind === 'span') {
    const begin = firstFrom(specs, range.start);
    const end = firstFrom(specs, range.stop + 1);
    const missing = end - begin <= range.stop - range.start;
    return staticPart([new StaticStep(points, variation, begin, end)], missing ? iin.parameterError : 0);
  }
  const named = pointsNamed(specs, range);
  if (named === null) return parameterError;
  const selected = new SelectedPoints(points, named.places);
  return staticPart([new StaticStep(selected, variation)], named.missing ? iin.parameterError : 0);
}

function deadbands({ variation, range }: ObjectHeader, { database }: ReadContext): StaticPart {
  const { specs } = database.list('analogInput');
  const type = ({ 0: 2, 1: 1, 2: 2, 3: 3 } as const)[variation];
  if (type === undefined || specs.length === 0) return objectUnknown;
  const named = pointsNamed(specs, range);
  if (named === null) return parameterError;
  const points = database.points('analogInput');
  const objects = runsOf(named.places.flatMap((place) => points[place] ?? [])).map((run) => deadbandObject(run, type));
  return staticPart([new RawStep(objects)], named.missing ? iin.parameterError : 0);
}

/** Deadbands under one header: few enough to fit in the rest of a fragment, or in the next. */
const deadbandsPerHeader = 32;

/** Points in runs of consecutive indexes: some decoders give up after a few hundred object headers. */
function runsOf(points: readonly DatabasePoint[]): readonly DatabasePoint[][] {
  const runs: DatabasePoint[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    const lastPoint = run?.at(-1);
    if (run !== undefined && lastPoint?.spec.index === point.spec.index - 1 && run.length < deadbandsPerHeader)
      run.push(point);
    else runs.push([point]);
  }
  return runs;
}

/** Deadbands of consecutive points as one object with 16-bit start and stop. */
function deadbandObject(run: readonly DatabasePoint[], type: 1 | 2 | 3): Buffer {
  const size = type === 1 ? 2 : 4;
  const octets = Buffer.alloc(7 + size * run.length);
  octets.set([34, type, 0x01]);
  octets.writeUInt16LE(run[0]?.spec.index ?? 0, 3);
  octets.writeUInt16LE(run.at(-1)?.spec.index ?? 0, 5);
  for (const [place, { deadband }] of run.entries()) {
    const at = 7 + size * place;
    if (type === 1) octets.writeUInt16LE(Math.min(0xffff, Math.round(deadband)), at);
    else if (type === 2) octets.writeUInt32LE(Math.min(0xffff_ffff, Math.round(deadband)), at);
    else octets.writeFloatLE(deadband, at);
  }
  return octets;
}

function presentTime({ variation, range }: ObjectHeader, { time }: ReadContext): StaticPart {
  if (variation !== 1) return objectUnknown;
  if (range.kind !== 'count' || range.count !== 1) return parameterError;
  const octets = Buffer.from([50, 1, 0x07, 1, 0, 0, 0, 0, 0, 0]);
  writeTime48(octets, 4, time.nowMs());
  return staticPart([new RawStep([octets])]);
}

function indications({ variation, range }: ObjectHeader, context: ReadContext): StaticPart {
  if (variation !== 1) return objectUnknown;
  if (range.kind !== 'all' && range.kind !== 'span') return parameterError;
  const octets = Buffer.from([80, 1, 0x00, 0, 15, 0, 0]);
  octets.writeUInt16LE(context.iin(), 5);
  return staticPart([new RawStep([octets])]);
}

function attributes({ variation, range }: ObjectHeader, context: ReadContext): StaticPart {
  if (range.kind === 'span' ? range.start !== 0 || range.stop !== 0 : range.kind !== 'all') return parameterError;
  const pieces = readAttributes(variation, context.attributes);
  return pieces === null ? objectUnknown : staticPart([new RawStep(pieces)]);
}

/** Read functions of the groups without measured values. */
const otherGroups: Readonly<Record<number, (header: ObjectHeader, context: ReadContext) => StaticPart>> = {
  0: attributes,
  34: deadbands,
  50: presentTime,
  80: indications,
};

function staticValues(header: ObjectHeader, context: ReadContext): StaticPart {
  const { group, variation } = header;
  const kind = kindOfStaticGroup(group);
  if (kind === undefined) return otherGroups[group]?.(header, context) ?? objectUnknown;
  if (variation !== 0 && objectType(group, variation) === undefined) return objectUnknown;
  const points = context.database.list(kind);
  return points.specs.length === 0 ? objectUnknown : staticRange(header, points);
}

/** Event classes by variation of g60. */
export const classOfVariation: Readonly<Record<number, 1 | 2 | 3>> = { 2: 1, 3: 2, 4: 3 };

/** Selects the events of a header and marks them as sent. @returns a number: IIN bits of an error; null: no header of events */
function takeEvents({ group, variation, range }: ObjectHeader, events: EventBuffer): QueuedEvent[] | number | null {
  const facts = groupFacts(group);
  const eventClass = group === 60 ? classOfVariation[variation] : undefined;
  if (eventClass === undefined && facts?.isEvent !== true) return null;
  if (group !== 60 && variation !== 0 && objectType(group, variation) === undefined) return iin.objectUnknown;
  if (range.kind !== 'all' && range.kind !== 'count') return iin.parameterError;
  const selection = eventClass === undefined ? { kind: facts?.kind ?? 'binaryInput' } : { class: eventClass };
  const selected = events.select(selection).slice(0, range.kind === 'count' ? range.count : undefined);
  for (const each of selected) each.isSent = true;
  return selected;
}

/** A step with events in order of their numbers, whatever the order of the headers. */
export function eventStep(events: readonly QueuedEvent[], time: AssociationClock, variation = 0): ReadStep {
  return new EventStep(
    events.toSorted((a, b) => a.number - b.number),
    variation,
    time,
  );
}

/** Plans the answer to the headers of a READ. */
export function planRead(headers: readonly ObjectHeader[], context: ReadContext): ReadPlan {
  if (headers.length === 0) return { steps: [], events: [], iin2: iin.parameterError };
  const classEvents: QueuedEvent[] = [];
  const kindSteps: ReadStep[] = [];
  const planned: QueuedEvent[] = [];
  const statics: ReadStep[] = [];
  let iin2 = 0;
  for (const header of headers) {
    const result = takeEvents(header, context.events);
    if (typeof result === 'number') iin2 |= result;
    else if (result !== null) {
      planned.push(...result);
      if (header.group === 60) classEvents.push(...result);
      else kindSteps.push(eventStep(result, context.time, header.variation));
    } else {
      const isClass0 = header.group === 60 && header.variation === 1;
      const values = !isClass0
        ? staticValues(header, context)
        : header.range.kind === 'all'
          ? class0(context.database)
          : parameterError;
      statics.push(...values.steps);
      iin2 |= values.iin2;
    }
  }
  const classSteps = classEvents.length > 0 ? [eventStep(classEvents, context.time)] : [];
  return { steps: [...classSteps, ...kindSteps, ...statics], events: planned, iin2 };
}

export interface Piece {
  readonly objects: Buffer;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** events that the confirm removes from the buffer */
  readonly events: readonly QueuedEvent[];
}

/** The fragments of one response; each waits for the confirm of the one before it. */
export class ResponseSeries {
  readonly #steps: readonly ReadStep[];
  readonly #buffer: EventBuffer;
  readonly #open: Set<QueuedEvent>;
  #at = 0;
  #isFirst = true;

  constructor({ steps, events }: ReadPlan, buffer: EventBuffer) {
    this.#steps = steps;
    this.#buffer = buffer;
    this.#open = new Set(events);
  }

  /** The next fragment; not called again after the last one. */
  next(writer: FragmentWriter): Piece {
    const events: QueuedEvent[] = [];
    let isLast = true;
    for (; this.#at < this.#steps.length; this.#at += 1) {
      const step = this.#steps[this.#at];
      const isDone = step?.fill(writer) ?? true;
      events.push(...(step?.sent ?? []));
      if (!isDone) {
        isLast = false;
        break;
      }
    }
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return { objects: writer.take(), isFirst, isLast, events };
  }

  confirm({ events }: Piece): void {
    for (const each of events) this.#open.delete(each);
    this.#buffer.confirm(events);
  }

  /** Ends the series before all is confirmed: its events wait again. */
  abandon(): void {
    this.#buffer.release([...this.#open]);
    this.#open.clear();
  }
}
