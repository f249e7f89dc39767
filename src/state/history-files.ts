/**
 * The history on disk: segments of bounded time and size, each a file of batches with a checksum, of which the oldest
 * are removed first. A disk that fails stops nothing: later samples stay in memory alone until it takes writes again.
 */
import { promisify } from 'node:util';
import { crc32, deflateRaw, inflateRawSync } from 'node:zlib';
import { errorText } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import type { Logger } from '../core/log/log.ts';
import { yieldToLoop } from '../core/turns.ts';
import { isMissing } from './files.ts';
import type { AppendFile, Folder } from './files.ts';

/** Folder of the history in a state folder. */
export const historyFolder = 'history';

/** Octets of all segments together: with the journal less than 256 MiB for 1,000 devices. */
export const historyFileBytes = 128 * 2 ** 20;

export interface HistoryLimits {
  /** a segment whose newest sample is older is removed */
  readonly spanMs: number;
  /** octets of all segments together */
  readonly bytes: number;
  /** octets from which a segment is followed by the next */
  readonly segmentBytes: number;
}

export const defaultSegmentBytes = 8 * 2 ** 20;

/** A segment covers at most this part of the span. */
const segmentsPerSpan = 24;
/** The form of the files; a reader leaves out newer ones. */
const formVersion = 1;
/** length and checksum before each record */
const prefixBytes = 8;
/** No segment has a batch of more octets. */
const maxBatchBytes = 256 * 2 ** 20;
/** A failed disk is tried again after so many milliseconds. */
const retryMs = 60_000;

const fileForm = /^(\d{8})\.segment$/;
const nameOf = (number: number) => `${String(number).padStart(8, '0')}.segment`;
const deflate = memo(() => promisify(deflateRaw));

function recordOf(payload: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(payload.length, 0);
  prefix.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([prefix, payload]);
}

const headText = (fromMs: number) => JSON.stringify({ derbench_history: formVersion, from_ms: fromMs });
const headOf = (fromMs: number) => recordOf(Buffer.from(headText(fromMs)));

/** The longest head; a segment of more octets without a head has not been cut by a write that did not end. */
const maxHeadBytes = prefixBytes + headText(Number.MAX_SAFE_INTEGER).length;

interface Records {
  readonly payloads: readonly Buffer[];
  /** octets up to the end of the last readable record */
  readonly goodBytes: number;
  /** false: octets within the file have changed, or it is no segment; a last write that did not end is no damage */
  readonly isWhole: boolean;
}

/** The octets that a write left which did not end: too few, or not on the disk before a loss of power. */
function isTorn(rest: Buffer): boolean {
  if (rest.length < prefixBytes) return true;
  return prefixBytes + rest.readUInt32LE(0) >= rest.length || rest.every((octet) => octet === 0);
}

function recordsIn(data: Buffer): Records {
  const payloads: Buffer[] = [];
  let at = 0;
  while (data.length - at >= prefixBytes) {
    const length = data.readUInt32LE(at);
    const payload = data.subarray(at + prefixBytes, at + prefixBytes + length);
    // no record is empty, while octets that were never written are zeros
    if (length === 0 || payload.length < length || crc32(payload) !== data.readUInt32LE(at + 4)) break;
    payloads.push(payload);
    at += prefixBytes + length;
  }
  return { payloads, goodBytes: at, isWhole: at === data.length || isTorn(data.subarray(at)) };
}

/** Wall time at which a segment begins. @throws Error for a head of another form */
function beginOf(head: Buffer): number {
  const { derbench_history: version, from_ms: fromMs } = JSON.parse(head.toString()) as Record<string, unknown>;
  if (version !== formVersion || typeof fromMs !== 'number')
    throw new Error(`form ${String(version)}, and this version reads form ${formVersion}`);
  return fromMs;
}

interface Segment {
  readonly number: number;
  /** wall time at which it begins, or if that cannot be read of the segment before; -Infinity: neither is there */
  readonly fromMs: number;
  bytes: number;
}

interface Options {
  readonly folder: Folder;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  readonly nowMs: () => number;
  readonly limits: HistoryLimits;
  /** false: another process has the folder; default: always true */
  readonly hasFolder?: () => boolean;
}

export class HistoryFiles {
  readonly #options: Options;
  /** oldest first */
  #segments: Segment[] = [];
  #file: AppendFile | null = null;
  /** number of the last folder in the place of a segment; 0: none */
  #lastFolder = 0;
  /** the last segment goes on in this process, from this length on; null: a new one begins */
  #continuedBytes: number | null = null;
  /** false: the names in use are not clear, so that nothing may be written */
  #isUsable = true;
  /** wall time of the failure; null: the disk takes writes */
  #failedAtMs: number | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Reads the segments of earlier processes, oldest first; those that cannot be read are left out with a warning.
   * @param take gets each batch
   */
  async read(take: (batch: Buffer) => void): Promise<void> {
    const { folder, log } = this.#options;
    try {
      for (const name of await folder.names()) {
        const [, digits] = fileForm.exec(name) ?? [];
        if (digits === undefined) continue;
        this.#readSegment(name, Number(digits), take);
        await yieldToLoop();
      }
      for (const name of await folder.folders()) this.#passFolder(name);
    } catch (error) {
      this.#isUsable = false;
      log.warning(`the history in ${folder.path} cannot be read: ${errorText(error)}; no samples are kept`);
    }
  }

