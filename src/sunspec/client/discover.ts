/** Finds the marker and walks the chain of models after it (SunSpec Device Information Model Specification). */
import type { Discovery, FoundModel } from '../../contract/sunspec-client.ts';
import { definitionOf, fixedRegisters, headerRegisters, alternativeLength, lengthOf } from './shape.ts';
import type { Connection } from './connection.ts';
import { errorText } from '../../core/errors.ts';
import { exceptionIn, exceptionText, isOfPeer, peerError, UnfitAnswer, endpointOf } from './peer.ts';

/** Base addresses, in the order in which they are tried. */
export const baseAddresses = [40_000, 50_000, 0] as const;

const marker = Buffer.from('SunS', 'latin1');
const endId = 0xffff;
const addresses = 65_536;
/** After a marker at a higher address there is no register for a model id. */
const lastBase = addresses - 3;
const maxModels = 256;
/** Offsets, in registers, at which a model is looked for when it is not in its place. */
const slips = [1, -1, 2, -2] as const;
/** Exceptions of a gateway about the device behind it: every address would give the same answer. */
const gatewayExceptions = new Set([10, 11]);

interface Header {
  readonly id: number;
  readonly length: number | null;
}

function hex(word: number): string {
  return `0x${word.toString(16).padStart(4, '0')}`;
}

/**
 * Describes the content of a base address without the marker; null: the marker is there.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT
 */
export async function contentWithoutMarker(connection: Connection, base: number): Promise<string | null> {
  try {
    const words = await connection.read(base, 2);
    return words.equals(marker) ? null : `${hex(words.readUInt16BE(0))} ${hex(words.readUInt16BE(2))}`;
  } catch (error) {
    // some devices answer with fewer registers where they have none
    if (error instanceof UnfitAnswer) return error.message;
    const code = exceptionIn(error);
    if (code === null) throw error;
    if (gatewayExceptions.has(code)) {
      const { unitId } = connection.target;
      throw peerError(
        `${endpointOf(connection.target)} answers for unit ${unitId} with ${exceptionText(code)}: there is no device with that unit id`,
      );
    }
    return exceptionText(code);
  }
}

/**
 * Looks next to the addresses that were tried, and at the usual ones: some devices count from 1 or have moved by a
 * register.
 */
async function markerElsewhere(connection: Connection, triedBases: readonly number[]): Promise<number | null> {
  const others = [...triedBases.flatMap((base) => [base + 1, base - 1]), ...baseAddresses];
  for (const address of new Set(others)) {
    if (triedBases.includes(address) || address < 0 || address > lastBase) continue;
    try {
      if ((await contentWithoutMarker(connection, address)) === null) return address;
    } catch (error) {
      // the errors at the tried addresses say more than one at a guessed address
      if (isOfPeer(error)) return null;
      throw error;
    }
  }
  return null;
}

async function findBase(connection: Connection): Promise<number> {
  const { baseAddress, unitId } = connection.target;
  const triedBases = baseAddress === null ? baseAddresses : [baseAddress];
  const contents: string[] = [];
  for (const base of triedBases) {
    const content = await contentWithoutMarker(connection, base);
    if (content === null) return base;
    contents.push(`${base} has ${content}`);
  }
  const other = await markerElsewhere(connection, triedBases);
  const where = baseAddress === null ? 'at none of the base addresses' : 'not at the base address';
  const hint = other === null ? '' : `; the marker is at ${other}: connect with base_address ${other}`;
  throw peerError(
    `unit ${unitId} of ${endpointOf(connection.target)} has no SunSpec map: the marker SunS (0x5375 ` +
      `0x6e53) is ${where}; ${contents.join(', ')}${hint}`,
  );
}

function isModel(header: Header | null): boolean {
  return header !== null && definitionOf(header.id) !== undefined && header.length !== null;
}

function isEnd(header: Header | null): boolean {
  return header !== null && header.id === endId && (header.length ?? 0) === 0;
}

function registers(count: number): string {
  return count === 1 ? '1 register' : `${count} registers`;
}

class Walk {
  readonly #connection: Connection;
  readonly #base: number;
  readonly #models: FoundModel[] = [];
  readonly #notes: string[] = [];
  readonly #headers = new Map<number, Header | string>();

  constructor(connection: Connection, base: number) {
    this.#connection = connection;
    this.#base = base;
  }

