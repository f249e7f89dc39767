/** Records the channels of the wire log while enabled. */
import type { Recorder, RecorderPatch, RecorderState, RecordingFilter } from '../contract/recorder.ts';
import { recorderLimitMb } from '../contract/recorder.ts';
import type { Origin, Provenance } from '../core/origin.ts';
import type { SimTime, WallClock } from '../core/time/clock.ts';
import type { WireChannel, WireLog } from '../core/wire/wire-log.ts';
import { Entries } from './entries.ts';
import type { RecordingHeader } from './format.ts';

export interface RecorderOptions {
  readonly wireLog: WireLog;
  readonly clock: WallClock;
  readonly sim: () => SimTime;
  /** simulated date of an instant, ms since the epoch */
  readonly dateMs: (sim: SimTime) => number;
  /** the process for the header of a recording */
  readonly process: () => RecordingHeader['process'];
}

const bytesPerMb = 1024 * 1024;
const keyOf = ({ protocol, key }: WireChannel) => `${protocol} ${key}`;

type Protocols = RecorderState['protocols'];

class WireRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #entries = new Entries(recorderLimitMb.byDefault * bytesPerMb);
  /** functions that unsubscribe, by protocol and key; a new channel replaces a removed one with the same key */
  readonly #followed = new Map<string, () => void>();
  #unfollow: (() => void) | null = null;
  #limitMb: number = recorderLimitMb.byDefault;
  #protocols: Protocols = null;
  #since: RecorderState['since'] = null;
  #changedBy: Provenance | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get state(): RecorderState {
    return {
      ...this.#entries.total,
      enabled: this.#unfollow !== null,
      limitMb: this.#limitMb,
      protocols: this.#protocols,
      since: this.#since,
      lastId: this.#entries.lastId,
      byProtocol: this.#entries.byProtocol,
      changedBy: this.#changedBy,
    };
  }

  set(
    { enabled, limitMb = this.#limitMb, protocols = this.#protocols, clear = false }: RecorderPatch,
    by: Origin,
  ): void {
    const { clock, sim } = this.#options;
    const present = { wallMs: clock.nowMs(), sim: sim() };
    const wasOff = this.#unfollow === null;
    this.#changedBy = { ...by, at: present.sim, wallMs: present.wallMs };
    this.#limitMb = limitMb;
    this.#protocols = protocols && [...new Set(protocols)];
    if (clear) this.#entries.clear();
    this.#entries.limitTo(limitMb * bytesPerMb);
    this.#end();
    if (enabled) this.#begin();
    if (enabled && (wasOff || clear)) this.#since = present;
  }

  async lines(filter: RecordingFilter = {}): Promise<Iterable<string>> {
    const { recordingLines } = await import('./format.ts');
    const { limitMb, protocols, since, entries, dropped } = this.state;
    const { dateMs, process } = this.#options;
    const head = { process: process(), limitMb, protocols, since, entries, dropped };
    return recordingLines(head, this.#entries.select(filter), dateMs);
  }

  async packets(filter: RecordingFilter = {}): Promise<Iterable<Buffer>> {
    const { packetFile } = await import('./pcap/file.ts');
    return packetFile(this.#entries.select(filter));
  }

  #begin(): void {
    const { wireLog } = this.#options;
    for (const channel of wireLog.channels) this.#follow(channel);
    this.#unfollow = wireLog.onChannel((channel) => {
      this.#follow(channel);
    });
  }

  #end(): void {
    this.#unfollow?.();
    this.#unfollow = null;
    for (const end of this.#followed.values()) end();
    this.#followed.clear();
  }

  #follow(channel: WireChannel): void {
    const protocols: readonly string[] | null = this.#protocols;
    if (protocols !== null && !protocols.includes(channel.protocol)) return;
    const end = channel.subscribe((entry) => {
      this.#entries.add(channel, entry);
    });
    this.#followed.set(keyOf(channel), end);
  }
}

/** A recorder that is off. */
export function createRecorder(options: RecorderOptions): Recorder {
  return new WireRecorder(options);
}
