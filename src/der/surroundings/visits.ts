/** Vehicles that arrive at a charging station and leave again by a table of visits. */
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { EvseConnectorCommand } from '../../contract/kinds/evse-commands.ts';
import type { EvPatch, EvseDetail } from '../../contract/kinds/evse.ts';
import type { KeptTimer, Scheduler, Timer } from '../../core/time/scheduler.ts';
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
  /** the id is unique in the plan */
  readonly ev: EvPatch & { readonly id: string };
}

export interface VisitPlan {
  readonly name: string;
  /** in order of arrival */
  readonly visits: readonly Visit[];
  /** the plan repeats after this time; null: it runs once */
  readonly periodS: number | null;
}

const dayS = 86_400;

function visitOf(row: Readonly<Record<string, number>>, at: number): Visit {
  const { time_s: arrivesS = 0, connector = 0, stay_s: stayS = 0, phases } = row;
  const watts = (kilo: number | undefined) => (kilo === undefined ? undefined : kilo * 1000);
  return {
    arrivesS,
    leavesS: arrivesS + stayS,
    connectorId: connector,
    ev: {
      id: `visit-${at + 1}`,
      socPct: row['soc_pct'],
      targetSocPct: row['target_soc_pct'],
      batteryCapacityWh: watts(row['battery_capacity_kwh']),
      maxChargeW: watts(row['max_charge_kw']),
      phases: phases === 1 ? 1 : phases === 3 ? 3 : undefined,
    },
  };
}

/** Arrivals before the start of the day, and overlapping stays at one connector. */
function visitIssues(visits: readonly Visit[]): Issue[] {
  const issues: Issue[] = [];
  const last = new Map<number, Visit>();
  visits.forEach((visit, at) => {
    if (visit.arrivesS < 0)
      issues.push({
        name: 'time_s',
        detail: `vehicle ${at + 1} arrives at ${visit.arrivesS} s; allowed: from 0, local midnight of the start date`,
      });
    const before = last.get(visit.connectorId);
    if (before && visit.arrivesS < before.leavesS) {
      issues.push({
        name: 'connector',
        detail:
          `vehicle ${at + 1} arrives at connector ${visit.connectorId} at ${visit.arrivesS} s, where another one ` +
          `stays until ${before.leavesS} s`,
      });
    }
    last.set(visit.connectorId, visit);
  });
  return issues;
}

function unusable(name: string, issues: readonly Issue[]): SimError {
  return new SimError('CONFIG_INVALID', `The vehicle table ${name} cannot be used: ${issues[0]?.detail ?? ''}`, issues);
}

/**
 * Reads a vehicle table. With `loop` the plan repeats after as many whole days as it covers.
 * @throws SimError CONFIG_INVALID with each issue by its line or vehicle
 */
export function parseVisits(text: string, name: string, end: 'hold' | 'loop'): VisitPlan {
  const series = parseSeries(text, { name, columns: visitColumns, sharedTimes: true });
  const visits = [...series.table()].map(visitOf);
  const issues = visitIssues(visits);
  if (issues.length > 0) throw unusable(name, issues);
  const lastS = Math.max(...visits.map(({ leavesS }) => leavesS));
  return { name, visits, periodS: end === 'loop' ? dayS * Math.ceil(lastS / dayS) : null };
}

/** @throws SimError CONFIG_INVALID for a visit to a connector that the station does not have */
export function checkVisits({ name, visits }: VisitPlan, connectorIds: readonly number[]): void {
  const issues = visits.flatMap(({ connectorId }, at) =>
    connectorIds.includes(connectorId)
      ? []
      : [
          {
            name: 'connector',
            detail: `vehicle ${at + 1} arrives at connector ${connectorId}; this station has ${connectorIds.join(', ')}`,
          },
        ],
  );
  if (issues.length > 0) throw unusable(name, issues);
}

/** The charging station of the visits. */
export interface VisitedStation {
  command(command: EvseConnectorCommand): void;
  connectors(): EvseDetail['connectors'];
  warn(message: string): void;
}

