/**
 * The curves of one outstation, of which a window shows one, and the settings that name a curve for each function.
 * AN2018-001 2.5.4; IEEE 1815.2 clause 6.1.3
 */
import { pointsPerCurve } from '../table/rows.ts';
import { WindowHolder } from '../window.ts';
import type { CurveFunction } from '../../../sunspec/map/grid-support/functions.ts';
import type { CurveWish, FunctionWish, TripRegion } from '../../../sunspec/map/grid-support/wish.ts';
import type { DevicePort } from '../../device-port.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { Origin } from '../../../core/origin.ts';
import { keepNothing } from '../../memory/memory.ts';
import type { Keep } from '../../memory/memory.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { success } from '../bind.ts';
import type { OutputTarget, PartContext, PointName } from '../types.ts';

/** Number of curves of an outstation. */
export const curveCount = 100;

/** Codes of AI329: the types that a function can follow. */
export const curveType = {
  undefined: 0,
  voltVar: 2,
  wattVar: 4,
  voltWatt: 5,
  hvMustTrip: 9,
  hvMomentary: 10,
  lvMustTrip: 11,
  lvMomentary: 12,
  hfMustTrip: 13,
  hfMomentary: 14,
  lfMustTrip: 15,
  lfMomentary: 16,
} as const;

/** Codes of AI331 and AI332. */
const xUnit = { timeMs: 4, volts: 29, watts: 38, voltagePct: 129, wattsPct: 138 } as const;
const yUnit = { varMaxPct: 2, varAvailablePct: 3, varOfWMaxPct: 4, wMaxPct: 5, vRefPct: 8, hzPct: 9 } as const;

/** One curve in wire units. */
export interface StoredCurve {
  type: number;
  xUnit: number;
  yUnit: number;
  /** points in use */
  count: number;
  /** X and Y in turn */
  readonly values: Int32Array;
}

const newCurve = (): StoredCurve => ({
  type: 0,
  xUnit: 0,
  yUnit: 0,
  count: 0,
  values: new Int32Array(2 * pointsPerCurve),
});

/** A curve as state that a restart keeps: the values are those up to the last one that is not 0. */
type KeptCurve = Omit<StoredCurve, 'values'> & { readonly values: readonly number[] };

function keptCurve({ values, ...members }: StoredCurve): KeptCurve {
  return { ...members, values: Array.from(values.slice(0, values.findLastIndex((value) => value !== 0) + 1)) };
}

function restoredCurve({ values, ...members }: KeptCurve): StoredCurve {
  const curve = { ...newCurve(), ...members };
  curve.values.set(values.slice(0, curve.values.length));
  return curve;
}

const keptCurves = (curves: ReadonlyMap<number, StoredCurve>) =>
  Array.from(curves, ([number, curve]) => ({ number, curve: keptCurve(curve) }));

/** Content of a curve that was never written. */
const emptyCurve: Readonly<StoredCurve> = newCurve();

export class CurveStore {
  /** number of the curve in the window, from 1 */
  selected = 1;
  readonly holder = new WindowHolder();
  /** curves as the window shows and changes them */
  readonly #drafts = new Map<number, StoredCurve>();
  /** curves as functions follow them */
  readonly #curves = new Map<number, StoredCurve>();
  /** to be called after each change */
  readonly changed: () => void;

  constructor(keep: Keep = keepNothing) {
    this.changed = keep('curves', this.kept());
  }

  /** A curve as it was committed; before that it is empty. @param number from 1 */
  curve(number: number): Readonly<StoredCurve> {
    return this.#curves.get(number) ?? emptyCurve;
  }

  /** The curve in the window as it has been written so far. */
  get draft(): Readonly<StoredCurve> {
    return this.#drafts.get(this.selected) ?? emptyCurve;
  }

  /** Changes the draft of the curve in the window: no function follows it yet. */
  edit(change: (draft: StoredCurve) => void): void {
    const draft = this.#drafts.get(this.selected) ?? newCurve();
    this.#drafts.set(this.selected, draft);
    change(draft);
    this.changed();
  }

  /** Commits the draft as the curve. */
  commit(): void {
    const { draft } = this;
    this.#curves.set(this.selected, { ...draft, values: draft.values.slice() });
    this.changed();
  }

