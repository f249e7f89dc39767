/**
 * Reactive power functions (IEEE 1547-2018 5.3): the order in which they were enabled, the acting one, its request, and
 * the ramp to the output.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { ReactiveDecider } from '../../contract/grid-trace.ts';
import type { CirclePriority } from '../../contract/limit-chain.ts';
import { clampVar, lowPowerShare, settle, varBase } from './capability.ts';
import type { Capability } from './capability.ts';
import { interpolate } from './settings.ts';
import { rampTowards, respond } from './ramp.ts';
import type { PfSetting, Settings, VoltVarSetting } from './settings.ts';

/** The order at start; the last one has priority. */
export const reactiveFunctions = ['pf_absorb', 'pf_inject', 'constant_var', 'watt_var', 'volt_var'] as const;
export type ReactiveFunction = (typeof reactiveFunctions)[number];

/** Ranks that functions regain, because a change restores their enables. */
export type FormerRanks = ReadonlyMap<ReactiveFunction, number>;
export const noFormerRanks: FormerRanks = new Map();

export function reactiveEnabled(settings: Settings, name: ReactiveFunction): boolean {
  switch (name) {
    case 'pf_inject':
      return settings.pfInject.enabled;
    case 'pf_absorb':
      return settings.pfAbsorb.enabled;
    case 'constant_var':
      return settings.constantVar.enabled;
    case 'watt_var':
      return settings.wattVar.enabled;
    case 'volt_var':
      return settings.voltVar.enabled;
  }
}

const startRanks = () => new Map(reactiveFunctions.map((name, position) => [name, position]));

class ReactiveOrder {
  /** a function enabled later has a higher rank */
  #ranks = startRanks();
  #highest = reactiveFunctions.length - 1;
  /** ascending */
  order: readonly ReactiveFunction[] = reactiveFunctions;

  /** The rank of a function, for `FormerRanks`. */
  rankOf(name: ReactiveFunction): number {
    return this.#ranks.get(name) ?? 0;
  }

  /** Applies a change of settings: newly enabled functions move to the end, in their present order. */
  follow(before: Settings, after: Settings, former: FormerRanks): void {
    const enabled = this.order.filter(
      (name) => reactiveEnabled(after, name) && !reactiveEnabled(before, name) && !former.has(name),
    );
    if (enabled.length === 0 && former.size === 0) return;
    for (const name of enabled) this.#ranks.set(name, (this.#highest += 1));
    for (const [name, rank] of former) this.#ranks.set(name, rank);
    this.order = this.#sorted();
  }

  #sorted(): readonly ReactiveFunction[] {
    return [...reactiveFunctions].sort((a, b) => this.rankOf(a) - this.rankOf(b));
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ ranks: [...this.#ranks], highest: this.#highest }),
      ({ ranks, highest }) => {
        this.#ranks = new Map([...startRanks(), ...ranks]);
        this.#highest = highest;
        this.order = this.#sorted();
      },
    );
  }

  /** Restores the order at start. */
  forget(): void {
    this.#ranks = startRanks();
    this.order = reactiveFunctions;
  }
}

/** Range of the autonomous reference, percent of VNom. */
const lowestReferencePct = 95;
const highestReferencePct = 105;

/** Reactive power in percent of the reference of the curve, which is centred on `vRefPct` instead of 100. */
export function voltVarPct({ points }: VoltVarSetting, vPct: number, vRefPct: number): number {
  return interpolate(points, vPct - (vRefPct - 100));
}

/** The reference voltage, percent of VNom: the setting, or a low-pass of the voltage that starts at the setting. */
export class ReferenceVoltage {
  #autoPct: number | null = null;

  /** Takes over the state of another one, which advances by itself. */
  resume(other: ReferenceVoltage): void {
    this.#autoPct = other.#autoPct;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ autoPct: this.#autoPct }),
      ({ autoPct }) => {
        this.#autoPct = autoPct;
      },
    );
  }

  /** The reference after `dtS` under `vPct`. */
  advance({ autoReference, autoReferenceS, vRefPct, enabled }: VoltVarSetting, vPct: number, dtS: number): number {
    if (!autoReference || !enabled) {
      this.#autoPct = null;
      return vRefPct;
    }
    const target = Math.min(highestReferencePct, Math.max(lowestReferencePct, vPct));
    const from = this.#autoPct ?? vRefPct;
    const next = autoReferenceS > 0 ? target + (from - target) * Math.exp(-dtS / autoReferenceS) : target;
    this.#autoPct = next;
    return next;
  }
}

