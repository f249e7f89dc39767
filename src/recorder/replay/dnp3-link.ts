/** One connection of replayed DNP3 masters. */
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { readControl } from '../../dnp3/stack/application/types.ts';
import { encodeFrame, linkBit, primaryFunction, secondaryFunction, LinkParser } from '../../dnp3/stack/link.ts';
import type { LinkFrame } from '../../dnp3/stack/link.ts';
import { Reassembler } from '../../dnp3/stack/transport.ts';
import { LinkFrames } from '../link-frames.ts';

/** A master and an outstation. */
export interface Dnp3Pair {
  readonly master: number;
  readonly outstation: number;
}

const confirmFunction = 0;
const responseFunction = 129;
const controlBits = { firFin: 0xc0, uns: 0x10, sequence: 0x0f } as const;

interface Waiting {
  readonly pair: Dnp3Pair;
  readonly sequence: number;
  readonly fragments: Buffer[];
  done: () => void;
}

export class Dnp3Link {
  readonly #socket: Socket;
  readonly #parser = new LinkParser();
  readonly #frames = new LinkFrames();
  readonly #reassemblers = new Map<string, Reassembler>();
  #waiting: Waiting | null = null;
  #closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#parser.push(chunk)) this.#take(frame);
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#waiting?.done();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a request and collects the fragments of its response until the last one or the timeout; sends requested
   * confirmations.
   */
  async ask(pair: Dnp3Pair, request: Buffer, timeoutMs: number): Promise<readonly Buffer[]> {
    const fragments: Buffer[] = [];
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, timeoutMs);
      const done = () => {
        clearTimeout(limit);
        resolve();
      };
      this.#waiting = { pair, sequence: (request[0] ?? 0) & controlBits.sequence, fragments, done };
      this.#send(pair, request);
      if (this.#closed) done();
    });
    this.#waiting = null;
    return fragments;
  }

  close(): void {
    this.#socket.destroy();
  }

  #send({ master, outstation }: Dnp3Pair, fragment: Buffer): void {
    this.#socket.write(this.#frames.of(fragment, { source: master, destination: outstation, fromMaster: true }));
  }

  #take({ control, destination: master, source: outstation, data }: LinkFrame): void {
    const code = control & 0x0f;
    if ((control & linkBit.primary) === 0 || (control & linkBit.fromMaster) !== 0) return;
    if (code === primaryFunction.requestLinkStatus) {
      const status = linkBit.fromMaster | secondaryFunction.linkStatus;
      this.#socket.write(encodeFrame({ control: status, destination: outstation, source: master }));
    }
    if (code !== primaryFunction.unconfirmedUserData && code !== primaryFunction.confirmedUserData) return;
    const key = `${master} ${outstation}`;
    const reassembler = this.#reassemblers.get(key) ?? new Reassembler();
    this.#reassemblers.set(key, reassembler);
    const fragment = reassembler.push(data);
    if (fragment !== null) this.#hear({ master, outstation }, fragment);
  }

  #hear(pair: Dnp3Pair, fragment: Buffer): void {
    const [octet, code] = fragment;
    if (octet === undefined || code === undefined) return;
    const { fin, con, uns, seq } = readControl(octet);
    if (con) this.#send(pair, Buffer.from([controlBits.firFin | (uns ? controlBits.uns : 0) | seq, confirmFunction]));
    const waiting = this.#waiting;
    if (waiting === null || uns || code !== responseFunction) return;
    const isOurs = waiting.pair.master === pair.master && waiting.pair.outstation === pair.outstation;
    // the sequence number increases with each fragment of a response
    const expected = (waiting.sequence + waiting.fragments.length) & controlBits.sequence;
    if (!isOurs || seq !== expected) return;
    waiting.fragments.push(fragment);
    if (fin) waiting.done();
  }
}
