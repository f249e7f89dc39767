/** The latest samples of every device, one per tick, and of the remote device of the SunSpec client, one per round. */
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import type { Published } from '../../contract/snapshot.ts';
import { remoteMetricNames } from '../../contract/sunspec-client.ts';
import type { RemoteDevice, RemoteMetrics, SunSpecClient } from '../../contract/sunspec-client.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { inParts } from '../../core/turns.ts';
import { KeptSamples } from './kept-samples.ts';
import type { SampleSink } from './kept-samples.ts';
import { metricsOf } from './metrics.ts';
import type { DeviceMetrics, Metric } from './metrics.ts';
import { firstMetric, sampleBytes, SampleRing, simColumn, tickColumn, wallColumn } from './ring.ts';
import type { Cut } from './ring.ts';
import { createSiteHistory } from './site-history.ts';
import type { SiteHistory } from './site-history.ts';

/**
 * Memory for the samples of all devices together, bytes. It holds 10,000 samples of 104 devices of any kind, including
 * stations with up to four connectors; 4 h at the default tick take 9,600. A larger fleet has a shallower history:
 * 1,000 devices must not need gigabytes.
 */
export const historyBytes = 256 * 2 ** 20;

export interface DeviceHistory {
  /** names and meaning of the columns, in the order of an answer without `metrics` */
  readonly metrics: readonly Metric[];
  /** samples kept at present */
  readonly count: number;
  /** a snapshot of the samples */
  cut(): Cut;
}

/** Puts samples of earlier processes before those of this one. */
export interface Restoring {
  /** Takes the samples of a device, oldest first; null: no such device. */
  of(device: number): KeptSamples | null;
  /** Joins them. @param sink gets the samples of this process that they do not have, and all later ones */
  end(sink: SampleSink): void;
}

export interface History {
  /** Call it before the first tick. */
  restoring(): Restoring;
  /** samples kept per device at present */
  readonly depth: number;
  readonly site: SiteHistory;
  /** Empty for a removed device. */
  of(device: Device): DeviceHistory;
}

export interface HistoryOptions {
  /** depth while the memory suffices */
  readonly samplesPerDevice: number;
  /** default `historyBytes` */
  readonly bytes?: number;
}

class Recording implements DeviceHistory {
  readonly index: number;
  readonly #columns: DeviceMetrics;
  #ring: SampleRing;

  constructor({ snapshot, detail }: Published) {
    this.index = snapshot.device_index;
    this.#columns = metricsOf(detail);
    this.#ring = this.emptyRing();
  }

  emptyRing(): SampleRing {
    return new SampleRing(firstMetric + this.metrics.length, this.index);
  }

  get metrics(): readonly Metric[] {
    return this.#columns.metrics;
  }

  get count(): number {
    return this.#ring.count;
  }

  get sampleBytes(): number {
    return sampleBytes(this.metrics.length);
  }

  add({ snapshot, detail }: Published, device: Device, simMs: number, wallMs: number, depth: number): void {
    const { values, at } = this.#ring.append(depth, simMs, wallMs, snapshot.tick);
    this.#columns.put(values, at, snapshot, detail, device);
  }

  get newestTick(): number {
    return this.#ring.newestTick;
  }

  /** A copy of the row that was added last. */
  newest(): Float64Array {
    return this.#ring.newest();
  }

  /**
   * Puts `ring` in the place of the present samples, with those of them that it does not have.
   * @param each gets each of those after it was added
   */
  join(ring: SampleRing, depth: number, each: () => void): void {
    const { runs, width } = this.#ring.cut();
    const rows = runs.flatMap(({ values, from, to }) =>
      Array.from({ length: to - from }, (_, i) => values.subarray((from + i) * width, (from + i + 1) * width)),
    );
    // ticks after the state that was restored are run again
    ring.dropFrom((rows[0]?.[tickColumn] ?? -1) + 1);
    this.#ring = ring;
    for (const row of rows) {
      const tick = row[tickColumn] ?? NaN;
      if (tick <= ring.newestTick) continue;
      const { values, at } = ring.append(depth, row[simColumn] ?? NaN, row[wallColumn] ?? NaN, tick);
      values.set(row.subarray(firstMetric), at);
      each();
    }
  }

  /** Drops the oldest samples until at most `depth` are left. */
  keep(depth: number): void {
    this.#ring.keep(depth);
  }

  cut(): Cut {
    return this.#ring.cut();
  }
}

function unrecorded({ detail }: Device): DeviceHistory {
  const { metrics } = metricsOf(detail);
  return { metrics, count: 0, cut: () => ({ width: firstMetric + metrics.length, runs: [], gone: null }) };
}

/** Parses ISO texts; the devices of one tick share a text, which is parsed once. */
function isoReader(): (text: string) => number {
  let lastText = '';
  let lastMs = NaN;
  return (text) => {
    if (text !== lastText) {
      lastText = text;
      lastMs = Date.parse(text);
    }
    return lastMs;
  };
}

