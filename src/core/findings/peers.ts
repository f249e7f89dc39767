/** The peers of all protocols, the names that users give to them, and what becomes of those that are idle longest. */
import { createHash } from 'node:crypto';
import { SimError } from '../errors.ts';
import { Peer } from './peer.ts';
import type { PeerIdentity } from './identity.ts';

export const maxPeers = 500;
export const maxPeerNames = 100;

/** Selects peers of a name. */
export interface PeerMatch {
  readonly protocol: PeerIdentity['protocol'];
  readonly address: string;
  /** absent: with any certificate, or none */
  readonly certificate?: string;
}

/** A name for one or several peers, which then have one report. */
export interface PeerName {
  readonly name: string;
  readonly match: readonly PeerMatch[];
}

/** Peers that have one report. */
export interface PeerGroup {
  /** of the peer, or of its name */
  readonly id: string;
  /** the name given by a user, or the address */
  readonly name: string;
  /** true: a user has given the name */
  readonly isNamed: boolean;
  readonly peers: readonly Peer[];
}

const keyOf = ({ protocol, address, certificate = '' }: PeerIdentity) => `${protocol} ${address} ${certificate}`;

const fits = ({ identity }: Peer, match: PeerMatch) =>
  identity.protocol === match.protocol &&
  identity.address === match.address &&
  (match.certificate === undefined || identity.certificate === match.certificate);

export const maxPeerNameLength = 64;
/** Peers that one name joins. */
export const maxMatches = 32;
export const maxAddressLength = 300;

const idOfName = (name: string) =>
  createHash('sha256')
    .update(JSON.stringify(['name', name]))
    .digest('hex')
    .slice(0, 12);

const isOfName = (name: string, idOrName: string) => idOrName === name || idOrName === idOfName(name);

export class PeerBook {
  readonly #peers = new Map<string, Peer>();
  #names: readonly PeerName[] = [];
  readonly #nowMs: () => number;
  readonly #left: (peer: Peer) => void;
  /** peers that gave their place to others */
  forgotten = 0;

  /** @param left called with a peer that gives its place to another */
  constructor(nowMs: () => number, left: (peer: Peer) => void) {
    this.#nowMs = nowMs;
    this.#left = left;
  }

  get names(): readonly PeerName[] {
    return this.#names;
  }

  /** Peers that have sent a valid request, in the order in which they came. */
  get valid(): readonly Peer[] {
    return [...this.#peers.values()].filter(({ isValid }) => isValid);
  }

  /** All peers, those without a valid request among them, without a copy. */
  get each(): Iterable<Peer> {
    return this.#peers.values();
  }

  /** Number of the others: scanners, browsers, health checks. */
  get strangers(): number {
    return this.#peers.size - this.valid.length;
  }

  of(identity: PeerIdentity): Peer {
    const existing = this.#peers.get(keyOf(identity));
    if (existing !== undefined) return existing;
    return this.list(new Peer(identity, this.#nowMs()));
  }

  /** The peer of the book for one that a connection keeps: it takes a place again if it has lost it, and none else has. */
  listed(peer: Peer): Peer {
    if (peer.isListed) return peer;
    const successor = this.#peers.get(keyOf(peer.identity));
    if (successor === undefined) return this.list(peer);
    successor.isValid ||= peer.isValid;
    successor.hasWritten ||= peer.hasWritten;
    return successor;
  }

  /** The groups of all valid peers: one of each name that fits a peer, and one of each peer without a name. */
  groups(): readonly PeerGroup[] {
    const { valid } = this;
    const named = this.#names.map(({ name, match }) => ({
      id: idOfName(name),
      name,
      isNamed: true,
      peers: valid.filter((peer) => match.some((one) => fits(peer, one))),
    }));
    const unnamed = valid
      .filter((peer) => this.nameOf(peer) === null)
      .map((peer) => ({ id: peer.id, name: peer.identity.address, isNamed: false, peers: [peer] }));
    return [...named.filter(({ peers }) => peers.length > 0), ...unnamed];
  }

  /** The group with this id or name, or that of the peer with this id. An address that several groups have is no name. */
  group(idOrName: string): PeerGroup | undefined {
    const groups = this.groups();
    const called = groups.filter(({ name }) => name === idOrName);
    return (
      groups.find(({ id, peers }) => id === idOrName || peers.some((peer) => peer.id === idOrName)) ??
      called.find(({ isNamed }) => isNamed) ??
      (called.length === 1 ? called[0] : undefined)
    );
  }

  /** True if this is an id or a name of the peer, or of its group. */
  isCalled(peer: Peer, idOrName: string): boolean {
    const name = this.nameOf(peer);
    return idOrName === peer.id || (name === null ? idOrName === peer.identity.address : isOfName(name, idOrName));
  }

  nameOf(peer: Peer): string | null {
    return this.#names.find(({ match }) => match.some((one) => fits(peer, one)))?.name ?? null;
  }

  /** Sets the peers of a name; without matches the name ends. @throws SimError COMMAND_CONFLICT */
  setName({ name, match }: PeerName): void {
    const others = this.#names.filter((one) => one.name !== name);
    if (match.length > 0 && others.length >= maxPeerNames)
      throw new SimError('COMMAND_CONFLICT', `there are ${maxPeerNames} names of peers; remove one first`);
    const taken = others.find((one) => one.match.some((a) => match.some((b) => overlap(a, b))));
    if (taken !== undefined)
      throw new SimError('COMMAND_CONFLICT', `the peer has the name ${JSON.stringify(taken.name)} already`);
    this.#names = match.length === 0 ? others : [...others, { name, match }];
  }

  /** Gives a peer a place in the book. */
  list(peer: Peer): Peer {
    if (this.#peers.size >= maxPeers) this.#forgetOne();
    peer.isListed = true;
    this.#peers.set(keyOf(peer.identity), peer);
    return peer;
  }

  /**
   * Forgets the peer that is idle longest: of the strangers without a connection, else of all without one. If all have
   * a connection, the one with the fewest requests: a crowd of new ones does not drive out those that work.
   */
  #forgetOne(): void {
    const all = [...this.#peers.values()];
    const idle = all.filter(({ openConnections }) => openConnections === 0);
    const strangers = idle.filter(({ isValid }) => !isValid);
    const candidates = [strangers, idle, all].find(({ length }) => length > 0) ?? [];
    const worthOf = ({ lastSeenMs, requests }: Peer) => (candidates === all ? requests : lastSeenMs);
    const [first, ...rest] = candidates;
    if (first === undefined) return;
    const least = rest.reduce((a, b) => (worthOf(b) < worthOf(a) ? b : a), first);
    this.#peers.delete(keyOf(least.identity));
    least.isListed = false;
    this.forgotten += 1;
    this.#left(least);
  }
}

const overlap = (a: PeerMatch, b: PeerMatch) =>
  a.protocol === b.protocol &&
  a.address === b.address &&
  (a.certificate === undefined || b.certificate === undefined || a.certificate === b.certificate);
