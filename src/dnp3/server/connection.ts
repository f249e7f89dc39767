/** One TCP or TLS connection: frames from octets, a link session for each pair of addresses, fragments for associations. */
import type { Socket } from 'node:net';
import { peerOf } from '../../core/net/listen.ts';
import type { Swept } from '../../core/net/sweeper.ts';
import {
  linkAddress,
  linkBit,
  LinkParser,
  beginsTransaction,
  carriesUserData,
  isBroadcast,
  isStationAddress,
  LinkSession,
} from '../stack/link.ts';
import type { LinkFrame } from '../stack/link.ts';
import type { AssociationPort, Cast, Session } from '../stack/outstation/types.ts';
import { Reassembler, Segmenter } from '../stack/transport.ts';
import { mayUse } from './context.ts';
import type { PeerIdentity, Routes, ServedOutstation, ServerContext } from './context.ts';
import type { LoopQueue } from '../../core/turns.ts';

/** Time in one turn after which the rest waits behind other connections. */
const msPerTurn = 2;

interface InboxOptions {
  /** shared by all connections */
  readonly turns: LoopQueue;
  readonly monotonicMs: () => number;
  /** stops and resumes reading, so that the waiting octets are bounded by one arrival */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Octets received on one connection, handled in order and with a share of each turn of the event loop. */
export class Inbox {
  readonly #options: InboxOptions;
  #work: (() => void)[] = [];
  #isWaiting = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Carries work out behind all that waits, within the call where there is time. */
  add(...work: readonly (() => void)[]): void {
    this.#work.push(...work);
    if (this.#isWaiting) return;
    if (this.#options.turns.isUsedUp) this.#wait();
    else this.#run();
  }

  /** Called by work under way: its parts come before all that waits. */
  split(parts: readonly (() => void)[]): void {
    this.#work = [...parts, ...this.#work];
  }

  /** Drops all that waits. */
  clear(): void {
    this.#work = [];
  }

  #run(): void {
    const { turns, monotonicMs } = this.#options;
    const begunMs = monotonicMs();
    let tookMs = 0;
    while (tookMs < msPerTurn) {
      const work = this.#work.shift();
      if (work === undefined) break;
      work();
      tookMs = monotonicMs() - begunMs;
    }
    turns.spent(tookMs);
    if (this.#work.length > 0) this.#wait();
  }

  #wait(): void {
    this.#isWaiting = true;
    this.#options.pause();
    this.#options.turns.wait(() => {
      this.#isWaiting = false;
      this.#run();
      // it may have to wait again
      if (this.#work.length === 0) this.#options.resume();
    });
  }
}

const castOf: Readonly<Record<number, Cast>> = {
  [linkAddress.broadcastNoConfirm]: 'broadcast-no-confirm',
  [linkAddress.broadcastConfirm]: 'broadcast-confirm',
  [linkAddress.broadcastConfirmOptional]: 'broadcast-confirm-optional',
};

/** A master and an outstation that talk on this connection. */
interface Pair {
  readonly outstation: ServedOutstation;
  readonly association: AssociationPort;
  readonly link: LinkSession;
  readonly reassembler: Reassembler;
  readonly session: Session;
}

const keyOf = (outstation: number, master: number) => `${outstation} ${master}`;

export interface ConnectionOwner {
  readonly context: ServerContext;
  readonly routes: Routes;
  closed(connection: Connection): void;
}

export class Connection implements Swept {
  readonly peer: string;
  /** without port */
  readonly address: string;
  readonly connectedAtMs: number;
  /** null: in clear */
  readonly identity: PeerIdentity | null;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser = new LinkParser();
  readonly #inbox: Inbox;
  readonly #pairs = new Map<string, Pair>();
  /** of broadcasts, by source */
  readonly #broadcasts = new Map<number, Reassembler>();
  /** last frame of a master that is served here, monotonic ms */
  #lastMs: number;
  #hasSpoken = false;
  /** the status of the link has been asked for; monotonic ms */
  #statusRequestMs: number | null = null;
  #badFrames = 0;

