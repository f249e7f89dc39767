/**
 * A device as the surroundings of its charging station: limits from outside, visits of vehicles, and delivery of
 * transitions to listeners between sub-steps.
 */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import { errorText } from '../../core/errors.ts';
import type { Kept } from '../../core/kept.ts';
import type { Logger } from '../../core/log/log.ts';
import { originText, isLater } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { Inverter } from '../inverter/inverter.ts';
import type { SourceTransition, StationOutside, DcSource, StationPort } from '../source/source.ts';
import type { DarkDevices, DeviceContext } from './device-context.ts';
import type { Power } from './power.ts';
import type { EvseExternalLimit } from '../../contract/kinds/evse.ts';
import { phaseCount } from '../inverter/ac.ts';
import { consumptionLimit } from '../inverter/power-bounds.ts';
import type { EvseConnectorCommand } from '../../contract/kinds/evse-commands.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { Visits } from '../surroundings/visits.ts';

/** Points that set a bound on consumption, by its decider; other bounds have no points, or belong to the site. */
const pointsBehind: Readonly<Partial<Record<string, readonly (readonly [modelId: number, path: string])[]>>> = {
  active_power: [
    [704, 'WSetEna'],
    [704, 'WSetMod'],
    [704, 'WSet'],
    [704, 'WSetPct'],
  ],
  charge_limit: [[702, 'WChaRteMax']],
  freq_droop: [[711, 'Ena']],
};

/** The device around a charging station, as the station uses it. */
interface StationOutsideOptions {
  readonly inverter: Inverter;
  readonly bank: RegisterBank;
  readonly power: Pick<Power, 'down'>;
  readonly now: () => SimTime;
  /** maximum consumption of the station alone, W */
  readonly maxPowerW: number;
}

function stationOutside(options: StationOutsideOptions): StationOutside {
  const { inverter, bank, power, now, maxPowerW } = options;
  return {
    supplyPhases: phaseCount(inverter.ratings.wiring),
    get down() {
      return power.down;
    },
    get siteHolds() {
      return inverter.activePower.decidedBy === 'site';
    },
    get limit(): EvseExternalLimit | null {
      const limit = consumptionLimit(inverter, now(), maxPowerW);
      return limit && { ...limit, writer: lastWriter(bank, pointsBehind[limit.decidedBy] ?? []) };
    },
  };
}

function lastWriter(bank: RegisterBank, points: NonNullable<(typeof pointsBehind)[string]>): Provenance | null {
  let last: Provenance | null = null;
  for (const [modelId, path] of points) {
    const slot = bank.layout.slot(modelId, path);
    const writer = slot && bank.provenance(slot);
    if (writer && (last === null || isLater(writer, last))) last = writer;
  }
  return last;
}

/** The parts of a device around its charging station. */
interface StationHost extends Pick<EvseEventsOptions, 'index' | 'now' | 'start' | 'stepping' | 'refresh'> {
  readonly inverter: Inverter;
  readonly bank: RegisterBank;
  readonly context: Pick<DeviceContext, 'dark' | 'log' | 'sessionLog'>;
  readonly power: Power;
}

/**
 * Connects a charging station to its device: the station gets its surroundings, the device its transitions; null for
 * other sources. Called at the start of the device.
 */
export function followStation(source: DcSource, host: StationHost): EvseEvents | null {
  const { station } = source;
  if (!station) return null;
  const { inverter, bank, power, now, context } = host;
  const detail = source.detail();
  const maxPowerW = detail.kind === 'evse' ? detail.maxPowerW : Infinity;
  const outside = stationOutside({ inverter, bank, power, now, maxPowerW });
  logSessions(station, host);
  return new EvseEvents({ ...host, dark: context.dark, log: context.log, station, outside });
}

/** One line for the begin and the end of each charging session. */
function logSessions(station: StationPort, { index, start, context: { sessionLog } }: StationHost): void {
  if (sessionLog === undefined) return;
  station.onSession((change, session, by, atS) => {
    const { connectorId, transactionId, idToken, startedAtS, energyWh, energyDischargedWh, stopReason } = session;
    const text =
      change === 'started'
        ? `started with token ${idToken ?? 'none'} (${originText(by)})`
        : `ended (${stopReason ?? 'no reason'}): ${(energyWh / 1000).toFixed(3)} kWh charged, ` +
          `${(energyDischargedWh / 1000).toFixed(3)} kWh discharged in ${Math.round(atS - startedAtS)} s`;
    sessionLog.info(`connector ${connectorId}: session ${transactionId} ${text}`, index, addSeconds(start(), atS));
  });
}

/**
 * Maximum number of transitions delivered at once; the rest is dropped, since listeners that answer each other's
 * transitions would never end.
 */
const maxAtOnce = 10_000;

