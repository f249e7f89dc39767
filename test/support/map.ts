/** The maps of the reference tables, filled with sensible start values, and a bank whose clocks are set by hand. */
import { addSeconds, simTimeFromMs } from '../../src/core/time/clock.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import type { Origin } from '../../src/core/origin.ts';
import { SimError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import { Scheduler } from '../../src/core/time/scheduler.ts';
import { AdoptionTimers, ReversionTimers } from '../../src/sunspec/map/timers.ts';
import { RegisterBank } from '../../src/sunspec/map/register-bank.ts';
import type { Change } from '../../src/sunspec/map/bank.ts';
import type { CommitClock } from '../../src/sunspec/map/register-bank.ts';
import { buildLayout } from '../../src/sunspec/map/layout.ts';
import type { Layout, ModelChoice, PointSlot } from '../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import { createMapView } from '../../src/sunspec/map/view.ts';
import type { WritableMapView } from '../../src/sunspec/map/view.ts';
import { m1 } from '../../src/sunspec/models/m001.ts';
import { m701 } from '../../src/sunspec/models/m701.ts';
import { m702 } from '../../src/sunspec/models/m702.ts';
import { m703 } from '../../src/sunspec/models/m703.ts';
import { m704 } from '../../src/sunspec/models/m704.ts';
import { m705 } from '../../src/sunspec/models/m705.ts';
import { m706 } from '../../src/sunspec/models/m706.ts';
import { m707 } from '../../src/sunspec/models/m707.ts';
import { m708 } from '../../src/sunspec/models/m708.ts';
import { m709 } from '../../src/sunspec/models/m709.ts';
import { m710 } from '../../src/sunspec/models/m710.ts';
import { m711 } from '../../src/sunspec/models/m711.ts';
import { m712 } from '../../src/sunspec/models/m712.ts';
import { m713 } from '../../src/sunspec/models/m713.ts';
import { m714 } from '../../src/sunspec/models/m714.ts';
import { m715 } from '../../src/sunspec/models/m715.ts';
import { m802 } from '../../src/sunspec/models/m802.ts';
import { m64413 } from '../../src/sunspec/models/m64413.ts';
import { m64414 } from '../../src/sunspec/models/m64414.ts';
import { classicChoices, classicScale } from './classic-map.ts';
import { startImage } from './map-start.ts';

/** Repetitions of the curve and control models. */
export interface Sizes {
  readonly sets: number;
  readonly ports: number;
  /** curve points by model id */
  readonly points: Readonly<Record<705 | 706 | 707 | 708 | 709 | 710 | 712, number>>;
}

export const roomySizes: Sizes = {
  sets: 3,
  ports: 2,
  points: { 705: 10, 706: 10, 707: 10, 708: 10, 709: 10, 710: 10, 712: 10 },
};
export const leanSizes: Sizes = {
  sets: 2,
  ports: 1,
  points: { 705: 4, 706: 2, 707: 5, 708: 5, 709: 5, 710: 5, 712: 6 },
};

export interface MapOptions {
  readonly sizes?: Sizes;
  /** points the device does not have, as `704.WSet` or `714.Prt.Tmp` */
  readonly omit?: readonly string[];
  /** scale factors other than the usual ones, as `702.A_SF` */
  readonly scale?: Readonly<Record<string, number>>;
  /** with the battery model 802 */
  readonly storage?: boolean;
  /** with the simulation models 64413 and 64414 */
  readonly simModels?: boolean;
  /** with the classic models behind 1 */
  readonly classic?: boolean;
}

/** Scale factors of a 100 kW three-phase device. */
const usualScale: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  802: {
    AHRtg_SF: 0,
    WHRtg_SF: 0,
    WChaDisChaMax_SF: 0,
    SoC_SF: -1,
    DoD_SF: -1,
    SoH_SF: -1,
    V_SF: -1,
    CellV_SF: -3,
    A_SF: -2,
    AMax_SF: -2,
    W_SF: 0,
  },
  701: {
    A_SF: -2,
    V_SF: -1,
    Hz_SF: -3,
    W_SF: 1,
    PF_SF: -3,
    VA_SF: 1,
    Var_SF: 1,
    TotWh_SF: 0,
    TotVarh_SF: 0,
    Tmp_SF: -1,
  },
  702: { W_SF: 1, PF_SF: -3, VA_SF: 1, Var_SF: 1, V_SF: -1, A_SF: -2, S_SF: -3 },
  703: { V_SF: -2, Hz_SF: -3 },
  704: { PF_SF: -3, WMaxLimPct_SF: -1, WSet_SF: 0, WSetPct_SF: -1, VarSet_SF: 0, VarSetPct_SF: -1 },
  705: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 },
  706: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 },
  707: { V_SF: -2, Tms_SF: -2 },
  708: { V_SF: -2, Tms_SF: -2 },
  709: { Hz_SF: -3, Tms_SF: -2 },
  710: { Hz_SF: -3, Tms_SF: -2 },
  711: { Db_SF: -3, K_SF: -3, RspTms_SF: -2 },
  712: { W_SF: -1, DeptRef_SF: -2 },
  713: { WH_SF: 2, Pct_SF: -1 },
  714: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 1, DCWH_SF: 0, Tmp_SF: -1 },
  64413: { Irr_SF: -1 },
  ...classicScale,
};

