/** Carries out a READ as steps that fill one fragment after the other. IEEE 1815 4.4.2 */
import { Buffer } from 'node:buffer';
import { iin } from '../application/types.ts';
import type { ObjectHeader } from '../application/types.ts';
import type { FragmentWriter } from '../application/writer.ts';
import { isPlain, writeTime48 } from '../objects/encode.ts';
import { groupFacts, objectType } from '../objects/table.ts';
import type { ObjectType } from '../objects/table.ts';
import { groupsOf, pointKinds } from '../points.ts';
import type { PointState } from '../points.ts';
import { firstFrom, kindOfStaticGroup, pointsNamed } from './database.ts';
import type { EventBuffer, QueuedEvent } from './events.ts';
import { readAttributes } from './functions/attributes.ts';
import type { AssociationClock, Database, DatabasePoint, DeviceAttribute } from './types.ts';

/** Part of an answer; `fill` writes as much as fits and returns true when done. */
export interface ReadStep {
  fill(writer: FragmentWriter): boolean;
  /** events written by the last `fill` */
  readonly sent?: QueuedEvent[];
}

export interface ReadContext {
  readonly database: Database;
  readonly events: EventBuffer;
  readonly time: AssociationClock;
  readonly attributes: readonly DeviceAttribute[];
  /** IIN as it would be sent now, for reads of g80 */
  readonly iin: () => number;
}

export interface ReadPlan {
  readonly steps: readonly ReadStep[];
  /** all events of the plan, so that an end without confirm can release them */
  readonly events: readonly QueuedEvent[];
  readonly iin2: number;
}

/** Static values of one kind, in the variation asked for. */
class StaticStep implements ReadStep {
  readonly #points: readonly DatabasePoint[];
  readonly #variation: number;
  #at: number;
  readonly #end: number;

