/** A listener with one outstation on a free port, whose wall clock is moved by hand. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { silentLogger } from '../../../src/core/log/log.ts';
import { PeerLimitedLog } from '../../../src/core/log/limited-log.ts';
import { KeptPorts } from '../../../src/core/net/kept-ports.ts';
import { Sweeper } from '../../../src/core/net/sweeper.ts';
import { LoopQueue } from '../../../src/core/turns.ts';
import { serverLimits } from '../../../src/dnp3/server/context.ts';
import type { ServedOutstation, ServerContext } from '../../../src/dnp3/server/context.ts';
import { Dnp3Listener } from '../../../src/dnp3/server/listener.ts';
import { HandWall } from '../../support/wall.ts';
import { TestMaster } from '../rig/master.ts';
import { Stack, spec } from '../rig/stack.ts';
import type { StackOptions } from '../rig/stack.ts';

export const turn = () => new Promise((resolve) => setImmediate(resolve));

export class ListenerRig {
  readonly wall = new HandWall();
  readonly stack: Stack;
  readonly context: ServerContext;
  readonly turns = new LoopQueue();
  readonly listener: Dnp3Listener;
  /** lines of the log about errors */
  readonly errors: string[] = [];
  /** the device is off */
  silent = false;
  readonly #sockets: Socket[] = [];

  private constructor(options: Partial<StackOptions>) {
    const { masters = [4], unsolicited = false } = options;
    this.stack = new Stack({ specs: [spec('binaryInput', 0)], ...options });
    for (const master of masters) this.stack.disconnect(master);
    this.context = {
      clock: this.wall,
      logger: { ...silentLogger, error: (line: string) => this.errors.push(line) },
      sweeper: new Sweeper(),
      ports: new KeptPorts({ log: silentLogger, clock: this.wall, later: () => () => undefined }),
      turns: this.turns,
      limits: serverLimits,
      tls: null,
      log: new PeerLimitedLog(silentLogger, this.wall, 'lines', () => () => undefined),
      counters: {
        connections: 0,
        refusedConnections: 0,
        handshakeFailures: 0,
        framesIn: 0,
        framesOut: 0,
        badFrames: 0,
        lastError: null,
        lastFrameMs: null,
      },
      wantsFragments: () => false,
      onFragment: () => undefined,
    };
    const isSilent = () => this.silent;
    const { stack } = this;
    const outstation: ServedOutstation = {
      address: 1,
      deviceIndex: 0,
      listeningMasters: unsolicited ? masters : [],
      associationOf: (master) => stack.outstation.association(master),
      get isSilent() {
        return isSilent();
      },
    };
    this.listener = new Dnp3Listener({
      host: '127.0.0.1',
      port: 0,
      context: this.context,
      deviceIndex: 0,
      routes: { outstation: (address) => (address === 1 ? outstation : undefined), all: () => [outstation] },
    });
  }

  static async open(options: Partial<StackOptions> = {}): Promise<ListenerRig> {
    const rig = new ListenerRig(options);
    await rig.listener.listen();
    return rig;
  }

  /** A connection that the listener has accepted. @param localAddress of the loopback network */
  async socket(localAddress = '127.0.0.1'): Promise<Socket> {
    const { counters } = this.context;
    const before = counters.connections + counters.refusedConnections;
    const socket = connect({ port: this.listener.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    this.#sockets.push(socket);
    await once(socket, 'connect');
    while (counters.connections + counters.refusedConnections === before) await turn();
    return socket;
  }

  async master(address = 4): Promise<TestMaster> {
    return TestMaster.connect({ port: this.listener.port, address, socket: await this.socket() });
  }

  /** Time passes, and the limits of time are looked at. */
  pass(ms: number): void {
    this.wall.advance(ms);
    this.context.sweeper.sweep();
  }

  /** Resolves when so many frames have come in. */
  async framesIn(count: number): Promise<void> {
    while (this.context.counters.framesIn < count) await turn();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.listener.close();
  }
}
