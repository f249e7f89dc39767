/** The transport of one station on a real socket, with a clock and timers that a test moves. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { OcppSubprotocol } from '../../../src/contract/ocpp.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import { contextMaker } from '../../../src/ocpp/rpc/credentials.ts';
import type { Credentials } from '../../../src/ocpp/rpc/credentials.ts';
import { noDisturber } from '../../../src/ocpp/rpc/model.ts';
import type { ConnectFailure } from '../../../src/ocpp/rpc/socket.ts';
import type { CallHandler, LineClosed, LineOpened, PayloadIssue } from '../../../src/ocpp/rpc/model.ts';
import { payloadChecks } from '../../../src/ocpp/rpc/schemas.ts';
import { createTransport } from '../../../src/ocpp/rpc/transport.ts';
import type { Transport, TransportOptions } from '../../../src/ocpp/rpc/transport.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { Central } from '../central/central.ts';
import type { CentralOptions } from '../central/central.ts';
import { Mailbox } from '../central/station.ts';
import type { CentralConnection, CentralStation } from '../central/station.ts';

export const noCredentials: Credentials = { securityProfile: 0, password: null, rootCert: null, own: null };

export interface RigOptions extends Partial<Omit<TransportOptions, 'credentials' | 'target'>> {
  readonly credentials?: Partial<Credentials>;
  readonly subprotocols?: readonly OcppSubprotocol[];
  readonly guarded?: boolean;
}

export interface Violated extends PayloadIssue {
  readonly action: string | null;
  readonly messageId: string | null;
}

export interface Broken {
  readonly clause: string;
  readonly text: string;
  readonly action: string | null;
  readonly messageId: string | null;
}

export class TransportRig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly wireLog = new WireLog({
    clock: this.wall,
    sim: () => simTimeFromMs(this.wall.nowMs()),
    log: { error: () => undefined },
  });
  readonly lines: string[] = [];
  readonly opened = new Mailbox<LineOpened>();
  readonly closed = new Mailbox<LineClosed>();
  readonly failed = new Mailbox<ConnectFailure>();
  readonly credentials = new Mailbox<readonly ['proven' | 'reverted', Credentials]>();
  readonly violated: Violated[] = [];
  readonly broken: Broken[] = [];
  readonly refused: (readonly [string, string, string])[] = [];
  /** calls of the central system that reached their handler */
  readonly handled: string[] = [];
  handle: CallHandler = () => ({ status: 'Accepted' });
  readonly transport: Transport;

  constructor(
    url: string,
    { credentials, subprotocols = ['ocpp1.6'], guarded = false, events, ...more }: RigOptions = {},
  ) {
    const log = (line: string) => {
      this.lines.push(line);
    };
    this.transport = createTransport({
      identity: 'CP-1',
      deviceIndex: 0,
      target: { url, subprotocols, guarded },
      credentials: { ...noCredentials, ...credentials },
      contexts: contextMaker(),
      clock: this.wall,
      later: this.timers.later,
      random: { next: () => 0.5 },
      log: { info: log, warning: log, error: log },
      disturber: noDisturber,
      wireLog: this.wireLog,
      schemas: payloadChecks,
      pingIntervalS: 0,
      handle: (action, payload, after) => {
        this.handled.push(action);
        return this.handle(action, payload, after);
      },
      events: {
        opened: (event) => {
          this.opened.put(event);
        },
        closed: (event) => {
          this.closed.put(event);
        },
        failed: (failure) => {
          this.failed.put(failure);
        },
        credentials: (outcome, inForce) => {
          this.credentials.put([outcome, inForce]);
        },
        violated: (violation, action, messageId) => {
          this.violated.push({ ...violation, action, messageId });
        },
        broken: ({ clause, text, action, messageId }) => {
          this.broken.push({ clause, text, action, messageId });
        },
        resultRefused: (...about) => {
          this.refused.push(about);
        },
        ...events,
      },
      ...more,
    });
  }

  get link() {
    return this.transport.link;
  }

  get line() {
    return this.transport.line;
  }

  /** Connects, and waits until the connection is open. */
  async connect(): Promise<LineOpened> {
    this.link.connect();
    return this.opened.take();
  }

  /** Lets the wait before the next attempt pass, which it returns in ms. */
  passWait(): number {
    const ms = (this.link.reconnectInS ?? NaN) * 1000;
    this.timers.pass(ms);
    return ms;
  }

  /** Frames of a kind and direction so far. */
  count(direction: 'in' | 'out', type: string): number {
    return (
      this.transport.counters.messages.find((each) => each.direction === direction && each.type === type)?.count ?? 0
    );
  }
}

/** Turns of the event loop until something has come about that no event tells. */
export async function until(done: () => boolean): Promise<void> {
  for (let turns = 0; !done() && turns < 20_000; turns += 1) await nextTurn();
  expect(done()).to.equal(true);
}

/** A central system to which anything may be sent, and which may send anything. */
export function openCentral(options: CentralOptions = {}): Promise<Central> {
  return Central.open({ wrong: () => undefined, ...options });
}

export interface Connected {
  readonly rig: TransportRig;
  readonly station: CentralStation;
  readonly connection: CentralConnection;
}

/** A central system made anew for each test, and the stations of this test, which end with it. */
export interface Stage {
  readonly central: Central;
  readonly rigOn: (url: string, options?: RigOptions) => TransportRig;
  /** A station that is connected to the central system. */
  readonly connected: (options?: RigOptions) => Promise<Connected>;
}

/** To be called within `describe`. */
export function useCentral(options?: CentralOptions): Stage {
  let central: Central;
  let rigs: TransportRig[] = [];
  beforeEach(async () => {
    central = await openCentral(options);
  });
  afterEach(async () => {
    await Promise.all(rigs.map(({ transport }) => transport.stop()));
    rigs = [];
    await central.close();
  });
  const rigOn = (url: string, given?: RigOptions) => {
    const rig = new TransportRig(url, given);
    rigs.push(rig);
    return rig;
  };
  return {
    get central() {
      return central;
    },
    rigOn,
    async connected(given) {
      const rig = rigOn(central.url, given);
      await rig.connect();
      const station = central.station(given?.identity ?? 'CP-1');
      return { rig, station, connection: await station.nextConnection() };
    },
  };
}