  async run(): Promise<Discovery> {
    let address = await this.#aligned(this.#base + marker.length / 2);
    for (;;) {
      if (address + 1 > addresses)
        return this.#discovery('limit', `the chain leads beyond the last address, ${addresses - 1}`);
      const header = await this.#headerOrRefusal(address);
      if (typeof header === 'string')
        return this.#discovery(
          'exception',
          `${header} at ${address}, where the next model or the end should be${this.#afterLastModel}`,
        );
      const { id, length } = header;
      if (id === endId) return this.#atEnd(address, length);
      if (id === 0)
        return this.#discovery(
          'zeros',
          `the chain ends with model 0 at ${address} in place of 65535${this.#afterLastModel}`,
        );
      if (length === null)
        return this.#discovery('exception', `model ${id} at ${address} has no readable length${this.#afterLastModel}`);
      if (this.#models.length >= maxModels)
        return this.#discovery('limit', `the chain has more than ${maxModels} models`);
      const room = addresses - address - headerRegisters;
      if (length > room)
        return this.#discovery(
          'limit',
          `model ${id} at ${address} says that it has ${registers(length)}, ${room} are left${this.#afterLastModel}`,
        );
      this.#addModel(id, address, length);
      address = await this.#aligned(await this.#next(address, id, length));
    }
  }

  #addModel(id: number, address: number, length: number): void {
    const def = definitionOf(id);
    const index = this.#models.filter((model) => model.id === id).length;
    if (this.#models.length === 0 && id !== 1) this.#notes.push(`the first model is ${id}, not 1`);
    this.#models.push({ id, index, name: def?.name ?? null, label: def?.label ?? null, address, length });
  }

  /** The model or marker before the present address, for messages. */
  get #afterLastModel(): string {
    const last = this.#models.at(-1);
    return last
      ? `; before it is model ${last.id} at ${last.address} with ${registers(last.length)}`
      : '; before it is the marker';
  }

  #discovery(end: Discovery['end'], note?: string): Discovery {
    if (note !== undefined) this.#notes.push(note, ...this.#possibleCauses());
    return { baseAddress: this.#base, models: this.#models, end, notes: this.#notes };
  }

  #atEnd(address: number, length: number | null): Discovery {
    if (length === null) return this.#discovery('missing_length');
    return length === 0
      ? this.#discovery('end_model')
      : this.#discovery('end_model', `L of the end model at ${address} is ${length}, not 0`);
  }

  /** Possible causes of an unexpected end of the chain. */
  #possibleCauses(): string[] {
    const [last, lastKnown] = [this.#models.at(-1), this.#models.findLast(({ name }) => name !== null)];
    if (last === undefined || last === lastKnown) return [];
    const before = lastKnown
      ? `model ${lastKnown.id} at ${lastKnown.address} with ${registers(lastKnown.length)}`
      : 'the marker';
    return [
      `the chain may be broken after ${before}: the models up to ${last.id} at ${last.address} have no definition here`,
    ];
  }

  /** As `#readHeader`, with a cache of headers. */
  async #headerOrRefusal(address: number): Promise<Header | string> {
    const header = this.#headers.get(address) ?? (await this.#readHeader(address));
    this.#headers.set(address, header);
    return header;
  }

  /** ID and L; the ID alone if the device refuses both; the refusal as text if it refuses that too. */
  async #readHeader(address: number): Promise<Header | string> {
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
      return errorText(error);
    }
  }

  /**
   * Address of the next model. L decides, unless no model begins there and one begins at the address given by the
   * length of the definition.
   */
  async #next(address: number, id: number, length: number): Promise<number> {
    const next = address + headerRegisters + length;
    if (isModel(await this.#headerAt(next))) return next;
    const expected = await this.#definedLength(address, id);
    if (expected === null || expected === length) return next;
    const other = address + headerRegisters + expected;
    // an apparent end may be a register that is not implemented
    const ended = isEnd(await this.#headerAt(next));
    const otherHeader = await this.#headerAt(other);
    if (!isModel(otherHeader) && (ended || !isEnd(otherHeader))) return next;
    this.#notes.push(
      `L of model ${id} at ${address} is ${length}, but the chain continues after ${registers(expected)}`,
    );
    return other;
  }

  /**
   * The given address, or that of a complete model one or two registers away if the chain does not continue at the
   * given one: the map is shifted.
   */
  async #aligned(place: number): Promise<number> {
    if (await this.#leadsOn(place)) return place;
    try {
      return (await this.#neighbourModel(place)) ?? place;
    } catch (error) {
      // some devices do not answer at all where they have no registers
      if (isOfPeer(error)) return place;
      throw error;
    }
  }

  /** Address of a complete model next to a given address. */
  async #neighbourModel(place: number): Promise<number | null> {
    for (const by of slips) {
      const header = await this.#headerIfReadable(place + by);
      if (header === null || !isModel(header) || !(await this.#isComplete(place + by, header))) continue;
      const where = `${registers(Math.abs(by))} ${by > 0 ? 'after' : 'before'} the place to which the chain leads, ${place}`;
      this.#notes.push(`model ${header.id} is at ${place + by}, ${where}`);
      return place + by;
    }
    return null;
  }

  async #isComplete(address: number, { id, length }: Header): Promise<boolean> {
    return length === alternativeLength(id) || length === (await this.#definedLength(address, id));
  }

  /**
   * True if a place has a model with a definition, the end, or a chain to one of them; also if nothing can be read
   * there.
   */
  async #leadsOn(place: number): Promise<boolean> {
    let header = await this.#headerAt(place);
    if (header === null) return true;
    let address = place;
    for (let models = this.#models.length; models <= maxModels; models += 1) {
      if (isModel(header) || isEnd(header)) return true;
      if (header === null || header.length === null || header.id === 0 || header.id === endId) return false;
      address += headerRegisters + header.length;
      header = await this.#headerIfReadable(address);
    }
    return false;
  }

  async #definedLength(address: number, id: number): Promise<number | null> {
    const def = definitionOf(id);
    if (!def) return null;
    if (def.groups === undefined) return fixedRegisters(def) - headerRegisters;
    const fixed = fixedRegisters(def);
    if (fixed > this.#connection.learnt.span || address + fixed > addresses) return null;
    try {
      // the counts are in the first registers, whatever L says
      return lengthOf(def, await this.#connection.read(address, fixed));
    } catch (error) {
      if (exceptionIn(error) === null && !(error instanceof UnfitAnswer)) throw error;
      return null;
    }
  }

  /** As `#headerAt`, at an address where there may be no registers. */
  async #headerIfReadable(address: number): Promise<Header | null> {
    try {
      return await this.#headerAt(address);
    } catch (error) {
      if (error instanceof UnfitAnswer) return null;
      throw error;
    }
  }

  async #headerAt(address: number): Promise<Header | null> {
    const header = address + 1 > addresses ? 'outside' : await this.#headerOrRefusal(address);
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
