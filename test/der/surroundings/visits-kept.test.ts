import { expect } from 'chai';
import fc from 'fast-check';
import type { EvseConnectorCommand } from '../../../src/contract/kinds/evse-commands.ts';
import type { EvseDetail } from '../../../src/contract/kinds/evse.ts';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import { Scheduler } from '../../../src/core/time/scheduler.ts';
import { Visits } from '../../../src/der/surroundings/visits.ts';
import type { VisitPlan } from '../../../src/der/surroundings/visits.ts';
import { expectContinuation } from '../../support/continuation.ts';
import { disturbedSecond } from '../../support/disturbed.ts';
import { holds } from '../../support/property.ts';

const start = simTimeFromMs(1_800_000_000_000);
const daySeconds = 86_400;

/** A plan with its timers, beside a station that plugs in whatever it is asked to. */
class Followed {
  readonly scheduler = new Scheduler();
  readonly visits: Visits;
  heard: readonly string[] = [];
  /** id of the vehicle at each connector */
  plugged: Readonly<Record<number, string | null>> = {};

  constructor(plan: VisitPlan, planS: number) {
    this.visits = new Visits(plan, {
      command: (command) => {
        this.#obey(command);
      },
      connectors: () =>
        Object.entries(this.plugged).map(([id, ev]) => ({
          connectorId: Number(id),
          ev: ev === null ? null : { id: ev },
        })) as unknown as EvseDetail['connectors'],
      warn: () => undefined,
    });
    this.visits.begin(this.scheduler, start, planS);
  }

  #obey(command: EvseConnectorCommand): void {
    const ev = command.kind === 'evse.plug' ? (command.ev?.id ?? null) : null;
    this.heard = [...this.heard, `${command.kind} ${command.connectorId} ${ev}`];
    this.plugged = { ...this.plugged, [command.connectorId]: ev };
  }

  kept(): Kept {
    return keptParts({
      scheduler: this.scheduler.kept(),
      visits: this.visits.kept(this.scheduler),
      station: keptRecord(
        () => ({ heard: this.heard, plugged: this.plugged }),
        ({ heard, plugged }) => {
          [this.heard, this.plugged] = [heard, plugged];
        },
      ),
    });
  }
}

/** Stays at each of the connectors, one after the other: time without a vehicle before it, and its length, s. */
const stays = fc.array(
  fc.array(fc.tuple(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 1, max: 9000 })), { maxLength: 4 }),
  { minLength: 1, maxLength: 3 },
);

function planOf(list: readonly (readonly (readonly [number, number])[])[], loops: boolean): VisitPlan {
  const visits = list.flatMap((ofOne, i) => {
    let leavesS = 0;
    return ofOne.map(([gapS, stayS], k) => {
      const arrivesS = leavesS + gapS;
      leavesS = arrivesS + stayS;
      return { arrivesS, leavesS, connectorId: i + 1, ev: { id: `${i}-${k}` } };
    });
  });
  visits.sort((a, b) => a.arrivesS - b.arrivesS);
  return { name: 'plan', visits, periodS: loops ? daySeconds : null };
}

describe('visits of vehicles: a restart', () => {
  it('brings the next arrivals and departures at their instants, and no other', () => {
    let events = 0;
    holds(
      'visits go on after a restart',
      [
        stays.filter((list) => list.some((ofOne) => ofOne.length > 0)),
        fc.boolean(),
        fc.integer({ min: 0, max: 2 * daySeconds }),
        fc.nat(40),
        fc.constantFrom(700, 1800, 7200),
      ],
      (list, loops, planS, before, tickS) => {
        const plan = planOf(list, loops);
        const make = disturbedSecond(
          () => new Followed(plan, planS),
          ({ scheduler }) => {
            scheduler.runDue(addSeconds(start, 5000));
          },
        );
        expectContinuation({
          make,
          drive: (followed, step) => {
            followed.heard = [];
            followed.scheduler.runDue(addSeconds(start, (step + 1) * tickS));
            events += followed.heard.length;
          },
          observe: ({ scheduler, heard, plugged }) => ({ due: scheduler.nextDue, heard, plugged }),
          before,
          after: 20,
        });
      },
      { runs: 100 },
    );
    expect(events).to.be.above(0);
  });
});
