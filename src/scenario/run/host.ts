/** The interface of the simulator, or of a fleet of them, for a scenario. */
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { Device } from '../../contract/device.ts';
import type { Plant, TickGuide } from '../../contract/plant.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { Origin } from '../../core/origin.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import type { ClockPatch, SimTime, WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import type { ScenarioRequest } from '../model.ts';

export interface ScenarioAnswer {
  readonly status: number;
  /** JSON; a problem document from status 400 on */
  readonly body: unknown;
}

/** The registers of a device as a scenario reads them. */
export interface ScenarioBank extends Pick<Bank, 'onChange'> {
  readonly layout: Pick<Layout, 'named'>;
  /** a promise where another process has to be asked */
  value(slot: PointSlot): AnyPointValue | Promise<AnyPointValue>;
}

export interface ScenarioDevice extends Pick<Device, 'index' | 'name' | 'deviceType'> {
  readonly bank: ScenarioBank;
  /** a promise where another process has to be asked */
  readonly alarms: Device['alarms'] | Promise<Device['alarms']>;
}

/** Devices and clock as a scenario uses them: a `Plant`, or that of several processes. */
export interface ScenarioPlant extends Pick<Plant, 'now' | 'tickSimS' | 'dateMs' | 'simAt'> {
  readonly devices: readonly ScenarioDevice[];
  readonly latest: { readonly tick: number; readonly published: readonly { readonly snapshot: Snapshot }[] };
  readonly time: Pick<Plant['time'], 'mode' | 'sim' | 'timezone'>;
  onTick(listener: (event: { readonly sim: SimTime }) => void): () => void;
  onDevices(listener: (change: { readonly added: ScenarioDevice | null }) => void): () => void;
  setTime(patch: ClockPatch, by?: Origin): void;
  runTo(t: SimTime, by?: Origin): Promise<unknown>;
  guideTicks(guide: TickGuide): () => void;
}

/** Receives what a run has to tell. */
export interface ScenarioStory {
  add(happening: Parameters<TimelineSink['add']>[0]): unknown;
}

export interface ScenarioHost {
  readonly plant: ScenarioPlant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly csip: CsipEvents;
  readonly findings: FindingRegistry;
  /** receives the begin, the steps, the failures and the end of a run */
  readonly timeline: ScenarioStory;
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
