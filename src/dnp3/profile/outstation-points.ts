/**
 * The points of one outstation: copies values of the device into the database of the stack, and carries out controls.
 * Inputs that measure are compared once per tick, all others after each commit and before each read.
 */
import type { Dnp3PointFilter, Dnp3PointType, Dnp3PointView } from '../../contract/dnp3.ts';
import type { Dnp3Profile } from '../../contract/dnp3-settings.ts';
import type { Origin } from '../../core/origin.ts';
import type { RandomStream } from '../../core/random.ts';
import { errorText } from '../../core/errors.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DevicePort } from '../device-port.ts';
import { keepNothing } from '../memory/memory.ts';
import type { Keep } from '../memory/memory.ts';
import { PointDatabase } from '../stack/outstation/database.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { Control, ControlPort, ControlStatus, MasterId } from '../stack/outstation/types.ts';
import { roundHalfAway } from '../stack/objects.ts';
import { defaultVariations, quality } from '../stack/points.ts';
import type { PointKind, PointSpec, PointState } from '../stack/points.ts';
import { bindRows } from './binding.ts';
import { attempted } from './bind.ts';
import { OutstationSettings } from './settings.ts';
import { isOutput, pointName } from './table/rows.ts';
import type {
  InputSource,
  OutputTarget,
  OutstationEnd,
  PartContext,
  PointName,
  PointRow,
  PointType,
  ProfilePart,
} from './types.ts';

/** Outcome of a control, for logs and counters. */
export interface ControlReport {
  readonly name: PointName;
  readonly value: number | boolean;
  readonly status: ControlStatus;
  readonly isSelect: boolean;
  readonly from: MasterId;
  /** message of the error that refused it; null: no error */
  readonly reason: string | null;
}

interface OutstationPointsOptions {
  readonly port: DevicePort;
  readonly profile: Dnp3Profile;
  readonly rows: readonly PointRow[];
  readonly parts: readonly ProfilePart[];
  /** as in `PartContext` */
  readonly clock: PartContext['clock'];
  readonly random: (purpose: string) => RandomStream;
  readonly log: { info(message: string): void; warning(message: string): void };
  readonly onControl?: (report: ControlReport) => void;
  /** as in `PartContext`; absent: nothing is kept */
  readonly keep?: Keep;
}

const kindOf: Readonly<Record<PointType, PointKind>> = {
  BI: 'binaryInput',
  BO: 'binaryOutput',
  AI: 'analogInput',
  AO: 'analogOutput',
  CTR: 'counter',
};
const frozenClass = 3;
const counterSize = 2 ** 32;

/** The source of the value of a served point. */
type PointSource = (InputSource | OutputTarget) & Pick<InputSource, 'measured' | 'live' | 'deadband'>;

/** The last update of a point in the database: none yet, without a value, of an idle function, or online. */
const updated = { never: 0, without: 1, idle: 2, online: 3 } as const;

export class OutstationPoints {
  readonly database: PointDatabase;
  readonly controls: ControlPort;
  readonly settings: OutstationSettings;
  readonly #options: OutstationPointsOptions;
  readonly #rows: readonly PointRow[];
  /** by place of the row; null: not served */
  readonly #sources: (PointSource | null)[];
  /** engineering value of the last update of the database, by place of the row; true is 1 */
  readonly #values: Float64Array;
  /** how that update was made */
  readonly #updates: Uint8Array;
  readonly #places: ReadonlyMap<PointName, number>;
  /** places of measured rows */
  readonly #measured: Uint16Array;
  readonly #live: Uint16Array;
  /** neither measured nor live */
  readonly #settled: Uint16Array;
  readonly #tickListeners: (() => void)[] = [];
  readonly #settingsListeners: (() => void)[] = [];
  readonly #restoredListeners: (() => void)[] = [];
  readonly #ends: ((end: OutstationEnd) => void)[] = [];
  /** by output with kept state: to be called after each operation */
  readonly #operated = new Map<PointName, () => void>();
  #isStale = false;