/** The models of one device, in chain order. */
export function mapChoices({
  sizes = roomySizes,
  omit = [],
  scale = {},
  storage = false,
  simModels = false,
  classic = false,
}: MapOptions = {}): ModelChoice[] {
  const { sets, ports, points } = sizes;
  const plain: ModelChoice[] = [
    { def: m1 },
    ...(classic ? classicChoices : []),
    { def: m701 },
    { def: m702 },
    { def: m703 },
    { def: m704 },
    { def: m705, counts: { NPt: points[705], NCrv: sets } },
    { def: m706, counts: { NPt: points[706], NCrv: sets } },
    { def: m707, counts: { NPt: points[707], NCrvSet: sets } },
    { def: m708, counts: { NPt: points[708], NCrvSet: sets } },
    { def: m709, counts: { NPt: points[709], NCrvSet: sets } },
    { def: m710, counts: { NPt: points[710], NCrvSet: sets } },
    { def: m711, counts: { NCtl: sets } },
    { def: m712, counts: { NPt: points[712], NCrv: sets } },
    { def: m713 },
    { def: m714, counts: { NPrt: ports } },
    { def: m715 },
    ...(storage ? [{ def: m802, omit: new Set(['DisChaRte', 'CtrlHb']) }] : []),
    ...(simModels ? [{ def: m64413, counts: { IVLen: 4 } }, { def: m64414 }] : []),
  ];
  return plain.map((choice) => {
    const own = `${choice.def.id}.`;
    const changed = Object.entries(scale)
      .filter(([name]) => name.startsWith(own))
      .map(([name, sf]) => [name.slice(own.length), sf]);
    return {
      ...choice,
      scale: { ...usualScale[choice.def.id], ...Object.fromEntries(changed) },
      omit: new Set([
        ...(choice.omit ?? []),
        ...omit.filter((name) => name.startsWith(own)).map((name) => name.slice(own.length)),
      ]),
    };
  });
}

/** Clocks that a test moves. */
export class HandClock implements CommitClock {
  #sim: SimTime = simTimeFromMs(Date.UTC(2030, 5, 1, 12));
  wallNowMs = 1_000_000;
  sim(): SimTime {
    return this.#sim;
  }
  wallMs(): number {
    return this.wallNowMs;
  }
  advance(seconds: number): SimTime {
    this.#sim = addSeconds(this.#sim, seconds);
    return this.#sim;
  }
}

