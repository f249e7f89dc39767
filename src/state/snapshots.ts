/** Named snapshots of the whole state, one file each. */
import { crc32 } from 'node:zlib';
import { maxSnapshotBytes, maxSnapshots, snapshotNamePattern } from '../contract/state.ts';
import type { SnapshotInfo } from '../contract/state.ts';
import { errorText, givenAllowed, SimError } from '../core/errors.ts';
import { checkedContents } from './contents.ts';
import type { Contents } from './contents.ts';
import type { Folder } from './files.ts';
import { migrated } from './migrations.ts';
import { formatVersion } from './record.ts';

/** The form of the files is that of the journal; a reader migrates older ones and refuses newer ones. */
export const snapshotVersion = formatVersion;

/** Folder of the snapshots in a state folder. */
export const snapshotFolder = 'snapshots';

const suffix = '.json';
/** A file that is not whole yet. */
const unfinished = '.new';
/** octets of one write: a large state is written in turns */
const pieceBytes = 1024 * 1024;

// A file is one JSON document: facts, slots, and the checksum of all octets before it.

const checksumOf = (crc: number) => crc.toString(16).padStart(8, '0');
const ending = (crc: number) => `,"crc32":"${checksumOf(crc)}"}\n`;
const endingBytes = ending(0).length;

interface Head {
  readonly name: string;
  readonly takenAtMs: number;
  readonly version: string;
}

