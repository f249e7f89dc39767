/** Co-simulation: devices attached to a grid outside of the simulator, which gives their voltages and takes their power. */
import type { SimTime } from '../core/time/clock.ts';
import type { Origin } from '../core/origin.ts';
import type { AssetType, AvailablePower } from './device.ts';
import type { ServiceWord } from './grid-trace.ts';

/** One value for all attached devices, or one for each in the order in which they were attached. */
export type Column<T> = T | readonly T[];

/** Values of the outside grid; absent ones stay. */
export interface OutsideColumns {
  /** phase voltages, per unit of nominal; a phase that the wiring lacks is ignored */
  readonly aPu?: Column<number>;
  readonly bPu?: Column<number>;
  readonly cPu?: Column<number>;
  readonly frequencyHz?: Column<number>;
  /** angle of the positive sequence, degrees */
  readonly angleDeg?: Column<number>;
  readonly outage?: Column<boolean>;
  readonly island?: Column<boolean>;
}

/** An attached device as a grid solver has to know it. */
export interface AttachedDevice {
  readonly index: number;
  readonly name: string;
  readonly kind: AssetType;
  readonly wiring: 'single' | 'split' | 'three';
  /** nominal voltage line to neutral, V: the base of its per unit */
  readonly nominalLnV: number;
  readonly ratedVa: number;
  /** 702.WMaxRtg */
  readonly maxW: number;
  /** the most negative power: minus the rated charge power; 0 for a device that only delivers */
  readonly minW: number;
}

/** The exchange under way. */
export interface ExchangeNow {
  readonly session: string;
  /** name that the client has given itself */
  readonly owner: string;
  readonly since: SimTime;
  /** `stepped`: the clock stood still at the attachment, and only steps of the exchange pass time */
  readonly pace: 'stepped' | 'running';
  readonly devices: readonly AttachedDevice[];
  /** steps since the attachment */
  readonly steps: number;
}

/** Power of a device, positive into the grid; doubles, not registers. */
export interface TerminalFlow {
  readonly powerW: number;
  readonly reactivePowerVar: number;
  /** W, var and A of each phase that the wiring has */
  readonly phases: readonly { readonly w: number; readonly var: number; readonly a: number }[];
}

/** Power of a device under voltages that it does not have. */
export interface ExchangeTrial extends TerminalFlow {
  /**
   * true: a step of the same length under these values ends with this power, as long as sun and wind stay; false: unless
   * something else happens first, such as a trip timer, a ramp of the service or of the source, or droop
   */
  readonly exact: boolean;
}

/** Power of a device at the end of the last sub-step. */
export interface DeviceFlow extends TerminalFlow {
  /** active energy since the device began, Wh */
  readonly energyWh: number;
  /** reactive energy since the device began, varh */
  readonly energyVarh: number;
}

/** An attached device at the end of the last tick. */
export interface ExchangeState extends DeviceFlow {
  /** means over the last step, or since the last `collect`; those of the moment before the first one */
  readonly meanW: number;
  readonly meanVar: number;
  /** the device reboots, or its model has failed */
  readonly isDown: boolean;
  readonly service: ServiceWord;
  readonly socPct: number | null;
  readonly available: AvailablePower;
}

/** A change of service of an attached device, a vehicle that comes or goes, or the removal of the device. */
export interface ExchangeEvent {
  /** place in the columns */
  readonly place: number;
  readonly at: SimTime;
  readonly event: string;
}

/** End of a step. */
export interface StepEnd {
  readonly tick: number;
  readonly sim: SimTime;
}

/** The exchange of values between devices and a grid outside of the simulator. */
export interface GridExchange {
  /** null: no devices are attached */
  readonly now: ExchangeNow | null;
  /**
   * Attaches devices: from now on their grid is that of `put` and `step`, which begins with their present one.
   * @param devices indexes in the order of every column; no index twice
   * @throws SimError COMMAND_CONFLICT when an exchange exists, or devices have a feeder of the simulator; UNKNOWN_DEVICE
   */
  attach(devices: readonly number[], owner: string, by: Origin): ExchangeNow;
  /**
   * Puts values in, which act from the present instant on, in mid-tick from the end of the tick under way.
   * @param rampS of voltages, frequency and angle, which are reached then; default: 0, a step
   * @throws SimError COMMAND_CONFLICT without an exchange
   */
  put(values: OutsideColumns, rampS?: number): void;
  /**
   * Puts values in and runs one tick; only while the clock is paused. Steps run one after the other.
   * @param endOf the instant at which the step ends, for that at which it begins
   * @throws SimError COMMAND_CONFLICT; COMMAND_BAD_VALUE for an instant that is not ahead
   */
  step(endOf: (now: SimTime) => SimTime, values: OutsideColumns): Promise<StepEnd>;
  /**
   * Power of each attached device after `dtS` under these values, without time passing: nothing changes. null: it was
   * removed.
   * @param dtS null: at the end of all responses, with sun, wind and stocks as they are
   * @throws SimError COMMAND_CONFLICT without an exchange
   */
  trial(values: OutsideColumns, dtS: number | null): readonly (ExchangeTrial | null)[];
  /** Does work that needs all devices at one instant: at once, or at the end of the tick under way. */
  betweenTicks<T>(work: () => T): Promise<T>;
  /** The last tick, whose states `states` has; null: none has ended in this process. */
  readonly shown: StepEnd | null;
  /** State of each attached device at the end of the last tick, in the order of the columns; null: it was removed. */
  states(): readonly (ExchangeState | null)[];
  /**
   * Events of the last step, or up to the end of the last tick before the last `collect`, in order of time; at most 1,000,
   * the others are counted.
   */
  readonly events: { readonly events: readonly ExchangeEvent[]; readonly lost: number };
  /** Makes `events` those since they were last made, for a clock that runs; a step does so by itself. */
  collect(): void;
  /** Returns the devices to the grid of the simulator. */
  end(): void;
}

/** Refusal of a request that needs attached devices. */
export const noneAttached = 'no devices are attached: POST exchange attaches them';

/** Why others cannot pass time; null: the exchange leaves the clock alone. */
export const clockRefusal = ({ now }: Pick<GridExchange, 'now'>): string | null =>
  now?.pace === 'stepped'
    ? `${JSON.stringify(now.owner)} passes the time by POST exchange/step until POST exchange/end`
    : null;
