import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import { PeerLimitedLog } from '../../../src/core/log/peer-limited-log.ts';
import { Sweeper } from '../../../src/core/net/sweeper.ts';
import { serverLimits } from '../../../src/dnp3/server/context.ts';
import type { ServerContext } from '../../../src/dnp3/server/context.ts';
import { Dnp3Listener } from '../../../src/dnp3/server/listener.ts';
import { HandWall } from '../../support/wall.ts';
import { hex } from '../rig/frames.ts';
import { TestMaster } from '../rig/master.ts';
import { Stack, spec } from '../rig/stack.ts';

describe('the listener of outstations', () => {
  let listener: Dnp3Listener;
  let context: ServerContext;
  let wall: HandWall;
  let stack: Stack;
  let silent: boolean;
  let listeningMasters: readonly number[];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    wall = new HandWall();
    silent = false;
    listeningMasters = [];
    stack = new Stack({ specs: [spec('binaryInput', 0)] });
    stack.disconnect();
    context = {
      ...{ clock: wall, logger: silentLogger, sweeper: new Sweeper(), limits: serverLimits, tls: null },
      log: new PeerLimitedLog(silentLogger, wall, 'lines', () => () => undefined),
      counters: {
        ...{ connections: 0, refusedConnections: 0, handshakeFailures: 0, framesIn: 0, framesOut: 0, badFrames: 0 },
        lastFrameMs: null,
      },
      wantsFragments: () => false,
      onFragment: () => undefined,
    };
    const outstation = {
      address: 1,
      deviceIndex: 0,
      associationOf: (master: number) => stack.outstation.association(master),
      get listeningMasters() {
        return listeningMasters;
      },
      get isSilent() {
        return silent;
      },
    };
    listener = new Dnp3Listener({
      ...{ host: '127.0.0.1', port: 0, context, deviceIndex: 0 },
      routes: { outstation: (address) => (address === 1 ? outstation : undefined), all: () => [outstation] },
    });
    await listener.listen();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await listener.close();
  });

  async function open(): Promise<Socket> {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  const master = () => TestMaster.connect({ port: listener.port });

  it('serves 16 connections and refuses the next one', async () => {
    for (let n = 0; n < 16; n += 1) await open();
    const last = await open();
    await once(last, 'close');
    expect(listener.connections.length).to.equal(16);
    expect(context.counters).to.include({ connections: 16, refusedConnections: 1 });
  });

  it('ends a connection on which no master speaks', async () => {
    const socket = await open();
    await new Promise((resolve) => setImmediate(resolve));
    while (listener.connections.length === 0) await new Promise((resolve) => setImmediate(resolve));
    wall.advance(10_001);
    context.sweeper.sweep();
    await once(socket, 'close');
  });

  it('asks for the link after a minute of silence, and ends a connection that does not answer', async () => {
    const peer = await master();
    await peer.ask(23);
    wall.advance(60_001);
    context.sweeper.sweep();
    const { control } = await peer.nextFrame();
    expect(control).to.equal(0x49);
    peer.sendLink(0x8b);
    await peer.quiet();
    wall.advance(10_001);
    context.sweeper.sweep();
    expect((await peer.ask(23)).functionCode).to.equal(129);
    wall.advance(60_001);
    context.sweeper.sweep();
    wall.advance(10_001);
    context.sweeper.sweep();
    await peer.ended();
  });

  it('says nothing while the device is off', async () => {
    const peer = await master();
    await peer.ask(23);
    silent = true;
    const { framesIn } = context.counters;
    peer.send(23);
    peer.sendLink(0xc9);
    while (context.counters.framesIn < framesIn + 2) await new Promise((resolve) => setImmediate(resolve));
    silent = false;
    await peer.quiet();
    expect(peer.fragments.length).to.equal(1);
  });

  it('9.5 takes requests in pieces, and several in one segment', async () => {
    const peer = await master();
    const frame = hex('05 64 08 c4 01 00 04 00 16 21 c0 c0 17 00 00');
    // the checksum of the block is made here
    const link = hex('05 64 05 c9 01 00 04 00 14 b9');
    peer.sendRaw(link.subarray(0, 3));
    peer.sendRaw(Buffer.concat([link.subarray(3), link, link]));
    await peer.until(() => peer.frames.length === 3, 'three answers');
    peer.sendRaw(frame);
    await peer.quiet();
    expect(context.counters.badFrames).to.be.greaterThan(0);
  });

  it('goes on after any noise', async () => {
    const peer = await master();
    peer.sendRaw(Buffer.alloc(100_000, 0x05));
    peer.sendRaw(hex('05 64 ff 44 01 00 04 00 00 00'));
    expect((await peer.ask(23)).functionCode).to.equal(129);
  });

  it('closes in bounded time with masters connected', async () => {
    const peer = await master();
    await peer.ask(23);
    await listener.close();
    await peer.ended();
    expect(listener.connections).to.deep.equal([]);
  });
});
