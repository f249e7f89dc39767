/** A synthetic TCP connection around the octets of one peer. */
import { Buffer } from 'node:buffer';
import { frameOf, tcpFlag } from './frames.ts';
import type { End } from './frames.ts';

const { syn, ack, psh } = tcpFlag;
const noData = Buffer.alloc(0);
/** Maximum octets of one segment: with headers a packet must stay below 64 KiB. */
const maxData = 32 * 1024;

/** Start of sequence numbers, easy to read. */
const firstSeq = 1000;

export class MadeConnection {
  readonly #client: End;
  readonly #server: End;
  /** next sequence numbers */
  #clientSeq = firstSeq;
  #serverSeq = firstSeq;
  #opened = false;
  #packets = 0;

  constructor(client: End, server: End) {
    this.#client = client;
    this.#server = server;
  }

  /** The frames for these octets; the first call adds those of the handshake. */
  carry(data: Buffer, toServer: boolean): readonly Buffer[] {
    const frames = this.#opened ? [] : this.#open();
    for (let at = 0; at < data.length; at += maxData)
      frames.push(this.#frame(psh | ack, data.subarray(at, at + maxData), toServer));
    return frames;
  }

  #open(): Buffer[] {
    this.#opened = true;
    const frames = [this.#frame(syn, noData, true), this.#frame(syn | ack, noData, false)];
    return [...frames, this.#frame(ack, noData, true)];
  }

  #frame(flags: number, data: Buffer, toServer: boolean): Buffer {
    const [from, to] = toServer ? [this.#client, this.#server] : [this.#server, this.#client];
    const [seq, other] = toServer ? [this.#clientSeq, this.#serverSeq] : [this.#serverSeq, this.#clientSeq];
    this.#packets += 1;
    const segment = { from, to, seq, ack: flags & ack ? other : 0, flags, data };
    const next = seq + data.length + (flags & syn ? 1 : 0);
    if (toServer) this.#clientSeq = next;
    else this.#serverSeq = next;
    return frameOf(segment, toServer, this.#packets);
  }
}