  constructor(options: OutstationPointsOptions) {
    const { port, rows } = options;
    this.#options = options;
    this.#rows = rows;
    this.settings = new OutstationSettings(options.keep ?? keepNothing);
    this.#places = placesOf(rows);
    this.#sources = this.#bind();
    this.#values = new Float64Array(rows.length);
    this.#updates = new Uint8Array(rows.length);
    this.#measured = this.#placesOf((source) => source.measured === true);
    this.#live = this.#placesOf((source) => source.live === true && source.measured !== true);
    this.#settled = this.#placesOf((source) => source.live !== true && source.measured !== true);
    this.database = new PointDatabase({ specs: this.#specs(), refresh: () => this.refresh() });
    this.controls = this.#controlPort();
    this.#ends.push(
      port.onSettings((isReset) => {
        if (isReset) this.settings.reset();
        for (const listener of this.#settingsListeners) listener();
        this.#changed();
      }),
    );
    for (const points of [this.#measured, this.#live, this.#settled]) this.#update(points);
  }

  /** To be called at the end of each tick: compares measurements. */
  tick(): void {
    for (const listener of this.#tickListeners) listener();
    this.refresh();
    this.#update(this.#measured);
  }

  /** Updates live points, and after a commit also settings. */
  refresh(): void {
    this.#update(this.#live);
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#update(this.#settled);
  }

  /** To be called when all kept state is restored. */
  restored(): void {
    for (const listener of this.#restoredListeners) listener();
    for (const points of [this.#measured, this.#live, this.#settled]) this.#update(points);
  }

  close(how: OutstationEnd = 'gone'): void {
    this.#tickListeners.length = 0;
    this.#settingsListeners.length = 0;
    for (const end of this.#ends) end(how);
  }

  /** Number of points by type: served, and absent points that the map names. */
  get counts(): Readonly<Record<Dnp3PointType, { readonly served: number; readonly absent: number }>> {
    const count = (type: Dnp3PointType) => {
      const rows = this.#rows.filter((row) => row.type === type);
      const served = rows.filter((row) => this.#sourceOf(pointName(row)) !== null).length;
      return { served, absent: rows.length - served };
    };
    return { BI: count('BI'), BO: count('BO'), AI: count('AI'), AO: count('AO'), CTR: count('CTR') };
  }

  views({ type, coverage, bound, from = 0, to = Infinity }: Dnp3PointFilter = {}): readonly Dnp3PointView[] {
    this.refresh();
    return this.#rows
      .filter((row) => (type === undefined || row.type === type) && row.index >= from && row.index <= to)
      .filter((row) => bound === undefined || bound.has(this.#sourceOf(pointName(row))?.bound ?? ''))
      .map((row) => this.#view(row))
      .filter((view) => coverage === undefined || view.coverage === coverage);
  }

  /** Rows with their bindings, for documents; null: absent. */
  get bindings(): readonly { readonly row: PointRow; readonly bound: string | null }[] {
    return this.#rows.map((row) => ({ row, bound: this.#sourceOf(pointName(row))?.bound ?? null }));
  }

  #sourceOf(name: PointName): PointSource | null {
    return this.#sources[this.#places.get(name) ?? -1] ?? null;
  }

  #target(name: PointName): OutputTarget | undefined {
    const source = this.#sourceOf(name);
    return source !== null && 'operate' in source ? source : undefined;
  }

  /** Places of the rows whose source is of one sort. */
  #placesOf(isOfSort: (source: PointSource) => boolean): Uint16Array {
    return Uint16Array.from(
      this.#sources.flatMap((source, place) => (source !== null && isOfSort(source) ? [place] : [])),
    );
  }

  /** @returns the sources by place of their row */
  #bind(): (PointSource | null)[] {
    const { port, profile, parts, clock, random, log, keep = keepNothing } = this.#options;
    const context: PartContext = {
      port,
      profile,
      clock,
      settings: this.settings,
      random,
      log,
      changed: () => this.#changed(),
      onSettings: (listener) => this.#settingsListeners.push(listener),
      onTick: (listener) => this.#tickListeners.push(listener),
      onClose: (listener) => this.#ends.push(listener),
      keep,
      onRestored: (listener) => this.#restoredListeners.push(listener),
    };
    const { served, outputs } = bindRows(this.#rows, parts, context);
    const sources: (PointSource | null)[] = this.#rows.map(() => null);
    for (const { row, source } of served) {
      const place = this.#places.get(pointName(row));
      if (place !== undefined) sources[place] = source;
    }
    for (const [name, target] of outputs)
      if (target.kept) this.#operated.set(name, keep(`output ${name}`, target.kept()));
    return sources;
  }

  #specs(): readonly PointSpec[] {
    return this.#rows.flatMap((row, place) => {
      const source = this.#sources[place];
      return source ? specsOf(row, source.deadband) : [];
    });
  }

  #changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    // one comparison for all commits of a turn
    queueMicrotask(() => this.refresh());
  }

  /** Updates the database where values have changed. @param places of rows */
  #update(places: Uint16Array): void {
    const { port, profile } = this.#options;
    const showsIdle = profile === 'ieee1815.2';
    let readAt: SimTime | undefined;
    for (const place of places) {
      const row = this.#rows[place];
      const source = this.#sources[place];
      if (row === undefined || !source) continue;
      const value = source.read();
      const isIdle = showsIdle && !isOutput(row) && source.isIdle?.() === true;
      const update = value === null ? updated.without : isIdle ? updated.idle : updated.online;
      const number = Number(value);
      if (update === this.#updates[place] && number === this.#values[place]) continue;
      this.#updates[place] = update;
      this.#values[place] = number;
      const wire = value === null ? 0 : wireOf(row, value);
      const sent = withinRange(row, wire);
      const flags = update === updated.online ? quality.online : 0;
      this.database.set(
        kindOf[row.type],
        row.index,
        sent,
        Object.is(sent, wire) ? flags : flags | quality.overRange,
        (readAt ??= port.now),
      );
    }
  }

  #view(row: PointRow): Dnp3PointView {
    const source = this.#sourceOf(pointName(row));
    const point = source === null ? undefined : this.database.point(kindOf[row.type], row.index);
    const isBinary = row.type === 'BI' || row.type === 'BO';
    const state = point?.state;
    const value = finiteValue(state);
    const online = ((state?.flags ?? 0) & quality.online) !== 0;
    const multiplier = row.multiplier ?? 1;
    return {
      type: row.type,
      index: row.index,
      name: row.name,
      coverage: source === null ? 'absent' : 'served',
      boundTo: source?.bound ?? null,
      value,
      flags: state ? state.flags | (isBinary && value ? 0x80 : 0) : null,
      online,
      engineeringValue: online && value !== null ? decimals(value * multiplier) : null,
      unit: row.unit ?? null,
      multiplier,
      class: point?.class ?? row.class,
      deadband: isBinary || point === undefined ? null : point.deadband,
      ...this.#limits(row),
      readBack: row.readBack ?? null,
      iec61850: row.iec61850 ?? null,
    };
  }

  /** Range of the wire values of a row, narrowed by that of the output. */
  #limits(row: PointRow): { readonly min: number | null; readonly max: number | null } {
    const { min = null, max = null, multiplier = 1 } = row;
    const range = (isOutput(row) ? this.#target(pointName(row)) : undefined)?.range?.() ?? null;
    if (range === null) return { min, max };
    const [lowest, highest] = range;
    return {
      min: lowest === null ? min : Math.max(min ?? -Infinity, Math.ceil(decimals(lowest / multiplier))),
      max: highest === null ? max : Math.min(max ?? Infinity, Math.floor(decimals(highest / multiplier))),
    };
  }

  #controlPort(): ControlPort {
    return {
      has: (kind, index) => this.#target(outputName(kind, index)) !== undefined,
      select: (control, from) => this.#selectOrOperate(control, from, true),
      operate: (control, from) => this.#selectOrOperate(control, from, false),
      refused: (control, status, from, isSelect) => {
        const name = outputName(control.kind, control.index);
        this.#options.onControl?.({ name, value: valueOf(control), status, isSelect, from, reason: null });
      },
    };
  }

  #selectOrOperate(control: Control, from: MasterId, isSelect: boolean): ControlStatus {
    const name = outputName(control.kind, control.index);
    const value = valueOf(control);
    let reason: string | null = null;
    const status = this.#carryOut(name, value, from, isSelect, (error) => {
      reason = errorText(error);
    });
    if (!isSelect) this.refresh();
    this.#options.onControl?.({ name, value, status, isSelect, from, reason });
    return status;
  }

  #carryOut(
    name: PointName,
    value: number | boolean,
    from: MasterId,
    isSelect: boolean,
    refused: (error: unknown) => void,
  ): ControlStatus {
    const target = this.#target(name);
    const row = this.#rows[this.#places.get(name) ?? -1];
    if (target === undefined || row === undefined) return controlStatus.notSupported;
    if (this.#options.port.device.localControl) return controlStatus.local;
    if (typeof value === 'number' && !isInRange(row, value)) return controlStatus.outOfRange;
    const by: Origin = { source: 'dnp3', peer: from.peer };
    const engineeringValue = typeof value === 'number' ? decimals(value * (row.multiplier ?? 1)) : value;
    return attempted(() => {
      if (isSelect) return target.check(engineeringValue, by);
      const status = target.operate(engineeringValue, by);
      this.#operated.get(name)?.();
      this.#isStale = true;
      return status;
    }, refused);
  }
}

const sharedPlaces = new WeakMap<readonly PointRow[], ReadonlyMap<PointName, number>>();

/** Places of rows by name, shared by outstations with one map. */
function placesOf(rows: readonly PointRow[]): ReadonlyMap<PointName, number> {
  const places = sharedPlaces.get(rows) ?? new Map(rows.map((row, place) => [pointName(row), place]));
  sharedPlaces.set(rows, places);
  return places;
}

/** Specs by row and deadband of the device, shared by outstations with one map. */
const sharedSpecs = new WeakMap<PointRow, Map<number | undefined, readonly PointSpec[]>>();

/**
 * Configuration of a point, and for a counter also of its frozen counter.
 * @param sourceDeadband as of `InputSource`; undefined: that of the row
 */
function specsOf(row: PointRow, sourceDeadband: number | undefined): readonly PointSpec[] {
  const ofRow = sharedSpecs.get(row) ?? new Map<number | undefined, readonly PointSpec[]>();
  sharedSpecs.set(row, ofRow);
  let specs = ofRow.get(sourceDeadband);
  if (specs === undefined) ofRow.set(sourceDeadband, (specs = makeSpecs(row, sourceDeadband)));
  return specs;
}

function makeSpecs(row: PointRow, sourceDeadband: number | undefined): readonly PointSpec[] {
  const kind = kindOf[row.type];
  const { static: staticVariation, event: eventVariation } = defaultVariations[kind];
  const spec: PointSpec = {
    kind,
    index: row.index,
    class: row.class,
    staticVariation,
    eventVariation,
    // an integrity poll reads the inputs that mirror the outputs
    inClass0: !isOutput(row),
    mayHaveEvents: !isOutput(row) && (row.type !== 'BI' || row.class !== 0),
    deadband:
      sourceDeadband === undefined
        ? (row.deadband ?? 0)
        : Math.max(0, Math.floor(sourceDeadband / (row.multiplier ?? 1))),
    keeps: row.type === 'AI' ? 'latest' : 'all',
  };
  if (row.type !== 'CTR') return [spec];
  const frozen = defaultVariations.frozenCounter;
  return [
    { ...spec, mayHaveEvents: true },
    {
      ...spec,
      kind: 'frozenCounter' as const,
      class: frozenClass,
      mayHaveEvents: true,
      staticVariation: frozen.static,
      eventVariation: frozen.event,
    },
  ];
}

/** The number of a point; null: it has none. */
function finiteValue(state: PointState | undefined): number | null {
  return typeof state?.value === 'number' && Number.isFinite(state.value) ? state.value : null;
}

function valueOf(control: Control): number | boolean {
  return control.kind === 'binary' ? control.state === 1 : control.value;
}

function outputName(kind: Control['kind'], index: number): PointName {
  return kind === 'binary' ? `BO${index}` : `AO${index}`;
}

function isInRange({ min = -(2 ** 31), max = 2 ** 31 - 1 }: PointRow, value: number): boolean {
  return value >= min && value <= max;
}

/** The nearest value in the range of an analog row; the caller marks a changed value OVER_RANGE. */
function withinRange({ type, min = -Infinity, max = Infinity }: PointRow, wire: number): number {
  return (type === 'AI' || type === 'AO') && !Number.isNaN(wire) ? Math.min(max, Math.max(min, wire)) : wire;
}

/** Rounds to 12 digits, which removes the error of binary fractions in a product with a power of ten. */
function decimals(value: number): number {
  return Number(value.toPrecision(12));
}

/** Above the relative error of a decimal fraction in binary, below the resolution of any register. */
const tolerance = 5e-13;

/** Counters wrap at 32 bits. Halves are rounded away from zero, also if the binary fraction is just below the half. */
function wireOf(row: PointRow, value: number | boolean): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (row.type === 'BI' || row.type === 'BO') return value ? 1 : 0;
  if (!Number.isFinite(value)) return NaN;
  if (row.type === 'CTR') return Math.max(0, Math.floor(value)) % counterSize;
  const wire = value / (row.multiplier ?? 1);
  return roundHalfAway(wire + wire * tolerance);
}
