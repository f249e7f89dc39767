/** Findings that a user accepts, with the reason. */
import { SimError } from '../errors.ts';
import type { Peer } from './peer.ts';

export const maxWaivers = 200;

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
  readonly #nameOf: (peer: Peer) => string | null;

  /** @param nameOf the name that a user has given to a peer */
  constructor(nowMs: () => number, nameOf: (peer: Peer) => string | null) {
    this.#nowMs = nowMs;
    this.#nameOf = nameOf;
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
        rule === ruleId &&
        (untilMs === null || nowMs < untilMs) &&
        (whose === null || whose === peer.id || whose === this.#nameOf(peer)),
    );
  }
}