/** The document but for its ending, in pieces. */
function* piecesOf({ name, takenAtMs, version }: Head, contents: Contents): Generator<string> {
  const facts = {
    derbench_snapshot: snapshotVersion,
    name,
    taken_at: new Date(takenAtMs).toISOString(),
    derbench: version,
  };
  let piece = `${JSON.stringify(facts).slice(0, -1)},"slots":{`;
  let separator = '\n';
  for (const [slot, texts] of contents) {
    piece += `${separator}${JSON.stringify(slot)}:[${texts.join(',')}]`;
    separator = ',\n';
    if (piece.length < pieceBytes) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}\n}`;
}

interface SnapshotFile extends Head {
  readonly contents: Contents;
}

const damaged = (why: string) => new SimError('COMMAND_CONFLICT', why);

/** @throws SimError COMMAND_CONFLICT for octets that are no snapshot, or one of a newer version */
function parsed(name: string, octets: Buffer): SnapshotFile {
  const body = octets.subarray(0, Math.max(0, octets.length - endingBytes));
  if (octets.toString('latin1', body.length) !== ending(crc32(body)))
    throw damaged(`the snapshot ${name} is damaged: its checksum does not fit`);
  let document: Readonly<Record<string, unknown>>;
  try {
    document = JSON.parse(octets.toString()) as Readonly<Record<string, unknown>>;
  } catch {
    throw damaged(`the snapshot ${name} is no JSON`);
  }
  const { derbench_snapshot: form, taken_at: takenAt, derbench: version, slots } = document;
  if (typeof form !== 'number' || form > snapshotVersion)
    throw damaged(
      `the snapshot ${name} was written by a newer derbench (form ${String(form)}; this one reads up to ${snapshotVersion})`,
    );
  const takenAtMs = Date.parse(String(takenAt));
  if (!Number.isFinite(takenAtMs) || typeof version !== 'string')
    throw damaged(`the snapshot ${name} does not say when and by which version it was taken`);
  try {
    return { name, takenAtMs, version, contents: migrated(checkedContents(slots), form) };
  } catch (error) {
    const [issue] = error instanceof SimError ? error.issues : [];
    throw damaged(`the snapshot ${name} cannot be used: ${issue ? `${issue.name} ${issue.detail}` : errorText(error)}`);
  }
}

/** @throws SimError COMMAND_BAD_VALUE */
export function checkSnapshotName(name: string): void {
  if (snapshotNamePattern.test(name)) return;
  const detail = givenAllowed(
    name,
    '1 to 64 letters, digits, "-", "_" and ".", the first one a letter, a digit or "_"',
  );
  throw new SimError('COMMAND_BAD_VALUE', `name: ${detail}`, [{ name: '/name', detail }]);
}

const inMiB = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

interface SnapshotsOptions {
  /** a folder of snapshots alone */
  readonly folder: Folder;
  /** version of this simulator */
  readonly version: string;
  /** ms since the epoch */
  readonly nowMs: () => number;
  /** true: files that another process writes are left alone */
  readonly isReadOnly?: boolean;
  readonly limits?: { readonly maxSnapshots: number; readonly maxBytes: number };
}

export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #limits: NonNullable<SnapshotsOptions['limits']>;
  /** facts of the files by name, read once for each stamp, since a file can be large */
  readonly #infos = new Map<string, { readonly info: SnapshotInfo; readonly stamp: string | null }>();
  /** changes of the files, one after the other */
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? { maxSnapshots, maxBytes: maxSnapshotBytes };
  }

  /** All snapshots by name, damaged ones included. */
  list(): Promise<readonly SnapshotInfo[]> {
    return this.#inTurn(() => this.#list());
  }

  /**
   * Writes a snapshot; resolves when it is on disk.
   * @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT for a name in use without `overwrite`, too many snapshots or
   *   octets, or a disk that refuses it
   */
  take(name: string, contents: Contents, overwrite = false): Promise<SnapshotInfo> {
    return this.#inTurn(() => this.#take(name, contents, overwrite));
  }

  /** @throws SimError COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, COMMAND_CONFLICT for a disk that refuses it */
  remove(name: string): Promise<SnapshotInfo> {
    return this.#inTurn(() => this.#remove(name));
  }

  /** @throws SimError COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, COMMAND_CONFLICT for a damaged file */
  read(name: string): Promise<Contents> {
    return this.#inTurn(() => {
      try {
        return Promise.resolve(parsed(name, this.#octets(name)).contents);
      } catch (error) {
        // a list from before the damage must not stand
        this.#infos.delete(name);
        throw error;
      }
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#work.then(work, work);
    this.#work = result.catch(() => undefined);
    return result;
  }

  /** @throws SimError COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, COMMAND_CONFLICT for what is no file */
  #octets(name: string): Buffer {
    checkSnapshotName(name);
    let octets: Buffer | null;
    try {
      octets = this.#options.folder.read(name + suffix);
    } catch (error) {
      throw damaged(`the snapshot ${name} cannot be read: ${errorText(error)}`);
    }
    if (octets === null) throw new SimError('UNKNOWN_RESOURCE', `there is no snapshot ${name}`);
    return octets;
  }

  async #list(): Promise<readonly SnapshotInfo[]> {
    const files = await this.#files();
    const names = files.flatMap((file) => {
      const name = file.endsWith(suffix) ? file.slice(0, -suffix.length) : '';
      return snapshotNamePattern.test(name) ? [name] : [];
    });
    for (const name of this.#infos.keys()) if (!names.includes(name)) this.#infos.delete(name);
    for (const name of names) {
      const stamp = this.#options.folder.stamp(name + suffix);
      if (this.#infos.get(name)?.stamp === stamp) continue;
      this.#infos.set(name, { info: this.#infoOf(name), stamp });
      // a large file takes long to check
      await new Promise(setImmediate);
    }
    return Array.from(this.#infos.values(), ({ info }) => info).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Names of the files, and of folders in their place, without those that an earlier process has not written whole. */
  async #files(): Promise<readonly string[]> {
    const { folder, isReadOnly = false } = this.#options;
    const files = await folder.names();
    const all = [...files, ...(await folder.folders())];
    if (isReadOnly) return all;
    const leftOver = files.filter((file) => file.endsWith(suffix + unfinished));
    for (const file of leftOver) await folder.remove(file).catch(() => undefined);
    return all;
  }

  #infoOf(name: string): SnapshotInfo {
    let octets: Buffer;
    try {
      octets = this.#octets(name);
    } catch (error) {
      return { name, takenAtMs: null, octets: 0, version: null, damage: errorText(error) };
    }
    try {
      const { takenAtMs, version } = parsed(name, octets);
      return { name, takenAtMs, octets: octets.length, version, damage: null };
    } catch (error) {
      return { name, takenAtMs: null, octets: octets.length, version: null, damage: errorText(error) };
    }
  }

  async #take(name: string, contents: Contents, overwrite: boolean): Promise<SnapshotInfo> {
    checkSnapshotName(name);
    const { version, nowMs } = this.#options;
    const head = { name, takenAtMs: nowMs(), version };
    let octets = endingBytes;
    for (const piece of piecesOf(head, contents)) octets += Buffer.byteLength(piece);
    this.#checkRoom(name, octets, overwrite, await this.#list());
    try {
      await this.#write(head, contents);
    } catch (error) {
      throw new SimError('COMMAND_CONFLICT', `the snapshot ${name} cannot be written: ${errorText(error)}`);
    }
    const info: SnapshotInfo = { name, takenAtMs: head.takenAtMs, octets, version, damage: null };
    this.#infos.set(name, { info, stamp: this.#options.folder.stamp(name + suffix) });
    return info;
  }

  /** @throws SimError COMMAND_CONFLICT */
  #checkRoom(name: string, octets: number, overwrite: boolean, present: readonly SnapshotInfo[]): void {
    const conflict = (words: string) => new SimError('COMMAND_CONFLICT', words);
    // some file systems do not distinguish them
    const alike = present.find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (alike && alike.name !== name)
      throw conflict(`the snapshot ${alike.name} differs from ${name} in the case of letters alone`);
    if (alike && !overwrite) throw conflict(`there is a snapshot ${name} already; "overwrite": true replaces it`);
    const others = present.filter((each) => each !== alike);
    const room = 'DELETE state/snapshots/{name} makes room';
    if (others.length >= this.#limits.maxSnapshots)
      throw conflict(`the folder has ${others.length} snapshots; allowed: ${this.#limits.maxSnapshots}; ${room}`);
    const sum = others.reduce((bytes, each) => bytes + each.octets, octets);
    if (sum > this.#limits.maxBytes)
      throw conflict(
        `with this snapshot the folder would have ${inMiB(sum)} of them; allowed: ${inMiB(this.#limits.maxBytes)}; ${room}`,
      );
  }

  async #write(head: Head, contents: Contents): Promise<void> {
    const { folder } = this.#options;
    const temporary = head.name + suffix + unfinished;
    const file = await folder.append(temporary, 0);
    try {
      let crc = 0;
      for (const piece of piecesOf(head, contents)) {
        const octets = Buffer.from(piece);
        crc = crc32(octets, crc);
        await file.write(octets);
      }
      await file.write(Buffer.from(ending(crc)));
      await file.sync();
      await file.close();
    } catch (error) {
      await file.close().catch(() => undefined);
      await folder.remove(temporary).catch(() => undefined);
      throw error;
    }
    await folder.rename(temporary, head.name + suffix);
    await folder.sync();
  }

  async #remove(name: string): Promise<SnapshotInfo> {
    checkSnapshotName(name);
    const info = (await this.#list()).find((each) => each.name === name);
    if (info === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no snapshot ${name}`);
    try {
      await this.#options.folder.remove(name + suffix);
      await this.#options.folder.sync();
    } catch (error) {
      throw new SimError('COMMAND_CONFLICT', `the snapshot ${name} cannot be deleted: ${errorText(error)}`);
    }
    this.#infos.delete(name);
    return info;
  }
}
