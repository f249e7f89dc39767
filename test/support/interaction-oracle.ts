/**
 * The output of a device in a settled state, in closed form from the rules: IEEE 1547-2018 4.7, 4.10, 5.2 to 5.4, 6.4, 6.5,
 * the order of IEEE 1547.1-2020 5.16, and of several reactive functions the one enabled last. It shares no code with the simulator.
 */
import {
  amplePower,
  defaultHoldS,
  islandS,
  phases,
  rampPassedS,
  rampS,
  reducedAtLowPower,
  storePower,
  tripSides,
} from './interaction-plan.ts';
import type { Base, Kind, Pairs, Plan, Reactive, Stimulus } from './interaction-plan.ts';

/** Per unit of the rating, + into the grid. */
export interface Expected {
  readonly p: number;
  readonly q: number;
  readonly connected: boolean;
}

const nothing = (connected: boolean): Expected => ({ p: 0, q: 0, connected });
const between = (low: number, high: number, x: number) => Math.max(low, Math.min(high, x));

function onCurve(points: Pairs, x: number): number {
  const first = points[0]!;
  const last = points.at(-1)!;
  if (x <= first[0]) return first[1];
  if (x >= last[0]) return last[1];
  const i = points.findIndex(([at]) => at >= x);
  const [[x0, y0], [x1, y1]] = [points[i - 1]!, points[i]!];
  return y0 + ((y1 - y0) / (x1 - x0)) * (x - x0);
}

/** One operating point of one device. */
class Point {
  readonly kind: Kind;
  readonly plan: Plan;
  readonly meanPu: number;
  readonly hz: number;
  readonly give: number;
  readonly take: number;
  readonly asked: number;
  /** maximum in either direction while the enter-service ramp runs */
  readonly ceiling: number;

  constructor(kind: Kind, plan: Plan, stimulus: Stimulus, ceiling: number) {
    const power = stimulus.power ?? amplePower(kind);
    this.kind = kind;
    this.plan = plan;
    this.meanPu = phases(stimulus.v).mean;
    this.hz = stimulus.hz ?? 0;
    this.give = Math.min(plan.limits.wMax, kind === 'pv' ? power : storePower);
    this.take = kind === 'pv' ? 0 : Math.min(plan.limits.charge, storePower);
    // a percentage reaches down to -100
    const deepest = plan.setPoint?.mode === 'W_MAX_PCT' ? -plan.limits.wMax : -Infinity;
    this.asked = kind === 'pv' ? this.#setPoint() : Math.max(deepest, power);
    this.ceiling = ceiling;
  }

  get vPct(): number {
    return (100 * this.meanPu) / this.plan.limits.vNom;
  }

