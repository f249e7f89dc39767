/** Vehicles that come to a charging station and leave again by a table of visits. */
import { addSeconds, secondsBetween } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import { SimError } from '../core/errors.ts';
import type { EvPatch, EvseCommand } from '../core/kinds/evse.ts';
import type { Scheduler } from '../core/scheduler.ts';
import { parseSeries } from './series.ts';

/** Columns of a vehicle table; `time_s` is the arrival, from local midnight of the start date. */
export const visitColumns = [
  { name: 'connector', required: true, min: 1, max: 99, whole: true },
  { name: 'stay_s', required: true, min: 1, max: 1e7 },
  { name: 'soc_pct', required: false, min: 0, max: 100 },
  { name: 'target_soc_pct', required: false, min: 0, max: 100 },
  { name: 'battery_capacity_kwh', required: false, min: 0.1, max: 2000 },
  { name: 'max_charge_kw', required: false, min: 0.1, max: 2000 },
  { name: 'phases', required: false, min: 1, max: 3, values: [1, 3] },
] as const;

interface Visit {
  readonly arrivesS: number;
  readonly leavesS: number;
  readonly connectorId: number;
  readonly ev: EvPatch;
}

export interface VisitPlan {
  readonly name: string;
  /** in order of arrival */
  readonly visits: readonly Visit[];
  /** after this the plan begins anew; null: once */
  readonly periodS: number | null;
}

const dayS = 86_400;

/**
 * Reads a vehicle table. With `loop` it repeats after the whole days that it needs.
 * @throws SimError CONFIG_INVALID with the lines of the faults
 */
export function parseVisits(text: string, name: string, end: 'hold' | 'loop'): VisitPlan {
  const series = parseSeries(text, { name, columns: visitColumns });
  const watts = (kilo: number | undefined) => (kilo === undefined ? undefined : kilo * 1000);
  const visits = [...series.table()].map((row): Visit => {
    const { time_s: arrivesS = 0, connector = 0, stay_s: stayS = 0, phases } = row;
    return {
      arrivesS, leavesS: arrivesS + stayS, connectorId: connector,
      ev: {
        socPct: row['soc_pct'], targetSocPct: row['target_soc_pct'], batteryCapacityWh: watts(row['battery_capacity_kwh']),
        maxChargeW: watts(row['max_charge_kw']), phases: phases === 1 ? 1 : phases === 3 ? 3 : undefined,
      },
    };
  });
  const lastS = Math.max(...visits.map(({ leavesS }) => leavesS));
  return { name, visits, periodS: end === 'loop' ? dayS * Math.ceil(lastS / dayS) : null };
}

/** Lets the vehicles of a plan come and go: each at its own instant, whatever the tick. */
export class Visits {
  readonly #plan: VisitPlan;
  readonly #scheduler: Scheduler;
  readonly #command: (command: EvseCommand) => void;
  readonly #warn: (message: string) => void;

  constructor(plan: VisitPlan, scheduler: Scheduler, command: (command: EvseCommand) => void, warn: (message: string) => void) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#command = command;
    this.#warn = warn;
  }

  /** @param planS time in the plan at `now`, s; vehicles whose stay has begun are there at once */
  begin(now: SimTime, planS: number): void {
    for (const visit of this.#plan.visits) {
      const { periodS } = this.#plan;
      const turn = periodS === null ? 0 : Math.max(0, Math.floor((planS - visit.leavesS) / periodS) + 1);
      this.#schedule(visit, addSeconds(now, visit.arrivesS + turn * (periodS ?? 0) - planS), now);
    }
  }

  #schedule(visit: Visit, arrives: SimTime, now: SimTime): void {
    const leaves = addSeconds(arrives, visit.leavesS - visit.arrivesS);
    if (secondsBetween(now, leaves) <= 0) return;
    if (arrives <= now) this.#arrive(visit, arrives, leaves);
    else this.#scheduler.at(arrives, () => { this.#arrive(visit, arrives, leaves); });
  }

  #arrive(visit: Visit, arrives: SimTime, leaves: SimTime): void {
    const { connectorId, ev } = visit;
    const came = this.#attempt({ kind: 'evse.plug', connectorId, ev }, 'cannot be plugged in');
    this.#scheduler.at(leaves, () => {
      if (came) this.#attempt({ kind: 'evse.unplug', connectorId }, 'cannot be unplugged');
      const { periodS } = this.#plan;
      if (periodS !== null) this.#schedule(visit, addSeconds(arrives, periodS), leaves);
    });
  }

  /** What a user or another vehicle has done to the connector wins. */
  #attempt(command: EvseCommand, what: string): boolean {
    try {
      this.#command(command);
      return true;
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      this.#warn(`${this.#plan.name}: the vehicle at connector ${command.connectorId} ${what}: ${error.message}`);
      return false;
    }
  }
}
