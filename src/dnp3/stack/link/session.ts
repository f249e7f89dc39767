/**
 * The secondary station of the data link layer for one pair of addresses on one connection: answers link functions and
 * hands user data over. IEEE 1815 9.2.6
 */
import type { Buffer } from 'node:buffer';
import { encodeFrame, linkAddress, linkBit, primaryFunction, secondaryFunction } from './frame.ts';
import type { LinkFrame } from './frame.ts';

/** True if an address can be that of a station. */
export function isStationAddress(address: number): boolean {
  return address < linkAddress.firstReserved;
}

/** True if a frame is addressed to all outstations. */
export function isBroadcast(destination: number): boolean {
  return destination >= linkAddress.broadcastNoConfirm;
}

/** True if a frame carries a segment of the transport function. */
export function carriesUserData({ control }: LinkFrame): boolean {
  const code = control & 0x0f;
  return (
    beginsTransaction(control) &&
    (code === primaryFunction.confirmedUserData || code === primaryFunction.unconfirmedUserData)
  );
}

/** True if each function of a primary station has a valid frame count bit; others are not known. */
const isCounted: Readonly<Record<number, boolean>> = {
  [primaryFunction.resetLink]: false,
  [primaryFunction.testLink]: true,
  [primaryFunction.confirmedUserData]: true,
  [primaryFunction.unconfirmedUserData]: false,
  [primaryFunction.requestLinkStatus]: false,
};

/** True if it is that of a primary station, with FCV as its function wants it; where that is 0, FCB has no meaning. */
export function beginsTransaction(control: number): boolean {
  return (control & linkBit.primary) !== 0 && isCounted[control & 0x0f] !== ((control & linkBit.frameCountValid) === 0);
}

export interface LinkSessionOptions {
  readonly outstation: number;
  readonly master: number;
  readonly send: (frame: Buffer) => void;
}

export class LinkSession {
  readonly #options: LinkSessionOptions;
  /** the frame count bit expected next; null: the link has not been reset */
  #expected: boolean | null = null;
  #lastAnswer: number = secondaryFunction.ack;

  constructor(options: LinkSessionOptions) {
    this.#options = options;
  }

  /**
   * Takes a frame with DIR = 1 from this master to this outstation.
   * @returns the segment to be delivered; null: none
   */
  take({ control, data }: LinkFrame): Buffer | null {
    if (!beginsTransaction(control)) return null;
    switch (control & 0x0f) {
      case primaryFunction.resetLink:
        this.#expected = true;
        this.#answer(secondaryFunction.ack);
        return null;
      case primaryFunction.testLink:
        this.#counted(control);
        return null;
      case primaryFunction.confirmedUserData:
        return this.#counted(control) ? data : null;
      case primaryFunction.unconfirmedUserData:
        return data;
      case primaryFunction.requestLinkStatus:
        this.#send(secondaryFunction.linkStatus);
        return null;
      default:
        this.#send(secondaryFunction.notSupported);
        return null;
    }
  }

  /** Asks the master whether it is still there; its answer is any frame. */
  requestStatus(): void {
    this.#send(linkBit.primary | primaryFunction.requestLinkStatus);
  }

  /** Answers a frame with a count bit. @returns whether it is a new one */
  #counted(control: number): boolean {
    if (this.#expected === null) return false;
    const isNew = ((control & linkBit.frameCount) !== 0) === this.#expected;
    if (isNew) {
      this.#expected = !this.#expected;
      this.#answer(secondaryFunction.ack);
    } else this.#send(this.#lastAnswer);
    return isNew;
  }

  #answer(code: number): void {
    this.#lastAnswer = code;
    this.#send(code);
  }

  #send(control: number): void {
    const { outstation, master, send } = this.#options;
    send(encodeFrame({ control, destination: master, source: outstation }));
  }
}
