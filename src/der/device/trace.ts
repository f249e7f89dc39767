/** Inspection view of one device: input and output of each function, and changes of its service state. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type {
  ActiveDecider,
  DecidedBy,
  FunctionStep,
  GridTrace,
  GridTraceRow,
  ReactiveDecider,
  ServiceTransition,
  ServiceWord,
  StepValues,
} from '../../contract/grid-trace.ts';
import { tracedFunctions } from '../../sunspec/map/grid-support/functions.ts';
import type { TracedFunction, TripFunction } from '../../sunspec/map/grid-support/functions.ts';
import type { GridValues } from '../surroundings/environment.ts';
import type { Inverter } from '../inverter/inverter.ts';
import { voltagePct } from '../inverter/output.ts';
import { reactiveEnabled } from '../inverter/reactive-power.ts';
import type { ReactiveFunction } from '../inverter/reactive-power.ts';
import { isEnergized } from '../inverter/service.ts';
import type { TripCause } from '../inverter/protection.ts';
import type { TripKind } from '../inverter/trip.ts';

const maxTransitions = 64;

const noStep: FunctionStep = { input: null, target: null, output: null };

const timerKinds: Readonly<Record<TripFunction, TripKind | 'island'>> = {
  lv_trip: 'lowVoltage',
  hv_trip: 'highVoltage',
  lf_trip: 'lowFrequency',
  hf_trip: 'highFrequency',
  anti_islanding: 'island',
};

const causeNames: Readonly<Record<TripCause, string>> = {
  lowVoltage: 'lv_trip',
  highVoltage: 'hv_trip',
  lowFrequency: 'lf_trip',
  highFrequency: 'hf_trip',
  island: 'anti_islanding',
  rocof: 'rocof',
  vectorShift: 'vector_shift',
};

const noSteps = Object.fromEntries(tracedFunctions.map((name) => [name, noStep])) as Record<
  TracedFunction,
  FunctionStep
>;

/** Input and target of a reactive function that is enabled; only the acting one has an output. */
export function reactiveStep(
  { reactivePower: r, activePower: p, curvePct, circleVa, settings }: Inverter,
  name: ReactiveFunction,
): FunctionStep {
  if (!reactiveEnabled(settings, name)) return noStep;
  const target = r.requestVar(name, { settings, requestedW: p.requestedW, sVa: circleVa, vPct: curvePct });
  return {
    input: name === 'volt_var' ? curvePct : p.requestedW,
    target,
    output: r.activeFunction === name ? r.commandVar : null,
  };
}

function functionSteps(inverter: Inverter, hz: number, at: SimTime): Record<TracedFunction, FunctionStep> {
  const {
    settings,
    activePower: p,
    link: { availableW },
  } = inverter;
  if (!isEnergized(inverter.phase)) return noSteps;
  const { droop } = p;
  const base = p.voltWattBaseW / 100;
  const ramping = inverter.enterRamp(at);
  return {
    volt_var: reactiveStep(inverter, 'volt_var'),
    watt_var: reactiveStep(inverter, 'watt_var'),
    pf_inject: reactiveStep(inverter, 'pf_inject'),
    pf_absorb: reactiveStep(inverter, 'pf_absorb'),
    constant_var: reactiveStep(inverter, 'constant_var'),
    volt_watt:
      settings.voltWatt.enabled || p.voltWattPct < 100
        ? { input: inverter.curvePct, target: p.voltWattTargetPct * base, output: p.voltWattPct * base }
        : noStep,
    freq_droop:
      droop.side === null
        ? { ...noStep, input: settings.droop.enabled ? hz : null }
        : { input: hz, target: droop.targetW, output: droop.outputW },
    max_power: settings.maxPowerPct === null ? noStep : { input: availableW, target: p.limitTargetW, output: p.limitW },
    active_power:
      settings.setPointW === null ? noStep : { input: availableW, target: p.setPointTargetW, output: p.setPointW },
    enter_service:
      ramping === null ? noStep : { input: availableW, target: inverter.ratings.wMaxRtgW, output: ramping },
  };
}

export function activeDecider(inverter: Inverter): ActiveDecider {
  if (!isEnergized(inverter.phase)) return 'out_of_service';
  if (inverter.ceasedBy !== null) return 'cessation';
  return inverter.apparentPowerLimited ? 'apparent_power' : inverter.activePower.decidedBy;
}

export function reactiveDecider(inverter: Inverter): ReactiveDecider {
  if (!isEnergized(inverter.phase)) return 'out_of_service';
  return inverter.ceasedBy === null ? inverter.reactivePower.decidedBy : 'cessation';
}

/** The last sub-step of an inverter, which ended at `at` under `grid`. */
export function traceRow(inverter: Inverter, grid: GridValues, at: SimTime): GridTraceRow {
  const { settings } = inverter;
  const { lowestVoltagePct, highestVoltagePct } = inverter.protection.measured(grid, settings.vNomV);
  const remaining = (due: SimTime | null) => (due === null ? null : Math.max(0, secondsBetween(at, due)));
  const timers = Object.entries(timerKinds).map(([name, kind]) => [name, remaining(inverter.protection.tripDue(kind))]);
  return {
    at,
    service: serviceWord(inverter),
    rideThrough: inverter.protection.rideThrough(grid, settings.vNomV),
    activePowerW: inverter.pW,
    reactivePowerVar: inverter.qVar,
    availableW: inverter.link.availableW,
    voltagePct: inverter.curvePct,
    lowestVoltagePct,
    highestVoltagePct,
    frequencyHz: grid.hz,
    activeDecidedBy: activeDecider(inverter),
    reactiveDecidedBy: reactiveDecider(inverter),
    functions: functionSteps(inverter, grid.hz, at),
    timeToTripS: Object.fromEntries(timers) as Record<TripFunction, number | null>,
    timeToEnterServiceS: inverter.enterDelayRuns ? inverter.enterDelayRemainingS(at) : null,
  };
}

