/** One TCP or TLS connection: frames from octets, a link session for each pair of addresses, fragments for associations. */
import type { Socket } from 'node:net';
import { errorText } from '../../core/errors.ts';
import { peerOf } from '../../core/net/listen.ts';
import type { Swept } from '../../core/net/sweeper.ts';
import type { LinkJudge } from '../findings/link.ts';
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

/** Time in one turn of the event loop after which a connection waits behind the others. */
const msPerTurn = 2;

interface InboxOptions {
  /** shared by all connections */
  readonly turns: LoopQueue;
  readonly monotonicMs: () => number;
  /** pauses reading, so that no octets arrive behind the waiting ones */
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

  /** Adds work behind all waiting work; it runs within the call if the turn has time. */
  add(...work: readonly (() => void)[]): void {
    this.#work.push(...work);
    if (this.#isWaiting) return;
    if (this.#options.turns.isUsedUp) this.#wait();
    else this.#run();
  }

  /** Called by running work: puts its parts before all waiting work. */
  split(parts: readonly (() => void)[]): void {
    this.#work = [...parts, ...this.#work];
  }

  /** Drops all waiting work. */
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
      // `#run` may wait for another turn
      if (this.#work.length === 0) this.#options.resume();
    });
  }
}

const castOf: Readonly<Record<number, Cast>> = {
  [linkAddress.broadcastNoConfirm]: 'broadcast-no-confirm',
  [linkAddress.broadcastConfirm]: 'broadcast-confirm',
  [linkAddress.broadcastConfirmOptional]: 'broadcast-confirm-optional',
};

/** A master and an outstation that communicate on this connection. */
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
  /** the device that lines of the log are about; undefined: several */
  readonly deviceIndex: number | undefined;
  closed(connection: Connection): void;
}

export class Connection implements Swept {
  readonly peer: string;
  /** `peer` without port */
  readonly address: string;
  readonly connectedAtMs: number;
  /** null: without TLS */
  readonly identity: PeerIdentity | null;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser = new LinkParser();
  readonly #inbox: Inbox;
  readonly #pairs = new Map<string, Pair>();
  /** for broadcasts, by source */
  readonly #broadcasts = new Map<number, Reassembler>();
  /** monotonic ms of the last frame of a served master, at first of the connection */
  #lastMs: number;
  #hasSpoken = false;
  /** monotonic ms of a REQUEST_LINK_STATUS without answer; null: none */
  #statusRequestMs: number | null = null;
  #countedBadFrames = 0;
  readonly #judge: LinkJudge | undefined;
  #isEndedHere = false;

