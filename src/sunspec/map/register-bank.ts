/**
 * The bank of a device over one buffer: reads, transactions, commits and their listeners, and the points that a span of
 * registers writes.
 */
import { crc32 } from 'node:zlib';
import { errorText, SimError } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { Listeners } from '../../core/listeners.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { adopt, adoptInPlace } from './adoption.ts';
import { OnDemandModel } from './on-demand-model.ts';
import type { AdoptChange, Bank, BankOptions, Change, LastWrite, RestoredRegisters } from './bank.ts';
import { Commit } from './commit.ts';
import type { CommitParticipant, FollowUp, Former } from './commit.ts';
import { memoPerLayout, adoptionPoints, isAdoptionRequest, notInMap, ignoresWrites } from './layout.ts';
import type { Layout, PointSlot } from './layout.ts';
import { changedRegisters, putRegisters } from './changed-registers.ts';
import type { KeptRegisters } from './changed-registers.ts';
import { checkAccess, checkAdoptAccess, checkValues, encodePoint } from './checks.ts';
import { pointAt, putPoints, sameMap } from './kept-points.ts';
import type { KeptMaps } from './kept-points.ts';
import { layoutDigest, layoutPlaces } from './layout-table.ts';
import type { KeptPlace } from './layout-table.ts';
import type { AnyPointValue } from './types.ts';
import { createMapView, pointReader, readPoint, wordsOf, writePoint, pointName } from './view.ts';
import type { MapView, MeasurementView, WritableMapView } from './view.ts';
import { writerMarks } from './writer-marks.ts';
import type { KeptWriter } from './writer-marks.ts';

/** The points that a write of consecutive registers sets, and the points that it leaves unchanged. */
interface WriteSpan {
  /** points in the order of addresses; at least one */
  readonly points: readonly PointSlot[];
  /** read-only and unimplemented points of classic models, which the span may cover in part */
  readonly ignored: readonly PointSlot[];
}

/**
 * Every register must belong to a writable point that the span covers whole, or to a point that ignores writes. A span
 * of points that ignore writes is refused: a write that changes nothing is a mistake of its master.
 * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY (marker and end model too), MAP_NOT_IMPLEMENTED,
 *   MAP_PARTIAL_POINT
 */
export function writeSpan({ base, size, slots, slotAt }: Layout, address: number, count: number): WriteSpan {
  const end = address + count;
  if (address < base || count < 1 || end > base + size) throw notInMap(address, count);
  const points: PointSlot[] = [];
  const ignored: PointSlot[] = [];
  for (let at = address; at < end; ) {
    const slot = slots[slotAt[at - base] ?? slots.length];
    if (slot === undefined) throw new SimError('MAP_READ_ONLY', `register ${at} is part of the map's frame`);
    const next = slot.address + slot.def.size;
    if (ignoresWrites(slot)) {
      ignored.push(slot);
    } else {
      if (slot.address < address || next > end) throw partOf(slot);
      points.push(slot);
    }
    at = next;
  }
  for (const slot of points.length > 0 ? points : ignored) checkAccess(slot);
  return { points, ignored };
}

/** The refusal of a write that covers a part of a point. @throws SimError if it could not be written whole either */
function partOf(slot: PointSlot): SimError {
  checkAccess(slot);
  return new SimError(
    'MAP_PARTIAL_POINT',
    `${pointName(slot)} spans ${slot.def.size} registers and must be written whole`,
  );
}

/** The clocks that stamp a commit. */
export interface CommitClock {
  sim(): SimTime;
  wallMs(): number;
}

/** Candidate image and transaction views of one layout, lent to one transaction at a time. */
interface Scratch {
  readonly image: Buffer;
  readonly tx: WritableMapView;
  touched: Set<number> | null;
}

/** Points with the former values that a commit restores. */
type Restored = ReadonlyMap<PointSlot, Former>;
const noneRestored: Restored = new Map();

const doNothing = () => undefined;

interface Conclusion {
  readonly by: Origin;
  /** adoption requests still to be carried out */
  readonly adoptions?: readonly PointSlot[];
  readonly restored?: Restored;
  /** called before follow-ups and listeners */
  readonly committed?: () => void;
}

