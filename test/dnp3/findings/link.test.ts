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
    judges.linkOf('127.0.0.1:9', 'CN=scada').joined(4, 1);
    expect(judges.peerOf('4@127.0.0.1:9')).to.equal(rig.peer);
    expect(judges.peerOf('5@127.0.0.1:9')).to.not.equal(rig.peer);
    expect(judges.peerOf('4@[::1]:9').identity.address).to.equal('4@[::1]');
    expect([...rig.peer.facets].map(([name, values]) => [name, ...values])).to.deep.equal([
      ['outstation', '1'],
      ['certificate', 'CN=scada'],
    ]);
  });

  it('name what a connection lacks', () => {
    const lacks = (over: ConstructorParameters<typeof JudgeRig>[0]) => [...new JudgeRig(over).peer.lacking.keys()];
    expect(lacks({ unsolicited: true })).to.deep.equal([]);
    expect(lacks({ facts: { isWallTime: false } })).to.deep.equal(['unsolicited', 'wall_clock']);
  });

  it('octets without a master, or of several, accuse nobody', () => {
    const empty = rig.judges.linkOf('127.0.0.1:2', null);
    empty.received(1, 0);
    empty.carried(4, confirmedData);
    empty.lost(4);
    rig.link.joined(5, 1);
    rig.link.received(1, 0);
    rig.link.received(0, 1);
    expect(rig.rules()).to.deep.equal([]);
    expect(rig.state('link_bad')).to.equal('not_exercised');
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
    expect(rig.findings.lines.join()).to.not.contain('failed');
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

  describe('address_wrong', () => {
    const stray = (times: number, everyMs = 1000, master = 4, outstation = 9) => {
      for (let n = 0; n < times; n += 1) {
        rig.link.strayed(master, outstation);
        rig.pass(everyMs);
      }
    };

    it('finds five frames to an address that no outstation has', () => {
      rig.pass(60_000);
      stray(4);
      expect(rig.rules()).to.deep.equal([]);
      stray(1);
      expect(rig.row('address_wrong').cases[0]).to.deep.include({
        text: 'sent 5 frames to the address 9, which no outstation has',
        facts: { outstation: 9, frames: 5, within_s: 4 },
      });
    });

    it('follows 16 addresses, and counts anew after a case', () => {
      rig.pass(60_000);
      for (let outstation = 10; outstation < 26; outstation += 1) stray(4, 0, 4, outstation);
      stray(5, 0, 4, 26);
      expect(rig.rules()).to.deep.equal([]);
      stray(1, 0, 4, 10);
      expect(rig.row('address_wrong').broken).to.equal(1);
      rig.pass(60_000);
      stray(4, 0, 4, 10);
      expect(rig.row('address_wrong')).to.include({ broken: 1, repeats: 0 });
      stray(1, 0, 4, 10);
      expect(rig.row('address_wrong').broken).to.equal(2);
      expect(rig.row('address_wrong').cases[1]?.facts).to.include({ frames: 5, within_s: 0 });
    });

    it('holds where frames reach their outstation', () => {
      rig.link.carried(4, unconfirmedData);
      expect(rig.state('address_wrong')).to.equal('held');
    });

    it('takes a scan, the first minute, an outstation that was removed, and masters that nobody serves', () => {
      stray(100, 500);
      rig.pass(10_000);
      stray(5, 0, 4, 1);
      stray(5, 0, 5);
      for (let outstation = 10; outstation < 30; outstation += 1) stray(4, 0, 4, outstation);
      rig.pass(700_000);
      stray(8, 160_000, 4, 10);
      expect(rig.rules()).to.deep.equal([]);
      expect(rig.findings.lines.join()).to.not.contain('failed');
    });
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
      stranger.joined(4, 1);
      stranger.received(1, 0);
      rig.link.joined(5, 1);
      rig.link.received(1, 0);
      expect(rig.rules()).to.deep.equal([]);
      expect(rig.findings.row(rig.judges.peerOf('4@127.0.0.2:1'), 'dnp3.link_bad').broken).to.equal(0);
    });
  });

  describe('connection_churn', () => {
    const connect = (times: number, everyMs: number, requests = 1, isByPeer = true) => {
      for (let n = 0; n < times; n += 1) {
        const link = rig.judges.linkOf(`127.0.0.1:${n}`, null);
        link.joined(4, 1);
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

  describe('bounds', () => {
    it('a master that joins twice has one connection, which ends once, and none while findings are off', () => {
      rig.link.joined(4, 1);
      expect(rig.peer.openConnections).to.equal(1);
      rig.link.closed(true);
      rig.link.closed(true);
      expect(rig.peer.openConnections).to.equal(0);
      rig.findings.isOn = false;
      rig.link.joined(4, 1);
      expect(rig.peer.openConnections).to.equal(0);
      expect(rig.peer.lastSeenMs).to.equal(rig.findings.wall.nowMs());
    });

    it('segments that make no fragment excuse the next number; good frames do not', () => {
      rig.link.lost(4);
      rig.next(class1, 9);
      rig.link.lost(5);
      rig.link.received(0, 1);
      expect(rig.rules()).to.deep.equal([]);
      rig.next(class1, 4);
      expect(rig.rules()).to.deep.equal(['sequence']);
    });

    it('frames are kept or missed, and no octets are neither', () => {
      rig.link.received(0, 0);
      expect(rig.state('link_bad')).to.equal('not_exercised');
      rig.link.received(1, 1);
      expect(rig.row('link_bad')).to.include({ exercised: 1, broken: 1 });
    });

    it('five of the last frames to an absent outstation count, at most 10 min apart', () => {
      rig.pass(60_000);
      const stray = (times: number, everyMs: number) => {
        for (let n = 0; n < times; n += 1) {
          rig.pass(everyMs);
          rig.link.strayed(4, 9);
        }
      };
      rig.link.strayed(9, 9);
      stray(6, 150_001);
      expect(rig.rules()).to.deep.equal([]);
      stray(4, 150_000);
      expect(rig.row('address_wrong').cases[0]?.facts).to.include({ within_s: 600 });
    });

    it('ten short connections within just 60 s are a case, and count anew after it', () => {
      const connect = (everyMs: number) => {
        const link = rig.judges.linkOf('127.0.0.1:9', null);
        link.joined(4, 1);
        rig.peer.requests += 1;
        rig.pass(everyMs);
        link.closed(true);
      };
      for (const everyMs of [0, 20_000, 20_000, 19_000, 500, 500, 0, 0, 0, 0]) connect(everyMs);
      expect(rig.row('connection_churn')).to.include({ broken: 1, repeats: 0 });
      for (let n = 0; n < 9; n += 1) connect(0);
      expect(rig.row('connection_churn')).to.include({ broken: 1, repeats: 0 });
    });
  });

  it('forget what another outstation or another connection lacked', () => {
    rig = new JudgeRig({ facts: { isWallTime: false } });
    expect(rig.peer.lacking.size).to.equal(2);
    rig.judges.masterOf({ ...rig.facts, hasUnsolicited: true, isWallTime: true }).opened('4@127.0.0.1:2');
    expect(rig.peer.lacking.size).to.equal(0);
  });

  it('call a master a writer only after a command', () => {
    rig = new JudgeRig();
    rig.next(class1);
    expect(rig.peer.hasWritten).to.equal(false);
    rig.next(`03 ${latch}`);
    expect(rig.peer.hasWritten).to.equal(true);
  });
});
