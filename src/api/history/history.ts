/**
 * The latest samples of every device and of the connection points of the site, one per tick, and of the remote device of
 * the SunSpec client, one per round.
 */
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
import { firstMetric, SampleRing } from './ring.ts';
import { scopeColumns, ScopeRecordings, scopesInParts, siteKey } from './scopes.ts';
import type { ScopeRecording } from './scopes.ts';
import { Series, unrecorded } from './series.ts';
import type { SeriesHistory, SeriesKey } from './series.ts';
import { createSiteHistory } from './site-history.ts';
import type { SiteHistory } from './site-history.ts';

/**
 * Memory for the samples of all devices and scopes together, bytes. It holds 10,000 samples of 104 devices of any kind, including
 * stations with up to four connectors; 4 h at the default tick take 9,600. A larger fleet has a shallower history:
 * 1,000 devices must not need gigabytes.
 */
export const historyBytes = 256 * 2 ** 20;

/** Puts samples of earlier processes before those of this one. */
export interface Restoring {
  /** Takes the samples of a series, oldest first; null: no such device or scope. */
  of(key: SeriesKey): KeptSamples | null;
  /** Joins them. @param sink gets the samples of this process that they do not have, and all later ones */
  end(sink: SampleSink): void;
}

export interface History {
  /** Call it before the first tick. */
  restoring(): Restoring;
  /** samples kept per device and scope at present */
  readonly depth: number;
  /** samples kept of the whole site: a large fleet takes nothing from them */
  readonly siteDepth: number;
  /** a part of the samples of the whole site, with further columns */
  readonly site: SiteHistory;
  /** devices of each group that has samples */
  readonly groups: readonly (readonly number[])[];
  /** Empty for a removed device. */
  of(device: Device): SeriesHistory;
  /**
   * Empty for a group that never had a limit.
   * @param devices ascending; null: the whole site
   */
  ofScope(devices: readonly number[] | null): SeriesHistory;
}

export interface HistoryOptions {
  /** depth while the memory suffices */
  readonly samplesPerDevice: number;
  /** default `historyBytes` */
  readonly bytes?: number;
}

/** The series of a device, with the function that writes its samples. */
class Recording {
  readonly index: number;
  /** another device in its place has other samples */
  readonly device: Device;
  readonly series: Series;
  readonly #columns: DeviceMetrics;

