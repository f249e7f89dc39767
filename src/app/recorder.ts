/** The recorder of a simulator. */
import type { Plant } from '../contract/plant.ts';
import type { Recorder } from '../contract/recorder.ts';
import type { Adapter } from '../core/adapter.ts';
import type { FindingRegistry } from '../core/findings/registry.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import { channelFindings } from '../recorder/findings.ts';
import { createRecorder } from '../recorder/recorder.ts';

/** Parts for the recorder of a simulator, and the data for the header of a recording. */
interface RecorderSetup {
  readonly wireLog: WireLog;
  readonly findings: FindingRegistry;
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly info: { readonly version: string; readonly buildId: string; readonly startedAtMs: number };
  readonly adapters: readonly Adapter[];
}

export function createConfiguredRecorder({ wireLog, findings, plant, wall, info, adapters }: RecorderSetup): Recorder {
  channelFindings(wireLog, findings);
  return createRecorder({
    wireLog,
    clock: wall,
    sim: () => plant.time.sim,
    dateMs: (sim) => plant.dateMs(sim),
    process: () => ({
      version: info.version,
      buildId: info.buildId,
      startedAtMs: info.startedAtMs,
      clock: { mode: plant.time.mode, rate: plant.time.rate, timezone: plant.time.timezone },
      devices: plant.devices.map(({ index, name, deviceType, assetType }) => ({
        index,
        name,
        type: deviceType,
        kind: assetType,
        endpoints: adapters.flatMap((adapter) => adapter.endpointOf?.(index) ?? []),
      })),
    }),
  });
}
