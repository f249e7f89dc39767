import { expect } from 'chai';
import { class1, JudgeRig, latch } from './rig.ts';

const [unconfirmedData, confirmedData] = [0xc4, 0xf3];

describe('findings about DNP3 masters: link and connections', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
    rig.settle();
  });

  it('tell masters apart by link address and address, and show outstations and certificates', () => {
    const { judges } = rig;
    judges.linkOf('127.0.0.1:9', 'CN=scada').joined(4);
    expect(judges.peerOf('4@127.0.0.1:9')).to.equal(rig.peer);
    expect(judges.peerOf('5@127.0.0.1:9')).to.not.equal(rig.peer);
    expect(judges.peerOf('4@[::1]:9').identity.address).to.equal('4@[::1]');
    expect([...rig.peer.facets].map(([name, values]) => [name, ...values])).to.deep.equal([
      ['outstation', '1'],
      ['certificate', 'CN=scada'],
    ]);
  });

  it('switches the judges off that fail, and the master gets its answer', () => {
    Object.defineProperty(rig.peer, 'requests', {
      get: () => {
        throw new Error('broken judge');
      },
    });
    expect(rig.next(class1)).to.have.length(1);
    expect(rig.findings.lines.join()).to.contain('other rules failed and is off: broken judge');
    expect(rig.row('sequence')).to.include({ state: 'not_observable' });
    expect(rig.findings.registry.ruleOf('dnp3.sequence')?.on).to.equal(false);
  });

  it('judges nothing while findings are off', () => {
    rig.findings.isOn = false;
    rig.reconnect();
    const { requests } = rig.peer;
    rig.next(class1);
    expect(rig.peer.requests).to.equal(requests);
  });

  it('forget what a lost frame may have carried: a request, a SELECT, a confirm', () => {
    rig.event();
    rig.next(class1);
    rig.pass(6000);
    rig.link.received(1, 0);
    rig.next(`04 ${latch}`, 9);
    rig.link.received(1, 0);
    rig.next(class1, 12);
    expect(rig.rules()).to.deep.equal(['link_bad']);
    rig.next(class1, 5);
    expect(rig.rules()).to.deep.equal(['sequence', 'link_bad']);
  });

  describe('link_confirmed', () => {
    it('finds CONFIRMED_USER_DATA', () => {
      rig.link.carried(4, confirmedData);
      expect(rig.rules()).to.deep.equal(['link_confirmed']);
    });

    it('holds for UNCONFIRMED_USER_DATA, and takes nothing from other masters', () => {
      rig.link.carried(4, unconfirmedData);
      rig.link.carried(5, confirmedData);
      expect(rig.state('link_confirmed')).to.equal('held');
    });
  });

  describe('link_bad', () => {
    it('finds dropped frames of a master that has spoken', () => {
      rig.link.received(2, 0);
      expect(rig.row('link_bad').cases[0]?.facts).to.deep.equal({ bad: 2 });
    });

    it('holds for good frames', () => {
      rig.link.received(0, 1);
      expect(rig.state('link_bad')).to.equal('held');
    });

    it('takes nothing from strangers, and from connections that masters share', () => {
      const stranger = rig.judges.linkOf('127.0.0.2:1', null);
      stranger.received(1, 0);
      stranger.joined(4);
      stranger.received(1, 0);
      rig.link.joined(5);
      rig.link.received(1, 0);
      expect(rig.rules()).to.deep.equal([]);
      expect(rig.findings.row(rig.judges.peerOf('4@127.0.0.2:1'), 'dnp3.link_bad').broken).to.equal(0);
    });
  });

  describe('connection_churn', () => {
    const connect = (times: number, everyMs: number, requests = 1, isByPeer = true) => {
      for (let n = 0; n < times; n += 1) {
        const link = rig.judges.linkOf(`127.0.0.1:${n}`, null);
        link.joined(4);
        rig.peer.requests += requests;
        rig.pass(everyMs);
        link.closed(isByPeer);
      }
    };

    it('finds ten connections of one request in 60 s', () => {
      connect(9, 5000);
      expect(rig.rules()).to.deep.equal([]);
      connect(1, 5000);
      expect(rig.row('connection_churn').cases[0]?.text).to.contain('10 connections of one request each in 45 s');
    });

    it('holds for connections of several requests', () => {
      connect(20, 1000, 2);
      expect(rig.state('connection_churn')).to.equal('held');
    });

    it('takes health checks, slow ones, and ends by this simulator', () => {
      connect(20, 1000, 0);
      connect(20, 7000);
      connect(1, 0, 2);
      connect(20, 1000, 1, false);
      expect(rig.row('connection_churn').broken).to.equal(0);
    });
  });
});
