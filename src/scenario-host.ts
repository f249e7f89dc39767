/** Gives scenarios the simulator that they run on. */
import type { Perform } from './api/http/perform.ts';
import type { WallClock } from './core/time/clock.ts';
import type { Later } from './core/time/timers.ts';
import type { WireLog } from './core/wire/wire-log.ts';
import type { Plant } from './contract/plant.ts';
import type { ScenarioHost } from './scenario/run/host.ts';

interface HostParts {
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly later: Later;
  readonly wireLog: WireLog;
  readonly perform: Perform;
}

/** @returns makes the host of a scenario, whose requests carry its name */
export function createScenarioHost({
  plant,
  wall,
  later,
  wireLog,
  perform,
}: HostParts): (name: string) => ScenarioHost {
  return (name) => ({
    plant,
    wall,
    later,
    perform: (request) => perform({ ...request, by: { source: 'scenario', peer: name } }),
    lastMessageId: (protocol, station) => wireLog.find(protocol, station)?.lastId ?? 0,
    onMessage: (protocol, station, listener) =>
      wireLog.find(protocol, station)?.subscribe(listener) ?? (() => undefined),
  });
}