  /** @param variation 0: that of each point */
  constructor(points: readonly DatabasePoint[], variation: number, begin = 0, end = points.length) {
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

  /** Points from `begin` on with consecutive indexes and one type; undefined: the group has no such variation. */
  #run(begin: number): { readonly type: ObjectType | undefined; readonly end: number } {
    const first = this.#points[begin];
    if (first === undefined) return { type: undefined, end: begin + 1 };
    const { kind, staticVariation } = first.spec;
    const type = objectType(groupsOf[kind].static, this.#variation === 0 ? staticVariation : this.#variation);
    // a variation without flags is judged point by point: a point with flags set needs the one with flags
    if (type?.withFlags !== undefined) return { type: withNeededFlags(type, first.state), end: begin + 1 };
    return { type, end: Math.min(this.#end, endsOfRuns(this.#points)[begin] ?? begin + 1) };
  }
}

const knownEnds = new WeakMap<readonly DatabasePoint[], readonly number[]>();

/** For each place of a list, the end of the run of consecutive indexes with one variation; lists do not change. */
function endsOfRuns(points: readonly DatabasePoint[]): readonly number[] {
  let ends = knownEnds.get(points);
  if (ends === undefined) knownEnds.set(points, (ends = findEndsOfRuns(points)));
  return ends;
}

function findEndsOfRuns(points: readonly DatabasePoint[]): readonly number[] {
  const ends: number[] = [];
  let end = points.length;
  for (let place = points.length - 1; place >= 0; place -= 1) {
    const [spec, next] = [points[place]?.spec, points[place + 1]?.spec];
    const goesOn = spec && next?.index === spec.index + 1 && next.staticVariation === spec.staticVariation;
    if (!goesOn) end = place + 1;
    ends[place] = end;
  }
  return ends;
}

/** A variation without flags gives way to one with them when they matter. */
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
    const wanted = this.#variation === 0 ? spec.eventVariation : this.#variation;
    // absolute time needs a clock that a master has set; without it the event has relative time (TB2017-003)
    const variation = wanted === 2 && !synchronised && (group === 2 || group === 4) ? 3 : wanted;
    const type = objectType(group, variation);
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
    const after = ms - this.#common.ms;
    return after >= 0 && after <= maxRelativeMs;
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

type Found = { readonly steps: readonly ReadStep[]; readonly iin2: number };
const found = (steps: readonly ReadStep[], iin2 = 0): Found => ({ steps, iin2 });
const unknown = found([], iin.objectUnknown);
const badParameter = found([], iin.parameterError);

/** Kinds in the order of class 0. */
function class0(database: Database): Found {
  return found(pointKinds.map((kind) => new StaticStep(database.pointsOfClass0(kind), 0)));
}

function staticRange({ variation, range }: ObjectHeader, points: readonly DatabasePoint[]): Found {
  if (range.kind === 'span') {
    const begin = firstFrom(points, range.start);
    const end = firstFrom(points, range.stop + 1);
    const missing = end - begin <= range.stop - range.start;
    return found([new StaticStep(points, variation, begin, end)], missing ? iin.parameterError : 0);
  }
  const named = pointsNamed(points, range);
  if (named === null) return badParameter;
  return found([new StaticStep(named.found, variation)], named.missing ? iin.parameterError : 0);
}

function deadbands({ variation, range }: ObjectHeader, { database }: ReadContext): Found {
  const points = database.points('analogInput');
  const type = ({ 0: 2, 1: 1, 2: 2, 3: 3 } as const)[variation];
  if (type === undefined || points.length === 0) return unknown;
  const named = pointsNamed(points, range);
  if (named === null) return badParameter;
  const objects = runsOf(named.found).map((run) => deadbandObject(run, type));
  return found([new RawStep(objects)], named.missing ? iin.parameterError : 0);
}

/** Deadbands under one header: few enough to fit in the rest of a fragment, or in the next. */
const deadbandsPerHeader = 32;

/** Points in runs of consecutive indexes: some decoders give up after a few hundred object headers. */
function runsOf(points: readonly DatabasePoint[]): readonly DatabasePoint[][] {
  const runs: DatabasePoint[][] = [];
  for (const point of points) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last?.spec.index === point.spec.index - 1 && run.length < deadbandsPerHeader)
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

function presentTime({ variation, range }: ObjectHeader, { time }: ReadContext): Found {
  if (variation !== 1) return unknown;
  if (range.kind !== 'count' || range.count !== 1) return badParameter;
  const octets = Buffer.from([50, 1, 0x07, 1, 0, 0, 0, 0, 0, 0]);
  writeTime48(octets, 4, time.nowMs());
  return found([new RawStep([octets])]);
}

function indications({ variation, range }: ObjectHeader, context: ReadContext): Found {
  if (variation !== 1) return unknown;
  if (range.kind !== 'all' && range.kind !== 'span') return badParameter;
  const octets = Buffer.from([80, 1, 0x00, 0, 15, 0, 0]);
  octets.writeUInt16LE(context.iin(), 5);
  return found([new RawStep([octets])]);
}

function attributes({ variation, range }: ObjectHeader, context: ReadContext): Found {
  if (range.kind === 'span' ? range.start !== 0 || range.stop !== 0 : range.kind !== 'all') return badParameter;
  const pieces = readAttributes(variation, context.attributes);
  return pieces === null ? unknown : found([new RawStep(pieces)]);
}

/** Groups that are no measured values, and how they are read. */
const otherGroups: Readonly<Record<number, (header: ObjectHeader, context: ReadContext) => Found>> = {
  0: attributes,
  34: deadbands,
  50: presentTime,
  80: indications,
};

function staticValues(header: ObjectHeader, context: ReadContext): Found {
  const { group, variation } = header;
  const kind = kindOfStaticGroup(group);
  if (kind === undefined) return otherGroups[group]?.(header, context) ?? unknown;
  if (variation !== 0 && objectType(group, variation) === undefined) return unknown;
  const points = context.database.points(kind);
  return points.length === 0 ? unknown : staticRange(header, points);
}

const classOfVariation: Readonly<Record<number, 1 | 2 | 3>> = { 2: 1, 3: 2, 4: 3 };

/** Events that a header asks for, marked as sent; a number: bits of IIN for an error; null: no header of events. */
function takeEvents({ group, variation, range }: ObjectHeader, events: EventBuffer): QueuedEvent[] | number | null {
  const facts = groupFacts(group);
  const wanted = group === 60 ? classOfVariation[variation] : undefined;
  if (wanted === undefined && facts?.isEvent !== true) return null;
  if (group !== 60 && variation !== 0 && objectType(group, variation) === undefined) return iin.objectUnknown;
  if (range.kind !== 'all' && range.kind !== 'count') return iin.parameterError;
  const selection = wanted === undefined ? { kind: facts?.kind ?? 'binaryInput' } : { class: wanted };
  const taken = events.select(selection).slice(0, range.kind === 'count' ? range.count : undefined);
  for (const each of taken) each.isSent = true;
  return taken;
}

/** Events of classes in the order in which they came, whatever the order of the headers. */
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
  const ofClasses: QueuedEvent[] = [];
  const ofKinds: ReadStep[] = [];
  const all: QueuedEvent[] = [];
  const statics: ReadStep[] = [];
  let iin2 = 0;
  for (const header of headers) {
    const taken = takeEvents(header, context.events);
    if (typeof taken === 'number') iin2 |= taken;
    else if (taken !== null) {
      all.push(...taken);
      if (header.group === 60) ofClasses.push(...taken);
      else ofKinds.push(eventStep(taken, context.time, header.variation));
    } else {
      const isClass0 = header.group === 60 && header.variation === 1;
      const values = !isClass0
        ? staticValues(header, context)
        : header.range.kind === 'all'
          ? class0(context.database)
          : badParameter;
      statics.push(...values.steps);
      iin2 |= values.iin2;
    }
  }
  const classes = ofClasses.length > 0 ? [eventStep(ofClasses, context.time)] : [];
  return { steps: [...classes, ...ofKinds, ...statics], events: all, iin2 };
}
