import { Buffer } from 'node:buffer';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Case } from '../../../src/core/findings/rule.ts';
import { maxPending } from '../../../src/core/findings/deadlines.ts';
import { maxPeerNames, maxPeers } from '../../../src/core/findings/peers.ts';
import { maxWaivers } from '../../../src/core/findings/waivers.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

const emoji = '\u{1f600}';

describe('findings: bounds', () => {
  let rig: FindingsRig;

  beforeEach(() => {
    rig = new FindingsRig();
  });

  const keptCase = (one: Partial<Case>) => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const peer = rig.peer('127.0.0.2');
    a.broken(peer, 0, () => ({ text: 'wrong', ...one }));
    return rig.row(peer, 'modbus.a').cases[0]!;
  };

  it('cuts texts at 500 characters and names at 64, between characters', () => {
    const { text, message, facts } = keptCase({
      text: `${'x'.repeat(499)}${emoji}tail`,
      message: { channel: `${'y'.repeat(63)}${emoji}tail`, id: 1 },
      facts: { ['n'.repeat(70)]: 'z'.repeat(501), count: 3 },
    });
    expect(text).to.equal(`${'x'.repeat(499)}...`);
    expect(message?.channel).to.equal(`${'y'.repeat(63)}...`);
    expect(facts).to.deep.equal({ [`${'n'.repeat(64)}...`]: `${'z'.repeat(500)}...`, count: 3 });
  });

  it('leaves what fits', () => {
    const text = 'x'.repeat(498) + emoji;
    expect(keptCase({ text, excerpt: 'y'.repeat(512) })).to.include({ text, excerpt: 'y'.repeat(512) });
  });

  it('keeps no message of which it shows a part', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { a } = rig.registry.rules('modbus', { a: row });
    const peer = rig.peer('127.0.0.2');
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 5; n += 1) {
      const message = JSON.parse(`"${n}${'x'.repeat(4_000_000)}"`) as string;
      const part = message.slice(0, 64);
      a.broken(peer, 0, () => ({ text: part, facts: { part }, message: { channel: part, id: 1 } }), part);
      peer.facet('part', message.slice(0, 64));
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).to.be.below(4_000_000);
  });

  it('cuts an excerpt at 512 octets, between characters, and shows octets as hex', () => {
    for (const [excerpt, expected] of [
      ['x'.repeat(600), 'x'.repeat(512)],
      ['x'.repeat(511) + emoji, 'x'.repeat(511)],
      ['x'.repeat(511) + 'é', 'x'.repeat(511)],
      ['x'.repeat(510) + 'é', `${'x'.repeat(510)}é`],
      [emoji.repeat(200), emoji.repeat(128)],
      [Buffer.alloc(600, 0xab), 'ab'.repeat(512)],
    ] as const) {
      rig = new FindingsRig();
      expect(keptCase({ excerpt }).excerpt).to.equal(expected);
    }
  });

  it('keeps 16 facts of a case, and 16 devices of a cell', () => {
    const facts = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`f${n}`, n]));
    expect(Object.keys(keptCase({ facts }).facts)).to.have.length(16);
    const { b } = rig.registry.rules('modbus', { b: row });
    const peer = rig.peer('127.0.0.2');
    for (let index = 0; index < 16; index += 1) b.broken(peer, index, () => ({ text: 'wrong' }));
    expect(rig.row(peer, 'modbus.b').hasMoreDevices).to.equal(false);
    b.broken(peer, 16, () => ({ text: 'wrong' }));
    const { deviceIndexes, hasMoreDevices } = rig.row(peer, 'modbus.b');
    expect([deviceIndexes.length, hasMoreDevices]).to.deep.equal([16, true]);
  });

  it('keeps the first three cases and the last two', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const peer = rig.peer('127.0.0.2');
    for (let n = 1; n <= 8; n += 1) a.broken(peer, 0, () => ({ text: `${n}` }), `${n}`);
    expect(rig.row(peer, 'modbus.a').cases.map(({ text }) => text)).to.deep.equal(['1', '2', '3', '7', '8']);
  });

  it('remembers 32 keys of repetitions, the last ones', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const peer = rig.peer('127.0.0.2');
    for (let n = 0; n <= 32; n += 1) a.broken(peer, 0, () => ({ text: 'wrong' }), `${n}`);
    a.broken(peer, 0, () => ({ text: 'wrong' }), '1');
    expect(rig.row(peer, 'modbus.a')).to.include({ broken: 33, repeats: 1 });
    a.broken(peer, 0, () => ({ text: 'wrong' }), '0');
    expect(rig.row(peer, 'modbus.a')).to.include({ broken: 34, repeats: 1 });
  });

  it('keeps 500 peers: the one idle longest without a connection is forgotten, a stranger first', () => {
    const peers = Array.from({ length: maxPeers }, (_, n) => {
      rig.wall.advance(1);
      return rig.peer(`10.0.0.${n}`);
    });
    expect(maxPeers).to.equal(500);
    const [connected, idle] = peers;
    const stranger = peers[300];
    connected!.connected(0);
    stranger!.isValid = false;
    rig.wall.advance(1);
    rig.peer('a');
    expect([stranger!.isListed, rig.registry.peers.forgotten]).to.deep.equal([false, 1]);
    rig.peer('b');
    expect([connected!.isListed, idle!.isListed]).to.deep.equal([true, false]);
    expect(rig.registry.peers.valid).to.have.length(500);
    expect(rig.registry.peers.forgotten).to.equal(2);
  });

  it('gives a forgotten peer a place again with its next case, without its former counts', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const old = rig.peer('old');
    a.broken(old, 0, () => ({ text: 'before' }));
    rig.wall.advance(1);
    for (let n = 0; n < maxPeers; n += 1) rig.peer(`10.0.0.${n}`);
    expect(old.isListed).to.equal(false);
    rig.wall.advance(60_000);
    a.broken(old, 0, () => ({ text: 'after' }));
    expect(old.isListed).to.equal(true);
    expect(rig.row(old, 'modbus.a').cases.map(({ text }) => text)).to.deep.equal(['after']);
    expect(rig.registry.totals.findings.get('modbus')?.violation).to.equal(2);
  });

  it('counts what a connection of a forgotten peer does at the peer that has its place', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const old = rig.peer('old');
    rig.wall.advance(1);
    for (let n = 0; n < maxPeers; n += 1) rig.peer(`10.0.0.${n}`);
    const successor = rig.registry.peer({ protocol: 'modbus', address: 'old' });
    expect(successor).not.to.equal(old);
    a.broken(old, 0, () => ({ text: 'wrong' }));
    expect(rig.registry.peers.valid.filter(({ id }) => id === old.id)).to.deep.equal([successor]);
    expect(rig.row(successor, 'modbus.a').broken).to.equal(1);
  });

  it('forgets the one with the fewest requests if all have a connection', () => {
    const working = rig.peer('working');
    working.connected(rig.wall.nowMs());
    working.requests = 100;
    rig.wall.advance(1);
    for (let n = 0; n < maxPeers + 10; n += 1) {
      const one = rig.peer(`10.0.0.${n}`);
      one.connected(rig.wall.nowMs());
      one.requests = 1;
    }
    expect([working.isListed, rig.registry.peers.forgotten]).to.deep.equal([true, 11]);
  });

  it('gives a peer that only waits no place again', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const old = rig.peer('old');
    const wait = { peer: old, deviceIndex: null, waitMs: 1000, expired: () => ({ text: 'nothing' }) } as const;
    const deadline = rig.registry.waitFor({ ...wait, rule: a, presence: 'connected' });
    rig.wall.advance(1);
    for (let n = 0; n < maxPeers; n += 1) rig.peer(`10.0.0.${n}`);
    deadline.drop();
    expect(old.isListed).to.equal(false);
    expect(rig.row(old, 'modbus.a').state).to.equal('not_exercised');
  });

  it('keeps 8 MiB of evidence: later cases of idle peers go first, and first cases at last', () => {
    const rules = rig.registry.rules(
      'modbus',
      Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`r${n}`, row])),
    );
    const evidence = { text: 'x'.repeat(500), excerpt: Buffer.alloc(512), facts: { a: 'y'.repeat(500) } };
    const octets = () =>
      rig.registry.peers.valid
        .flatMap(({ cells }) => cells)
        .flatMap((cell) => cell?.cases ?? [])
        .reduce((sum, { size }) => sum + size, 0);
    const misbehave = (address: string, times: number) => {
      rig.wall.advance(1);
      const peer = rig.peer(address);
      for (const rule of Object.values(rules))
        for (let n = 0; n < times; n += 1) rule.broken(peer, 0, () => evidence, `${n}`);
      return peer;
    };
    const first = misbehave('first', 5);
    for (let n = 0; n < 20; n += 1) misbehave(`10.0.0.${n}`, 5);
    expect(octets()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
    expect(rig.row(first, 'modbus.r0').cases).to.have.length(1);
    expect(rig.row(first, 'modbus.r0').broken).to.equal(5);
    for (let n = 0; n < 100; n += 1) misbehave(`10.0.1.${n}`, 1);
    expect(octets()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
    expect(rig.row(first, 'modbus.r0')).to.deep.include({ broken: 5, cases: [] });
    // the sum is right: a registry without evidence takes as much again
    rig.registry.clear();
    expect(octets()).to.equal(0);
    for (let n = 0; n < 20; n += 1) misbehave(`10.0.0.${n}`, 5);
    expect(octets()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
  });

  it('begins 2,000 waits of each protocol, and counts the others', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    const peer = rig.peer('127.0.0.2');
    const station = rig.peer('ws://a', 'ocpp');
    const wait = { rule: a, deviceIndex: null, waitMs: 1000, presence: 'connected' } as const;
    const begin = (of: typeof peer) =>
      rig.registry.waitFor({ ...wait, peer: of, expired: () => ({ text: 'nothing' }) });
    const waits = Array.from({ length: 2001 }, () => begin(peer));
    begin(station);
    expect([maxPending, rig.registry.pending, rig.registry.dropped]).to.deep.equal([2000, 2001, 1]);
    waits[0]!.drop();
    begin(peer);
    expect([rig.registry.pending, rig.registry.dropped]).to.deep.equal([2001, 1]);
    rig.registry.close();
    expect([rig.registry.pending, rig.timers.waiting]).to.deep.equal([0, 0]);
  });

  it('takes 100 names of peers and 200 waivers', () => {
    const { peers, waivers } = rig.registry;
    for (let n = 0; n < maxPeerNames; n += 1)
      peers.setName({ name: `n${n}`, match: [{ protocol: 'modbus', address: `10.0.0.${n}` }] });
    expect(() => peers.setName({ name: 'more', match: [{ protocol: 'modbus', address: 'x' }] })).to.throw('100 names');
    peers.setName({ name: 'n0', match: [] });
    peers.setName({ name: 'more', match: [{ protocol: 'modbus', address: 'x' }] });
    for (let n = 0; n < maxWaivers; n += 1)
      waivers.add({ rule: 'modbus.a', peer: null, reason: 'agreed', untilMs: null });
    expect(() => waivers.add({ rule: 'modbus.a', peer: null, reason: 'agreed', untilMs: null })).to.throw(
      '200 waivers',
    );
  });

  it('keeps 16 facets with 16 values each', () => {
    const peer = rig.peer('127.0.0.2');
    for (let n = 0; n < 20; n += 1) {
      peer.facet(`f${n}`, n);
      peer.facet('f0', `v${n}`);
    }
    expect([peer.facets.size, peer.facets.get('f0')?.size]).to.deep.equal([16, 16]);
  });
});
