/**
 * Limits at the connection point of an EndDevice: net export and import, generation and load of its devices. CSIP-AUS
 * calls them operating envelopes. No register holds them: the plant shares them among the devices.
 *
 * The plant obeys a tighter limit at once and follows a wider one with the gradient of its devices. With `rampTms`, or
 * with `setGradW` of a default control, `SiteLimits` lowers the limit in steps of a second, from the present power on.
 */
import type { Plant } from '../../contract/plant.ts';
import { maxSiteLimitW, siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteNow } from '../../contract/site.ts';
import type { ControlValue } from '../../core/command-hold.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Received, Revision } from '../xml/schema.ts';
import type { ControlInForce, LeftOutMode, ModeName, ResolvedControl, Refusal, SiteWish } from './model.ts';
import { defaultSlope } from './composition.ts';
import { invalid, isRefusal, scaledOf, unreadIn } from './model.ts';

export interface SiteLimitsOptions {
  readonly plant: Pick<Plant, 'at' | 'devices' | 'setSite' | 'siteOf' | 'time'>;
  /** `csip:<lfdi>` */
  readonly owner: string;
  /** indexes of the devices of the EndDevice */
  readonly devices: readonly number[];
  readonly revision: Revision;
  /** sum of 702.WMax over the devices, W */
  readonly wMax: () => number;
  /** sum of 702.WChaRteMax over the devices, W; 0: none absorbs */
  readonly chargeMaxW: () => number;
}

type Multiplied = Received<{ readonly multiplier: number; readonly value: number }>;

const limitModes = {
  opModExpLimW: 'export',
  opModImpLimW: 'import',
  opModGenLimW: 'generation',
  opModLoadLimW: 'load',
} as const satisfies Partial<Record<ModeName, SiteLimitName>>;

/** Limits of absorption of revision 2023, which are set as the load limit. */
const absorbModes = ['opModMaxLimPctWAbsorb', 'opModMaxLimWAbsorb'] as const satisfies readonly ModeName[];

type LimitMode = keyof typeof limitModes;
type AbsorbMode = (typeof absorbModes)[number];
type SiteMode = LimitMode | AbsorbMode;

const isLimitMode = (mode: string): mode is LimitMode => Object.hasOwn(limitModes, mode);
const isAbsorbMode = (mode: ModeName): mode is AbsorbMode => absorbModes.some((each) => each === mode);
export const isSiteMode = (mode: ModeName): mode is SiteMode => isLimitMode(mode) || isAbsorbMode(mode);

interface Ramp {
  readonly fromW: number;
  readonly start: SimTime;
  /** W/s */
  readonly rateWS: number;
}

interface Limit {
  readonly requested: ControlValue<number>;
  /** ramp down to the limit; null: the limit holds at once */
  readonly ramp: Ramp | null;
}

const stepS = 1;

export class SiteLimits {
  readonly #options: SiteLimitsOptions;
  #devices: readonly number[];
  readonly #limits = new Map<SiteLimitName, Limit>();
  /** limits that the plant has, W */
  readonly #onPlantW = new Map<SiteLimitName, number>();
  /** slopes by control, percent of 702.WMax per second, with the inputs they were computed from */
  readonly #slopes = new Map<string, { readonly inputs: string; readonly pctPerS: number | null }>();
  #cancelStep: (() => void) | null = null;

  constructor(options: SiteLimitsOptions) {
    this.#options = options;
    this.#devices = options.devices;
  }

