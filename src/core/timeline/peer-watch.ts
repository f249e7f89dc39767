/** First contacts of peers, and peers that have gone silent: those that poll and have not for several of their intervals. */
import type { Peer } from '../findings/peer.ts';
import type { FindingProtocol } from '../findings/identity.ts';
import type { TimelineSink } from './timeline.ts';

/** A peer is silent after this many of its usual intervals. */
const silentIntervals = 3;
/** Shorter silences are none, ms: ticks measure intervals. */
const minSilenceMs = 10_000;
/** Weight of a new interval in the usual one. */
const weight = 0.3;
/** Intervals that must be known before a silence can be told. */
const minIntervals = 3;

/** Protocols whose peers poll; the others report a lost connection themselves. */
const pollingProtocols: ReadonlySet<FindingProtocol> = new Set(['modbus', 'dnp3']);

export const protocolNames: Readonly<Record<Exclude<FindingProtocol, 'common'>, string>> = {
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

/** A peer that polled and has stopped. */
export interface SilentPeer {
  readonly peer: Peer;
  /** usual time between two requests, ms */
  readonly usualMs: number;
  /** wall time of the last request, ms since the epoch */
  readonly sinceMs: number;
}

interface Watched {
  readonly peer: Peer;
  requests: number;
  /** monotonic */
  lastMs: number;
  lastWallMs: number;
  usualMs: number;
  intervals: number;
  isSilent: boolean;
}

export interface PeerWatchOptions {
  readonly wall: { nowMs(): number; monotonicMs(): number };
  readonly timeline: TimelineSink;
  /** all peers that are remembered */
  readonly peers: () => Iterable<Peer>;
}

export class PeerWatch {
  readonly #options: PeerWatchOptions;
  readonly #watched = new Map<Peer, Watched>();

  constructor(options: PeerWatchOptions) {
    this.#options = options;
  }

  /** Peers that are silent now. */
  get silent(): readonly SilentPeer[] {
    return [...this.#watched.values()]
      .filter(({ isSilent }) => isSilent)
      .map(({ peer, usualMs, lastWallMs }) => ({ peer, usualMs, sinceMs: lastWallMs }));
  }

  /** Looks at all peers; called at each tick. */
  look(): void {
    const { peers, wall } = this.#options;
    const nowMs = wall.monotonicMs();
    for (const peer of peers()) {
      const watched = this.#watched.get(peer);
      if (watched !== undefined) this.#follow(watched, nowMs);
      else if (peer.isValid) this.#meet(peer, nowMs);
    }
    for (const peer of this.#watched.keys()) if (!peer.isListed) this.#watched.delete(peer);
  }

  #meet(peer: Peer, nowMs: number): void {
    this.#watched.set(peer, {
      peer,
      requests: peer.requests,
      lastMs: nowMs,
      lastWallMs: this.#options.wall.nowMs(),
      usualMs: 0,
      intervals: 0,
      isSilent: false,
    });
    this.#tell(peer, 'info', 'First contact', 'came into contact for the first time');
  }

  #follow(watched: Watched, nowMs: number): void {
    const { peer, usualMs } = watched;
    const silenceMs = nowMs - watched.lastMs;
    if (peer.requests !== watched.requests) {
      this.#heard(watched, silenceMs);
      watched.lastMs = nowMs;
      return;
    }
    if (watched.isSilent || watched.intervals < minIntervals || !pollingProtocols.has(peer.identity.protocol)) return;
    if (silenceMs < Math.max(minSilenceMs, silentIntervals * usualMs)) return;
    watched.isSilent = true;
    const lost = peer.openConnections === 0 ? 'has closed its connections and ' : '';
    const usual = `${Math.round(usualMs / 1000)} s`;
    this.#tell(peer, 'warn', 'Peer silent', `${lost}has sent nothing for three of its usual intervals of ${usual}`);
  }

  #heard(watched: Watched, intervalMs: number): void {
    const { peer } = watched;
    watched.requests = peer.requests;
    watched.lastWallMs = this.#options.wall.nowMs();
    if (watched.isSilent) {
      watched.isSilent = false;
      this.#tell(peer, 'info', 'Peer is back', 'sends requests again');
      return;
    }
    watched.usualMs = watched.intervals === 0 ? intervalMs : watched.usualMs + weight * (intervalMs - watched.usualMs);
    watched.intervals += 1;
  }

  #tell({ identity: { protocol, address } }: Peer, level: 'info' | 'warn', title: string, what: string): void {
    const name = protocolNames[protocol];
    const by = { source: protocol, peer: address };
    this.#options.timeline.add({ kind: 'connection', level, title, text: `${name} ${address} ${what}.`, by });
  }
}
