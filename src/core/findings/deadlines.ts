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

export class Deadlines {
  readonly #later: Later;
  readonly #pend: (rule: RuleHandle, peer: Peer, change: 1 | -1) => void;
  readonly #pending = new Map<string, Set<() => void>>();
  dropped = 0;

  /** @param pend counts a wait that begins or ends */
  constructor(later: Later, pend: (rule: RuleHandle, peer: Peer, change: 1 | -1) => void) {
    this.#later = later;
    this.#pend = pend;
  }

  get pending(): number {
    return [...this.#pending.values()].reduce((sum, { size }) => sum + size, 0);
  }

  begin(wait: Wait): Deadline {
    const { rule, peer, waitMs } = wait;
    if (!rule.on) return nothing;
    const waits = this.#waitsOf(peer.identity.protocol);
    if (waits.size >= maxPending) {
      this.dropped += 1;
      return nothing;
    }
    const presence = presenceOf(wait);
    let cancel = this.#later(waitMs / 2, () => {
      presence.half();
      cancel = this.#later(waitMs / 2, () => {
        if (end()) this.#expire(wait, presence.was());
      });
    });
    const stop = () => {
      cancel();
    };
    /** @returns false: it has ended before */
    const end = () => {
      if (!waits.delete(stop)) return false;
      this.#pend(rule, peer, -1);
      stop();
      return true;
    };
    waits.add(stop);
    this.#pend(rule, peer, 1);
    return {
      get isPending() {
        return waits.has(stop);
      },
      met() {
        if (end()) rule.exercised(peer);
      },
      drop() {
        end();
      },
    };
  }

  close(): void {
    for (const waits of this.#pending.values()) {
      for (const stop of waits) stop();
      waits.clear();
    }
  }

  #waitsOf(protocol: string): Set<() => void> {
    const waits = this.#pending.get(protocol) ?? new Set();
    this.#pending.set(protocol, waits);
    return waits;
  }

  #expire({ rule, peer, deviceIndex, expired, key, waitMs }: Wait, wasPresent: boolean): void {
    if (wasPresent) rule.broken(peer, deviceIndex, () => ({ sinceMs: peer.lastSeenMs - waitMs, ...expired() }), key);
    else rule.undecided(peer);
  }
}