  constructor(owner: ConnectionOwner, socket: Socket, identity: PeerIdentity | null) {
    this.#owner = owner;
    this.#socket = socket;
    this.identity = identity;
    this.peer = peerOf(socket);
    this.address = socket.remoteAddress ?? '';
    this.connectedAtMs = owner.context.clock.nowMs();
    this.#lastMs = owner.context.clock.monotonicMs();
    owner.context.sweeper.add(this);
    this.#inbox = new Inbox({
      turns: owner.context.turns,
      monotonicMs: () => owner.context.clock.monotonicMs(),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    });
    socket.on('data', (octets: Buffer) => {
      this.#take(octets);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended();
    });
  }

  /** True if a master is served here that has spoken: the connection keeps its place. */
  get hasMaster(): boolean {
    return this.#hasSpoken && this.#pairs.size > 0;
  }

  /** Ends at once: a new connection needs the place. */
  giveWay(): void {
    this.#close('no master has spoken, and all places are taken');
  }

  /** Addresses of masters that have spoken. */
  get masters(): readonly number[] {
    return [...new Set([...this.#pairs.values()].map(({ association }) => association.masterAddress))];
  }

  /**
   * A master may listen first: where only one can be meant, it is served without a word of it. It does not take the place
   * of a connection that is open, since it has not shown who it is; that one is asked whether it still lives.
   */
  greet(): void {
    const [association, outstation] = this.#onlyListener() ?? [];
    if (association === undefined || outstation === undefined) return;
    if (association.session === null) this.#pairOf(outstation.address, association.masterAddress);
    else association.session.probe();
  }

  /** Ends once the waiting octets are sent. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  sweep(): void {
    const { clock, limits } = this.#owner.context;
    const nowMs = clock.monotonicMs();
    if (this.#statusRequestMs !== null) {
      if (nowMs - this.#statusRequestMs >= limits.answerMs) this.#close('it does not answer');
      return;
    }
    if (this.#pairs.size === 0) this.#sweepUnused(nowMs);
    else if (nowMs - this.#lastMs >= limits.keepAliveMs) this.#askForStatus();
  }

  /** A connection without a master: the place of the one that listens may have become free. */
  #sweepUnused(nowMs: number): void {
    const { answerMs } = this.#owner.context.limits;
    const only = this.#onlyListener();
    if (only?.[0].session === null) this.greet();
    // the answer of the connection that is asked has to be waited for
    else if (nowMs - this.#lastMs >= (only === null ? answerMs : 2 * answerMs)) this.#close('no master has spoken');
  }

  /** Asks the masters of this connection whether they are still there; any frame is an answer. */
  #askForStatus(): void {
    const awake = [...this.#pairs.values()].filter(({ outstation }) => !outstation.isSilent);
    if (awake.length === 0 || this.#statusRequestMs !== null) return;
    this.#statusRequestMs = this.#owner.context.clock.monotonicMs();
    for (const { link } of awake) link.requestStatus();
  }

  /** The master that alone can be meant by this connection, where unsolicited responses are configured; null: none. */
  #onlyListener(): readonly [AssociationPort, ServedOutstation] | null {
    const [outstation, ...others] = this.#owner.routes.all();
    if (outstation === undefined || others.length > 0) return null;
    const [master, ...further] = outstation.listeningMasters.filter((each) => this.#admits(each));
    if (master === undefined || further.length > 0) return null;
    const association = outstation.associationOf(master);
    return association === null ? null : [association, outstation];
  }

  /** Ends the sessions of a removed outstation on this connection, and the connection after its last session. */
  forget(outstation: ServedOutstation): void {
    for (const [key, pair] of this.#pairs) {
      if (pair.outstation !== outstation) continue;
      this.#pairs.delete(key);
      pair.association.close(pair.session);
      if (this.#pairs.size === 0) this.end();
    }
  }

  #close(reason: string): void {
    this.#owner.context.log.info(this.peer, () => `${this.peer} closed: ${reason}`);
    this.destroy();
  }

  #ended(): void {
    this.#owner.context.sweeper.delete(this);
    this.#inbox.clear();
    const { log } = this.#owner.context;
    for (const { association, session, outstation } of this.#pairs.values()) {
      association.close(session);
      const { masterAddress } = association;
      log.info(this.peer, () => `master ${masterAddress} disconnected from ${this.peer}`, outstation.deviceIndex);
    }
    this.#pairs.clear();
    this.#owner.closed(this);
  }

  #take(octets: Buffer): void {
    const { counters, clock } = this.#owner.context;
    const frames = this.#parser.push(octets);
    const { headerCrc, blockCrc, length } = this.#parser.counts;
    const bad = headerCrc + blockCrc + length;
    counters.badFrames += bad - this.#badFrames;
    this.#badFrames = bad;
    if (frames.length === 0) return;
    counters.framesIn += frames.length;
    counters.lastFrameMs = clock.nowMs();
    this.#inbox.add(...frames.map((frame) => () => this.#takeFrame(frame)));
  }

  /** Notes activity of a served master; other peers keep no connection open. */
  #noteFrame(): void {
    this.#lastMs = this.#owner.context.clock.monotonicMs();
    this.#statusRequestMs = null;
    this.#hasSpoken = true;
  }

  #takeFrame(frame: LinkFrame): void {
    // an answer may have closed the connection
    if (this.#socket.destroyed) return;
    const { control, destination, source } = frame;
    if ((control & linkBit.fromMaster) === 0 || !isStationAddress(source)) return;
    if (isBroadcast(destination)) {
      this.#takeBroadcast(frame);
      return;
    }
    // a link answer on a new connection has no question before it: it takes no master's place
    const pair = beginsTransaction(control)
      ? this.#pairOf(destination, source)
      : this.#pairs.get(keyOf(destination, source));
    if (pair === undefined) return;
    this.#noteFrame();
    if (pair.outstation.isSilent) return;
    const segment = pair.link.take(frame);
    if (segment === null) return;
    const fragment = pair.reassembler.push(segment);
    if (fragment === null) return;
    this.#recordFragment('in', pair, fragment);
    pair.association.receive(fragment, 'unicast');
  }

  /** Broadcasts are user data only, and get no answer at any layer. */
  #takeBroadcast(frame: LinkFrame): void {
    if (!carriesUserData(frame)) return;
    const { source, destination } = frame;
    const served = [...this.#owner.routes.all()].filter(
      (each) => !each.isSilent && this.#admits(source) && each.associationOf(source) !== null,
    );
    if (served.length === 0) return;
    this.#noteFrame();
    let reassembler = this.#broadcasts.get(source);
    if (reassembler === undefined) this.#broadcasts.set(source, (reassembler = new Reassembler()));
    const fragment = reassembler.push(frame.data);
    const cast = castOf[destination];
    if (fragment === null || cast === undefined) return;
    this.#inbox.split(
      served.map((outstation) => () => {
        const association = outstation.associationOf(source);
        const { address } = outstation;
        // it may have left, or been switched off, while this waited for its turn
        const isServed = this.#owner.routes.outstation(address) === outstation && !outstation.isSilent;
        if (association === null || !isServed) return;
        this.#recordFragment('in', { outstation, association }, fragment);
        association.receive(fragment, cast, `${source}@${this.peer}`);
      }),
    );
  }

  #admits(master: number): boolean {
    const { tls } = this.#owner.context;
    return tls === null || this.identity === null || mayUse(tls.allowed, this.identity, master);
  }

  #pairOf(destination: number, source: number): Pair | undefined {
    const key = keyOf(destination, source);
    const existingPair = this.#pairs.get(key);
    if (existingPair !== undefined) return existingPair;
    const { routes, context } = this.#owner;
    const outstation = routes.outstation(destination);
    const association = outstation?.associationOf(source) ?? null;
    if (outstation === undefined || association === null) {
      context.log.info(
        this.peer,
        () => `${this.peer}: nothing is served for master ${source} at address ${destination}`,
      );
      return undefined;
    }
    if (this.#pairs.size >= context.limits.pairs) {
      context.log.info(this.peer, () => `${this.peer}: a connection serves ${this.#pairs.size} pairs of addresses`);
      return undefined;
    }
    if (!this.#admits(source)) {
      const { subject = '' } = this.identity ?? {};
      context.log.info(this.peer, () => `${this.peer}: the certificate ${subject} is not bound to address ${source}`);
      return undefined;
    }
    const pair = this.#open(outstation, association, source);
    this.#pairs.set(key, pair);
    association.open(pair.session);
    context.log.info(this.peer, () => `master ${source} connected from ${this.peer}`, outstation.deviceIndex);
    return pair;
  }

  #open(outstation: ServedOutstation, association: AssociationPort, master: number): Pair {
    const segmenter = new Segmenter({ destination: master, source: outstation.address });
    const session: Session = {
      peer: `${master}@${this.peer}`,
      send: (fragment, { badCrc } = { badCrc: false }) => {
        if (outstation.isSilent) return;
        this.#recordFragment('out', pair, fragment);
        const frames = segmenter.frames(fragment);
        this.#write(badCrc ? frames.map(withBadCrc) : frames);
      },
      replaced: () => {
        this.#owner.context.log.info(
          this.peer,
          () => `master ${master} has connected again: its connection from ${this.peer} ends`,
          outstation.deviceIndex,
        );
        this.#pairs.delete(keyOf(outstation.address, master));
        if (this.#pairs.size === 0) this.destroy();
      },
      probe: () => {
        this.#askForStatus();
      },
    };
    const link = new LinkSession({
      outstation: outstation.address,
      master,
      send: (frame) => {
        this.#write([frame]);
      },
    });
    const pair: Pair = { outstation, association, link, reassembler: new Reassembler(), session };
    return pair;
  }

  #write(frames: readonly Buffer[]): void {
    const { counters, limits } = this.#owner.context;
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength > limits.unsentBytes) {
      this.#close('it does not take its answers');
      return;
    }
    counters.framesOut += frames.length;
    this.#socket.write(frames.length === 1 && frames[0] ? frames[0] : Buffer.concat(frames));
  }

  #recordFragment(
    direction: 'in' | 'out',
    { outstation, association }: Pick<Pair, 'outstation' | 'association'>,
    octets: Buffer,
  ): void {
    const { context } = this.#owner;
    if (!context.wantsFragments()) return;
    const { deviceIndex, address } = outstation;
    const { masterAddress: master } = association;
    context.onFragment({ direction, peer: `${master}@${this.peer}`, deviceIndex, outstation: address, master, octets });
  }
}

/** The frame with its last checksum inverted. */
function withBadCrc(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy[copy.length - 1] = (copy[copy.length - 1] ?? 0) ^ 0xff;
  return copy;
}
