/** Outsiders of a fleet, which go on while parts of it fail: a master of Modbus, and a reader of the stream. */
import { once } from 'node:events';
// eslint-disable-next-line derbench/no-timed-wait -- a master reads at intervals
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Snapshot } from '../../../src/contract/snapshot.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';

const betweenMs = 50;

/** A master that reads all the time on one connection. */
export class SteadyMaster {
  readonly #client: RawClient;
  readonly #work: Promise<void>;
  readonly #end = new AbortController();
  reads = 0;
  /** greatest time of an answer, ms */
  slowestMs = 0;
  /** reason of the first read without an answer */
  failure: string | null = null;

  private constructor(client: RawClient) {
    this.#client = client;
    this.#work = this.#read();
  }

  static async open(port: number): Promise<SteadyMaster> {
    return new SteadyMaster(await RawClient.open(port));
  }

  async #read(): Promise<void> {
    const { signal } = this.#end;
    for (;;) {
      const beganMs = performance.now();
      try {
        // "SunS"
        const answer = await this.#client.request(readRequest(this.reads % 65536, 40000, 2));
        if (!answer.endsWith('53756e53')) throw new Error(`answer ${answer}`);
      } catch (error) {
        if (!signal.aborted) this.failure = String(error);
        return;
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - beganMs);
      this.reads += 1;
      await delay(betweenMs);
    }
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#client.destroy();
    await this.#work;
  }
}

/** All snapshots of a stream since it was opened. */
export class StreamReader {
  readonly #socket: WebSocket;
  readonly seen: Snapshot[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (message: Buffer) => this.seen.push(JSON.parse(message.toString()) as Snapshot));
  }

  static async open(port: number): Promise<StreamReader> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    await once(socket, 'open');
    return new StreamReader(socket);
  }

  /** Ticks of a device in the order in which they came, from a count of snapshots on. */
  ticksOf(device: number, from = 0): readonly number[] {
    return this.seen.slice(from).flatMap(({ device_index: index, tick }) => (index === device ? [tick] : []));
  }

  close(): void {
    this.#socket.close();
  }
}
