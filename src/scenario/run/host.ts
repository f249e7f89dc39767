/** The simulator as a scenario sees it. */
import type { CsipEvents } from '../../contract/csip-events.ts';
import type { Plant } from '../../contract/plant.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { ScenarioRequest } from '../model.ts';

export interface ScenarioAnswer {
  readonly status: number;
  /** JSON; a problem from status 400 on */
  readonly body: unknown;
}

export interface ScenarioHost {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly csip: CsipEvents;
  /** Carries out a request as the scenario; begins within the call, never throws. */
  perform(request: ScenarioRequest): Promise<ScenarioAnswer>;
  /** Called with the id of each message of a protocol from now on; the returned function ends it. */
  onMessage(protocol: string, station: string, listener: (id: number) => void): () => void;
  /** Whether this scenario, and no other client after it, switched the recording of a protocol's messages. */
  hasSwitchedMessages(protocol: string): boolean;
  /**
   * Takes the clock for this scenario; the returned function gives it back.
   * @throws SimError COMMAND_CONFLICT while another scenario has it
   */
  ownClock(): () => void;
}
