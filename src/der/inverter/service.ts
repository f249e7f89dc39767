/**
 * The service states of a device: a transition table after IEEE 1547-2018 4.10 (enter service, cease to energize) and
 * the state table in docs/ARCHITECTURE.md.
 */
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Settings } from './settings.ts';

export const servicePhases = ['in_service', 'ramping', 'waiting', 'ceased', 'shutting_down', 'off', 'tripped'] as const;
export type ServicePhase = (typeof servicePhases)[number];

/** Inputs of a transition at one instant. */
export interface ServiceInput {
  /** switch open, or operator stop */
  readonly stop: boolean;
  /** 703.ES disabled, or operator standby: cease to energize */
  readonly cease: boolean;
  /** a protective threshold has been exceeded for its whole time */
  readonly trip: boolean;
  /** the kind of threshold that caused the last trip is still exceeded */
  readonly causePersists: boolean;
  /** voltage and frequency inside the enter-service window */
  readonly inWindow: boolean;
  /** the grid has been inside the window for the whole delay */
  readonly delayOver: boolean;
  /** the ramp after entering has ended, or there is none */
  readonly rampOver: boolean;
  /** output is zero */
  readonly atZero: boolean;
}

interface Transition {
  readonly from: readonly ServicePhase[];
  readonly when: (input: ServiceInput) => boolean;
  readonly to: ServicePhase;
  /** text of the diagram */
  readonly label: string;
}

const energized: readonly ServicePhase[] = ['in_service', 'ramping', 'shutting_down'];

/** Highest priority first: trip, stop, cease, then the return. */
export const serviceTransitions: readonly Transition[] = [
  { from: [...energized, 'ceased'], when: (i) => i.trip, to: 'tripped', label: 'trip' },
  { from: ['in_service', 'ramping'], when: (i) => i.stop, to: 'shutting_down', label: 'stop' },
  { from: ['ceased', 'waiting', 'tripped'], when: (i) => i.stop, to: 'off', label: 'stop' },
  { from: ['shutting_down'], when: (i) => !i.stop, to: 'ramping', label: 'start' },
  { from: ['shutting_down'], when: (i) => i.atZero, to: 'off', label: 'at zero' },
  { from: ['in_service', 'ramping'], when: (i) => i.cease, to: 'ceased', label: 'cease' },
  { from: ['off'], when: (i) => !i.stop, to: 'waiting', label: 'start' },
  { from: ['tripped'], when: (i) => !i.trip && !i.causePersists, to: 'waiting', label: 'cause gone' },
  { from: ['ceased'], when: (i) => !i.cease, to: 'waiting', label: 'permit' },
  {
    from: ['waiting'],
    when: (i) => !i.cease && !i.trip && i.inWindow && i.delayOver,
    to: 'ramping',
    label: 'delay over',
  },
  { from: ['ramping'], when: (i) => i.rampOver, to: 'in_service', label: 'ramp over' },
];

/** The phase after one transition; the same phase when none applies. */
export function nextPhase(phase: ServicePhase, input: ServiceInput): ServicePhase {
  return serviceTransitions.find((row) => row.from.includes(phase) && row.when(input))?.to ?? phase;
}

/** True if the device may exchange power in a phase. */
export function isEnergized(phase: ServicePhase): boolean {
  return energized.includes(phase);
}

/** True if the contactor is closed in a phase (701.ConnSt). */
export function isConnected(phase: ServicePhase): boolean {
  return phase === 'ceased' || energized.includes(phase);
}

/** The table as a Mermaid state diagram. */
export function serviceDiagram(): string {
  const rows = serviceTransitions.flatMap((row) => row.from.map((from) => `  ${from} --> ${row.to}: ${row.label}`));
  return ['stateDiagram-v2', '  [*] --> in_service', ...rows].join('\n');
}

type EnterSetting = Settings['enterService'];

/** Enter service (model 703, IEEE 1547-2018 4.10): delay with its random part, then a ramp of the power ceiling. */
export class EnterService {
  readonly #random: RandomStream;
  #delaySince: SimTime | null = null;
  /** share of 703.ESRndTms that this delay takes, 0 to 1 */
  #share = 0;
  #rampSince: SimTime | null = null;

  constructor(random: RandomStream) {
    this.#random = random;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      random: this.#random.kept(),
      members: keptRecord(
        () => ({ delaySince: this.#delaySince, share: this.#share, rampSince: this.#rampSince }),
        (saved) => {
          ({ delaySince: this.#delaySince, share: this.#share, rampSince: this.#rampSince } = saved);
        },
      ),
    });
  }

  /** True while the delay runs, which needs the grid inside the window. */
  get delayRuns(): boolean {
    return this.#delaySince !== null;
  }

  /** Starts the delay unless it runs already. */
  startDelay(t: SimTime): void {
    if (this.#delaySince !== null) return;
    this.#delaySince = t;
    this.#share = this.#random.next();
  }

  /** Ends the delay early; the next one starts from zero. */
  cancelDelay(): void {
    this.#delaySince = null;
  }

  startRamp(t: SimTime): void {
    this.#rampSince = t;
  }

  endRamp(): void {
    this.#rampSince = null;
  }

  /** End of the running delay; a change of its settings applies at once. */
  delayDue({ delayS, randomDelayS }: EnterSetting): SimTime | null {
    return this.#delaySince === null ? null : addSeconds(this.#delaySince, delayS + this.#share * randomDelayS);
  }

  rampEnd({ rampS }: EnterSetting): SimTime | null {
    return this.#rampSince === null ? null : addSeconds(this.#rampSince, rampS);
  }

  /** The next instant after `t` at which delay or ramp ends. */
  nextDue(t: SimTime, setting: EnterSetting): number {
    let next = Infinity;
    for (const due of [this.delayDue(setting), this.rampEnd(setting)])
      if (due !== null && due > t && due < next) next = due;
    return next;
  }

  /** Share of rated power that the ramp admits at `t`: rises from 0 to 1 over the duration (4.10.3). */
  admittedShare(t: SimTime, { rampS }: EnterSetting): number {
    if (this.#rampSince === null || rampS <= 0) return 1;
    return Math.min(1, secondsBetween(this.#rampSince, t) / rampS);
  }
}
