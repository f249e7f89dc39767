/** Responses of one association on their way out: faults act on them, and they wait until changes are durable. */
import { Buffer } from 'node:buffer';
import type { Disturbance, OutstationOptions, Session } from './types.ts';

/** Maximum of waiting responses of an association; others are dropped. */
const maxWaiting = 64;
const conBit = 0x20;

/** The fragment as a fault changes it. */
function disturbed(octets: Buffer, fate: Disturbance): Buffer {
  const { sequenceShift, asksForConfirm, addedOctets } = fate;
  if (sequenceShift === 0 && !asksForConfirm && addedOctets === null) return octets;
  const copy = addedOctets === null ? Buffer.from(octets) : Buffer.concat([octets, addedOctets]);
  const [control = 0] = copy;
  copy[0] = (control & 0xf0) | ((control + sequenceShift) & 0x0f) | (asksForConfirm ? conBit : 0);
  return copy;
}

export interface OutboxOptions {
  readonly outstation: Pick<OutstationOptions, 'disturber' | 'limits' | 'later'>;
  /** the present connection of the master; null: none */
  readonly session: () => Session | null;
}

export class Outbox {
  readonly #options: OutboxOptions;
  /** number of responses that a fault delays */
  #late = 0;
  /** number of responses that wait for changes to be durable */
  #waiting = 0;
  /** resolves when the last waiting response is sent; null: none waits */
  #last: Promise<void> | null = null;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /**
   * Sends a fragment on the present connection, in the order of the calls.
   * @param durable resolves when the fragment may go out, never rejects; null: at once
   */
  send(octets: Buffer, functionCode: number, durable: Promise<void> | null): void {
    const { outstation, session: sessionNow } = this.#options;
    const fate = outstation.disturber.response(functionCode, {
      asksForConfirm: ((octets[0] ?? 0) & conBit) !== 0,
      freeBytes: outstation.limits.fragmentBytes - octets.length,
    });
    const session = sessionNow();
    if (fate.dropped || session === null) return;
    const sent = disturbed(octets, fate);
    if (durable === null && this.#last === null) this.#deliver(session, sent, fate);
    else if (this.#waiting < maxWaiting) this.#last = this.#deliverAfter(durable, session, sent, fate);
  }

  async #deliverAfter(
    durable: Promise<void> | null,
    session: Session,
    octets: Buffer,
    fate: Disturbance,
  ): Promise<void> {
    const former = this.#last;
    this.#waiting += 1;
    await former;
    await durable;
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#last = null;
    if (this.#options.session() === session) this.#deliver(session, octets, fate);
  }

  #deliver(session: Session, octets: Buffer, { badCrc, delayMs }: Disturbance): void {
    if (delayMs === 0) session.send(octets, { badCrc });
    else if (this.#late < maxWaiting) {
      this.#late += 1;
      this.#options.outstation.later(delayMs, () => {
        this.#late -= 1;
        if (this.#options.session() === session) session.send(octets, { badCrc });
      });
    }
  }
}
