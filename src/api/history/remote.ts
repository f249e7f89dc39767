/** The latest samples of the device that the SunSpec client found last. */
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { remoteMetricNames } from '../../contract/sunspec-client.ts';
import type { RemoteDevice, RemoteMetrics, SunSpecClient } from '../../contract/sunspec-client.ts';
import type { DeviceHistory } from './history.ts';
import type { Metric } from './metrics.ts';
import { firstMetric, SampleRing } from './ring.ts';

export const remoteMetrics: readonly Metric[] = [
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

/** Number of a word; NaN, which stands for null, without one. */
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
  client.onDevice((found) => {
    device = found;
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