/** The service phase, or the cessation inside it. */
function serviceWord({ phase, ceasedBy }: Inverter): ServiceWord {
  return ceasedBy === null ? phase : 'momentary_cessation';
}

/** The last sub-step: its end, and its grid at the terminals. */
export interface LastStep {
  readonly at: SimTime;
  readonly grid: GridValues;
  /** the grid before the feeder, at its begin */
  readonly supply: GridValues;
}

/** Keeps the latest changes of the service state, and sub-steps on request. */
export class DeviceTrace implements GridTrace {
  readonly #inverter: Inverter;
  readonly #last: () => LastStep;
  readonly #transitions: ServiceTransition[] = [];
  #serviceWord: ServiceWord;
  #rows: GridTraceRow[] = [];
  /** index of the oldest row once the ring is full */
  #oldest = 0;
  #follower: ((step: StepValues) => void) | null = null;
  /** true: sub-steps are neither recorded nor followed */
  #isIdle = true;
  capacity = 0;
  #transitionCount = 0;

  constructor(inverter: Inverter, last: () => LastStep) {
    this.#inverter = inverter;
    this.#last = last;
    this.#serviceWord = serviceWord(inverter);
  }

  /** State that a restart keeps; recorded rows end with the process, as the request that began their recording. */
  kept(): Kept {
    return keptRecord(
      () => ({ serviceWord: this.#serviceWord, transitions: this.#transitions }),
      ({ serviceWord, transitions }) => {
        this.#serviceWord = serviceWord;
        this.#transitions.splice(0, this.#transitions.length, ...transitions);
      },
    );
  }

  get now(): GridTraceRow {
    const { at, grid } = this.#last();
    return traceRow(this.#inverter, grid, at);
  }

  get step(): StepValues {
    const inverter = this.#inverter;
    const { at, grid, supply } = this.#last();
    const last = this.#transitions.at(-1);
    const { lowestVoltagePct, highestVoltagePct } = inverter.protection.measured(grid, inverter.settings.vNomV);
    return {
      at,
      activePowerW: inverter.pW,
      reactivePowerVar: inverter.qVar,
      availableW: inverter.link.availableW,
      lowestVoltagePct,
      highestVoltagePct,
      frequencyHz: grid.hz,
      gridVoltagePct: voltagePct(inverter, supply),
      // a change at its end belongs to the next sub-step
      service: last?.at === at ? last.from : serviceWord(inverter),
      ramps: inverter.ramps,
    };
  }

  get nominalHz(): number {
    return this.#inverter.ratings.nominalHz;
  }

  /** `decidedBy.active` alone, without an object. */
  get activeDecider(): ActiveDecider {
    return activeDecider(this.#inverter);
  }

  get decidedBy(): DecidedBy {
    return { active: this.activeDecider, reactive: reactiveDecider(this.#inverter) };
  }

  get service(): ServiceWord {
    return serviceWord(this.#inverter);
  }

  get voltagePct(): number {
    return this.#inverter.curvePct;
  }

  get transitions(): readonly ServiceTransition[] {
    return this.#transitions;
  }

  /** changes since the process began, also those that `transitions` no longer has */
  get transitionCount(): number {
    return this.#transitionCount;
  }

  get rows(): readonly GridTraceRow[] {
    return [...this.#rows.slice(this.#oldest), ...this.#rows.slice(0, this.#oldest)];
  }

  record(capacity: number): void {
    this.capacity = capacity;
    this.#rows = [];
    this.#oldest = 0;
    this.#isIdle = capacity === 0 && this.#follower === null;
  }

  follow(listener: ((step: StepValues) => void) | null): void {
    this.#follower = listener;
    this.#isIdle = this.capacity === 0 && listener === null;
  }

  /** Records a change of the service state at `at`. @returns true if the device trips now */
  recordServiceState(at: SimTime): boolean {
    const to = serviceWord(this.#inverter);
    if (to === this.#serviceWord) return false;
    if (this.#transitions.length >= maxTransitions) this.#transitions.shift();
    const { lastTrip } = this.#inverter;
    this.#transitions.push({
      at,
      from: this.#serviceWord,
      to,
      cause: to === 'tripped' && lastTrip !== null ? causeNames[lastTrip] : null,
    });
    this.#transitionCount += 1;
    this.#serviceWord = to;
    return to === 'tripped';
  }

  /** Passes the last sub-step on, and records it while `capacity` is above 0. */
  recordStep(at: SimTime, grid: GridValues): void {
    if (this.#isIdle) return;
    this.#follower?.(this.step);
    if (this.capacity === 0) return;
    const row = traceRow(this.#inverter, grid, at);
    if (this.#rows.length < this.capacity) {
      this.#rows.push(row);
      return;
    }
    this.#rows[this.#oldest] = row;
    this.#oldest = (this.#oldest + 1) % this.capacity;
  }
}
