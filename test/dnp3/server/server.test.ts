import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { fragmentFrames, hex, linkFrame } from '../rig/frames.ts';
import { ListenerRig, turn } from './listener-rig.ts';

describe('the listener of outstations', () => {
  let rig: ListenerRig;

  beforeEach(async () => (rig = await ListenerRig.open({ masters: [4, 5] })));
  afterEach(() => rig.close());

  it('serves 16 connections; silent ones give way to the next, and masters that have spoken do not', async () => {
    const speaking = await rig.master(4);
    await speaking.ask(23);
    const silent: Socket[] = [];
    for (let n = 0; n < 24; n += 1) silent.push(await rig.socket());
    expect(rig.listener.connections.length).to.equal(16);
    const late = await rig.master(5);
    expect((await late.ask(23)).functionCode).to.equal(129);
    expect((await speaking.ask(23)).functionCode).to.equal(129);
    // the oldest have gone
    for (const socket of silent.slice(0, 10)) if (!socket.destroyed) await once(socket, 'close');
    expect(silent.slice(10).filter(({ destroyed }) => destroyed)).to.deep.equal([]);
    expect(rig.context.counters).to.include({ connections: 26, refusedConnections: 0 });
  });

  it('of silent ones the address that has most of them gives way', async () => {
    const patient = await rig.socket('127.0.0.2');
    for (let n = 0; n < 40; n += 1) await rig.socket();
    expect(patient.destroyed).to.equal(false);
    expect(rig.listener.connections.map(({ address }) => address)).to.include('127.0.0.2');
  });

  it('a frame that fails ends its connection, and no other', async () => {
    const [broken, sound] = [await rig.master(4), await rig.master(5)];
    await broken.ask(23);
    const association = rig.stack.outstation.association(4)!;
    association.receive = () => {
      throw new Error('a fault of the program');
    };
    broken.ask(23).catch(() => undefined);
    while (rig.listener.connections.length > 1) await turn();
    expect(rig.errors).to.have.length(1);
    expect(rig.errors[0]).to.match(/^a frame of 127\.0\.0\.1:\d+ failed, its connection ends: a fault of the program$/);
    expect((await sound.ask(23)).functionCode).to.equal(129);
  });

  it('a broadcast alone gives no right to a place', async () => {
    const peer = await rig.socket();
    const frame = linkFrame(0xc4, 0xffff, 4, hex('c0 c0 17'));
    peer.write(frame);
    await rig.framesIn(1);
    const listened = `127.0.0.1:${peer.localPort}`;
    expect(rig.listener.connections.map((each) => each.peer)).to.deep.equal([listened]);
    for (let n = 0; n < 16; n += 1) await rig.socket();
    expect(rig.listener.connections.map((each) => each.peer))
      .to.have.length(16)
      .and.not.include(listened);
  });

  it('refuses the next one where masters have spoken on all', async () => {
    const masters = Array.from({ length: 16 }, (_, i) => 10 + i);
    const full = await ListenerRig.open({ masters });
    try {
      for (const master of masters) await (await full.master(master)).ask(23);
      const last = await full.socket();
      if (!last.destroyed) await once(last, 'close');
      expect(full.context.counters).to.include({ connections: 16, refusedConnections: 1 });
    } finally {
      await full.close();
    }
  });

  it('ends a connection on which no master speaks', async () => {
    const socket = await rig.socket();
    rig.pass(10_001);
    await once(socket, 'close');
    expect(rig.listener.connections).to.deep.equal([]);
  });

  it('ends a connection on which strangers speak alone', async () => {
    const socket = await rig.socket();
    // another outstation, another master, an answer that nobody has asked for, and DIR = 0
    const frames = [linkFrame(0xc9, 77, 4), linkFrame(0xc9, 1, 99), linkFrame(0x80, 1, 4), linkFrame(0x49, 1, 4)];
    for (let n = 1; n <= 9; n += 1) {
      socket.write(Buffer.concat(frames));
      await rig.framesIn(n * frames.length);
      rig.pass(1000);
      expect(rig.listener.connections.length).to.equal(1);
    }
    rig.pass(1001);
    await once(socket, 'close');
  });

  it('asks for the link after a minute of silence, and ends a connection that does not answer', async () => {
    const peer = await rig.master();
    await peer.ask(23);
    rig.pass(60_001);
    const { control } = await peer.nextFrame(undefined, 1);
    expect(control).to.equal(0x49);
    peer.sendLink(0x8b);
    await peer.quiet();
    rig.pass(10_001);
    expect((await peer.ask(23)).functionCode).to.equal(129);
    rig.pass(60_001);
    // the words of a stranger are no answer
    peer.sendRaw(linkFrame(0x8b, 1, 99));
    await rig.framesIn(rig.context.counters.framesIn + 1);
    rig.pass(10_001);
    await peer.ended();
  });

  it('says nothing while the device is off', async () => {
    const peer = await rig.master();
    await peer.ask(23);
    rig.silent = true;
    const { framesIn } = rig.context.counters;
    peer.send(23);
    peer.sendLink(0xc9);
    await rig.framesIn(framesIn + 2);
    rig.silent = false;
    await peer.quiet();
    expect(peer.fragments.length).to.equal(1);
  });

  it('6.5 does not answer what has DIR = 0', async () => {
    const peer = await rig.master();
    for (const control of [0x40, 0x49, 0x44, 0x73]) {
      const data = (control & 0xf) === 3 || (control & 0xf) === 4 ? hex('c0 c0 17') : Buffer.alloc(0);
      peer.sendRaw(linkFrame(control, 1, 4, data));
    }
    await peer.quiet();
    // the answer to the last question alone
    expect(peer.frames.map(({ control }) => control)).to.deep.equal([0x0b]);
    expect(peer.fragments).to.deep.equal([]);
  });

  it('6.6.2 does not answer frames with the wrong FCV, and delivers nothing of them', async () => {
    const peer = await rig.master();
    for (const control of [0xd0, 0xd9]) peer.sendLink(control);
    peer.sendLink(0xd4, hex('c0 c0 17'));
    peer.sendRaw(linkFrame(0xd4, 0xffff, 4, hex('c0 c0 18')));
    await peer.quiet();
    expect(peer.frames.map(({ control }) => control)).to.deep.equal([0x0b]);
    expect((await peer.ask(23)).iin & 1, 'no broadcast was heard').to.equal(0);
  });

  it('9.5 answers a request cut into pieces anywhere, and several in one segment', async () => {
    const peer = await rig.master();
    const [request] = fragmentFrames(hex('c3 01 01 02 00 00 00'), 1, 4);
    const answer = 'c3 81 90 00 01 02 00 00 00 02'.replaceAll(' ', '');
    for (let cut = 1; cut < request!.length; cut += 1) {
      const from = peer.fragments.length;
      peer.sendRaw(request!.subarray(0, cut));
      await turn();
      peer.sendRaw(request!.subarray(cut));
      expect((await peer.next(undefined, from)).octets.toString('hex'), `cut at ${cut}`).to.equal(answer);
    }
    const from = peer.fragments.length;
    peer.sendRaw(Buffer.concat([request!, request!, request!]));
    await peer.until(() => peer.fragments.length === from + 3, 'three answers');
    expect(rig.context.counters.badFrames).to.equal(0);
  });

  it('9.5 answers a request of several frames octet by octet', async () => {
    const peer = await rig.master();
    const headers = Array.from({ length: 60 }, () => '01 02 00 00 00').join('');
    const frames = fragmentFrames(hex(`c3 01 ${headers}`), 1, 4);
    expect(frames.length).to.equal(2);
    for (const octet of Buffer.concat(frames)) {
      peer.sendRaw(Buffer.from([octet]));
      await turn();
    }
    const { objects, seq } = await peer.next(undefined, 0);
    expect([seq, objects.length]).to.deep.equal([3, 60 * 6]);
  });

  it('goes on after any noise', async () => {
    const peer = await rig.master();
    peer.sendRaw(Buffer.alloc(100_000, 0x05));
    peer.sendRaw(hex('05 64 ff 44 01 00 04 00 00 00'));
    expect((await peer.ask(23)).functionCode).to.equal(129);
    expect(rig.context.counters.badFrames).to.be.greaterThan(0);
  });

  it('closes in bounded time with masters connected', async () => {
    const peer = await rig.master();
    await peer.ask(23);
    await rig.listener.close();
    await peer.ended();
    expect(rig.listener.connections).to.deep.equal([]);
  });

  it('gives the place of a master to its next connection when that begins a transaction', async () => {
    const [old, fresh] = [await rig.master(), await rig.master()];
    await old.ask(23);
    // an answer to nobody, and frames of strangers, take no place
    fresh.sendLink(0x80);
    fresh.sendLink(0x8b);
    fresh.sendLink(0xd9);
    fresh.sendRaw(linkFrame(0x49, 1, 4));
    await rig.framesIn(5);
    expect((await old.ask(23)).functionCode).to.equal(129);
    fresh.sendLink(0xc9);
    await old.ended();
    expect((await fresh.ask(23)).functionCode).to.equal(129);
  });
});