  /**
   * Applies the limits to these devices instead of the former ones.
   * @throws SimError as `Plant.setSite`; `apply` tries again
   */
  regroup(devices: readonly number[]): void {
    const { plant, owner } = this.#options;
    const before = this.#present();
    this.#devices = devices;
    const names = [...this.#onPlantW.keys()];
    this.#onPlantW.clear();
    if (names.length === 0) return;
    if (before.length > 0) {
      const noLimits = Object.fromEntries(names.map((name) => [name, null]));
      plant.setSite(noLimits, { source: 'csip' }, { owner, devices: before });
    }
    this.#follow();
  }

  /** Limit modes that this EndDevice supports. */
  supported(): readonly ModeName[] {
    const { revision, chargeMaxW } = this.#options;
    const absorb = revision === '2023' && chargeMaxW() > 0 ? absorbModes : [];
    return [...Object.keys(limitModes).filter(isLimitMode), ...absorb];
  }

  /** The limit of a mode of a control. */
  wish(mode: SiteMode, { base }: ResolvedControl): SiteWish | Refusal {
    const unread = unreadIn(mode, base);
    if (unread) return unread;
    const limitW = mode === 'opModMaxLimPctWAbsorb' ? this.#ofChargeRate(base[mode]) : wattsOf(base[mode]);
    if (limitW === null || limitW < 0) return invalid(`${mode} is negative or no number`);
    // a limit above the maximum setting does not limit
    return { limit: isLimitMode(mode) ? limitModes[mode] : 'load', limitW: Math.min(maxSiteLimitW, limitW) };
  }

  /** Limits of absorption exclude each other. @returns by control, those that the control of highest rank outweighs */
  outweighedAbsorption(inForce: readonly ControlInForce[]): ReadonlyMap<string, readonly LeftOutMode[]> {
    const limiting = inForce.flatMap(({ id, rank, modes, control }) => {
      const valid = modes.filter(isAbsorbMode).filter((mode) => !isRefusal(this.wish(mode, control)));
      return valid.length > 0 ? [{ id, rank, modes: valid }] : [];
    });
    const [highest] = limiting;
    const detail = `${highest?.modes[0] ?? ''} of ${highest?.id ?? ''} takes precedence`;
    return new Map(
      limiting
        .filter(({ rank }) => rank !== highest?.rank)
        .map(({ id, modes }) => [id, modes.map((mode) => ({ mode, reason: 'outweighed', detail }))]),
    );
  }

  /** The slopes with which devices reach wider limits within `rampTms`, percent of 702.WMax per second, by control. */
  slopes(inForce: readonly ControlInForce[]): ReadonlyMap<string, number> {
    const slopes = new Map<string, number>();
    for (const id of this.#slopes.keys()) if (!inForce.some((each) => each.id === id)) this.#slopes.delete(id);
    for (const each of inForce) {
      const wishes = this.#wishes(each);
      const inputs = JSON.stringify([wishes, each.control.base.rampTms]);
      const cached = this.#slopes.get(each.id);
      const pctPerS =
        cached?.inputs === inputs ? cached.pctPerS : this.#wideningSlope(wishes, each.control.base.rampTms);
      this.#slopes.set(each.id, { inputs, pctPerS });
      if (pctPerS !== null) slopes.set(each.id, pctPerS);
    }
    return slopes;
  }

  /**
   * Puts the limits of these controls in force, the tightest of each kind.
   * @throws SimError as `Plant.setSite`
   */
  apply(inForce: readonly ControlInForce[]): void {
    const tightest = new Map<SiteLimitName, ControlInForce & SiteWish>();
    for (const each of inForce) {
      for (const wish of this.#wishes(each)) {
        const earlier = tightest.get(wish.limit);
        if (!earlier || wish.limitW < earlier.limitW) tightest.set(wish.limit, { ...each, ...wish });
      }
    }
    const gradW = inForce
      .map(({ control }) => defaultSlope(control.settings?.setGradW))
      .find((slope) => slope !== null);
    for (const name of siteLimitNames) {
      const next = tightest.get(name);
      const present = this.#limits.get(name);
      if (!next) this.#limits.delete(name);
      else if (present?.requested.value !== next.limitW || present.requested.id !== next.id) {
        const requested = { id: next.id, value: next.limitW };
        this.#limits.set(name, { requested, ramp: this.#rampTo(next, gradW ?? null) });
      }
    }
    this.#follow();
  }

  /** Ends without releasing the limits. */
  leave(): void {
    this.#cancelStep?.();
  }

  /** State that a restart keeps, restored after the plant; the next `apply` continues the ramps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        limits: Array.from(this.#limits, ([name, limit]) => ({ name, ...limit })),
        onPlantW: Array.from(this.#onPlantW, ([name, limitW]) => ({ name, limitW })),
        slopes: Array.from(this.#slopes, ([id, slope]) => ({ id, ...slope })),
      }),
      ({ limits, onPlantW, slopes }) => {
        for (const { name, ...limit } of limits) this.#limits.set(name, limit);
        for (const { name, limitW } of onPlantW) this.#onPlantW.set(name, limitW);
        for (const { id, ...slope } of slopes) this.#slopes.set(id, slope);
      },
    );
  }

  #wishes({ modes, control }: ControlInForce): readonly SiteWish[] {
    return modes.flatMap((mode) => {
      const wish = isSiteMode(mode) ? this.wish(mode, control) : null;
      return wish === null || isRefusal(wish) ? [] : [wish];
    });
  }

  /** The ramp down to a limit; null: the limit holds at once, or does not limit the present power. */
  #rampTo({ limit, limitW, control }: ControlInForce & SiteWish, gradW: number | null): Ramp | null {
    const { plant } = this.#options;
    const devices = this.#present();
    if (devices.length === 0) return null;
    const presentW = powerOf(limit, plant.siteOf(devices));
    const fromW = Math.min(this.#onPlantW.get(limit) ?? Infinity, presentW);
    const seconds = scaledOf(control.base.rampTms, -2);
    const rateWS = seconds !== null ? (fromW - limitW) / seconds : ((gradW ?? Infinity) / 100) * this.#fullW(limit);
    return fromW > limitW && Number.isFinite(rateWS) && rateWS > 0 ? { fromW, start: plant.time.sim, rateWS } : null;
  }

  /** The power that is 100 % of the gradient for a limit, W. */
  #fullW(limit: SiteLimitName): number {
    const { wMax, chargeMaxW } = this.#options;
    return limit === 'import' || limit === 'load' ? chargeMaxW() || wMax() : wMax();
  }

  /** The slope to limits wider than the plant has, percent of 702.WMax per second; null: the slope stays. */
  #wideningSlope(wishes: readonly SiteWish[], rampTms: unknown): number | null {
    const seconds = scaledOf(rampTms, -2);
    const wMax = this.#options.wMax();
    if (seconds === null || seconds <= 0 || wMax <= 0) return null;
    const widths = wishes.map(({ limit, limitW }) => Math.min(limitW, wMax) - (this.#onPlantW.get(limit) ?? Infinity));
    const widest = Math.max(0, ...widths);
    return widest > 0 ? (100 * widest) / wMax / seconds : null;
  }

  /** Sets the limits of the plant now, and again in each step while one of them ramps. */
  #follow(): void {
    this.#cancelStep?.();
    this.#cancelStep = null;
    const { plant } = this.#options;
    const simNow = plant.time.sim;
    const values = new Map([...this.#limits].map(([name, limit]) => [name, limitAt(limit, simNow)] as const));
    this.#setChanged(values);
    if (![...this.#limits].some(([name, { requested }]) => (values.get(name) ?? 0) > requested.value)) return;
    const next = addSeconds(simNow, stepS);
    this.#cancelStep = plant.at(next, () => {
      this.#follow();
    });
  }

  #setChanged(values: ReadonlyMap<SiteLimitName, number>): void {
    const changed = siteLimitNames.filter((name) => values.get(name) !== this.#onPlantW.get(name));
    if (changed.length === 0) return;
    const { plant, owner } = this.#options;
    const devices = this.#present();
    if (devices.length === 0) return;
    const patch = Object.fromEntries(changed.map((name) => [name, values.get(name) ?? null]));
    const peer = changed.map((name) => this.#limits.get(name)?.requested.id).find((id) => id !== undefined);
    plant.setSite(patch, { source: 'csip', ...(peer !== undefined && { peer }) }, { owner, devices });
    for (const name of changed) {
      const value = values.get(name);
      if (value === undefined) this.#onPlantW.delete(name);
      else this.#onPlantW.set(name, value);
    }
  }

  /** Devices that are still in the plant; with the last of them, the plant has removed the limits of the group. */
  #present(): readonly number[] {
    const { plant } = this.#options;
    return this.#devices.filter((index) => plant.devices.some((device) => device.index === index));
  }

  #ofChargeRate(value: unknown): number | null {
    const share = scaledOf(value, -4);
    return share === null ? null : share * this.#options.chargeMaxW();
  }
}

/** The limit at the end of the step that begins now. */
function limitAt({ requested, ramp }: Limit, time: SimTime): number {
  if (!ramp) return requested.value;
  return Math.max(requested.value, ramp.fromW - ramp.rateWS * (secondsBetween(ramp.start, time) + stepS));
}

/** The power that a limit bounds, W. */
function powerOf(limit: SiteLimitName, { netW, generationW, consumptionW }: SiteNow): number {
  switch (limit) {
    case 'export':
      return Math.max(0, netW);
    case 'import':
      return Math.max(0, -netW);
    case 'generation':
      return generationW;
    case 'load':
      return consumptionW;
  }
}

function wattsOf(value: Multiplied | undefined): number | null {
  return value === undefined ? null : scaledOf(value.value, value.multiplier ?? 0);
}