/** One bank with its clock, timers and recorded commits. */
export interface TestBank {
  readonly layout: Layout;
  readonly bank: RegisterBank;
  readonly clock: HandClock;
  readonly scheduler: Scheduler;
  readonly timers: ReversionTimers;
  /** commits, oldest first */
  readonly changes: Change[];
  /** messages of failed reversions */
  readonly faults: string[];
  readonly slot: (modelId: number, path: string) => PointSlot;
  /** Decoded value by name, as `704.WSet`. */
  readonly value: (name: string) => AnyPointValue;
  /** Assigns by name, all or nothing. */
  readonly set: (values: Readonly<Record<string, AnyPointValue>>, by?: Origin) => void;
  /** All registers, as a copy. */
  readonly dump: () => Buffer;
  /** Lets simulated time pass, timers and countdowns included. */
  readonly pass: (seconds: number) => void;
}

const layouts = new Map<string, Layout>();

/** Layouts are shared between tests of one shape, as devices share them. */
export function mapLayout(options: MapOptions = {}): Layout {
  const key = JSON.stringify(options);
  const layout = layouts.get(key) ?? buildLayout(mapChoices(options));
  layouts.set(key, layout);
  return layout;
}

export function slotOf(layout: Layout, modelId: number, path: string): PointSlot {
  const slot = layout.slot(modelId, path);
  if (!slot) throw new Error(`no point ${modelId}.${path}`);
  return slot;
}

/** The slot of a point written `704.WSet`. */
export function named(layout: Layout, name: string): PointSlot {
  const slot = layout.named(name);
  if (!slot) throw new Error(`no point ${name}`);
  return slot;
}

export const byRest: Origin = { source: 'rest', peer: 'test' };
export const byModbus: Origin = { source: 'modbus', peer: '192.0.2.1:4711' };

interface TestBankOptions extends MapOptions {
  readonly start?: (map: WritableMapView) => void;
  /** time that an adoption takes, s */
  readonly adoptionS?: number;
}

export function createTestBank(options: TestBankOptions = {}): TestBank {
  const { start, adoptionS = 0, ...shape } = options;
  const layout = mapLayout(shape);
  const image = startImage(layout);
  start?.(createMapView(layout, image));
  const clock = new HandClock();
  const scheduler = new Scheduler();
  const changes: Change[] = [];
  const faults: string[] = [];
  const bank = new RegisterBank(layout, image, clock);
  const timers = new ReversionTimers(bank, scheduler, clock, (message) => {
    faults.push(message);
  });
  bank.join([new AdoptionTimers(bank, scheduler, clock, { adoptionS }), timers]);
  bank.onChange((change) => {
    changes.push(change);
  });
  return {
    layout,
    bank,
    clock,
    scheduler,
    timers,
    changes,
    faults,
    slot: (modelId, path) => slotOf(layout, modelId, path),
    value: (name) => bank.value(named(layout, name)),
    set: (values, by = byRest) => {
      bank.assign(
        by,
        Object.entries(values).map(([name, value]) => ({ slot: named(layout, name), value })),
      );
    },
    dump: () => Buffer.from(bank.read(layout.base, layout.size)),
    pass(seconds) {
      const now = clock.advance(seconds);
      scheduler.runDue(now);
      timers.publish(now);
    },
  };
}

/** Big-endian bytes of register words. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, i) => bytes.writeUInt16BE(value & 0xffff, i * 2));
  return bytes;
}

/** The SimError that `action` ends with; fails when it ends with anything else. */
export function errorOf(action: () => unknown): SimError {
  try {
    action();
  } catch (error) {
    if (error instanceof SimError) return error;
    throw error;
  }
  throw new Error('expected a SimError');
}

/** The code of the SimError that `action` ends with, or null when it succeeds. */
export function codeOf(action: () => unknown): ErrorCode | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof SimError) return error.code;
    throw error;
  }
}