/** Records every device of a plant, each from its first snapshot on. */
export function createHistory(plant: Plant, { samplesPerDevice, bytes = historyBytes }: HistoryOptions): History {
  /** in the order of the devices, like the snapshots of a tick */
  let recordings: readonly Recording[] = [];
  const simMsOf = isoReader();
  const wallMsOf = isoReader();
  let depth = samplesPerDevice;
  let sink: SampleSink | null = null;

  function record(recording: Recording, published: Published): void {
    const {
      metrics: { timestamp },
      wall_time: wallTime,
    } = published.snapshot;
    recording.add(published, plant.device(recording.index), simMsOf(timestamp), wallMsOf(wallTime), depth);
    sink?.add(recording.index, recording.metrics, recording.newest());
  }

  /** @param published of the last tick, whose sample a reader may have taken before its turn */
  function recordLatest(recording: Recording, published: Published | undefined): void {
    if (published && published.snapshot.tick > recording.newestTick) record(recording, published);
  }

  /** Starts recordings of new devices, drops those of removed ones, and divides the memory again. */
  function follow(): void {
    const byIndex = new Map(recordings.map((recording) => [recording.index, recording]));
    const followed = plant.latest.published.map((published) => {
      const { device_index: index } = published.snapshot;
      return { published, recording: byIndex.get(index) ?? new Recording(published) };
    });
    recordings = followed.map(({ recording }) => recording);
    const sampleOfAll = recordings.reduce((sum, recording) => sum + recording.sampleBytes, 0);
    depth = Math.max(1, Math.min(samplesPerDevice, Math.floor(bytes / sampleOfAll)));
    for (const { recording, published } of followed) {
      if (recording.count === 0) record(recording, published);
      recording.keep(depth);
    }
  }

  function restoring(): Restoring {
    const keptOf = new Map<Recording, KeptSamples>();
    return {
      of(device) {
        const recording = recordings.find(({ index }) => index === device);
        if (!recording) return null;
        const kept = keptOf.get(recording) ?? new KeptSamples(device, recording.metrics, () => depth);
        keptOf.set(recording, kept);
        return kept;
      },
      end(next) {
        sink = next;
        for (const recording of recordings)
          recording.join(keptOf.get(recording)?.ring ?? recording.emptyRing(), depth, () => {
            next.add(recording.index, recording.metrics, recording.newest());
          });
      },
    };
  }

  follow();
  plant.onDevices(follow);
  plant.onTickInParts(({ published }) => {
    return inParts(recordings, (recording, at) => {
      recordLatest(recording, published[at]);
    });
  });
  return {
    restoring,
    get depth() {
      return depth;
    },
    site: createSiteHistory(plant),
    of(device) {
      const at = recordings.findIndex(({ index }) => index === device.index);
      const recording = recordings[at];
      if (!recording) return unrecorded(device);
      // between two parts of a tick the snapshot is there already
      recordLatest(recording, plant.latest.published[at]);
      return recording;
    },
  };
}

const remoteMetrics: readonly Metric[] = [
  ...remoteMetricNames.map((name) => ({ name })),
  { name: 'service_state', words: serviceStates },
  { name: 'inverter_state', words: inverterStates },
  { name: 'connection_state', words: connectionStates },
];

export interface RemoteHistory extends DeviceHistory {
  /** device of the samples; null before one was found */
  readonly device: RemoteDevice | null;
  /** maximum number of samples */
  readonly depth: number;
}

/** Index of a word; NaN, which stands for null, for no word. */
function codeOf<T>(words: readonly T[], word: T | null): number {
  return word === null ? NaN : words.indexOf(word);
}

function put(to: Float64Array, at: number, metrics: RemoteMetrics): void {
  remoteMetricNames.forEach((name, i) => {
    to[at + i] = metrics[name] ?? NaN;
  });
  const words = at + remoteMetricNames.length;
  to[words] = codeOf(serviceStates, metrics.service_state);
  to[words + 1] = codeOf(inverterStates, metrics.inverter_state);
  to[words + 2] = codeOf(connectionStates, metrics.connection_state);
}

/**
 * Records every round of polling of one device; another device starts an empty history. Both times of a sample are the
 * time of its arrival.
 */
export function createRemoteHistory(client: SunSpecClient, depth: number): RemoteHistory {
  const emptyRing = () => new SampleRing(firstMetric + remoteMetrics.length, 0);
  let ring = emptyRing();
  let device: RemoteDevice | null = null;
  client.onDevice((newest) => {
    device = newest;
    ring = emptyRing();
  });
  client.onSample(({ metrics, atMs, round }) => {
    const { values, at } = ring.append(depth, atMs, atMs, round);
    put(values, at, metrics);
  });
  return {
    metrics: remoteMetrics,
    depth,
    get device() {
      return device;
    },
    get count() {
      return ring.count;
    },
    cut: () => ring.cut(),
  };
}
