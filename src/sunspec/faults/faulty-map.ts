/**
 * Register maps behind faults, as Modbus masters read and write them: each is put between a device and the servers of
 * its registers while a fault concerns the device.
 */
import type { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { FaultChange, FaultRegistry } from '../../core/faults/registry.ts';
import type { KeptTimer, Timer } from '../../core/time/scheduler.ts';
import type { JsonValue } from '../../core/store.ts';
import type { PointBank } from '../map/bank.ts';
import type { PointSlot } from '../map/layout.ts';
import { pointName } from '../map/view.ts';
import { Acceptance, isAcceptance, withFaultCode, touches } from './acceptance.ts';
import { holds, slotsUnder } from './targets.ts';
import { readingEffect } from './reading.ts';
import type { ReadingEffect, ReadingFault } from './image.ts';
import { concernsAny, ShownImage } from './image.ts';
import { isStructureFault, shapeOf, bytesOf, isReal } from './structure.ts';
import type { AddressShape, RealSpan } from './structure.ts';

/** Called with addresses of the map itself before a request is served. @throws SimError ACCESS_DENIED, MAP_READ_ONLY */
export type Permit = (address: number, count: number) => void;

/** The parts of the process that faults in the map need. */
export interface MapFaults {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** simulated instant of the last tick */
  readonly now: () => SimTime;
  /** Calls the listener at the end of each tick; the returned function unsubscribes. */
  readonly onTick: (listener: () => void) => () => void;
  /** Calls `action` once after `delayS` simulated seconds, between steps of a device. */
  readonly later: (deviceIndex: number, delayS: number, action: () => void) => Timer;
  /** Sets a timer that `later` has set in an earlier process. */
  readonly again: (deviceIndex: number, timer: KeptTimer, action: () => void) => Timer;
  readonly log: { info(message: string, deviceIndex?: number): void };
}

interface FaultyDevice {
  readonly index: number;
  readonly bank: PointBank;
}

/** Consecutive addresses, of a request or of the map. */
interface AddressRange {
  readonly address: number;
  readonly count: number;
}

/** True if a fault strikes now. */
type Strikes = (fault: ActiveFault) => boolean;

/** Circumstances of a read. */
interface Reading {
  readonly strikes: Strikes;
  readonly permit: Permit | undefined;
  /** true: for the wire log, whose reads do not count as requests */
  readonly isPeek: boolean;
}

/** A range of the map, with the member names of spans. */
type SpanRange = Pick<RealSpan, 'from' | 'count'>;

/** True if a fault concerns the map that masters see, as opposed to the wire. */
function isOfMap({ protocol, layer }: ActiveFault): boolean {
  return protocol === 'modbus' && layer !== 'transport';
}

/**
 * One device as its faults show it over Modbus. REST and the other adapters see the registers as they are.
 *
 * A request meets, in this order: the structure faults, which decide what each address holds; refusals by
 * `strict_points`; the reading faults in order of injection, `dynamic_scale` after all others. They change whole points
 * in one copy of the map: a request sees one state, and never half of a changed value. Each fault that a request could
 * meet counts the request as one occasion: a structure fault any request, a reading fault a request that touches its
 * points.
 */
export class FaultyMap {
  readonly #device: FaultyDevice;
  readonly #faults: MapFaults;
  readonly #acceptance: Acceptance;
  // the lists are appended to in place and otherwise replaced, since a request may be iterating
  #structure: ActiveFault[] = [];
  #acceptanceFaults: ActiveFault[] = [];
  /** all active faults of this device */
  readonly #activeFaults = new Set<ActiveFault>();
  #readingFaults: ReadingFault[] = [];
  /** created by the first request that a reading fault strikes */
  #shownImage: ShownImage | null = null;
  /** image of `peek`, for which other faults may strike */
  #peeked: ShownImage | null = null;
  #shape: AddressShape;
  #shapingFaults: readonly ActiveFault[] = [];

  constructor(device: FaultyDevice, faults: MapFaults) {
    this.#device = device;
    this.#faults = faults;
    this.#shape = shapeOf(device.bank.layout, []);
    const { index, bank } = device;
    this.#acceptance = new Acceptance({
      deviceIndex: index,
      bank,
      later: (delayS, action) => faults.later(index, delayS, action),
      again: (timer, action) => faults.again(index, timer, action),
      log: {
        info: (message) => {
          faults.log.info(message, index);
        },
      },
    });
  }

  /**
   * Adds faults that begin and removes those that end, and ignores faults of other devices and faults already added. It
   * does not visit the other active faults, since there may be many.
   * @returns true if this device has a fault now
   */
  follow({ begun, ended }: FaultChange): boolean {
    const removed = ended.filter((fault) => this.#activeFaults.delete(fault));
    if (removed.length > 0) this.#remove(new Set(removed));
    const added = begun.filter(
      (fault) => isOfMap(fault) && fault.concerns(this.#device.index) && !this.#activeFaults.has(fault),
    );
    if (added.length > 0) this.#add(added);
    return this.#structure.length + this.#acceptanceFaults.length + this.#readingFaults.length > 0;
  }

  #add(added: readonly ActiveFault[]): void {
    const context = { deviceIndex: this.#device.index, bank: this.#device.bank, now: this.#faults.now };
    for (const fault of added) {
      this.#activeFaults.add(fault);
      if (isStructureFault(fault)) this.#structure.push(fault);
      if (isAcceptance(fault)) this.#acceptanceFaults.push(fault);
      const effect = readingEffect(fault, context);
      if (effect !== null) this.#addReadingFault({ fault, effect });
    }
  }

  #addReadingFault(readingFault: ReadingFault): void {
    const ordinaryCount = this.#readingFaults.findLastIndex(({ effect }) => effect.last !== true) + 1;
    if (readingFault.effect.last === true || ordinaryCount === this.#readingFaults.length)
      this.#readingFaults.push(readingFault);
    else this.#readingFaults = this.#readingFaults.toSpliced(ordinaryCount, 0, readingFault);
  }

  #remove(removed: ReadonlySet<ActiveFault>): void {
    const stays = (fault: ActiveFault) => !removed.has(fault);
    this.#structure = this.#structure.filter(stays);
    this.#acceptanceFaults = this.#acceptanceFaults.filter(stays);
    this.#readingFaults = this.#readingFaults.filter(({ fault }) => stays(fault));
  }

  /** True while faults move models or change the chain: registers do not lie where the layout has them. */
  get isMoved(): boolean {
    return this.#structure.length > 0;
  }

  /** State that a restart keeps, restored once the map has the faults in force: writes under way, and what faults remember. */
  kept(): Kept {
    return keptParts({ acceptance: this.#acceptance.kept(), reading: this.#keptReading() });
  }

  /** The memory of reading faults, by the id of the fault. */
  #keptReading(): Kept {
    return keptRecord(
      () => ({
        effects: this.#readingFaults.flatMap(({ fault, effect }) =>
          effect.kept === undefined ? [] : [{ id: fault.facts.id, state: effect.kept().save() }],
        ),
      }),
      ({ effects }) => {
        const states = new Map(effects.map(({ id, state }) => [id, state]));
        for (const { fault, effect } of this.#readingFaults) {
          const state = states.get(fault.facts.id);
          if (state !== undefined) effect.kept?.().restore(state);
        }
      },
    );
  }

  /** Takes a sample for effects that remember values; called at the end of each tick. */
  sample(): void {
    for (const { effect } of this.#readingFaults) effect.sample?.();
  }

  /**
   * `count` registers from `address` as big-endian bytes; a view that the caller copies at once.
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_PARTIAL_POINT, with `protocolCode` where a fault decides it; errors of
   *   `permit`
   */
  read(address: number, count: number, permit?: Permit): Buffer {
    return this.#read(address, count, { strikes: this.#strikes, permit, isPeek: false });
  }

  /** The result of `read` now, without counting as an occasion of a fault. @throws SimError as `read` */
  peek(address: number, count: number): Buffer {
    return this.#read(address, count, { strikes: this.#wouldStrike, permit: undefined, isPeek: true });
  }

  readonly #strikes = (fault: ActiveFault): boolean => fault.strikes(this.#device.index);
  readonly #wouldStrike = (fault: ActiveFault): boolean => fault.wouldStrike(this.#device.index);

  #read(address: number, count: number, reading: Reading): Buffer {
    const { bank } = this.#device;
    const { strikes, permit } = reading;
    let requested: readonly SpanRange[] = [{ from: address, count }];
    try {
      const spans = this.#resolve((shape) => shape.spans(address, count), strikes, permit);
      const real = spans.filter(isReal);
      for (const span of real) permit?.(span.from, span.count);
      requested = real;
      return bytesOf(spans, this.#image(real, reading), bank.layout.base);
    } catch (error) {
      throw this.#refusal(error, requested);
    }
  }

  /**
   * Writes whole registers, subject to the acceptance faults.
   * @param words big-endian bytes, two per register
   * @returns the point cut by a fault; null: none
   * @throws SimError as `Bank.write`, with `protocolCode` if a fault decides it; errors of `permit`
   */
  write(address: number, words: Buffer, by: Origin, permit?: Permit): PointSlot | null {
    const count = words.length / 2;
    let mapAddress = address;
    if (this.#structure.length > 0) {
      try {
        mapAddress = this.#resolve((shape) => shape.mapAddress(address, count), this.#strikes, permit);
      } catch (error) {
        throw this.#refusal(error, [{ from: address, count }]);
      }
    }
    permit?.(mapAddress, count);
    return this.#acceptance.writeThrough(this.#acceptanceFaults, mapAddress, words, by);
  }

  /**
   * Where the registers of a request really lie in the map; registers that do not exist are left out. Only structure
   * faults that strike every request apply, and none counts an occasion.
   */
  mapRanges({ address, count }: AddressRange): readonly AddressRange[] {
    const { bank } = this.#device;
    const steady = ({ facts: { every, probability, when }, isOver }: ActiveFault) =>
      every === 1 && probability === 1 && !isOver && holds(bank, when);
    return this.#shapeBy(this.#structure.filter(steady))
      .within(address, count)
      .filter(isReal)
      .map((span) => ({ address: span.from, count: span.count }));
  }

  /** A refusal of a request for these registers, with the code set by `exception_code`. */
  #refusal(error: unknown, requested: readonly SpanRange[]): unknown {
    const { bank, index } = this.#device;
    return withFaultCode(
      error,
      this.#acceptanceFaults.filter((fault) =>
        requested.some(({ from, count }) => touches(fault, bank, from, count, slotsUnder(bank.layout, from, count))),
      ),
      index,
    );
  }

  /** Resolves addresses. Without rights the answer is always ACCESS_DENIED, so the map's shape does not leak. */
  #resolve<T>(query: (shape: AddressShape) => T, strikes: Strikes, permit: Permit | undefined): T {
    try {
      return query(this.#shapeNow(strikes));
    } catch (error) {
      const { base, size } = this.#device.bank.layout;
      permit?.(base + size, 1);
      throw error;
    }
  }

  /** The shape under the structure faults that strike this request. */
  #shapeNow(strikes: Strikes): AddressShape {
    const { bank } = this.#device;
    return this.#shapeBy(this.#structure.filter((fault) => holds(bank, fault.facts.when) && strikes(fault)));
  }

  #shapeBy(striking: readonly ActiveFault[]): AddressShape {
    if (
      striking.length !== this.#shapingFaults.length ||
      striking.some((fault, i) => fault !== this.#shapingFaults[i])
    ) {
      this.#shape = shapeOf(this.#device.bank.layout, striking);
      this.#shapingFaults = striking;
    }
    return this.#shape;
  }

  /** All registers of the map, under the reading faults that strike this request. @throws SimError MAP_PARTIAL_POINT */
  #image(real: readonly RealSpan[], { strikes, isPeek }: Reading): Buffer {
    const { bank } = this.#device;
    const { layout } = bank;
    const truth = bank.image();
    if (this.#readingFaults.length === 0) return truth;
    this.#refuseCut(real, strikes);
    const requestedSlots = real.flatMap(({ from, count }) => slotsUnder(layout, from, count));
    // faults with the same points share the array
    let [slots, isConcerned] = [undefined as ReadingEffect['slots'] | undefined, false];
    const striking = this.#readingFaults.filter(({ fault, effect }) => {
      if (isStrict(effect)) return false;
      if (effect.slots !== slots) [slots, isConcerned] = [effect.slots, concernsAny(effect, requestedSlots)];
      return isConcerned && holds(bank, fault.facts.when) && strikes(fault);
    });
    if (striking.length === 0) return truth;
    const image = isPeek ? (this.#peeked ??= new ShownImage(layout)) : (this.#shownImage ??= new ShownImage(layout));
    return image.show(truth, requestedSlots, striking, this.#faults.now());
  }

  /** Refuses a read that cuts a point of a `strict_points` fault. @throws SimError MAP_PARTIAL_POINT */
  #refuseCut(real: readonly RealSpan[], strikes: Strikes): void {
    for (const { fault, effect } of this.#readingFaults) {
      if (!isStrict(effect)) continue;
      const cutSlot = effect.slots.find((slot) => isTouched(slot, real) && isCut(slot, real));
      if (cutSlot === undefined || !holds(this.#device.bank, fault.facts.when) || !strikes(fault)) continue;
      throw new SimError(
        'MAP_PARTIAL_POINT',
        `${pointName(cutSlot)} has ${cutSlot.def.size} registers and must be read whole`,
      );
    }
  }
}

/** True if an effect changes nothing, and only refuses reads of a partial point. */
function isStrict({ change, number, apply }: ReadingEffect): boolean {
  return change === undefined && number === undefined && apply === undefined;
}

function isTouched({ address, def: { size } }: PointSlot, spans: readonly RealSpan[]): boolean {
  return spans.some(({ from, count }) => from < address + size && address < from + count);
}

/** True if spans hold only a part of a point. */
function isCut({ address, def: { size } }: PointSlot, spans: readonly RealSpan[]): boolean {
  return !spans.some(({ from, count }) => from <= address && from + count >= address + size);
}

/** Called at once if the device has faults, and at each begin and end of its faults; null: no fault. */
type MapListener = (map: FaultyMap | null) => void;

/** A device and the listeners to its map. */
class Followed {
  /** null: no fault of the device */
  map: FaultyMap | null = null;
  readonly listeners = new Set<MapListener>();
  readonly #device: FaultyDevice;
  readonly #faults: MapFaults;
  /** kept after its last fault, for writes that are still pending */
  #reusableMap: FaultyMap | null = null;
  readonly #unsubscribe: () => void;
  #endSampling: (() => void) | null = null;

  constructor(device: FaultyDevice, faults: MapFaults) {
    this.#device = device;
    this.#faults = faults;
    this.#unsubscribe = faults.registry.onChange((change) => {
      this.#follow(change);
    });
    this.#follow({ begun: faults.registry.active, ended: [] });
  }

  end(): void {
    this.#unsubscribe();
    this.#endSampling?.();
  }

  /** State that a restart keeps; null: the device has had no fault of its map. */
  kept(): Kept {
    return {
      save: () => this.#reusableMap?.kept().save() ?? null,
      restore: (saved) => {
        // the registry may have been restored since
        this.#follow({ begun: this.#faults.registry.active, ended: [] });
        if (saved !== null) this.#usedMap().kept().restore(saved);
      },
    };
  }

  #usedMap(): FaultyMap {
    return (this.#reusableMap ??= new FaultyMap(this.#device, this.#faults));
  }

  #follow(change: FaultChange): void {
    const concerns = (fault: ActiveFault) => isOfMap(fault) && fault.concerns(this.#device.index);
    if (!change.begun.some(concerns) && !change.ended.some(concerns)) return;
    const map = this.#usedMap();
    if (map.follow(change)) {
      this.map = map;
      this.#endSampling ??= this.#faults.onTick(() => {
        map.sample();
      });
    } else {
      this.map = null;
      this.#endSampling?.();
      this.#endSampling = null;
    }
    for (const listener of this.listeners) listener(this.map);
  }
}

