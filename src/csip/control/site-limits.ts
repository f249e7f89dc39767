/**
 * Limits at the connection point of an EndDevice: net export and import, generation and load of its devices. CSIP-AUS
 * calls them operating envelopes. They belong to no register: the plant shares them among the devices.
 */
import type { Plant } from '../../contract/plant.ts';
import { maxSiteLimitW } from '../../contract/site.ts';
import type { SiteLimitName, SitePatch } from '../../contract/site.ts';
import type { Received, Revision } from '../xml/document.ts';
import type { ControlInForce, ModeName, ResolvedControl } from './model.ts';
import { scaledOf } from './values.ts';
import { invalid, isRefusal } from './wish.ts';
import type { Refusal, SiteWish } from './wish.ts';

export interface SiteLimitsOptions {
  readonly plant: Pick<Plant, 'setSite'>;
  /** `csip:<lfdi>` */
  readonly owner: string;
  /** indexes of the devices of the EndDevice */
  readonly devices: readonly number[];
  readonly revision: Revision;
  /** sum of 702.WChaRteMax, W; 0: none absorbs */
  readonly chargeMaxW: () => number;
}

type Multiplied = Received<{ readonly multiplier: number; readonly value: number }>;

const limitModes = {
  opModExpLimW: 'export',
  opModImpLimW: 'import',
  opModGenLimW: 'generation',
  opModLoadLimW: 'load',
} as const satisfies Partial<Record<ModeName, SiteLimitName>>;

/** Limits of absorption of 2023, which the devices keep as their load. */
const absorbModes = ['opModMaxLimPctWAbsorb', 'opModMaxLimWAbsorb'] as const satisfies readonly ModeName[];

type LimitMode = keyof typeof limitModes;
type AbsorbMode = (typeof absorbModes)[number];
type SiteMode = LimitMode | AbsorbMode;

const isLimitMode = (mode: ModeName): mode is LimitMode => Object.hasOwn(limitModes, mode);
const isAbsorbMode = (mode: ModeName): mode is AbsorbMode => absorbModes.some((each) => each === mode);
export const isSiteMode = (mode: ModeName): mode is SiteMode => isLimitMode(mode) || isAbsorbMode(mode);

export class SiteLimits {
  readonly #options: SiteLimitsOptions;
  /** in force */
  #patch: SitePatch = {};

  constructor(options: SiteLimitsOptions) {
    this.#options = options;
  }

  /** Modes that this EndDevice has. */
  supported(): readonly ModeName[] {
    const { revision, chargeMaxW } = this.#options;
    const absorb = revision === '2023' && chargeMaxW() > 0 ? absorbModes : [];
    return [...Object.keys(limitModes).filter((mode): mode is LimitMode => mode in limitModes), ...absorb];
  }

  /** What a mode of a control asks for. */
  wish(mode: SiteMode, { base }: ResolvedControl): SiteWish | Refusal {
    const limitW = mode === 'opModMaxLimPctWAbsorb' ? this.#ofChargeRate(base[mode]) : wattsOf(base[mode]);
    if (limitW === null || limitW < 0) return invalid(`${mode} is no limit`);
    // a limit above what can be set is none
    return { limit: isLimitMode(mode) ? limitModes[mode] : 'load', limitW: Math.min(maxSiteLimitW, limitW) };
  }

  /**
   * Makes the limits of these controls be in force, the tightest of each kind.
   * @throws SimError as `Plant.setSite`
   */
  apply(inForce: readonly ControlInForce[]): void {
    const limits = new Map<SiteLimitName, number>();
    let id: string | undefined;
    for (const { id: each, modes, control } of inForce) {
      for (const mode of modes) {
        const wish = isSiteMode(mode) ? this.wish(mode, control) : null;
        if (wish === null || isRefusal(wish)) continue;
        id ??= each;
        limits.set(wish.limit, Math.min(wish.limitW, limits.get(wish.limit) ?? Infinity));
      }
    }
    this.#set(Object.fromEntries(limits), id);
  }

  #set(wanted: SitePatch, id: string | undefined): void {
    const before = this.#patch;
    const names = [...new Set([...namesIn(before), ...namesIn(wanted)])];
    const changes = names.filter((name) => before[name] !== wanted[name]);
    if (changes.length === 0) return;
    const { plant, owner, devices } = this.#options;
    const patch = Object.fromEntries(changes.map((name) => [name, wanted[name] ?? null]));
    plant.setSite(patch, { source: 'csip', ...(id !== undefined && { peer: id }) }, { owner, devices });
    this.#patch = wanted;
  }

  #ofChargeRate(value: unknown): number | null {
    const share = scaledOf(value, -4);
    return share === null ? null : share * this.#options.chargeMaxW();
  }
}

function wattsOf(value: Multiplied | undefined): number | null {
  return value === undefined ? null : scaledOf(value.value, value.multiplier ?? 0);
}

function namesIn(patch: SitePatch): readonly SiteLimitName[] {
  return (['export', 'import', 'generation', 'load'] as const).filter((name) => patch[name] !== undefined);
}
