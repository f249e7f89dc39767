import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Snapshot } from '../../../src/contract/snapshot.ts';

/** The telemetry stream of a simulator: tests wait for its ticks instead of real time. */
export class Stream {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(httpPort: number): Promise<Stream> {
    const socket = new WebSocket(`ws://127.0.0.1:${httpPort}/api/sim/ws/telemetry?device=0`);
    await once(socket, 'open');
    return new Stream(socket);
  }

  /** The snapshot of the next tick. */
  async next(): Promise<Snapshot> {
    const [message] = (await once(this.#socket, 'message')) as [Buffer];
    return JSON.parse(message.toString()) as Snapshot;
  }

  /**
   * Asks once per tick until there is an answer other than undefined.
   * @throws Error after `seconds` of real time
   */
  async until<T>(
    what: string,
    seconds: number,
    probe: (snapshot: Snapshot) => T | undefined | Promise<T | undefined>,
  ): Promise<T> {
    const deadline = performance.now() + seconds * 1000;
    while (performance.now() < deadline) {
      const answer = await probe(await this.next());
      if (answer !== undefined) return answer;
    }
    throw new Error(`${what}: not within ${seconds} s`);
  }

  async close(): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}
