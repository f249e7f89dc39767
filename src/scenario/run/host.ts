/** The interface of the simulator for a scenario. */
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
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
  readonly findings: FindingRegistry;
  /** receives the begin, the steps, the failures and the end of a run */
  readonly timeline: TimelineSink;
  /** Performs a request for the scenario; starts it within the call, and never throws or rejects. */
  perform(request: ScenarioRequest): Promise<ScenarioAnswer>;
  /** Calls the listener with the id of each new message of a protocol; the returned function removes the listener. */
  onMessage(protocol: string, station: string, listener: (id: number) => void): () => void;
  /** True if this scenario was the last client that switched the recording of messages of a protocol. */
  hasSwitchedMessages(protocol: string): boolean;
  /**
   * Reserves the clock for this scenario; the returned function releases it.
   * @throws SimError COMMAND_CONFLICT while another scenario or an exchange has it
   */
  reserveClock(): () => void;
}
