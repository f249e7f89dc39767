/** Waits for what a peer has to do: only a peer that was there all the time can have failed to do it. */
import type { Later } from '../time/timers.ts';
import type { Peer } from './peer.ts';
import type { Deadline, RuleHandle, Wait } from './rule.ts';

/** Waits of each protocol at a time. */
export const maxPending = 2000;

const nothing: Deadline = { isPending: false, met: () => undefined, drop: () => undefined };

/** Judges whether a peer was there for the whole wait. */
function presenceOf({ peer, presence }: Wait): { readonly half: () => void; readonly was: () => boolean } {
  const { departures } = peer;
  let requestsAtHalf = Infinity;
  return {
    half() {
      requestsAtHalf = peer.requests;
    },
    was: () =>
      presence === 'active'
        ? peer.requests > requestsAtHalf
        : peer.openConnections > 0 && peer.departures === departures,
  };
}

/** A wait that goes on. */
interface Pending {
  readonly deviceIndex: number | null;
  readonly drop: () => void;
}

export interface DeadlinesOptions {
  readonly later: Later;
  /** Counts a wait that begins or ends. */
  readonly pend: (rule: RuleHandle, peer: Peer, change: 1 | -1) => void;
  /** Takes the error of a judge, which would end the process as that of a timer. */
  readonly failed: (rule: RuleHandle, error: unknown) => void;
}

export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #pending = new Map<string, Set<Pending>>();
  dropped = 0;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  get pending(): number {
    return [...this.#pending.values()].reduce((sum, { size }) => sum + size, 0);
  }

  begin(wait: Wait): Deadline {
    const { rule, peer, waitMs, deviceIndex } = wait;
    const { later, pend } = this.#options;
    if (!rule.on) return nothing;
    const waits = this.#waitsOf(peer.identity.protocol);
    if (waits.size >= maxPending) {
      this.dropped += 1;
      return nothing;
    }
    const presence = presenceOf(wait);
    let cancel = later(waitMs / 2, () => {
      presence.half();
      cancel = later(waitMs / 2, () => {
        if (end()) this.#expire(wait, presence.was());
      });
    });
    /** @returns false: it has ended before */
    const end = () => {
      if (!waits.delete(pending)) return false;
      pend(rule, peer, -1);
      cancel();
      return true;
    };
    const drop = () => {
      end();
    };
    const pending: Pending = { deviceIndex, drop };
    waits.add(pending);
    pend(rule, peer, 1);
    return {
      get isPending() {
        return waits.has(pending);
      },
      met() {
        if (end()) rule.exercised(peer);
      },
      drop,
    };
  }

  /** Ends all waits, or those that fit. */
  drop(fits: (pending: Pick<Wait, 'deviceIndex'>) => boolean = () => true): void {
    for (const waits of this.#pending.values()) for (const pending of waits) if (fits(pending)) pending.drop();
  }

  #waitsOf(protocol: string): Set<Pending> {
    const waits = this.#pending.get(protocol) ?? new Set();
    this.#pending.set(protocol, waits);
    return waits;
  }

  #expire({ rule, peer, deviceIndex, expired, key, waitMs, isDue }: Wait, wasPresent: boolean): void {
    try {
      if (wasPresent && isDue?.() !== false)
        rule.broken(peer, deviceIndex, () => ({ sinceMs: peer.lastSeenMs - waitMs, ...expired() }), key);
      else rule.undecided(peer);
    } catch (error) {
      this.#options.failed(rule, error);
    }
  }
}
