/** The interface of the simulator for a scenario. */
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { ScenarioRequest } from '../model.ts';

export interface ScenarioAnswer {
  readonly status: number;
  /** JSON; a problem document from status 400 on */
  readonly body: unknown;
}

export interface ScenarioHost {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly csip: CsipEvents;
  /** Performs a request for the scenario; starts within the call, never throws. */
  perform(request: ScenarioRequest): Promise<ScenarioAnswer>;
  /** Calls the listener with the id of each new message of a protocol; the returned function unsubscribes. */
  onMessage(protocol: string, station: string, listener: (id: number) => void): () => void;
  /** True if this scenario was the last client to switch the recording of a protocol's messages. */
  hasSwitchedMessages(protocol: string): boolean;
  /**
   * Reserves the clock for this scenario; the returned function releases it.
   * @throws SimError COMMAND_CONFLICT while another scenario has it
   */
  reserveClock(): () => void;
}
