import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { PeerWatch } from '../../../src/core/timeline/peer-watch.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import { FindingsRig } from '../../support/findings.ts';

describe('timeline: peers', () => {
  let rig: FindingsRig;
  let timeline: Timeline;
  let watch: PeerWatch;

  beforeEach(() => {
    rig = new FindingsRig();
    timeline = new Timeline({ wall: rig.wall, sim: () => simTimeFromMs(0) });
    watch = new PeerWatch({ wall: rig.wall, timeline, peers: () => rig.registry.peers.each });
  });

  const titles = () => timeline.list().map(({ title }) => title);

  /** Looks every 2 s; the peer sends a request each `everyS`, for `forS`. */
  function poll(peer: Peer, everyS: number, forS: number): void {
    for (let s = 2; s <= forS; s += 2) {
      rig.wall.advance(2000);
      if (s % everyS === 0) peer.requests += 1;
      watch.look();
    }
  }

  function silence(forS: number): void {
    for (let s = 2; s <= forS; s += 2) {
      rig.wall.advance(2000);
      watch.look();
    }
  }

  it('a peer that polls is one entry at its first contact, a stranger none', () => {
    rig.registry.peer({ protocol: 'modbus', address: '10.0.0.9' });
    watch.look();
    expect(titles()).to.deep.equal([]);
    const peer = rig.peer('10.0.0.21');
    poll(peer, 2, 60);
    expect(titles()).to.deep.equal(['First contact']);
    expect(timeline.list()[0]).to.deep.include({
      kind: 'connection',
      level: 'info',
      text: 'Modbus 10.0.0.21 came into contact for the first time.',
      by: { source: 'modbus', peer: '10.0.0.21' },
    });
  });

  it('a peer is silent after three of its usual intervals, and back with its next request', () => {
    const peer = rig.peer('10.0.0.21');
    poll(peer, 10, 100);
    silence(28);
    expect(watch.silent).to.deep.equal([]);
    silence(2);
    expect(watch.silent).to.have.length(1);
    expect(watch.silent[0]).to.include({ peer, sinceMs: rig.wall.nowMs() - 30_000 });
    expect(watch.silent[0]?.usualMs).to.be.closeTo(10_000, 200);
    expect(timeline.list().at(-1)).to.include({
      level: 'warn',
      text: 'Modbus 10.0.0.21 has closed its connections and has sent nothing for three of its usual intervals of 10 s.',
    });
    peer.requests += 1;
    silence(2);
    expect(watch.silent).to.deep.equal([]);
    expect(titles()).to.deep.equal(['First contact', 'Peer silent', 'Peer is back']);
  });

  it('a fast peer is silent after 10 s, one of few requests never', () => {
    const fast = rig.peer('10.0.0.21');
    poll(fast, 2, 20);
    silence(8);
    expect(watch.silent).to.deep.equal([]);
    silence(2);
    expect(watch.silent.map(({ peer }) => peer)).to.deep.equal([fast]);
    const rare = rig.peer('10.0.0.22');
    watch.look();
    poll(rare, 10, 20);
    silence(600);
    expect(watch.silent.map(({ peer }) => peer)).to.deep.equal([fast]);
  });

  it('a silent central system is none: its connection tells', () => {
    const central = rig.peer('ws://central', 'ocpp');
    poll(central, 2, 20);
    silence(600);
    expect(titles()).to.deep.equal(['First contact']);
  });

  it('the time of a silence is no interval', () => {
    const peer = rig.peer('10.0.0.21');
    poll(peer, 10, 100);
    silence(600);
    poll(peer, 10, 50);
    silence(30);
    expect(watch.silent).to.have.length(1);
  });
});