/** Constant power factor has a setting for each direction of active power; the others act in both. */
function applies(name: ReactiveFunction, pW: number): boolean {
  return name === 'pf_inject' ? pW >= 0 : name !== 'pf_absorb' || pW < 0;
}

/** The function that acts at `pW`: the one enabled last among those that apply. */
function activeReactiveFunction(
  order: readonly ReactiveFunction[],
  settings: Settings,
  pW: number,
): ReactiveFunction | null {
  return order.findLast((name) => reactiveEnabled(settings, name) && applies(name, pW)) ?? null;
}

const isPowerFactor = (name: ReactiveFunction | null) => name === 'pf_inject' || name === 'pf_absorb';

function powerFactorVar({ pf, overExcited }: PfSetting, pW: number, sVa: number): number {
  const atCircleW = Math.min(Math.abs(pW), sVa * pf);
  const magnitude = (atCircleW * Math.sqrt(Math.max(0, 1 - pf * pf))) / Math.max(pf, 0.01);
  return overExcited ? magnitude : -magnitude;
}

function constantVar(settings: Settings, pW: number): number {
  const { mode, pct, vars } = settings.constantVar;
  return mode === 'VARS' ? vars : (pct / 100) * varBase(settings, mode, pct, pW);
}

function wattVarAt(settings: Settings, pW: number): number {
  const { points, reference } = settings.wattVar;
  const pct = interpolate(points, settings.wMaxW > 0 ? (100 * pW) / settings.wMaxW : 0);
  return clampVar(settings, (pct / 100) * varBase(settings, reference, pct, pW));
}

const circleHalvings = 40;

/** Watt-var; where the requested power lies outside the circle, the point at which the curve meets the circle. */
function wattVar(settings: Settings, requestedW: number, sVa: number): number {
  const outside = (pW: number) => Math.hypot(pW, wattVarAt(settings, pW)) > sVa;
  if (!outside(requestedW)) return wattVarAt(settings, requestedW);
  let [inside, beyond] = [0, requestedW];
  for (let i = 0; i < circleHalvings; i += 1) {
    const middle = (inside + beyond) / 2;
    if (outside(middle)) beyond = middle;
    else inside = middle;
  }
  return wattVarAt(settings, inside);
}

function voltVar(settings: Settings, pW: number, vPct: number, vRefPct: number): number {
  const pct = voltVarPct(settings.voltVar, vPct, vRefPct);
  return (pct / 100) * varBase(settings, settings.voltVar.reference, pct, pW);
}

/** Priority on the circle: constant PF shrinks P and Q together, the others have a setting. */
export function priorityOf(settings: Settings, activeFunction: ReactiveFunction | null): CirclePriority {
  if (isPowerFactor(activeFunction)) return 'both';
  const reactiveFirst =
    activeFunction === 'constant_var'
      ? settings.constantVar.reactiveFirst
      : activeFunction === 'watt_var'
        ? settings.wattVar.reactiveFirst
        : activeFunction === 'volt_var'
          ? settings.voltVar.reactiveFirst
          : true;
  return reactiveFirst ? 'reactive' : 'active';
}

/**
 * Maximum active power beside `qVar` under constant power factor: its share of the circle, or the room that is left
 * while reactive power is still moving.
 */
function activeRoom(settings: Settings, activeFunction: ReactiveFunction | null, qVar: number, sVa: number): number {
  if (!isPowerFactor(activeFunction)) return Infinity;
  const { pf } = activeFunction === 'pf_inject' ? settings.pfInject : settings.pfAbsorb;
  return Math.max(sVa * pf, Math.sqrt(Math.max(0, sVa * sVa - qVar * qVar)));
}

export interface ReactiveInput {
  readonly settings: Settings;
  readonly capability: Capability;
  /** active power after all functions, W */
  readonly requestedW: number;
  /** radius of the circle: VAMax, less where the current limits it */
  readonly sVa: number;
  /** mean voltage, the input of the curves, percent of VNom */
  readonly vPct: number;
  /** true: the converter runs and is not shutting down; false: reactive power moves to zero */
  readonly running: boolean;
  /** reactive power that the loads of the source take by themselves while no function acts; absent: none */
  readonly ownVar?: number | undefined;
}

