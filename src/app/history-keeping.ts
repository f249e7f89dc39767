/** Keeps the samples of the history in files, at most once a second. */
import { join } from 'node:path';
import { batchOf, BatchReader } from '../api/history/kept-samples.ts';
import type { SampleSink, WaitingSamples } from '../api/history/kept-samples.ts';
import type { History } from '../api/history/history.ts';
import type { Metric } from '../api/history/metrics.ts';
import type { SeriesKey } from '../api/history/series.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { Logger } from '../core/log/log.ts';
import type { WallClock } from '../core/time/clock.ts';
import { callEvery } from '../core/time/timers.ts';
import type { Every } from '../core/time/timers.ts';
import { defaultSegmentBytes, historyFileBytes, historyFolder, HistoryFiles } from '../state/history-files.ts';
import type { PlantKeeping } from './keeping.ts';
import type { State } from './state.ts';

const writeEveryMs = 1000;
/** Fast steps of many devices are written before the second is over. */
const maxWaitingBytes = 4 * 2 ** 20;
/** Beyond so many octets the disk is slower than the samples: those that wait are not written. */
const maxBacklogBytes = 64 * 2 ** 20;

interface Options {
  readonly files: Pick<HistoryFiles, 'close' | 'read' | 'write'>;
  /** a text that changes when a device starts anew; the samples of a scope stay */
  readonly lifeOf: (key: SeriesKey) => string;
  readonly log: Pick<Logger, 'warning'>;
  readonly every: Every;
}

export class HistoryKeeping implements SampleSink {
  readonly #options: Options;
  #waiting = new Map<SeriesKey, WaitingSamples>();
  #waitingBytes = 0;
  /** series with columns in the present segment, with the life that has them */
  readonly #begun = new Map<SeriesKey, string>();
  #work: Promise<void> | null = null;
  #stopTimer: () => void = () => undefined;
  #hasLost = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Puts the samples of earlier processes into the history; those of this one are written from here on. */
  async open(history: History): Promise<void> {
    const { files, lifeOf, every } = this.#options;
    const restoring = history.restoring();
    const reader = new BatchReader((key, life) => (lifeOf(key) === life ? restoring.of(key) : null));
    await files.read((batch) => {
      reader.take(batch);
    });
    restoring.end(this);
    this.#stopTimer = every(writeEveryMs, () => {
      this.#write();
    });
  }

  add(key: SeriesKey, metrics: readonly Metric[], sample: Float64Array): void {
    this.#waitingOf(key, metrics).push(sample);
    this.#waitingBytes += sample.byteLength;
    if (this.#waitingBytes > maxWaitingBytes) this.#write();
    if (this.#waitingBytes > maxBacklogBytes) this.#lose();
  }

  /** The samples of a device that wait while another takes its place are of no life that is read again. */
  #waitingOf(key: SeriesKey, metrics: readonly Metric[]): Float64Array[] {
    const life = this.#options.lifeOf(key);
    const waiting = this.#waiting.get(key);
    if (waiting?.life === life) return waiting.samples;
    const samples: Float64Array[] = [];
    this.#waiting.set(key, { metrics, life, samples });
    return samples;
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    this.#stopTimer();
    await this.#work;
    this.#write();
    await this.#work;
    await this.#options.files.close();
  }

  #write(): void {
    if (this.#work !== null || this.#waiting.size === 0) return;
    const waiting = this.#takeWaiting();
    this.#work = this.#options.files
      .write((isFirst) => this.#batch(waiting, isFirst))
      .finally(() => {
        this.#work = null;
      });
  }

  #batch(waiting: ReadonlyMap<SeriesKey, WaitingSamples>, isFirst: boolean): Buffer {
    if (isFirst) this.#begun.clear();
    const batch = batchOf(waiting, (key, life) => this.#begun.get(key) !== life);
    for (const [key, { life }] of waiting) this.#begun.set(key, life);
    return batch;
  }

  #takeWaiting(): ReadonlyMap<SeriesKey, WaitingSamples> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#waitingBytes = 0;
    return waiting;
  }

  #lose(): void {
    this.#takeWaiting();
    if (this.#hasLost) return;
    this.#hasLost = true;
    this.#options.log.warning('the disk is slower than the samples of the history: a restart would lose some of them');
  }
}

/** null: the history ends with the process. */
export function keepHistory(
  { stateHistory }: AppConfig,
  {
    state,
    keeping,
    log,
    wall,
    inForce,
  }: {
    readonly state: State;
    readonly keeping: PlantKeeping | null;
    readonly log: Logger;
    readonly wall: WallClock;
    /** the configuration with the live settings as they are now */
    readonly inForce: () => AppConfig;
  },
): HistoryKeeping | null {
  const { files } = state;
  if (stateHistory === null || files === null || keeping === null) return null;
  return new HistoryKeeping({
    files: new HistoryFiles({
      folder: files.openFolder(join(files.path, historyFolder)),
      log,
      nowMs: () => wall.nowMs(),
      hasFolder: () => !files.store.report.isLost,
      limits: {
        get spanMs() {
          return (inForce().stateHistory ?? stateHistory).hours * 3_600_000;
        },
        bytes: historyFileBytes,
        segmentBytes: defaultSegmentBytes,
      },
    }),
    lifeOf: (key) => (typeof key === 'number' ? keeping.lifeOf(key) : ''),
    log,
    every: callEvery,
  });
}