  /** State that a restart keeps: drafts too, whose writes the outstation has acknowledged. */
  kept(): Kept {
    return keptParts({
      window: this.holder.kept(this),
      curves: keptRecord(
        () => ({ drafts: keptCurves(this.#drafts), curves: keptCurves(this.#curves) }),
        ({ drafts, curves }) => {
          for (const { number, curve } of drafts) this.#drafts.set(number, restoredCurve(curve));
          for (const { number, curve } of curves) this.#curves.set(number, restoredCurve(curve));
        },
      ),
    });
  }

  clear(): void {
    this.#drafts.clear();
    this.#curves.clear();
    this.selected = 1;
    this.holder.forget();
    this.changed();
  }
}

const tenthsPerUnit = 10;
const msPerS = 1000;

/** The function that a curve of one type sets. */
export interface CurveUse {
  readonly type: number;
  readonly name: CurveFunction;
  /** region of a trip curve; absent: not a trip curve */
  readonly region?: TripRegion;
}

export const curveUses: readonly CurveUse[] = [
  { type: curveType.voltVar, name: 'volt_var' },
  { type: curveType.wattVar, name: 'watt_var' },
  { type: curveType.voltWatt, name: 'volt_watt' },
  { type: curveType.hvMustTrip, name: 'hv_trip', region: 'MustTrip' },
  { type: curveType.hvMomentary, name: 'hv_trip', region: 'MomCess' },
  { type: curveType.lvMustTrip, name: 'lv_trip', region: 'MustTrip' },
  { type: curveType.lvMomentary, name: 'lv_trip', region: 'MomCess' },
  { type: curveType.hfMustTrip, name: 'hf_trip', region: 'MustTrip' },
  { type: curveType.hfMomentary, name: 'hf_trip', region: 'MomCess' },
  { type: curveType.lfMustTrip, name: 'lf_trip', region: 'MustTrip' },
  { type: curveType.lfMomentary, name: 'lf_trip', region: 'MomCess' },
];

/** 712.DeptRef and 705.DeptRef by the unit of Y. */
const reactiveReferences: Readonly<Record<number, string>> = {
  [yUnit.varMaxPct]: 'VAR_MAX_PCT',
  [yUnit.varAvailablePct]: 'VAR_AVAL_PCT',
  [yUnit.varOfWMaxPct]: 'W_MAX_PCT',
};

/**
 * Scale of curve points on the wire, which the published tables of AN2018-001 leave to the device: percent and volts
 * are in tenths, watts in watts, time in milliseconds.
 */
interface Scales {
  /** steps of the wire in one unit; null: the function does not know the unit */
  readonly x: number | null;
  readonly y: number | null;
  readonly xUnit?: CurveWish['xUnit'];
  /** reference of the percentages of Y; absent: the function has only one */
  readonly reference?: string | undefined;
}

function scalesOf(port: DevicePort, { xUnit: x, yUnit: y }: StoredCurve, name: CurveFunction): Scales {
  const inVolts = { x: x === xUnit.volts ? tenthsPerUnit : null, xUnit: 'V' } as const;
  const inWatts = { x: x === xUnit.watts ? 1 : null, xUnit: 'W' } as const;
  const ofVoltage = x === xUnit.voltagePct ? { x: tenthsPerUnit } : inVolts;
  const ofPower = x === xUnit.wattsPct ? { x: tenthsPerUnit } : inWatts;
  const ofTime = x === xUnit.timeMs ? msPerS : null;
  const reference = reactiveReferences[y];
  const ofReference = reference === undefined ? null : tenthsPerUnit;
  switch (name) {
    case 'volt_var':
      return { ...ofVoltage, y: ofReference, reference };
    case 'watt_var':
      return { ...ofPower, y: ofReference, reference };
    case 'volt_watt':
      return { ...ofVoltage, y: y === yUnit.wMaxPct ? tenthsPerUnit : null, reference: 'W_MAX_PCT' };
    case 'hf_trip':
    case 'lf_trip':
      return { x: ofTime, y: y === yUnit.hzPct ? (100 * tenthsPerUnit) / port.device.trace.nominalHz : null };
    default:
      return { x: ofTime, y: y === yUnit.vRefPct ? tenthsPerUnit : null };
  }
}

/** A curve as a wish for its function. @returns null: the function does not know its units */
function curveWish(port: DevicePort, curve: StoredCurve, { name, region }: CurveUse): FunctionWish | null {
  const { x, y, reference, ...unit } = scalesOf(port, curve, name);
  if (x === null || y === null) return null;
  const points = Array.from({ length: curve.count }, (_, i) => {
    const [profileX, profileY] = [(curve.values[2 * i] ?? 0) / x, (curve.values[2 * i + 1] ?? 0) / y];
    // X of a trip curve is the time in the profile, and the threshold in the map
    return region === undefined ? { x: profileX, y: profileY } : { x: profileY, y: profileX };
  });
  return {
    name,
    curve: { points, ...unit, ...(region && { region }) },
    values: { 'Crv.DeptRef': reference },
  };
}

/** One setting whose value is the number of a stored curve. */
export interface CurveSetting {
  readonly output: PointName;
  readonly use: CurveUse;
  /** 0: the function keeps the curve of its registers, whoever wrote it */
  number: number;
  /** true while a delayed command is to put the curve into force */
  readonly isWaiting: () => boolean;
}

/** Another user that puts curves of the store into force. */
interface CurveUser {
  /** true if this user needs the curve unchanged */
  needs(number: number): boolean;
  /** true if the curve in force of the function comes from this user */
  isActing(name: CurveFunction): boolean;
}

/** All settings whose value is the number of a curve, and the wishes of a named curve for its function. */
export class CurveSettings {
  readonly #port: DevicePort;
  readonly #store: CurveStore;
  readonly #all: CurveSetting[] = [];
  readonly #users: CurveUser[] = [];
  readonly #changed: () => void;

  constructor({ port, settings, onSettings, keep }: PartContext, store: CurveStore) {
    this.#port = port;
    this.#store = store;
    this.#changed = keep('numbers of curves', this.#kept());
    settings.onReset(() => {
      for (const curveSetting of this.#all) curveSetting.number = 0;
      this.#changed();
    });
    onSettings(() => this.dropReplaced());
  }

  /** Sets a setting to 0 when another writer has put a different curve into force. */
  dropReplaced(): void {
    for (const curveSetting of this.#all) {
      if (curveSetting.number === 0 || !this.#isReplaced(curveSetting)) continue;
      curveSetting.number = 0;
      this.#changed();
    }
  }

  /** The numbers of named curves by output, as state that a restart keeps. */
  #kept(): Kept {
    return keptRecord(
      () => Object.fromEntries(this.#all.map(({ output, number }) => [output, number])),
      (numbers) => {
        for (const curveSetting of this.#all) curveSetting.number = numbers[curveSetting.output] ?? 0;
      },
    );
  }

  add(output: PointName, use: CurveUse, isWaiting: () => boolean): CurveSetting {
    const curveSetting = { output, use, number: 0, isWaiting };
    this.#all.push(curveSetting);
    return curveSetting;
  }

  addUser(user: CurveUser): void {
    this.#users.push(user);
  }

  /** True if a function or another user names the curve. */
  isNamed(number: number): boolean {
    return this.#isUsed(number) || this.#all.some((curveSetting) => curveSetting.number === number);
  }

  /** True if the curve must not change: an enabled or waiting function, or another user, names it. */
  isLocked(number: number): boolean {
    const isActing = ({ use, isWaiting }: CurveSetting) => this.#port.isEnabled(use.name) || isWaiting();
    return (
      this.#isUsed(number) || this.#all.some((curveSetting) => curveSetting.number === number && isActing(curveSetting))
    );
  }

  /**
   * The named curve as wishes for its function; empty for the curve of the registers.
   * @returns a status: the refusal
   */
  wishesOf({ number, use }: Pick<CurveSetting, 'number' | 'use'>): readonly FunctionWish[] | ControlStatus {
    if (number === 0) return [];
    const curve = this.#store.curve(number);
    if (curve.type !== use.type || curve.count === 0) return controlStatus.notSupported;
    if (curve.count > this.#port.capacity(use.name)) return controlStatus.outOfRange;
    const wish = curveWish(this.#port, curve, use);
    return wish === null ? controlStatus.notSupported : [wish];
  }

  /** The output that names the curve of a function. */
  target(curveSetting: CurveSetting, isIdle: () => boolean): OutputTarget {
    const wishesAt = (value: number | boolean) => {
      const number = Number(value);
      if (!Number.isInteger(number) || number > curveCount) return controlStatus.outOfRange;
      return this.wishesOf({ number, use: curveSetting.use });
    };
    // an unusable curve is refused even while the function is off
    const checkWishes = (wishes: readonly FunctionWish[], by: Origin) => {
      if (wishes.length > 0) this.#port.check(wishes, by);
    };
    return {
      read: () => curveSetting.number,
      check: (value, by) => {
        const wishes = wishesAt(value);
        if (typeof wishes === 'number') return wishes;
        checkWishes(wishes, by);
        return success;
      },
      operate: (value, by) => {
        const wishes = wishesAt(value);
        if (typeof wishes === 'number') return wishes;
        const formerNumber = curveSetting.number;
        curveSetting.number = Number(value);
        try {
          if (wishes.length > 0 && this.#port.isEnabled(curveSetting.use.name)) this.#port.write(wishes, by);
          else checkWishes(wishes, by);
        } catch (error) {
          curveSetting.number = formerNumber;
          throw error;
        }
        this.#changed();
        return success;
      },
      isIdle,
      bound: `curve of ${curveSetting.use.name}${curveSetting.use.region === undefined ? '' : ` ${curveSetting.use.region}`}`,
    };
  }

  #isUsed(number: number): boolean {
    return this.#users.some((user) => user.needs(number));
  }

  #isReplaced({ number, use }: CurveSetting): boolean {
    if (!this.#port.isEnabled(use.name) || this.#users.some((user) => user.isActing(use.name))) return false;
    const curve = this.#store.curve(number);
    const wish = curve.type === curveType.undefined ? null : curveWish(this.#port, curve, use);
    return wish !== null && !this.#port.isInForce([wish]);
  }
}
