/** The plant of a shard as the common clock drives it. */
import type { FleetPart } from '../../contract/fleet-site.ts';
import type { Plant, TickEvent } from '../../contract/plant.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';

/** Ticks in pieces from outside. */
interface DrivenPieces {
  readonly isOpen: boolean;
  /** the instant that all devices have reached */
  readonly reached: SimTime;
  readonly dueUs: number;
  readonly sharingUs: number;
  readonly isLimited: boolean;
  /** @param by null: the client of the last step continues */
  begin(by?: Origin | null): Promise<void>;
  advancePiece(to: SimTime): Promise<SimTime>;
  publish(number?: number): Promise<TickEvent>;
}

export interface ClockedPlant extends Pick<Plant, 'latest' | 'time' | 'setTime' | 'runTo' | 'dateMs' | 'devices'> {
  readonly driven: DrivenPieces;
  readonly fleetPart: FleetPart;
  /** tick slots without a tick */
  skippedTicks: number;
  /** Runs a tick of real time. @param until instant at which it ends; whole slots only, where it is cut */
  tick(slots: number, number: number, until: SimTime): Promise<void>;
}
