/**
 * The journal of the store: changes are appended to a file, and one synchronisation serves all changes of a turn. When
 * most of the file is outdated a new one takes its place. A disk that fails stops nothing: the store goes on in memory,
 * and the journal is written anew when the disk takes it again. It is also written anew where others have removed,
 * replaced or cut the file, and no more once another process has the folder.
 */
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import type { Durability, ListStore } from '../core/store.ts';
import type { Later } from '../core/time/timers.ts';
import type { AppendFile, Folder } from './files.ts';
import { changeLine, headLine } from './record.ts';
import type { Change, SlotChange } from './record.ts';

export const journalFile = 'journal.jsonl';
const newFile = 'journal.jsonl.new';

export interface JournalLimits {
  /** a file below this size is not compacted */
  readonly compactBytes: number;
  /** longest wait before a failed disk is tried again */
  readonly maxRetryMs: number;
}

export const defaultJournalLimits: JournalLimits = { compactBytes: 10 * 1024 * 1024, maxRetryMs: 60_000 };

const firstRetryMs = 1000;
/** octets of one write: a long journal is written in turns */
const pieceBytes = 1024 * 1024;

export interface JournalReport {
  /** reason for which changes are not durable now; null: they are */
  readonly failure: string | null;
  readonly bytes: number;
  readonly records: number;
  readonly compactions: number;
  /** true: another process has the folder, and nothing is written to it any more */
  readonly isLost: boolean;
}

interface JournalOptions {
  readonly folder: Folder;
  readonly log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly later: Later;
  readonly limits: JournalLimits;
  /** the other process that has the folder by now, in words; null: this one has it; default: always this one */
  readonly otherHolder?: () => Promise<string | null>;
  /** the contents of the store, for a new file */
  readonly contents: () => ReturnType<ListStore['contents']>;
  /** called when the disk fails, and when it takes writes again (null) */
  readonly onFailure: (reason: string | null) => void;
}

/** The end of a journal that is in order; null: a new file must be written. */
export interface JournalEnd {
  readonly last: number;
  readonly bytes: number;
}

/** Changes that become durable together, all or none, and what waits for them. */
class Batch {
  readonly changes: SlotChange[] = [];
  readonly end: Promise<void>;
  resolve: () => void = () => undefined;