  /** The name of a folder is in use as that of a segment is. */
  #passFolder(name: string): void {
    const [, digits] = fileForm.exec(name) ?? [];
    if (digits === undefined) return;
    const { folder, log } = this.#options;
    log.warning(`the segment ${name} of the history in ${folder.path} is left out: it is a folder`);
    this.#lastFolder = Math.max(this.#lastFolder, Number(digits));
  }

  #readSegment(name: string, number: number, take: (batch: Buffer) => void): void {
    const { folder, log } = this.#options;
    const data = folder.read(name) ?? Buffer.alloc(0);
    const { payloads, goodBytes, isWhole } = recordsIn(data);
    const [head, ...batches] = payloads;
    this.#continuedBytes = null;
    let fromMs = this.#segments.at(-1)?.fromMs ?? -Infinity;
    try {
      // a process may end before the head of its segment is written
      if (head !== undefined) fromMs = beginOf(head);
      else if (data.length > maxHeadBytes) throw new Error('it has no head');
      if (!isWhole) throw new Error(`octets after the first ${goodBytes} have changed`);
      for (const batch of batches) take(inflateRawSync(batch, { maxOutputLength: maxBatchBytes }));
      if (head !== undefined) this.#continuedBytes = goodBytes;
    } catch (error) {
      log.warning(`the segment ${name} of the history in ${folder.path} is left out: ${errorText(error)}`);
    }
    this.#segments.push({ number, fromMs, bytes: data.length });
  }

  /**
   * Writes a batch; call it after `read`, one at a time. After a failure batches are left out for a minute.
   * @param encode gives the batch; `isFirst`: the first one that this process writes to the segment
   */
  async write(encode: (isFirst: boolean) => Buffer): Promise<void> {
    const { nowMs, folder, log, hasFolder = () => true } = this.#options;
    if (!this.#isUsable || !hasFolder()) return;
    if (this.#failedAtMs !== null && Math.abs(nowMs() - this.#failedAtMs) < retryMs) return;
    try {
      const isFirst = await this.#makeReady();
      const file = this.#file;
      const segment = this.#segments.at(-1);
      if (file === null || segment === undefined) return;
      const record = recordOf(await deflate()(encode(isFirst), { level: 1 }));
      await file.write(record);
      segment.bytes += record.length;
      await this.#trim();
      if (this.#failedAtMs !== null) log.info(`the history is written to ${folder.path} again`);
      this.#failedAtMs = null;
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Synchronises the segment and closes it. */
  async close(): Promise<void> {
    try {
      await this.#closeSegment();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @returns true: this process has not written to the segment before */
  async #makeReady(): Promise<boolean> {
    const { folder, nowMs } = this.#options;
    const last = this.#segments.at(-1);
    if (last !== undefined && !this.#isFull(last) && (await this.#isInPlace(last))) return false;
    await this.#closeSegment();
    const continuedBytes = this.#continuedBytes;
    this.#continuedBytes = null;
    if (continuedBytes !== null && last !== undefined && !this.#isFull(last)) {
      this.#file = await folder.append(nameOf(last.number), continuedBytes);
      last.bytes = continuedBytes;
      return true;
    }
    const segment = { number: Math.max(last?.number ?? 0, this.#lastFolder) + 1, fromMs: nowMs(), bytes: 0 };
    const file = await folder.append(nameOf(segment.number), 0);
    this.#file = file;
    this.#segments.push(segment);
    const head = headOf(segment.fromMs);
    await file.write(head);
    segment.bytes = head.length;
    return true;
  }

  /** False for a segment that others have removed, replaced or cut, or that is not open. */
  async #isInPlace({ number, bytes }: Segment): Promise<boolean> {
    const { folder, log } = this.#options;
    if (this.#file === null) return false;
    const difference = await this.#file.difference(nameOf(number), bytes);
    if (difference === null) return true;
    log.warning(`${nameOf(number)} in ${folder.path} ${difference}, not by this process; a new segment begins`);
    return false;
  }

  /** A date of the machine that jumps back begins a segment, too. */
  #isFull({ bytes, fromMs }: Segment): boolean {
    const { nowMs, limits } = this.#options;
    return bytes >= limits.segmentBytes || Math.abs(nowMs() - fromMs) >= limits.spanMs / segmentsPerSpan;
  }

  /** Removes the oldest segments beyond the bounds; the last one stays. */
  async #trim(): Promise<void> {
    const { folder, nowMs, limits } = this.#options;
    let total = this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
    for (let [oldest, next] = this.#segments; oldest && next; [oldest, next] = this.#segments) {
      const isOld = next.fromMs < nowMs() - limits.spanMs;
      if (!isOld && total <= limits.bytes) return;
      await folder.remove(nameOf(oldest.number));
      this.#segments.shift();
      total -= oldest.bytes;
    }
  }

  async #closeSegment(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    try {
      await file.sync();
      await this.#options.folder.sync();
    } catch (error) {
      // others have removed the folder, which the next segment makes again
      if (!isMissing(error)) throw error;
    } finally {
      await file.close();
    }
  }

  #failed(error: unknown): void {
    const { log, folder, nowMs } = this.#options;
    const isFirst = this.#failedAtMs === null;
    this.#failedAtMs = nowMs();
    // a record may have been written in part: the next one goes to a new segment
    void this.#file?.close().catch(() => undefined);
    this.#file = null;
    if (isFirst)
      log.warning(
        `the history cannot be written to ${folder.path}: ${errorText(error)}; a restart would lose later samples`,
      );
  }
}
