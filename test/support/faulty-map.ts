/** A bank behind its faults, as a master sees it; a test moves the clock. */
import { addSeconds } from '../../src/core/time/clock.ts';
import type { ActiveFault } from '../../src/core/faults/active-fault.ts';
import type { FaultKind } from '../../src/core/faults/kinds.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import type { FaultyMap, MapFaults } from '../../src/sunspec/faults/faulty-map.ts';
import { FaultyMaps } from '../../src/sunspec/faults/faulty-map.ts';
import { checkReading } from '../../src/sunspec/faults/reading-check.ts';
import { applyScale, numberCodec } from '../../src/sunspec/map/codec.ts';
import type { PointSlot } from '../../src/sunspec/map/layout.ts';
import type { MeasurementView, WritableMapView } from '../../src/sunspec/map/view.ts';
import { FaultBench } from './faults.ts';
import type { FaultExtras } from './faults.ts';
import { byModbus, createTestBank, named } from './map.ts';
import type { MapOptions, TestBank } from './map.ts';

export interface FaultyMapRigOptions extends MapOptions {
  readonly start?: (map: WritableMapView) => void;
  readonly seed?: number;
}

export class FaultyMapRig {
  readonly map: TestBank;
  readonly bench: FaultBench;
  readonly faults: MapFaults;
  readonly lines: string[] = [];
  /** the layer between the bank and its masters; null: no fault is in force */
  access: FaultyMap | null = null;
  readonly end: () => void;
  readonly maps: FaultyMaps;
  readonly #ticks = new Set<() => void>();

  constructor({ seed = 7, ...options }: FaultyMapRigOptions = {}) {
    this.map = createTestBank({ start: measured, ...options });
    this.bench = new FaultBench([0], seed);
    this.bench.registry.define(faultKinds, (fault) => {
      checkReading(fault, this.map.layout);
    });
    this.faults = {
      registry: this.bench.registry,
      now: () => this.map.clock.sim(),
      onTick: (listener) => {
        this.#ticks.add(listener);
        return () => {
          this.#ticks.delete(listener);
        };
      },
      later: (_, delayS, act) => this.map.scheduler.at(addSeconds(this.map.clock.sim(), delayS), act),
      again: (_, timer, act) => this.map.scheduler.again(timer, act),
      log: {
        info: (line) => {
          this.lines.push(line);
        },
      },
    };
    this.maps = new FaultyMaps(this.faults);
    this.end = this.maps.follow({ index: 0, bank: this.map.bank }, (access) => {
      this.access = access;
    });
  }

  /** listeners of ticks */
  get listening(): number {
    return this.#ticks.size;
  }

  inject(kind: FaultKind, parameters: Readonly<Record<string, unknown>> = {}, extras: FaultExtras = {}): ActiveFault {
    return this.bench.inject(kind, parameters, extras);
  }

  /** Lets simulated time pass in one tick, in which the device publishes. */
  tick(seconds = 1, publish: (map: MeasurementView) => void = () => undefined): void {
    this.map.pass(seconds);
    publish(this.map.bank.measurements);
    this.bench.pass(seconds);
    for (const listener of this.#ticks) listener();
  }

  /** Registers as a master reads them. */
  read(address: number, count: number): Buffer {
    return Buffer.from((this.access ?? this.map.bank).read(address, count));
  }

  write(address: number, words: Buffer): void {
    (this.access ?? this.map.bank).write(address, words, byModbus);
  }

  slot(name: string): PointSlot {
    return named(this.map.layout, name);
  }

  /** Registers of a point as a master reads them, in hex. */
  hex(name: string): string {
    const { address, def } = this.slot(name);
    return this.read(address, def.size).toString('hex');
  }

  /** Number of a point as a master decodes it with the scale factor in the map; null: not implemented. */
  shown(name: string): number | null {
    const slot = this.slot(name);
    const bytes = this.read(slot.address, slot.def.size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const codec = numberCodec(slot.def.type);
    if (codec === undefined) throw new Error(`${name} is no number`);
    return codec.absent(view, 0) ? null : applyScale(codec.get(view, 0), slot.sf);
  }

  /** Everything that a master reads, from the address that the faults give the map. */
  all(): Buffer {
    const { base, size } = this.map.layout;
    return this.read(base, size);
  }
}

/** Measurements of a three-phase device at half its power. */
function measured({ m701, m714 }: WritableMapView): void {
  Object.assign(m701, {
    ACType: 'THREE_PHASE',
    St: 'ON',
    InvSt: 'RUNNING',
    ConnSt: 'CONNECTED',
    Alrm: 0,
    W: 48_000,
    VA: 50_000,
    Var: 14_000,
    PF: 0.96,
    A: 180.42,
    LLV: 480,
    LNV: 277.1,
    Hz: 60.012,
    TotWhInj: 123_456_789,
    TotWhAbs: 1000,
    TmpAmb: 25,
  });
  for (const phase of ['L1', 'L2', 'L3']) {
    Object.assign(m701, {
      [`W${phase}`]: 16_000,
      [`VA${phase}`]: 16_670,
      [`Var${phase}`]: 4670,
      [`PF${phase}`]: 0.96,
      [`A${phase}`]: 60.14,
      [`V${phase}`]: 277.1,
    });
  }
  Object.assign(m701, { VL1L2: 480, VL2L3: 480, VL3L1: 480 });
  Object.assign(m714, { DCA: 65.98, DCW: 49_480 });
  m714.Prt.forEach((port, i) => {
    Object.assign(port, { DCV: 750, DCA: i === 0 ? 43.99 : 21.99, DCW: i === 0 ? 32_990 : 16_490 });
  });
}