const scratchOf = memoPerLayout((layout): Scratch => {
  const image = Buffer.alloc(layout.imageSize * 2);
  const scratch: Scratch = {
    image,
    touched: null,
    tx: createMapView(layout, image, (index) => {
      scratch.touched?.add(index);
    }),
  };
  return scratch;
});

/** The last writers of points as state that a restart keeps. */
interface KeptWriters {
  readonly writers: readonly KeptWriter[];
  /** alternately a slot index and the position of its writer in `writers` */
  readonly points: readonly number[];
  /** slot index and position of the writer of the last commit; null: none */
  readonly last: readonly [slotIndex: number, writer: number] | null;
}

/** Registers and writers as state that a restart keeps. */
interface KeptBank extends KeptWriters, KeptRegisters {
  /** `layoutDigest` of the map, or its `layoutSum` */
  readonly layout: string;
}

const noRegisters: KeptBank = { layout: '', runs: [], octets: '', writers: [], points: [], last: null };

const ofAnotherMap = () => new SimError('INTERNAL', 'the kept registers are those of another register map');

/** A text that differs between maps in which points have different places: form 1 of the state has no other mark. */
const layoutSum = memoPerLayout(
  (layout): string =>
    `sum ${crc32(layout.slots.map((slot) => `${slot.address - layout.base} ${pointName(slot)}\n`).join(''))}`,
);

/** One buffer per device is the truth; devices of one shape share layout and views. */
export class RegisterBank implements Bank {
  readonly layout: Layout;
  readonly map: MapView;
  /** `map` for the device itself, which publishes past the transactions: measurements and status can be assigned. */
  readonly measurements: MeasurementView;
  readonly #bytes: Buffer;
  readonly #clock: CommitClock;
  readonly #options: BankOptions;
  readonly #onDemand: OnDemandModel | null;
  #participants: readonly CommitParticipant[] = [];
  #writers: Map<PointSlot, Provenance> | undefined;
  #lastWrite: LastWrite | null = null;
  #restored: RestoredRegisters | null = null;
  readonly #listeners: Listeners<[change: Change]>;
  readonly #reloadListeners: Listeners<[by: Origin, at: SimTime]>;

  /** @param image start values; owned by the bank from now on */
  constructor(layout: Layout, image: Buffer, clock: CommitClock, options: BankOptions = {}) {
    this.layout = layout;
    this.#bytes = image;
    this.#clock = clock;
    this.#options = options;
    const onFailure = (error: unknown) => options.onError?.(errorText(error));
    this.#listeners = new Listeners(onFailure);
    this.#reloadListeners = new Listeners(onFailure);
    const view = createMapView(layout, image);
    this.map = view;
    this.measurements = view;
    this.#onDemand = options.onDemand ? OnDemandModel.in(layout, image, this.map, options.onDemand) : null;
  }

  /** Sets the participants of each commit, in the order of calls; after construction, since they need the bank. */
  join(participants: readonly CommitParticipant[]): void {
    this.#participants = participants;
  }