  constructor() {
    this.end = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

/** Octets of a record besides the name of its slot and its values, about. */
const recordBytes = 40;

/** Octets of the records of slots, about: making the records costs more. */
function sizeOf(contents: Iterable<readonly [slot: string, texts: readonly string[]]>): number {
  let sum = 0;
  for (const [slot, texts] of contents) {
    sum += recordBytes + slot.length;
    for (const text of texts) sum += text.length;
  }
  return sum;
}

/** The folder belongs to another process by now. */
class FolderLost extends Error {}

export class Journal implements Durability {
  readonly #options: JournalOptions;
  #file: AppendFile | null = null;
  /** number of the next record of the file */
  #number = 0;
  #bytes = 0;
  /** octets of the file after the last compaction */
  #compactedBytes = 0;
  #compactions = 0;
  /** collects changes */
  #batch: Batch | null = null;
  /** are being written together */
  #written: Batch[] = [];
  #work: Promise<void> | null = null;
  #failure: string | null = null;
  #retryMs = firstRetryMs;
  #cancelRetry: (() => void) | null = null;
  /** false: changes stay in memory alone */
  #accepts = true;
  #isClosed = false;
  #isLost = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Continues the file of an earlier process, or begins a new one. @throws an error of the file system */
  async open(end: JournalEnd | null): Promise<void> {
    if (end === null) return this.#rewrite();
    this.#number = end.last + 1;
    this.#bytes = end.bytes;
    // outdated records of earlier processes count too
    this.#compactedBytes = Math.min(end.bytes, sizeOf(this.#options.contents()));
    this.#file = await this.#options.folder.append(journalFile, end.bytes);
  }

  get report(): JournalReport {
    return {
      failure: this.#failure,
      bytes: this.#bytes,
      records: this.#number,
      compactions: this.#compactions,
      isLost: this.#isLost,
    };
  }

  /** Looks for what others have done to folder and file since the last write. */
  check(): void {
    if (this.#isClosed || this.#file === null) return;
    this.#work ??= this.#checkAll()
      .catch((error: unknown) => {
        this.#failed(error);
      })
      .then(() => this.#run());
  }

  changed(slot: string, change: Change, texts: readonly string[]): Promise<void> | null {
    if (!this.#accepts) return null;
    this.#batch ??= new Batch();
    this.#batch.changes.push({ slot, change, texts });
    this.#work ??= this.#run();
    return this.#failure === null ? this.#batch.end : null;
  }

  durable(): Promise<void> | null {
    return this.#failure === null ? ((this.#batch ?? this.#written.at(-1))?.end ?? null) : null;
  }

  /** Resolves when no write is under way, also none after a failure. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Writes what waits, and closes the file. Later changes are not written. */
  async close(): Promise<void> {
    this.#accepts = false;
    this.#isClosed = true;
    this.#cancelRetry?.();
    await this.#work;
    if (this.#failure !== null && !this.#isLost) await this.#rewriteLast();
    await this.#file?.close();
    this.#file = null;
  }

  /** The disk may take writes again that it refused before. */
  async #rewriteLast(): Promise<void> {
    const { log, folder } = this.#options;
    try {
      await this.#rewrite();
      log.info(`the state is written to ${folder.path} again`);
    } catch (error) {
      log.error(`the state since the failure of ${folder.path} is lost: ${errorText(error)}`);
    }
  }

  async #run(): Promise<void> {
    // changes of the same turn share a synchronisation
    await new Promise(setImmediate);
    for (let batch = this.#batch; batch !== null; batch = this.#batch) {
      this.#take(batch);
      try {
        await this.#write(batch.changes);
        this.#resolveWritten();
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#work = null;
  }

  /** Later changes begin a batch of theirs. */
  #take(batch: Batch): void {
    this.#batch = null;
    this.#written.push(batch);
  }

  #resolveWritten(): void {
    for (const batch of this.#written.splice(0)) batch.resolve();
  }

  async #write(changes: readonly SlotChange[]): Promise<void> {
    const size = this.#bytes + sizeOf(changes.map(({ slot, texts }) => [slot, texts]));
    const isLong = size > this.#options.limits.compactBytes && size > 2 * this.#compactedBytes;
    // the contents of the store have these changes already
    if (await this.#hasMended()) return;
    if (this.#file === null || isLong) return this.#rewrite();
    const lines = changes.map((change, i) => changeLine(this.#number + i, change, i + 1 < changes.length));
    const data = Buffer.from(lines.join(''));
    await this.#file.write(data);
    await this.#file.sync();
    this.#bytes += data.length;
    this.#number += changes.length;
  }

  async #checkAll(): Promise<void> {
    await this.#checkHolder();
    await this.#hasMended();
  }

  /** @throws FolderLost */
  async #checkHolder(): Promise<void> {
    const holder = await this.#options.otherHolder?.();
    if (typeof holder === 'string') throw new FolderLost(`${holder} has the folder now`);
  }

  /** Writes the file anew if others have changed it. @returns true: they had @throws FolderLost */
  async #hasMended(): Promise<boolean> {
    const { folder, log, onFailure } = this.#options;
    const difference = (await this.#file?.difference(journalFile, this.#bytes)) ?? null;
    if (difference === null) return false;
    await this.#checkHolder();
    log.warning(`${journalFile} in ${folder.path} ${difference}, not by this process; it is written anew`);
    onFailure(`${journalFile} ${difference}`);
    await this.#rewrite();
    onFailure(null);
    return true;
  }

  /** Puts a file with the present contents in the place of the journal. @throws FolderLost */
  async #rewrite(): Promise<void> {
    const { folder, contents } = this.#options;
    await this.#checkHolder();
    // the contents have these changes: behind the new file they would count twice
    if (this.#batch) this.#take(this.#batch);
    const slots = Array.from(contents(), ([slot, texts]) => [slot, [...texts]] as const);
    const file = await folder.append(newFile, 0);
    let [number, bytes] = [0, 0];
    try {
      let piece = headLine(number);
      const writePiece = async (): Promise<void> => {
        const data = Buffer.from(piece);
        piece = '';
        bytes += data.length;
        await file.write(data);
      };
      for (const [slot, texts] of slots) {
        number += 1;
        piece += changeLine(number, { slot, change: texts.length === 1 ? 'value' : 'replace', texts });
        if (piece.length > pieceBytes) await writePiece();
      }
      await writePiece();
      await file.sync();
      await folder.rename(newFile, journalFile);
      await folder.sync();
    } catch (error) {
      await file.close().catch(() => undefined);
      // a full disk gets its room back
      await folder.remove(newFile).catch(() => undefined);
      throw error;
    }
    const outdated = this.#file;
    this.#file = file;
    this.#number = number + 1;
    this.#bytes = bytes;
    this.#compactedBytes = bytes;
    this.#compactions += 1;
    await outdated?.close();
    this.#resolveWritten();
  }

  #failed(error: unknown): void {
    const { log, later, limits, folder, onFailure } = this.#options;
    const isFirst = this.#failure === null;
    this.#isLost = error instanceof FolderLost;
    this.#failure = errorText(error);
    this.#accepts = false;
    if (this.#batch) this.#take(this.#batch);
    this.#resolveWritten();
    // a record may have been written in part: only a new file is safe
    void this.#file?.close().catch(() => undefined);
    this.#file = null;
    if (isFirst || this.#isLost) {
      log.error(`the state cannot be written to ${folder.path}: ${this.#failure}; a restart would lose later changes`);
      onFailure(this.#failure);
    }
    // another process, or a restored state, may have the folder next
    if (this.#isClosed || this.#isLost) return;
    this.#cancelRetry = later(this.#retryMs, () => {
      this.#retry();
    });
    this.#retryMs = Math.min(2 * this.#retryMs, limits.maxRetryMs);
  }

  /** Writes all contents anew. */
  #retry(): void {
    // changes from here on are in the new file, or follow it
    this.#accepts = true;
    this.#work ??= this.#rewrite()
      .then(() => {
        this.#failure = null;
        this.#retryMs = firstRetryMs;
        this.#options.log.info(`the state is written to ${this.#options.folder.path} again`);
        this.#options.onFailure(null);
      })
      .catch((error: unknown) => {
        this.#failed(error);
      })
      .then(() => this.#run());
  }
}
