/** Clients of the telemetry stream; some never read. Ticks of a device must neither be missing nor come again. */
import { WebSocket } from 'ws';
import type { Gate, Tally } from '../tally.ts';
import { pause } from '../tally.ts';

/** TCP socket below a client. */
interface Pausable {
  readonly _socket: { pause(): void };
}

function numberAfter(name: string, data: Buffer): number {
  const at = data.indexOf(name);
  return at < 0 ? NaN : Number.parseInt(data.toString('latin1', at + name.length, at + name.length + 12), 10);
}

export class StreamReader {
  readonly #gate: Gate;
  readonly #tally: Tally;
  readonly #reads: boolean;
  #socket: WebSocket | null = null;

  constructor(gate: Gate, tally: Tally, reads: boolean) {
    this.#gate = gate;
    this.#tally = tally;
    this.#reads = reads;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#gate.isEnded) {
      const { http } = await this.#gate.open();
      await this.#connection(http);
      await pause(100);
    }
  }

  #connection(http: number): Promise<void> {
    const last = new Map<number, number>();
    const tally = this.#tally;
    const socket = new WebSocket(`ws://127.0.0.1:${http}/api/sim/ws/telemetry`, {
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    this.#socket = socket;
    socket.on('open', () => {
      tally.add('connections');
      if (!this.#reads) (socket as unknown as Pausable)._socket.pause();
    });
    socket.on('message', (data: Buffer) => {
      tally.add('messages');
      const device = numberAfter('"device_index":', data);
      const tick = numberAfter('"tick":', data);
      const before = last.get(device);
      last.set(device, tick);
      // a client behind its queue loses the oldest messages, and no message comes again
      if (!Number.isFinite(device) || !Number.isFinite(tick)) tally.error('a message without device or tick');
      else if (before !== undefined && tick <= before) tally.error(`device ${device}: tick ${tick} after ${before}`);
      else if (before !== undefined && tick > before + 1) tally.add('missing', tick - before - 1);
    });
    return new Promise((resolve) => {
      socket.on('error', (error) => {
        tally.error(error.message);
      });
      socket.on('close', (code) => {
        // a client that never reads is closed after 60 s
        if (this.#reads) tally.error(`closed with ${code}`);
        else tally.add('closed while not reading');
        resolve();
      });
    });
  }

  cut(): void {
    this.#socket?.terminate();
  }
}