  read(address: number, count: number): Buffer {
    const first = address - this.layout.base;
    if (first < 0 || count < 1 || first + count > this.layout.size) {
      throw notInMap(address, count);
    }
    if (this.#onDemand !== null) this.#onDemand.updateIfRead(first, count);
    return this.#bytes.subarray(first * 2, (first + count) * 2);
  }

  image(): Buffer {
    this.#onDemand?.updateIfRead(0, this.layout.size);
    return this.#bytes;
  }

  write(address: number, words: Buffer, by: Origin): void {
    this.#writeSpan(address, words, by, (scratch, points) => {
      this.#commit(scratch, points, by);
    });
  }

  check(address: number, words: Buffer, by: Origin): void {
    this.#writeSpan(address, words, by, (scratch, points) => {
      checkValues(this.layout, scratch.image, points);
    });
  }

  transact(by: Origin, change: (tx: WritableMapView) => void): void {
    this.#change(by, (scratch) => {
      change(scratch.tx);
    });
  }

  assign(by: Origin, values: readonly { readonly slot: PointSlot; readonly value: AnyPointValue }[]): void {
    this.#change(by, (scratch) => {
      for (const { slot, value } of values) {
        scratch.touched?.add(slot.index);
        checkAccess(slot);
        encodePoint(this.layout, scratch.image, slot, value);
      }
    });
  }

  adopt(by: Origin, change: AdoptChange, committed: () => void = doNothing): void {
    this.#adoptable(by, change, (scratch, points, restored) => {
      if (points.length > 0) this.#conclude(scratch, points, { restored, by, committed });
      else committed();
    });
  }

  checkAdopt(by: Origin, change: AdoptChange): void {
    this.#adoptable(by, change, doNothing);
  }

  /**
   * Completes a deferred adoption: the set is checked and copied as it is now, in one change event. Does nothing if
   * the adoption is no longer in progress, because another one or a reset came in between.
   * @param by the writer of the request
   */
  completeAdoption(request: PointSlot, by: Origin): void {
    const result = adoptionPoints(this.layout, request.modelId)?.result;
    if (!result || this.value(result) !== 'IN_PROGRESS') return;
    const scratch = this.#open();
    try {
      this.#conclude(scratch, adopt(this.layout, scratch.image, request), { by });
    } finally {
      scratch.touched = null;
    }
  }

  value(slot: PointSlot): AnyPointValue {
    this.#onDemand?.updateIfRead(slot.address - this.layout.base, slot.def.size);
    return slot.implemented ? readPoint(this.layout, this.#bytes, slot) : null;
  }

  reader(slot: PointSlot): () => AnyPointValue {
    if (!slot.implemented) return () => null;
    const read = pointReader(this.layout, this.#bytes, slot);
    const onDemand = this.#onDemand;
    if (onDemand === null) return read;
    return () => {
      onDemand.updateIfRead(slot.address - this.layout.base, slot.def.size);
      return read();
    };
  }

  startValue(slot: PointSlot): AnyPointValue {
    return this.#options.startValueOf?.(slot) ?? null;
  }

  raw(slot: PointSlot): number[] {
    this.#onDemand?.updateIfRead(slot.address - this.layout.base, slot.def.size);
    return wordsOf(this.layout, this.#bytes, slot);
  }

  /** Publishes one measurement or status point without a transaction; for the device itself. */
  publish(slot: PointSlot, value: AnyPointValue): void {
    writePoint(this.layout, this.#bytes, slot, value);
  }

  provenance(slot: PointSlot): Provenance | undefined {
    return this.#options.writerOf?.(slot) ?? this.#writers?.get(slot) ?? this.#options.startWriters?.get(slot);
  }

  get lastWrite(): LastWrite | null {
    return this.#lastWrite;
  }

  get restored(): RestoredRegisters | null {
    return this.#restored;
  }

  former(slot: PointSlot): Former {
    let rank: number | undefined;
    for (const participant of this.#participants) rank ??= participant.rankOf?.(slot);
    return { raw: this.raw(slot), writer: this.provenance(slot), rank };
  }

  /** Restores all start values (reset of the device), with one change event for the settings that differed. */
  reload(image: Buffer, by: Origin): void {
    const points = this.layout.slots.filter((slot) => slot.def.access === 'RW' && this.#differs(slot, image));
    image.copy(this.#bytes);
    this.#writers = undefined;
    this.#lastWrite = null;
    for (const participant of this.#participants) {
      this.#guarded(() => participant.reloaded?.(points, by));
    }
    this.#reloadListeners.notify(by, this.#clock.sim());
    this.#announce(points, points, by);
  }

  /**
   * State that a restart keeps: the points that differ from an image, and the writers of points. Restoring calls no
   * participant and no listener; it throws SimError INTERNAL for the registers of an unknown map, and then changes
   * nothing.
   * @param image start values of this map, which follow from the configuration
   * @param maps of the process that kept the registers
   */
  kept(image: Buffer, maps: KeptMaps = sameMap): Kept {
    const digest = layoutDigest(this.layout);
    const registers = keptRecord<KeptBank>(
      // restoring needs the kinds of the members alone
      () => noRegisters,
      ({ layout, runs, octets, ...writers }) => {
        const bytes = Buffer.from(image);
        const isSame = layout === digest || layout === layoutSum(this.layout);
        const places = isSame ? layoutPlaces(this.layout) : maps.placesOf(layout);
        if (places === null) throw ofAnotherMap();
        const hasNewStart = !isSame || !maps.sameStart;
        const left = hasNewStart ? putPoints(this.layout, bytes, { runs, octets }, places) : [];
        if (left.length > 0) maps.left(left);
        if (!hasNewStart && !putRegisters(bytes, { runs, octets })) throw ofAnotherMap();
        bytes.copy(this.#bytes);
        this.#restoreWriters(writers, places, left);
        this.#restored = { newStart: hasNewStart ? image : null };
      },
    );
    return {
      save: () => ({
        layout: digest,
        ...changedRegisters(this.layout, this.#bytes, image, this.#writers?.keys() ?? []),
        ...this.#keptWriters(),
      }),
      restore: (saved) => {
        registers.restore(saved);
      },
    };
  }

  #keptWriters(): KeptWriters {
    const marks = writerMarks(this);
    const positions = new Map<Provenance, number>();
    const positionOf = (writer: Provenance) => {
      const position = positions.get(writer) ?? positions.size;
      positions.set(writer, position);
      return position;
    };
    const points: number[] = [];
    for (const [slot, writer] of this.#writers ?? []) points.push(slot.index, positionOf(writer));
    const lastWrite = this.#lastWrite;
    const last = lastWrite && ([lastWrite.slot.index, positionOf(lastWrite.by)] as const);
    return { points, last, writers: Array.from(positions.keys(), (writer) => marks.keep(writer)) };
  }

  /**
   * @param places of the points under whose numbers they were kept
   * @param left names of points whose kept values are not restored
   */
  #restoreWriters({ writers, points, last }: KeptWriters, places: readonly KeptPlace[], left: readonly string[]): void {
    const marks = writerMarks(this);
    const restored = writers.map((writer) => marks.restore(writer));
    const slotOf = (index = -1) => {
      const place = places[index];
      return place && !left.includes(place.name) ? pointAt(this.layout, place) : null;
    };
    this.#writers = points.length === 0 ? undefined : new Map();
    for (let i = 0; i + 1 < points.length; i += 2) {
      const writer = restored[points[i + 1] ?? -1];
      const slot = slotOf(points[i]);
      if (writer && slot) this.#writers?.set(slot, writer);
    }
    const by = last && restored[last[1]];
    const slot = last && slotOf(last[0]);
    this.#lastWrite = slot && by ? { slot, by } : null;
  }

  onChange(listener: (change: Change) => void): () => void {
    return this.#listeners.add(listener);
  }

  onReload(listener: (by: Origin, at: SimTime) => void): () => void {
    return this.#reloadListeners.add(listener);
  }

  /** @param by the writer; absent for a change that was admitted before */
  #open(by?: Origin): Scratch {
    if (by) for (const participant of this.#participants) participant.admit?.(by);
    const scratch = scratchOf(this.layout);
    if (scratch.touched) throw new SimError('INTERNAL', 'a register transaction was opened inside another');
    scratch.touched = new Set();
    // the candidate is copied back whole
    this.#onDemand?.update();
    this.#bytes.copy(scratch.image);
    return scratch;
  }

  /** Copies a span onto the candidate and calls `then` with the points under it. */
  #writeSpan(
    address: number,
    words: Buffer,
    by: Origin,
    then: (scratch: Scratch, points: readonly PointSlot[]) => void,
  ): void {
    const { base } = this.layout;
    const { points, ignored } = writeSpan(this.layout, address, words.length / 2);
    const scratch = this.#open(by);
    try {
      if (ignored.length === 0) words.copy(scratch.image, (address - base) * 2);
      else {
        for (const slot of points) {
          const at = (slot.address - address) * 2;
          words.copy(scratch.image, (slot.address - base) * 2, at, at + slot.def.size * 2);
        }
      }
      then(scratch, points);
    } finally {
      scratch.touched = null;
    }
  }

  #change(by: Origin, change: (scratch: Scratch) => void): void {
    const scratch = this.#open(by);
    try {
      change(scratch);
      const points = this.#touchedIn(scratch);
      for (const slot of points) checkAccess(slot);
      if (points.length > 0) this.#commit(scratch, points, by);
    } finally {
      scratch.touched = null;
    }
  }

  /** Checks a whole change and calls `then` with the points to commit. */
  #adoptable(
    by: Origin,
    change: AdoptChange,
    then: (scratch: Scratch, points: readonly PointSlot[], restored: Restored) => void,
  ): void {
    const { layout } = this;
    const scratch = this.#open(by);
    const { image } = scratch;
    const restored = new Map<PointSlot, Former>();
    const touch = (slot: PointSlot) => {
      scratch.touched?.add(slot.index);
      checkAdoptAccess(slot);
    };
    try {
      change(
        scratch.tx,
        (slot, value) => {
          touch(slot);
          encodePoint(layout, image, slot, value);
        },
        (slot, former) => {
          touch(slot);
          former.raw.forEach((word, i) => image.writeUInt16BE(word, (slot.address - layout.base + i) * 2));
          restored.set(slot, former);
        },
      );
      const points = this.#touchedIn(scratch);
      for (const slot of points) checkAdoptAccess(slot);
      checkValues(
        layout,
        image,
        points.filter((slot) => !restored.has(slot)),
      );
      then(scratch, [...points, ...adoptInPlace(layout, image, points)], restored);
    } finally {
      scratch.touched = null;
    }
  }

  #touchedIn(scratch: Scratch): PointSlot[] {
    return [...(scratch.touched ?? [])].map((index) => this.#slot(index));
  }

  #commit(scratch: Scratch, points: readonly PointSlot[], by: Origin): void {
    checkValues(this.layout, scratch.image, points);
    this.#conclude(scratch, points, { by, adoptions: points.filter(isAdoptionRequest) });
  }

  /** Commits the validated candidate. */
  #conclude(
    scratch: Scratch,
    points: readonly PointSlot[],
    { by, adoptions = [], restored = noneRestored, committed = doNothing }: Conclusion,
  ): void {
    const commit = new Commit(this.layout, scratch.image, points, adoptions, by, restored);
    const followUps: FollowUp[] = [];
    for (const participant of this.#participants) {
      const followUp = participant.prepare?.(commit) ?? null;
      if (followUp !== null) followUps.push(followUp);
    }
    for (const request of commit.adoptions) commit.settle(request, 'ADOPT');
    commit.close();
    const changed = commit.points.filter((slot) => slot.def.effect === 'latch' || this.#differs(slot, scratch.image));
    scratch.image.copy(this.#bytes);
    scratch.touched = null;
    const provenance: Provenance = { ...by, at: this.#clock.sim(), wallMs: this.#clock.wallMs() };
    this.#writers ??= new Map();
    for (const slot of [...commit.points, ...commit.adopted]) this.#writers.set(slot, provenance);
    const [slot] = points;
    if (slot) this.#lastWrite = { slot, by: provenance };
    for (const [slot, { writer }] of restored) this.#setWriter(slot, writer);
    for (const [slot, twin] of commit.mirrored) {
      const former = restored.get(twin);
      if (former) this.#setWriter(slot, former.writer);
    }
    committed();
    for (const followUp of followUps) this.#guarded(followUp);
    this.#announce(commit.points, changed, by);
  }

  #differs({ address, def: { size } }: PointSlot, image: Buffer): boolean {
    const begin = (address - this.layout.base) * 2;
    const end = begin + size * 2;
    return this.#bytes.compare(image, begin, end, begin, end) !== 0;
  }

  /** @param writer undefined: a start value */
  #setWriter(slot: PointSlot, writer: Provenance | undefined): void {
    if (writer === undefined) this.#writers?.delete(slot);
    else this.#writers?.set(slot, writer);
  }

  #announce(points: readonly PointSlot[], changed: readonly PointSlot[], by: Origin): void {
    this.#listeners.notify({ points, changed, by, at: this.#clock.sim() });
  }

  /** Runs a follow-up of a committed write: its error must reach neither the writer nor other follow-ups. */
  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.onError?.(errorText(error));
    }
  }

  #slot(index: number): PointSlot {
    const slot = this.layout.slots[index];
    if (!slot) throw new SimError('INTERNAL', `no point slot ${index}`);
    return slot;
  }
}
