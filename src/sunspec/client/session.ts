/** The client's knowledge of one device: its chain, its identity, and the last readings. */
import { SimError } from '../../core/errors.ts';
import type {
  ClientIdentity,
  Discovery,
  FoundModel,
  ModelReading,
  RawWriteOutcome,
  ReadingValue,
  WriteOutcome,
} from '../../contract/sunspec-client.ts';
import type { Connection } from './connection.ts';
import { discover, contentWithoutMarker } from './discover.ts';
import { exceptionIn, peerError } from './peer.ts';
import { MapChanged, modelReading, readModel, readRaw } from './reader.ts';
import { carryOut, planWrite, writeRegisters } from './writer.ts';

const illegalAddress = 2;
/** Maximum number of readings kept: models of the summary and of the last requests. */
const maxReadings = 64;

function keyOf(id: number, index: number): string {
  return `${id}/${index}`;
}

function identityOf({ points }: ModelReading): ClientIdentity {
  const text = (name: string) => {
    const value = points.find((point) => point.name === name)?.value;
    return typeof value === 'string' ? value : null;
  };
  return { manufacturer: text('Mn'), model: text('Md'), version: text('Vr'), serialNumber: text('SN') };
}

/** Calls must not overlap; the queue of the client ensures that. */
export class Session {
  readonly connection: Connection;
  readonly #nowMs: () => number;
  readonly #readings = new Map<string, ModelReading>();
  /** models written since their last reading */
  readonly #stale = new Set<string>();
  #discovery: Discovery | null = null;
  #identity: ClientIdentity | null = null;

  constructor(connection: Connection, nowMs: () => number) {
    this.connection = connection;
    this.#nowMs = nowMs;
  }

  get discovery(): Discovery | null {
    return this.#discovery;
  }

  get identity(): ClientIdentity | null {
    return this.#identity;
  }

  /** Walks the chain and reads model 1. @throws SimError PEER_ERROR, PEER_TIMEOUT */
  async scan(): Promise<Discovery> {
    const discovery = await discover(this.connection);
    this.#discovery = discovery;
    this.#readings.clear();
    this.#stale.clear();
    const common = discovery.models.find(({ id }) => id === 1);
    this.#identity = common ? await this.#identify(common) : null;
    return discovery;
  }

  /** A model of the discovered chain. @throws SimError NOT_CONNECTED, UNKNOWN_RESOURCE */
  model(id: number, index: number): FoundModel {
    const discovery = this.#discovery;
    if (discovery === null) throw new SimError('NOT_CONNECTED', 'The map of the device has not been found yet.');
    const matchingModel = discovery.models.find((model) => model.id === id && model.index === index);
    if (matchingModel) return matchingModel;
    const instances = discovery.models.filter((model) => model.id === id).length;
    const ids = [...new Set(discovery.models.map((model) => model.id))].join(', ');
    throw new SimError(
      'UNKNOWN_RESOURCE',
      instances > 0
        ? `The device has model ${id} ${instances === 1 ? 'once' : `${instances} times`}: index ${index} does not exist.`
        : `The device does not have model ${id}; it has ${ids === '' ? 'none' : ids}.`,
    );
  }

  /** The last reading of a model; undefined: none, or the model was written since. */
  cachedReading(id: number, index: number): ModelReading | undefined {
    const key = keyOf(id, index);
    return this.#stale.has(key) ? undefined : this.#readings.get(key);
  }

  /** Wall time of the last reading of a model; null: not read since discovery. */
  readAtMs(id: number, index: number): number | null {
    return this.#readings.get(keyOf(id, index))?.readAtMs ?? null;
  }

  /** @throws SimError NOT_CONNECTED, UNKNOWN_RESOURCE, PEER_ERROR, PEER_TIMEOUT */
  async read(id: number, index: number): Promise<ModelReading> {
    const reading = await this.#inMap(id, index, (model) => readModel(this.connection, model, this.#nowMs));
    this.#keep(reading);
    return reading;
  }

  /** @throws SimError PEER_ERROR, PEER_TIMEOUT */
  readRegisters(address: number, count: number): Promise<readonly number[]> {
    return readRaw(this.connection, address, count);
  }

  /** @throws SimError as `read`; COMMAND_BAD_VALUE */
  async writePoints(id: number, index: number, values: Readonly<Record<string, ReadingValue>>): Promise<WriteOutcome> {
    // detects a moved map before the write, since writes are never repeated
    const plan = await this.#inMap(id, index, (model) => planWrite(this.connection, model, values));
    this.#stale.add(keyOf(id, index));
    const { outcome, after } = await carryOut(this.connection, plan);
    this.#keep(modelReading(outcome.model, after, this.#nowMs()));
    return outcome;
  }

  /** @throws SimError PEER_ERROR, PEER_TIMEOUT */
  writeRegisters(address: number, registers: readonly number[]): Promise<RawWriteOutcome> {
    for (const key of this.#readings.keys()) this.#stale.add(key);
    return writeRegisters(this.connection, address, registers);
  }

  #keep(reading: ModelReading): void {
    const key = keyOf(reading.id, reading.index);
    this.#stale.delete(key);
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    const [oldest] = this.#readings.keys();
    if (this.#readings.size > maxReadings && oldest !== undefined) this.#readings.delete(oldest);
  }

  /** True if a model cannot be read because the map has moved. */
  async #hasMoved(error: unknown): Promise<boolean> {
    const base = this.#discovery?.baseAddress;
    return (
      exceptionIn(error) === illegalAddress &&
      base !== undefined &&
      (await contentWithoutMarker(this.connection, base)) !== null
    );
  }

  async #identify(common: FoundModel): Promise<ClientIdentity | null> {
    try {
      return identityOf(await readModel(this.connection, common, this.#nowMs));
    } catch (error) {
      if (exceptionIn(error) === null && !(error instanceof MapChanged)) throw error;
      return null;
    }
  }

  /** Runs `work`; if the model is not at its address, as after a firmware update, repeats discovery and `work` once. */
  async #inMap<T>(id: number, index: number, work: (model: FoundModel) => Promise<T>): Promise<T> {
    try {
      return await work(this.model(id, index));
    } catch (error) {
      if (!(error instanceof MapChanged) && !(await this.#hasMoved(error))) throw error;
    }
    await this.scan();
    try {
      return await work(this.model(id, index));
    } catch (error) {
      throw error instanceof MapChanged
        ? peerError(`the map of the device changes while it is read: ${error.message}`)
        : error;
    }
  }
}