  constructor(owner: ConnectionOwner, socket: Socket, identity: PeerIdentity | null) {
    this.#owner = owner;
    this.#socket = socket;
    this.identity = identity;
    this.peer = peerOf(socket);
    this.address = socket.remoteAddress ?? '';
    this.connectedAtMs = owner.context.clock.nowMs();
    this.#lastMs = owner.context.clock.monotonicMs();
    this.#judge = owner.context.judges?.linkOf(this.peer, identity?.subject ?? null);
    owner.context.sweeper.add(this);
    this.#inbox = new Inbox({
      turns: owner.context.turns,
      monotonicMs: () => owner.context.clock.monotonicMs(),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    });
    socket.on('data', (octets: Buffer) => {
      this.#receive(octets);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#onClose();
    });
  }

  /** True if the connection serves a master and has received a frame of one: new connections do not replace it. */
  get hasMaster(): boolean {
    return this.#hasSpoken && this.#pairs.size > 0;
  }

  /** Ends at once, to make room for a new connection. */
  giveWay(): void {
    this.#close('no master has spoken, and all places are taken');
  }

  /** Addresses of the masters that this connection serves. */
  get masters(): readonly number[] {
    return [...new Set([...this.#pairs.values()].map(({ association }) => association.masterAddress))];
  }

  /**
   * Serves the master before its first frame if only one is possible, because it may wait for unsolicited responses. An
   * open connection of this master stays, because the new peer is not identified yet; it is asked for its link status.
   */
  greet(): void {
    const [association, outstation] = this.#onlyListener() ?? [];
    if (association === undefined || outstation === undefined) return;
    if (association.session === null) this.#ensurePair(outstation.address, association.masterAddress);
    else association.session.probe();
  }

  /** Ends once the waiting octets are sent. */
  end(): void {
    this.#isEndedHere = true;
    this.#socket.end();
  }

  destroy(): void {
    this.#isEndedHere = true;
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

  /** Handles a connection that serves no master: the former connection of the listening master may have ended. */
  #sweepUnused(nowMs: number): void {
    const { answerMs } = this.#owner.context.limits;
    const only = this.#onlyListener();
    if (only?.[0].session === null) this.greet();
    // the former connection has `answerMs` for its link status first
    else if (nowMs - this.#lastMs >= (only === null ? answerMs : 2 * answerMs)) this.#close('no master has spoken');
  }

  /** Asks the masters of this connection whether they are still there; any frame is an answer. */
  #askForStatus(): void {
    const poweredPairs = [...this.#pairs.values()].filter(({ outstation }) => !outstation.isSilent);
    if (poweredPairs.length === 0 || this.#statusRequestMs !== null) return;
    this.#statusRequestMs = this.#owner.context.clock.monotonicMs();
    for (const { link } of poweredPairs) link.requestStatus();
  }

  /** The only listening master that this connection can be of, with its outstation; null: none, or several. */
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

  #onClose(): void {
    this.#owner.context.sweeper.delete(this);
    this.#inbox.clear();
    const { log } = this.#owner.context;
    for (const { association, session, outstation } of this.#pairs.values()) {
      association.close(session);
      const { masterAddress } = association;
      log.info(this.peer, () => `master ${masterAddress} disconnected from ${this.peer}`, outstation.deviceIndex);
    }
    this.#pairs.clear();
    this.#judge?.closed(!this.#isEndedHere);
    this.#owner.closed(this);
  }

  #receive(octets: Buffer): void {
    const { counters, clock } = this.#owner.context;
    const frames = this.#parser.push(octets);
    const { headerCrc, blockCrc, length } = this.#parser.counts;
    const bad = headerCrc + blockCrc + length;
    const newlyBad = bad - this.#countedBadFrames;
    counters.badFrames += newlyBad;
    if (newlyBad > 0)
      counters.lastError = { text: `a frame of ${this.peer} has a wrong CRC or length`, atMs: clock.nowMs() };
    this.#countedBadFrames = bad;
    this.#judge?.received(newlyBad, frames.length);
    if (frames.length === 0) return;
    counters.framesIn += frames.length;
    counters.lastFrameMs = clock.nowMs();
    this.#inbox.add(
      ...frames.map((frame) => () => {
        this.#guard(() => this.#receiveFrame(frame));
      }),
    );
  }

  /** Ends this connection alone if `serve` throws: an error that leaves the socket's callback would end the process. */
  #guard(serve: () => void): void {
    try {
      serve();
    } catch (error) {
      const { logger } = this.#owner.context;
      logger.error(`a frame of ${this.peer} failed, its connection ends: ${errorText(error)}`, this.#owner.deviceIndex);
      this.destroy();
    }
  }

  /** Notes a frame of a served master; frames of others do not keep a connection open. */
  #noteFrame(): void {
    this.#lastMs = this.#owner.context.clock.monotonicMs();
    this.#statusRequestMs = null;
    this.#hasSpoken = true;
  }

  #receiveFrame(frame: LinkFrame): void {
    // the answer to an earlier frame may have closed the connection
    if (this.#socket.destroyed) return;
    const { control, destination, source } = frame;
    if ((control & linkBit.fromMaster) === 0 || !isStationAddress(source)) return;
    if (isBroadcast(destination)) {
      this.#receiveBroadcast(frame);
      return;
    }
    // a link answer opens no session, which would replace the connection of the master
    const pair = beginsTransaction(control)
      ? this.#ensurePair(destination, source)
      : this.#pairs.get(keyOf(destination, source));
    if (pair === undefined) return;
    this.#noteFrame();
    if (pair.outstation.isSilent) {
      this.#judge?.lost(source);
      return;
    }
    if (carriesUserData(frame)) this.#judge?.carried(source, control);
    const segment = pair.link.take(frame);
    if (segment === null) return;
    const { reassembler } = pair;
    const { lost } = reassembler;
    const fragment = reassembler.push(segment);
    if (reassembler.lost !== lost) this.#judge?.lost(source);
    if (fragment === null) return;
    this.#recordFragment('in', pair, fragment);
    pair.association.receive(fragment, 'unicast');
  }

  /** Broadcasts are user data only, and get no answer at any layer. */
  #receiveBroadcast(frame: LinkFrame): void {
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
        this.#guard(() => this.#deliver(outstation, source, fragment, cast));
      }),
    );
  }

  /** Hands a broadcast to one outstation, which may have been removed or switched off since. */
  #deliver(outstation: ServedOutstation, source: number, fragment: Buffer, cast: Cast): void {
    const association = outstation.associationOf(source);
    const { address } = outstation;
    const isServed = this.#owner.routes.outstation(address) === outstation && !outstation.isSilent;
    if (association === null || !isServed) return;
    this.#recordFragment('in', { outstation, association }, fragment);
    association.receive(fragment, cast, `${source}@${this.peer}`);
  }

  #admits(master: number): boolean {
    const { tls } = this.#owner.context;
    return tls === null || this.identity === null || mayUse(tls.allowed, this.identity, master);
  }

  #ensurePair(destination: number, source: number): Pair | undefined {
    const key = keyOf(destination, source);
    const existingPair = this.#pairs.get(key);
    if (existingPair !== undefined) return existingPair;
    const { routes, context } = this.#owner;
    const outstation = routes.outstation(destination);
    const association = outstation?.associationOf(source) ?? null;
    if (outstation === undefined) this.#judge?.strayed(source, destination);
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
    this.#judge?.joined(source, destination);
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
      this.#close('it does not read its answers');
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

/** The frame with a wrong last checksum. */
function withBadCrc(frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy[copy.length - 1] = (copy[copy.length - 1] ?? 0) ^ 0xff;
  return copy;
}