/** 704.VarRmp in var per second. */
function varRateS(settings: Settings): number {
  return (settings.varRampPctS / 100) * Math.max(settings.varMaxInjVar, settings.varMaxAbsVar);
}

/** Distance at which the reactive power counts as having reached its target, var. */
const negligibleVar = 1e-3;

export class ReactivePower {
  readonly #reference = new ReferenceVoltage();
  #order = new ReactiveOrder();
  activeFunction: ReactiveFunction | null = null;
  /** request of the active function within the capability, var */
  targetVar = 0;
  /** `targetVar` after its ramp or filter, var */
  commandVar = 0;
  vRefPct = 100;
  decidedBy: ReactiveDecider = 'none';
  /** output after all limits; the active power is read after each step alone */
  pW = 0;
  qVar = 0;
  moving = false;
  /** true: no function acts, and the reactive power is that of the loads behind the terminals */
  isOfLoads = false;

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      reference: this.#reference.kept(),
      order: this.#order.kept(),
      members: keptRecord(
        () => this.#state,
        (saved) => {
          this.#state = saved;
        },
      ),
    });
  }

  /** Takes over the state of other functions, which advance by themselves; settings change the order of both. */
  resume(other: ReactivePower): void {
    this.#reference.resume(other.#reference);
    this.#order = other.#order;
    this.#state = other.#state;
  }

  get #state() {
    return {
      activeFunction: this.activeFunction,
      targetVar: this.targetVar,
      commandVar: this.commandVar,
      vRefPct: this.vRefPct,
      decidedBy: this.decidedBy,
      qVar: this.qVar,
      moving: this.moving,
      isOfLoads: this.isOfLoads,
    };
  }

  set #state(state) {
    ({
      activeFunction: this.activeFunction,
      targetVar: this.targetVar,
      commandVar: this.commandVar,
      vRefPct: this.vRefPct,
      decidedBy: this.decidedBy,
      qVar: this.qVar,
      moving: this.moving,
      isOfLoads: this.isOfLoads,
    } = state);
  }

  /** @param former functions that regain their former rank */
  reorder(before: Settings, after: Settings, former: FormerRanks = noFormerRanks): void {
    this.#order.follow(before, after, former);
  }

  /** The rank of a function in the order of enabling, for `reorder`. */
  rankOf(name: ReactiveFunction): number {
    return this.#order.rankOf(name);
  }

  /** Restores the order at start. */
  forgetOrder(): void {
    this.#order.forget();
  }

  /** Sets reactive power to zero; on return it starts from zero. */
  clear(): void {
    this.commandVar = 0;
    this.targetVar = 0;
    this.activeFunction = null;
    this.decidedBy = 'out_of_service';
    this.pW = 0;
    this.qVar = 0;
    this.moving = false;
    this.isOfLoads = true;
  }

  /** Advances the autonomous reference voltage. */
  follow(settings: Settings, vPct: number, dtS: number): void {
    this.vRefPct = this.#reference.advance(settings.voltVar, vPct, dtS);
  }

  /** Advances by `dtS`; with Infinity to the end of all responses. */
  step(input: ReactiveInput, dtS: number): void {
    const { settings, capability, requestedW, sVa } = input;
    const before = this.qVar;
    const activeFunction = activeReactiveFunction(this.#order.order, settings, requestedW);
    this.activeFunction = activeFunction;
    if (activeFunction === null && input.ownVar !== undefined) {
      this.#followLoads(input, input.ownVar, dtS);
      return;
    }
    this.isOfLoads = false;
    const requestedVar = input.running ? this.requestVar(activeFunction, input) : 0;
    const targetVar = clampVar(settings, requestedVar);
    const commandVar = approach(input, activeFunction, before, targetVar, dtS);
    const capableVar = commandVar * capableShare(input, commandVar);
    const roomW = activeRoom(settings, activeFunction, capableVar, sVa);
    const [pW, qVar] = settle(
      Math.max(-roomW, Math.min(roomW, requestedW)),
      capableVar,
      sVa,
      priorityOf(settings, activeFunction),
      capability,
    );
    this.targetVar = targetVar;
    this.commandVar = commandVar;
    this.pW = pW;
    this.qVar = qVar;
    this.decidedBy = decider(activeFunction ?? 'none', requestedVar, targetVar, commandVar, capableVar, qVar);
    // an output at the circle does not move
    this.moving = commandVar !== targetVar && qVar !== before;
  }

  /**
   * Follows the reactive power of the loads at once, without a capability limit. After a function the return has the
   * rate of 704.VarRmp.
   */
  #followLoads({ settings, requestedW, sVa, capability }: ReactiveInput, ownVar: number, dtS: number): void {
    const commandVar = this.isOfLoads ? ownVar : rampTowards(this.qVar, ownVar, varRateS(settings), dtS);
    this.isOfLoads = commandVar === ownVar;
    [this.pW, this.qVar] = settle(requestedW, commandVar, sVa, 'both', capability);
    this.targetVar = ownVar;
    this.commandVar = commandVar;
    this.decidedBy = 'none';
    this.moving = !this.isOfLoads;
  }

  /** True if a limit of apparent power reduces active and reactive power by the same share. */
  get shrinksBoth(): boolean {
    return this.activeFunction === null || isPowerFactor(this.activeFunction);
  }

  /** Reactive power of a function before any limit, var; 0 without a function. */
  requestVar(
    name: ReactiveFunction | null,
    { settings, requestedW, sVa, vPct }: Omit<ReactiveInput, 'capability' | 'running'>,
  ): number {
    switch (name) {
      case 'pf_inject':
        return powerFactorVar(settings.pfInject, requestedW, sVa);
      case 'pf_absorb':
        return powerFactorVar(settings.pfAbsorb, requestedW, sVa);
      case 'constant_var':
        return constantVar(settings, requestedW);
      case 'watt_var':
        return wattVar(settings, requestedW, sVa);
      case 'volt_var':
        return voltVar(settings, requestedW, vPct, this.vRefPct);
      case null:
        return 0;
    }
  }

  /** Seconds from the present output to zero at 704.VarRmp. */
  secondsToZero(settings: Settings): number {
    const left = this.isOfLoads ? 0 : Math.abs(clampVar(settings, this.qVar));
    return left === 0 ? 0 : left / varRateS(settings);
  }
}

