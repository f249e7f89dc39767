/** Findings that a user accepts, with the reason. */
import { SimError } from '../errors.ts';
import type { Peer } from './peer.ts';

export const maxWaivers = 200;
export const maxReasonLength = 500;

export interface NewWaiver {
  /** id of a rule */
  readonly rule: string;
  /** id or name of a peer; null: all peers */
  readonly peer: string | null;
  readonly reason: string;
  /** ms since the epoch; null: without an end */
  readonly untilMs: number | null;
}

export interface Waiver extends NewWaiver {
  readonly id: number;
}

export class Waivers {
  #list: readonly Waiver[] = [];
  #lastId = 0;
  readonly #nowMs: () => number;
  readonly #isCalled: (peer: Peer, idOrName: string) => boolean;

  /** @param isCalled true: the peer has this id or name */
  constructor(nowMs: () => number, isCalled: (peer: Peer, idOrName: string) => boolean) {
    this.#nowMs = nowMs;
    this.#isCalled = isCalled;
  }

  get list(): readonly Waiver[] {
    return this.#list;
  }

  /** @throws SimError COMMAND_CONFLICT */
  add(waiver: NewWaiver): Waiver {
    if (this.#list.length >= maxWaivers)
      throw new SimError('COMMAND_CONFLICT', `there are ${maxWaivers} waivers; delete one first`);
    this.#lastId += 1;
    const added = { ...waiver, id: this.#lastId };
    this.#list = [...this.#list, added];
    return added;
  }

  /** @returns false: there is none with this id */
  remove(id: number): boolean {
    const { length } = this.#list;
    this.#list = this.#list.filter((waiver) => waiver.id !== id);
    return this.#list.length < length;
  }

  /** The waiver in force for a rule at a peer. */
  inForce(ruleId: string, peer: Peer): Waiver | undefined {
    const nowMs = this.#nowMs();
    return this.#list.find(
      ({ rule, peer: whose, untilMs }) =>
        rule === ruleId && (untilMs === null || nowMs < untilMs) && (whose === null || this.#isCalled(peer, whose)),
    );
  }
}