  constructor({ snapshot, detail }: Published, device: Device) {
    this.index = snapshot.device_index;
    this.device = device;
    this.#columns = metricsOf(detail);
    this.series = new Series(this.index, this.#columns.metrics);
  }

  add({ snapshot, detail }: Published, simMs: number, wallMs: number, depth: number): void {
    const { values, at } = this.series.append(depth, simMs, wallMs, snapshot.tick);
    this.#columns.put(values, at, snapshot, detail, this.device);
  }
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

/** Records every device of a plant, each from its first snapshot on, and the scopes of its site. */
export function createHistory(plant: Plant, { samplesPerDevice, bytes = historyBytes }: HistoryOptions): History {
  /** in the order of the devices, like the snapshots of a tick */
  let recordings: readonly Recording[] = [];
  const scopes = new ScopeRecordings(plant);
  const simMsOf = isoReader();
  const wallMsOf = isoReader();
  let depth = samplesPerDevice;
  let sink: SampleSink | null = null;

  const allSeries = (): readonly Series[] => [
    ...recordings.map(({ series }) => series),
    ...scopes.all.map(({ series }) => series),
  ];

  function recordDevice(recording: Recording, published: Published): void {
    const {
      metrics: { timestamp },
      wall_time: wallTime,
    } = published.snapshot;
    recording.add(published, simMsOf(timestamp), wallMsOf(wallTime), depth);
    added(recording.series);
  }

  /** @param published of the last tick, whose sample a reader may have taken before its turn */
  function recordLatest(recording: Recording, published: Published | undefined): void {
    if (published && published.snapshot.tick > recording.series.newestTick) recordDevice(recording, published);
  }

  /** Simulated date of the last tick. */
  const latestMs = () => Math.floor(plant.dateMs(plant.latest.sim));

  /** Adds a sample of the last tick, unless a reader has taken it before its turn. */
  function recordScope(scope: ScopeRecording): void {
    const { tick, wallMs } = plant.latest;
    if (tick <= scope.series.newestTick) return;
    scope.add(depthOf(scope.series), latestMs(), Math.floor(wallMs));
    added(scope.series);
  }

  function recordedScope(devices: readonly number[] | null): ScopeRecording | null {
    const scope = scopes.of(devices);
    if (scope) recordScope(scope);
    return scope;
  }

  function added(series: Series): void {
    sink?.add(series.key, series.metrics, series.newest());
  }

  /** The samples of the whole site are few octets beside those of the devices, and are not counted. */
  function depthOf({ key }: Pick<Series, 'key'>): number {
    return key === siteKey ? samplesPerDevice : depth;
  }

  /** Divides the memory again, and begins new series of scopes. */
  function divide(): void {
    const all = allSeries();
    const sampleOfAll = all.reduce((sum, { key, sampleBytes }) => sum + (key === siteKey ? 0 : sampleBytes), 0);
    depth = Math.max(1, Math.min(samplesPerDevice, Math.floor(bytes / sampleOfAll)));
    for (const series of all) series.keep(depthOf(series));
    for (const scope of scopes.all) if (scope.series.count === 0) recordScope(scope);
  }

  /** Starts recordings of new devices, and drops those of removed ones. */
  function follow(): void {
    const byIndex = new Map(recordings.map((recording) => [recording.index, recording]));
    const followed = plant.latest.published.map((published) => {
      const { device_index: index } = published.snapshot;
      const device = plant.device(index);
      const former = byIndex.get(index);
      return { published, recording: former?.device === device ? former : new Recording(published, device) };
    });
    recordings = followed.map(({ recording }) => recording);
    scopes.dropRemoved();
    scopes.follow(depth);
    divide();
    for (const { recording, published } of followed)
      if (recording.series.count === 0) recordDevice(recording, published);
  }

  function restoring(): Restoring {
    const keptOf = new Map<Series, KeptSamples>();
    const seriesOf = (key: SeriesKey): Series | null => {
      const ofDevice = recordings.find(({ index }) => index === key);
      return ofDevice?.series ?? scopes.restored(key)?.series ?? null;
    };
    return {
      of(key) {
        const series = seriesOf(key);
        if (!series) return null;
        if (series.count === 0) divide();
        const kept = keptOf.get(series) ?? new KeptSamples(series, () => depthOf(series));
        keptOf.set(series, kept);
        return kept;
      },
      end(next) {
        sink = next;
        for (const series of allSeries())
          series.join(keptOf.get(series)?.ring ?? series.emptyRing(), depthOf(series), () => {
            added(series);
          });
        for (const scope of scopes.all) scope.countIdle();
      },
    };
  }

  follow();
  plant.onDevices(follow);
  plant.onTickInParts(function* ({ published }) {
    if (scopes.follow(depth)) divide();
    yield* scopes.prepare(latestMs());
    yield* scopesInParts(scopes.all, recordScope);
    yield* inParts(recordings, (recording, at) => {
      recordLatest(recording, published[at]);
    });
  });
  return {
    restoring,
    get depth() {
      return depth;
    },
    siteDepth: samplesPerDevice,
    site: createSiteHistory(() => recordedScope(null)?.series ?? unrecorded(scopeColumns)),
    get groups() {
      return scopes.groups;
    },
    of(device) {
      const at = recordings.findIndex(({ index }) => index === device.index);
      const recording = recordings[at];
      if (!recording) return unrecorded(metricsOf(device.detail).metrics);
      // between two parts of a tick the snapshot is there already
      recordLatest(recording, plant.latest.published[at]);
      return recording.series;
    },
    ofScope(devices) {
      const series = recordedScope(devices)?.series;
      if (!series) return unrecorded(scopeColumns);
      return { metrics: scopeColumns, count: series.count, cut: () => series.cut() };
    },
  };
}

const remoteMetrics: readonly Metric[] = [
  ...remoteMetricNames.map((name) => ({ name })),
  { name: 'service_state', words: serviceStates },
  { name: 'inverter_state', words: inverterStates },
  { name: 'connection_state', words: connectionStates },
];

export interface RemoteHistory extends SeriesHistory {
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
