/** Finds the marker and walks the chain of models behind it (SunSpec Device Information Model Specification). */
import type { Discovery, FoundModel } from '../../core/sunspec-client.ts';
import { definitionOf } from './catalogue.ts';
import type { Connection } from './connection.ts';
import { exceptionIn, exceptionText, messageOf, peerError, UnfitAnswer } from './errors.ts';
import { fixedRegisters, headerRegisters, lengthOf } from './shape.ts';
import { endpointOf } from './target.ts';

/** In the order in which they are tried. */
export const baseAddresses = [40_000, 50_000, 0] as const;

const marker = Buffer.from('SunS', 'latin1');
const endId = 0xffff;
const addresses = 65_536;
const mostModels = 256;
/** A gateway speaks of the device behind it: every address would be answered alike. */
const ofGateway = new Set([10, 11]);

interface Header { readonly id: number; readonly length: number | null }

function hex(word: number): string {
  return `0x${word.toString(16).padStart(4, '0')}`;
}

/** What is at a base address in place of the marker; null: the marker is there. @throws SimError PEER_ERROR, PEER_TIMEOUT */
export async function faultAt(connection: Connection, base: number): Promise<string | null> {
  try {
    const words = await connection.read(base, 2);
    return words.equals(marker) ? null : `${hex(words.readUInt16BE(0))} ${hex(words.readUInt16BE(2))}`;
  } catch (error) {
    // some answer with fewer registers where they have none
    if (error instanceof UnfitAnswer) return error.message;
    const code = exceptionIn(error);
    if (code === null) throw error;
    if (ofGateway.has(code)) {
      const { unitId } = connection.target;
      throw peerError(`${endpointOf(connection.target)} answers for unit ${unitId} with ${exceptionText(code)}: there is no device with that unit id`);
    }
    return exceptionText(code);
  }
}

async function findBase(connection: Connection): Promise<number> {
  const { baseAddress, unitId } = connection.target;
  const faults: string[] = [];
  for (const base of baseAddress === null ? baseAddresses : [baseAddress]) {
    const fault = await faultAt(connection, base);
    if (fault === null) return base;
    faults.push(`${base} has ${fault}`);
  }
  throw peerError(`unit ${unitId} of ${endpointOf(connection.target)} has no SunSpec map: the marker SunS (0x5375 0x6e53) is at none of the base addresses; ${faults.join(', ')}`);
}

class Walk {
  readonly #connection: Connection;
  readonly #base: number;
  readonly #models: FoundModel[] = [];
  readonly #notes: string[] = [];
  #seen: { readonly address: number; readonly header: Header | string } | null = null;

  constructor(connection: Connection, base: number) {
    this.#connection = connection;
    this.#base = base;
  }

  async run(): Promise<Discovery> {
    let address = this.#base + marker.length / 2;
    for (;;) {
      if (address + 1 > addresses) return this.#ended('limit', `the chain leads behind the last address, ${addresses - 1}`);
      const header = await this.#header(address);
      if (typeof header === 'string') return this.#ended('exception', `${header} at ${address}, where the next model or the end should be`);
      const { id, length } = header;
      if (id === endId) return length === null ? this.#ended('missing_length') : this.#ended('end_model');
      if (id === 0) return this.#ended('zeros', `the chain ends with model 0 at ${address} in place of 65535`);
      if (length === null) return this.#ended('exception', `model ${id} at ${address} has no readable length`);
      if (this.#models.length >= mostModels) return this.#ended('limit', `the chain has more than ${mostModels} models`);
      const room = addresses - address - headerRegisters;
      if (length > room) return this.#ended('limit', `model ${id} at ${address} says that it has ${length} registers, ${room} are left`);
      this.#found(id, address, length);
      address = await this.#next(address, id, length);
    }
  }

  #found(id: number, address: number, length: number): void {
    const def = definitionOf(id);
    const index = this.#models.filter((model) => model.id === id).length;
    if (this.#models.length === 0 && id !== 1) this.#notes.push(`the first model is ${id}, not 1`);
    this.#models.push({ id, index, name: def?.name ?? null, label: def?.label ?? null, address, length });
  }

  #ended(end: Discovery['end'], note?: string): Discovery {
    if (note !== undefined) this.#notes.push(note);
    return { baseAddress: this.#base, models: this.#models, end, notes: this.#notes };
  }

  /** As `#read`; what was looked at to find the way is not read again. */
  async #header(address: number): Promise<Header | string> {
    if (this.#seen?.address !== address) this.#seen = { address, header: await this.#read(address) };
    return this.#seen.header;
  }

  /** ID and L; the ID alone where the device refuses both; in words what it refuses that with. */
  async #read(address: number): Promise<Header | string> {
    if (address + headerRegisters <= addresses) {
      try {
        const words = await this.#connection.read(address, headerRegisters);
        return { id: words.readUInt16BE(0), length: words.readUInt16BE(2) };
      } catch (error) {
        if (exceptionIn(error) === null) throw error;
      }
    }
    try {
      return { id: (await this.#connection.read(address, 1)).readUInt16BE(0), length: null };
    } catch (error) {
      if (exceptionIn(error) === null) throw error;
      return messageOf(error);
    }
  }

  /**
   * Where the next model is. L decides, unless it leads to nothing that could be one and the length by definition leads
   * to the next.
   */
  async #next(address: number, id: number, length: number): Promise<number> {
    const next = address + headerRegisters + length;
    if (await this.#isModel(next)) return next;
    const expected = await this.#expected(address, id);
    if (expected === null || expected === length) return next;
    const other = address + headerRegisters + expected;
    // what looks like an end may be a register that is not implemented
    const ended = await this.#isEnd(next);
    if (!(await this.#isModel(other)) && (ended || !(await this.#isEnd(other)))) return next;
    this.#notes.push(`L of model ${id} at ${address} is ${length}, but the chain goes on behind ${expected} registers`);
    return other;
  }

  async #expected(address: number, id: number): Promise<number | null> {
    const def = definitionOf(id);
    if (!def) return null;
    if (def.groups === undefined) return fixedRegisters(def) - headerRegisters;
    const fixed = fixedRegisters(def);
    if (fixed > this.#connection.habits.span || address + fixed > addresses) return null;
    try {
      // the counts are in the first registers, wherever L says that these end
      return lengthOf(def, await this.#connection.read(address, fixed));
    } catch (error) {
      if (exceptionIn(error) === null) throw error;
      return null;
    }
  }

  async #isModel(address: number): Promise<boolean> {
    const header = await this.#headerIn(address);
    return header !== null && definitionOf(header.id) !== undefined && header.length !== null;
  }

  async #isEnd(address: number): Promise<boolean> {
    const header = await this.#headerIn(address);
    return header !== null && header.id === endId && (header.length ?? 0) === 0;
  }

  async #headerIn(address: number): Promise<Header | null> {
    const header = address + 1 > addresses ? 'outside' : await this.#header(address);
    return typeof header === 'string' ? null : header;
  }
}

/**
 * Walks the whole chain.
 * @throws SimError PEER_ERROR when there is no map, PEER_TIMEOUT
 */
export async function discover(connection: Connection): Promise<Discovery> {
  return new Walk(connection, await findBase(connection)).run();
}
