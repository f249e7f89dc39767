/** A folder in memory that knows what a loss of power would leave, and whose disk can fail. */
import { crc32 } from 'node:zlib';
import type { AppendFile, Folder } from '../../src/state/files.ts';

interface Content {
  /** octets as programs see them */
  octets: Buffer;
  /** length up to which the octets survive a loss of power */
  durableLength: number;
}

export class TestFolder implements Folder {
  readonly path = '/state';
  /** files by name, as programs see them */
  #files = new Map<string, Content>();
  /** names that survive a loss of power */
  #durableFiles = new Map<string, Content>();
  /** reason for which every write fails now; null: writes succeed */
  failure: string | null = null;
  syncs = 0;
  /** called before each operation on the disk, for tests that stop in between */
  beforeStep: () => Promise<void> = () => Promise.resolve();

  /** Octets of a file; empty: there is none. */
  octets(name: string): Buffer {
    return this.#files.get(name)?.octets ?? Buffer.alloc(0);
  }

  /** Cuts a file as another process does. */
  cut(name: string, bytes: number): void {
    const file = this.#files.get(name);
    if (file) file.octets = file.octets.subarray(0, bytes);
  }

  put(name: string, octets: Buffer): void {
    this.#files.set(name, { octets, durableLength: octets.length });
    this.#durableFiles = new Map(this.#files);
  }

  /** The folder after a loss of power. @param keepBytes octets beyond the durable ones of each file that survive by luck */
  afterPowerLoss(keepBytes = 0): TestFolder {
    const after = new TestFolder();
    for (const [name, { octets, durableLength }] of this.#durableFiles)
      after.put(name, Buffer.from(octets.subarray(0, durableLength + keepBytes)));
    return after;
  }

  /** The folder after the end of the process alone: the system still writes what it was given. */
  afterKill(): TestFolder {
    const after = new TestFolder();
    for (const [name, { octets }] of this.#files) after.put(name, Buffer.from(octets));
    return after;
  }

  names(): Promise<string[]> {
    return Promise.resolve([...this.#files.keys()].sort());
  }

  folders(): Promise<string[]> {
    return Promise.resolve([]);
  }

  stamp(name: string): string | null {
    const file = this.#files.get(name);
    return file ? `${file.octets.length} ${crc32(file.octets)}` : null;
  }

  read(name: string): Buffer | null {
    const file = this.#files.get(name);
    return file ? Buffer.from(file.octets) : null;
  }

  async append(name: string, keepBytes?: number): Promise<AppendFile> {
    await this.#step();
    const file = this.#files.get(name) ?? { octets: Buffer.alloc(0), durableLength: 0 };
    this.#files.set(name, file);
    if (keepBytes !== undefined) file.octets = file.octets.subarray(0, keepBytes);
    file.durableLength = Math.min(file.durableLength, file.octets.length);
    return {
      write: async (data) => {
        await this.#step();
        file.octets = Buffer.concat([file.octets, data]);
      },
      sync: async () => {
        await this.#step();
        this.syncs += 1;
        file.durableLength = file.octets.length;
      },
      difference: (presentName, bytes) => {
        const there = this.#files.get(presentName);
        if (there === undefined) return Promise.resolve('was removed');
        if (there !== file) return Promise.resolve('was replaced');
        const { length } = file.octets;
        return Promise.resolve(length === bytes ? null : `has ${length} octets in place of ${bytes}`);
      },
      close: () => Promise.resolve(),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#step();
    const file = this.#files.get(from);
    if (!file) throw new Error(`ENOENT: no such file: ${from}`);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  async remove(name: string): Promise<void> {
    await this.#step();
    this.#files.delete(name);
  }

  async sync(): Promise<void> {
    await this.#step();
    this.#durableFiles = new Map(this.#files);
  }

  async #step(): Promise<void> {
    await this.beforeStep();
    if (this.failure !== null) throw new Error(this.failure);
  }
}