/** The faulty maps of all devices: one per device, shared by its servers. */
export class FaultyMaps {
  readonly #faults: MapFaults;
  readonly #followed = new Map<number, Followed>();

  constructor(faults: MapFaults) {
    this.#faults = faults;
  }

  /**
   * State that a restart keeps, restored after the registry and the devices, when the servers of their registers have
   * been created.
   */
  kept(): Kept {
    return keptRecord(
      () => ({
        maps: Array.from(this.#followed, ([index, followed]) => ({ index, state: followed.kept().save() })).filter(
          ({ state }) => state !== null,
        ),
      }),
      ({ maps }: { readonly maps: readonly { readonly index: number; readonly state: JsonValue }[] }) => {
        for (const { index, state } of maps) this.#followed.get(index)?.kept().restore(state);
      },
    );
  }

  /** Where the registers of a request really lie in the map of a device; see `FaultyMap.mapRanges`. */
  mapRanges(deviceIndex: number, requested: AddressRange): readonly AddressRange[] {
    return this.#followed.get(deviceIndex)?.map?.mapRanges(requested) ?? [requested];
  }

  /** @returns a function that unsubscribes the listener */
  follow(device: FaultyDevice, listener: MapListener): () => void {
    const followed = this.#followed.get(device.index) ?? new Followed(device, this.#faults);
    this.#followed.set(device.index, followed);
    followed.listeners.add(listener);
    if (followed.map !== null) listener(followed.map);
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size > 0) return;
      followed.end();
      this.#followed.delete(device.index);
    };
  }
}