interface EvseEventsOptions {
  readonly index: number;
  readonly station: StationPort;
  readonly outside: StationOutside;
  readonly bank: Pick<Bank, 'onChange'>;
  readonly dark: DarkDevices | undefined;
  readonly log: Pick<Logger, 'error'>;
  /** end of the last sub-step, the instant at which physics acts on a command */
  readonly now: () => SimTime;
  /** the start of the device, which a restart keeps */
  readonly start: () => SimTime;
  /** true during a sub-step, at whose end the transitions are delivered */
  readonly stepping: () => boolean;
  /** updates `Device.detail` to the present instant */
  readonly refresh: () => unknown;
}

/** Replaces the time of a transition, a sum of sub-steps, by the exact clock of the device. */
function stamped(transition: SourceTransition, at: SimTime, start: SimTime): EvseTransition {
  return 'atS' in transition ? { ...transition, at, atS: secondsBetween(start, at) } : { ...transition, at };
}

export type EvseListener = (transition: EvseTransition) => void;

export class EvseEvents {
  readonly #options: EvseEventsOptions;
  readonly #listeners = new Set<EvseListener>();
  /** transitions of the present sub-step or command, in order */
  #queue: SourceTransition[] = [];
  #delivering = false;
  #unfollow: (() => void) | null = null;

  constructor(options: EvseEventsOptions) {
    this.#options = options;
    options.station.attach(options.outside);
  }

  /** Adds a listener; the station is followed only while there is one. @returns a function that removes it */
  on(listener: EvseListener): () => void {
    // the same function may listen twice
    const subscription: EvseListener = (transition) => {
      listener(transition);
    };
    this.#listeners.add(subscription);
    this.#unfollow ??= this.#follow();
    return () => {
      this.#listeners.delete(subscription);
      if (this.#listeners.size > 0) return;
      this.#unfollow?.();
      this.#unfollow = null;
      this.#queue = [];
    };
  }

  #follow(): () => void {
    const { index, station, bank, dark, outside } = this.#options;
    const unsubscribes = [
      station.onTransition((transition) => this.#queue.push(transition)),
      // a write may reset alarms
      bank.onChange(() => {
        this.settle();
      }),
      dark?.onChange((event) => {
        if (event.index !== index) return;
        this.#queue.push({
          by: { source: 'fault' },
          cause: 'fault',
          connectorId: 0,
          event: event.down ? 'power_down' : 'power_up',
          externalLimit: outside.limit,
        });
        this.settle();
      }),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe?.();
    };
  }

  /** Called after a sub-step, when its limits are in force. */
  stepped(): void {
    if (this.#listeners.size === 0) return;
    this.#options.station.reportLimits();
    this.#deliver();
  }

  /** Delivers unless a sub-step is running, which delivers at its end. */
  settle(): void {
    if (!this.#options.stepping()) this.#deliver();
  }

  /** Delivers the queue, including transitions caused by commands of listeners. */
  #deliver(): void {
    if (this.#queue.length === 0 || this.#delivering) return;
    const { index, log, now, start, refresh } = this.#options;
    const at = now();
    this.#delivering = true;
    try {
      refresh();
      for (let i = 0; i < this.#queue.length; i += 1) {
        const transition = this.#queue[i];
        if (transition) this.#notify(stamped(transition, at, start()));
        if (i + 1 < maxAtOnce || i + 1 === this.#queue.length) continue;
        log.error(`${maxAtOnce} charging transitions at one instant: the rest is dropped`, index);
        break;
      }
    } finally {
      this.#queue = [];
      this.#delivering = false;
    }
  }

  #notify(transition: EvseTransition): void {
    const { index, log } = this.#options;
    for (const listener of [...this.#listeners]) {
      try {
        listener(transition);
      } catch (error) {
        log.error(`a listener of charging transitions failed: ${errorText(error)}`, index);
      }
    }
  }
}

/** Visits of vehicles to a device. */
export interface DeviceVisits {
  /** Begins the plan at `instant`, anew after a reset, which has cleared the timers of the device. */
  begin(instant: SimTime): void;
  /** State that a restart keeps: the next arrival or departure. */
  kept(): Kept;
}

/** The visits by the plan of a device; null: it has no plan. */
export function createVisits(
  { visits, seriesTime, log, dcLog = log }: DeviceContext,
  index: number,
  source: DcSource,
  scheduler: Scheduler,
  command: (command: EvseConnectorCommand) => void,
): DeviceVisits | null {
  if (!visits || !seriesTime) return null;
  const run = new Visits(visits, {
    command,
    connectors: () => {
      const detail = source.detail();
      return detail.kind === 'evse' ? detail.connectors : [];
    },
    warn: (text) => {
      dcLog.warning(text, index);
    },
  });
  return {
    begin(instant) {
      run.begin(scheduler, instant, seriesTime(instant));
    },
    kept: () => run.kept(scheduler),
  };
}