interface VisitEvent {
  readonly atS: number;
  readonly arrives: boolean;
  readonly visit: Visit;
}

/** The next arrival or departure. */
interface NextEvent {
  /** start of this run of the plan */
  readonly origin: SimTime;
  /** position in the events of the plan; behind the last one: the first event of the next run */
  readonly at: number;
}

/** Plugs and unplugs the vehicles of a plan, each at its own instant, independent of ticks. */
export class Visits {
  readonly #plan: VisitPlan;
  readonly #station: VisitedStation;
  /** in order of time; at one instant departures come before arrivals */
  readonly #events: readonly VisitEvent[];
  /** null: the plan is over */
  #next: (NextEvent & { readonly timer: Timer }) | null = null;

  constructor(plan: VisitPlan, station: VisitedStation) {
    this.#plan = plan;
    this.#station = station;
    this.#events = plan.visits
      .flatMap((visit) => [
        { atS: visit.arrivesS, arrives: true, visit },
        { atS: visit.leavesS, arrives: false, visit },
      ])
      .sort((a, b) => a.atS - b.atS || Number(a.arrives) - Number(b.arrives));
  }

  /** @param planS time in the plan at `instant`, s; a vehicle whose stay has already begun is plugged in at once */
  begin(scheduler: Scheduler, instant: SimTime, planS: number): void {
    const { periodS } = this.#plan;
    const turn = periodS === null ? 0 : Math.floor(planS / periodS);
    const inTurnS = planS - turn * (periodS ?? 0);
    for (const visit of this.#plan.visits) {
      if (visit.arrivesS <= inTurnS && inTurnS < visit.leavesS) this.#arrive(visit);
    }
    const next = this.#events.findIndex(({ atS }) => atS > inTurnS);
    this.#schedule(scheduler, { origin: addSeconds(instant, -inTurnS), at: next >= 0 ? next : this.#events.length });
  }

  /** State that a restart keeps. @param scheduler that of `begin`, restored before: it has no timers */
  kept(scheduler: Scheduler): Kept {
    return keptRecord(
      () => ({
        next: this.#next && { origin: this.#next.origin, at: this.#next.at, timer: keptTimer(this.#next.timer) },
      }),
      ({ next }) => {
        this.#next = null;
        if (next) this.#schedule(scheduler, next, next.timer);
      },
    );
  }

  /** Sets the timer of the next event. @param again that of an earlier process; absent: a new one */
  #schedule(scheduler: Scheduler, { origin, at }: NextEvent, again?: KeptTimer): void {
    this.#next = null;
    const event = this.#events[at];
    if (!event) {
      const { periodS } = this.#plan;
      if (periodS !== null) this.#schedule(scheduler, { origin: addSeconds(origin, periodS), at: 0 });
      return;
    }
    const act = () => {
      if (event.arrives) this.#arrive(event.visit);
      else this.#leave(event.visit);
      this.#schedule(scheduler, { origin, at: at + 1 });
    };
    const timer = again ? scheduler.again(again, act) : scheduler.at(addSeconds(origin, event.atS), act);
    this.#next = { origin, at, timer };
  }

  #arrive({ connectorId, ev }: Visit): void {
    this.#attempt({ kind: 'evse.plug', connectorId, ev }, 'cannot be plugged in');
  }

  #leave({ connectorId, ev }: Visit): void {
    const pluggedId = this.#station.connectors().find((connector) => connector.connectorId === connectorId)?.ev?.id;
    // a user may have plugged in another vehicle
    if (pluggedId === ev.id) this.#attempt({ kind: 'evse.unplug', connectorId }, 'cannot be unplugged');
  }

  /** Runs a command. Actions of a user on the connector have priority: a refused command is a warning. */
  #attempt(command: EvseConnectorCommand, what: string): void {
    try {
      this.#station.command(command);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      this.#station.warn(
        `${this.#plan.name}: the vehicle at connector ${command.connectorId} ${what}: ${error.message}`,
      );
    }
  }
}
