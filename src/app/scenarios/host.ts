/** Gives scenarios the simulator that they run on. */
import { messageMembers as ofOcpp } from '../../api/charge-points/members.ts';
import { messageMembers as ofModbus } from '../../api/modbus.ts';
import { messageMembers as ofDnp3 } from '../../api/outstations.ts';
import { messageMembers as ofCsip } from '../../api/csip-client/reports.ts';
import { commAlarmKinds } from '../../core/comm-alarms.ts';
import { alarmKinds } from '../../der/device/alarms.ts';
import type { KnownNames } from '../../scenario/file/layout.ts';
import type { Perform } from '../../api/http/perform.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { CsipEvents } from '../../contract/csip-events.ts';
import type { Plant } from '../../contract/plant.ts';
import type { ClockOwner } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { ScenarioHost } from '../../scenario/run/host.ts';

export interface HostParts {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly wireLog: WireLog;
  readonly csip: CsipEvents;
  readonly perform: Perform;
  readonly clockHold: ClockHold;
}

/** Lets one scenario at a time have the clock. */
export class ClockHold implements ClockOwner {
  #name: string | null = null;

  get name(): string | null {
    return this.#name;
  }

  /** @throws SimError COMMAND_CONFLICT */
  take(name: string): () => void {
    if (this.#name !== null)
      throw new SimError('COMMAND_CONFLICT', `the scenario ${JSON.stringify(this.#name)} runs; one runs at a time`);
    this.#name = name;
    return () => {
      this.#name = null;
    };
  }
}

/** @returns makes the host of a scenario, whose requests carry its name */
export function createScenarioHost({
  plant,
  wall,
  later,
  wireLog,
  csip,
  perform,
  clockHold,
}: HostParts): (name: string) => ScenarioHost {
  return (name) => ({
    plant,
    wall,
    later,
    csip,
    perform: (request) => perform({ ...request, by: { source: 'scenario', peer: name } }),
    ownClock: () => clockHold.take(name),
    onMessage: (protocol, station, listener) =>
      wireLog.find(protocol, station)?.subscribe(({ id }) => {
        listener(id);
      }) ?? (() => undefined),
    hasSwitchedMessages(protocol) {
      const last = wireLog.find(protocol, '')?.changedBy;
      return last?.source === 'scenario' && last.peer === name;
    },
  });
}

/** Members of messages and codes of alarms, as the interface shows them. */
export function scenarioNames(): KnownNames {
  return {
    alarmCodes: [...Object.keys(alarmKinds), ...Object.keys(commAlarmKinds)],
    messageMembers: { modbus: ofModbus(), csip: ofCsip(), ocpp: ofOcpp(), dnp3: ofDnp3() },
  };
}