/**
 * The command after `dtS` on its way from `fromVar`, the output, to its target. Volt-var has its open-loop response;
 * the others, and the way to zero when the device stops, follow 704.VarRmp.
 */
function approach(
  { settings, running }: ReactiveInput,
  activeFunction: ReactiveFunction | null,
  fromVar: number,
  targetVar: number,
  dtS: number,
): number {
  // From the output, not from the last command, which a limit may have reduced. A lowered capability binds at once: the
  // rate refers to it too, so a capability of 0 would hold Q for ever
  const from = clampVar(settings, fromVar);
  if (activeFunction === 'volt_var' && running)
    return respond(from, targetVar, settings.voltVar.responseS, dtS, negligibleVar);
  return rampTowards(from, targetVar, varRateS(settings), dtS);
}

/** Share of the command that fits under the capability at low active power, 0 to 1. */
function capableShare({ settings, capability, requestedW }: ReactiveInput, commandVar: number): number {
  const limitVar = commandVar >= 0 ? settings.varMaxInjVar : settings.varMaxAbsVar;
  const maxVar = lowPowerShare(capability, requestedW) * limitVar;
  return Math.abs(commandVar) <= maxVar ? 1 : maxVar / Math.abs(commandVar);
}

/** The limit that reduced the reactive power between request and output, else the acting function. */
function decider(
  activeFunction: ReactiveDecider,
  requestedVar: number,
  targetVar: number,
  commandVar: number,
  capableVar: number,
  qVar: number,
): ReactiveDecider {
  if (Math.abs(capableVar) > Math.abs(qVar) + negligibleVar) return 'apparent_power';
  if (Math.abs(commandVar) > Math.abs(capableVar) + negligibleVar) return 'low_power';
  if (Math.abs(requestedVar) > Math.abs(targetVar) + negligibleVar && commandVar === targetVar) return 'capability';
  return activeFunction;
}