  #setPoint(): number {
    const { setPoint, limits } = this.plan;
    if (setPoint === null) return Infinity;
    return setPoint.mode === 'WATTS' ? setPoint.value : setPoint.value * limits.wMax;
  }

  /** Volt-watt is a limit in percent of WMax or of what the source has, not a scaling of the present power. */
  get voltWatt(): number {
    const { voltWatt, limits } = this.plan;
    if (voltWatt === null) return Infinity;
    const pct = onCurve(voltWatt.points, this.vPct);
    return pct >= 100 ? Infinity : (pct / 100) * (voltWatt.ofAvailable ? this.give : limits.wMax);
  }

  /** Without droop: the minimum of source, limit, volt-watt and set-point, within what the device can absorb. */
  get normal(): number {
    const limit = ((this.plan.limitPct ?? 100) / 100) * this.plan.limits.wMax;
    return Math.max(-this.take, Math.min(this.give, limit, this.voltWatt, this.asked));
  }

  /** With droop, which begins at `before`; at low frequency it replaces limit and set-point. */
  wanted(before: number): number {
    const { droop, limits } = this.plan;
    let p = this.normal;
    if (droop !== null && this.hz > droop.overBandHz) {
      const value = before - ((this.hz - droop.overBandHz) / (60 * droop.overDroop)) * limits.wMax;
      p = Math.min(p, before, Math.max(value, (droop.minPct / 100) * limits.wMax));
    }
    if (droop !== null && this.hz < -droop.underBandHz) {
      const value = before + ((-droop.underBandHz - this.hz) / (60 * droop.underDroop)) * limits.wMax;
      p = Math.min(this.give, this.voltWatt, value);
    }
    return between(-Math.min(this.take, this.ceiling), this.ceiling, Math.max(-this.take, p));
  }

  get radius(): number {
    return Math.min(this.plan.limits.vaMax, this.meanPu * this.plan.limits.current);
  }

  get acting(): (p: number) => Reactive | undefined {
    return (p) =>
      this.plan.reactive.findLast(({ name }) => (name === 'pf_inject' ? p >= 0 : name !== 'pf_absorb' || p < 0));
  }

  /** Capability at `p`: whole from 20 % of rated on, in proportion down to 5 %, none below (Table 7). */
  capability(p: number, q: number): number {
    const whole = q >= 0 ? this.plan.limits.varInject : this.plan.limits.varAbsorb;
    if (!reducedAtLowPower(this.kind) || Math.abs(p) >= 0.2) return whole;
    return Math.abs(p) < 0.05 ? 0 : (whole * Math.abs(p)) / 0.2;
  }

  #inVars(base: Base, pct: number, p: number): number {
    const { wMax, vaMax, varInject, varAbsorb } = this.plan.limits;
    const max = pct >= 0 ? varInject : varAbsorb;
    switch (base) {
      case 'W_MAX_PCT':
        return (pct / 100) * wMax;
      case 'VAR_MAX_PCT':
        return (pct / 100) * max;
      case 'VAR_AVAIL_PCT':
        return (pct / 100) * Math.min(max, Math.sqrt(Math.max(0, vaMax ** 2 - p ** 2)));
      case 'VA_MAX_PCT':
        return (pct / 100) * vaMax;
    }
  }

  /** Reactive power of the acting function at `p`, inside the capability of the settings. */
  #asked(f: Reactive, p: number): number {
    const { varInject, varAbsorb } = this.plan.limits;
    return between(-varAbsorb, varInject, this.#unbounded(f, p));
  }

  #unbounded(f: Reactive, p: number): number {
    switch (f.name) {
      case 'pf_inject':
      case 'pf_absorb':
        return Math.min(Math.abs(p), this.radius * f.side.pf) * Math.tan(Math.acos(f.side.pf)) * (f.side.over ? 1 : -1);
      case 'constant_var':
        return f.mode === 'VARS' ? f.pct / 100 : this.#inVars(f.mode, f.pct, p);
      case 'volt_var': {
        const pct = onCurve(f.points, this.vPct - (f.vRefPct - 100));
        return this.#inVars(f.base, pct, p);
      }
      case 'watt_var': {
        const pct = onCurve(f.points, (100 * p) / this.plan.limits.wMax);
        return this.#inVars(f.base, pct, p);
      }
    }
  }

  /** P and Q inside the circle. */
  output(wanted: number): readonly [number, number] {
    const f = this.acting(wanted);
    const s = this.radius;
    if (f === undefined) return [between(-s, s, wanted), 0];
    const fits = (p: number) => {
      const q = this.#asked(f, p);
      return between(-this.capability(p, q), this.capability(p, q), q);
    };
    const p = f.name === 'watt_var' ? this.#slide(fits, wanted) : wanted;
    const q = fits(p);
    if (Math.hypot(p, q) <= s) return [p, q];
    if (!('priority' in f)) return [Math.sign(p) * Math.sqrt(s * s - q * q), q];
    // up to the amount of Table 7 (44 % of the rating here) reactive power wins anyway
    const kept = Math.min(s, f.priority === 'REACTIVE' ? Math.abs(q) : Math.min(Math.abs(q), 0.44));
    const active = Math.min(Math.abs(p), Math.sqrt(s * s - kept * kept));
    const reactive = Math.min(Math.abs(q), Math.max(kept, Math.sqrt(Math.max(0, s * s - active * active))));
    return [Math.sign(p) * active, Math.sign(q) * reactive];
  }

  /** Watt-var moves along its own curve to the circle. */
  #slide(vars: (p: number) => number, wanted: number): number {
    const steps = 4000;
    for (let i = steps; i > 0; i -= 1) {
      const p = (wanted * i) / steps;
      if (Math.hypot(p, vars(p)) <= this.radius) return p;
    }
    return 0;
  }
}

/** Whether a threshold of `side` is exceeded for its whole time. */
function passed(
  side: (typeof tripSides)[number],
  pairs: Pairs,
  stimulus: Stimulus,
  vNom: number,
  holdS: number,
): boolean {
  const { low, high } = phases(stimulus.v);
  const value = {
    lowV: (100 * low) / vNom,
    highV: (100 * high) / vNom,
    lowF: stimulus.hz ?? 0,
    highF: stimulus.hz ?? 0,
  }[side];
  return pairs.some(([limit, seconds]) => (side.startsWith('low') ? value < limit : value > limit) && seconds <= holdS);
}

/** The state after `stimulus`, reached from rest under the same power. */
export function expected(kind: Kind, plan: Plan, stimulus: Stimulus): Expected {
  const { returning, holdS = defaultHoldS } = stimulus;
  if (returning === 'waiting') return nothing(false);
  const sides = tripSides.map((side) => [side, plan.trips[side]] as const);
  const trips = sides.some(([side, t]) => t && passed(side, t.must ?? [], stimulus, plan.limits.vNom, holdS));
  if (trips || (plan.antiIslanding && stimulus.island && holdS >= islandS)) return nothing(false);
  if (sides.some(([side, t]) => t && passed(side, t.cease, stimulus, plan.limits.vNom, holdS))) return nothing(true);
  const ceiling = returning === 'ramping' ? (rampPassedS + holdS) / rampS : Infinity;
  const { power } = stimulus;
  const rest = new Point(kind, plan, power === undefined ? {} : { power }, Infinity);
  const point = new Point(kind, plan, stimulus, ceiling);
  // on the ramp there is no former output: droop starts from the power that would flow after it
  const before = returning === 'ramping' ? point.normal : rest.output(rest.wanted(rest.normal))[0];
  const [p, q] = point.output(point.wanted(before));
  return { p, q, connected: true };
}
