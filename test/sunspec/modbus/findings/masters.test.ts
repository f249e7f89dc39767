import { expect } from 'chai';
import { BankUnit } from '../../../../src/sunspec/modbus/unit-bridge.ts';
import { JudgeRig, readPdu, writePdu } from '../../../support/modbus-master.ts';

describe('findings of Modbus: masters', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
  });

  const visit = (requests: number, byMaster = true) => {
    const master = rig.connect();
    for (let i = 0; i < requests; i += 1) master.read(40_000, 3);
    master.close(byMaster);
  };

  describe('connection_per_request', () => {
    it('is found at the tenth connection of a minute', () => {
      for (let i = 0; i < 9; i += 1) {
        visit(1);
        rig.pass(5);
      }
      expect(rig.ids()).to.deep.equal([]);
      visit(1);
      expect(rig.ids()).to.deep.equal(['connection_per_request']);
      expect(rig.caseOf('connection_per_request')?.facts).to.deep.equal({ connections: 10 });
    });

    it('is kept by a connection that is used again, once', () => {
      visit(1);
      expect(rig.exercised('connection_per_request')).to.equal(0);
      visit(5);
      expect(rig.exercised('connection_per_request')).to.equal(1);
      expect(rig.ids('held')).to.include('connection_per_request');
    });

    it('counts the connections of the last minute', () => {
      visit(1);
      rig.pass(60);
      for (let i = 0; i < 9; i += 1) visit(1);
      expect(rig.ids()).to.deep.equal([]);
      rig.pass(59.999);
      visit(1);
      expect(rig.ids()).to.deep.equal(['connection_per_request']);
    });

    it('leaves health checks, connections that this side ended, and ten in a longer time alone', () => {
      for (let i = 0; i < 20; i += 1) {
        visit(0);
        visit(1, false);
      }
      for (let i = 0; i < 20; i += 1) {
        visit(1);
        rig.pass(7);
      }
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('tls_client', () => {
    it('is found for a certificate that cannot be valid, with the reason', () => {
      rig.judge.handshakeFailed('192.0.2.7', 'its certificate has expired', true);
      expect(rig.ids()).to.deep.equal(['tls_client']);
      expect(rig.caseOf('tls_client')?.text).to.equal('got no TLS session: its certificate has expired');
    });

    it('is kept by a session', () => {
      rig.connect({ transport: 'tls', certificate: 'ab' }).read(40_000, 3);
      expect(rig.ids('held', rig.peer('192.0.2.7', 'ab'))).to.include('tls_client');
    });

    it('leaves the rules alone that need a request, unless there was one', () => {
      const lacking = () => [...rig.peer().lacking.keys()];
      rig.judge.handshakeFailed('192.0.2.7', 'its certificate has expired', true);
      expect(lacking()).to.deep.equal(['sunspec']);
      rig.connect().read(40_000, 3);
      expect(lacking()).to.deep.equal(['tls']);
      rig.pass(5);
      rig.judge.handshakeFailed('192.0.2.7', 'its certificate has expired', true);
      expect(lacking()).to.deep.equal([]);
      expect(rig.peer().lastSeenMs).to.equal(rig.findings.wall.nowMs());
    });

    it('leaves scanners and unknown CAs alone', () => {
      rig.judge.handshakeFailed('192.0.2.7', 'it does not speak TLS', false);
      expect(rig.findings.registry.peers.valid).to.deep.equal([]);
    });
  });

  it('tells masters apart by address and certificate, not by port', () => {
    rig.connect().read(40_000, 3);
    rig.connect().read(40_000, 3);
    rig.connect({ transport: 'tls', certificate: 'ab', role: 'GridServiceSunSpec' }).read(40_000, 3);
    rig.connect({ transport: 'tls', certificate: 'cd', role: null }).read(40_000, 3);
    const { valid } = rig.findings.registry.peers;
    expect(
      valid.map(({ identity, requests, openConnections }) => [identity.certificate, requests, openConnections]),
    ).to.deep.equal([
      [undefined, 2, 2],
      ['ab', 1, 1],
      ['cd', 1, 1],
    ]);
    expect(valid.map(({ facets }) => [...(facets.get('role') ?? [])])).to.deep.equal([
      [],
      ['GridServiceSunSpec'],
      ['none'],
    ]);
  });

  it('notes what a master uses and does, and which rules that leaves out', () => {
    const secured = rig.connect({ transport: 'tls', certificate: 'ab', role: null });
    const line = rig.connect({ transport: 'serial', address: '/dev/ttyTEST' });
    const plain = rig.connect();
    const peers = [rig.peer('192.0.2.7', 'ab'), rig.peer('/dev/ttyTEST'), rig.peer()];
    const lacking = () => peers.map((peer) => [...peer.lacking.keys()]);
    expect(lacking()).to.deep.equal([['sunspec'], ['tls', 'tcp', 'sunspec'], ['tls', 'sunspec']]);
    for (const master of [secured, line, plain]) master.send(Buffer.from([1, 0, 0, 0, 1]), 9);
    expect(lacking()).to.deep.equal([['sunspec'], ['tls', 'tcp', 'sunspec'], ['tls', 'sunspec']]);
    for (const master of [secured, line, plain]) master.read(40_000, 3);
    expect(lacking()).to.deep.equal([[], ['tls', 'tcp'], ['tls']]);
    expect(rig.peer().hasWritten).to.equal(false);
    plain.send(writePdu(rig.at('704.WMaxLimPct'), [500]), 0);
    rig.pass(5);
    plain.close();
    const peer = rig.peer();
    expect(peer).to.include({ requests: 3, hasWritten: true, lastSeenMs: rig.findings.wall.nowMs() });
    expect(peer.identity).to.deep.equal({ protocol: 'modbus', address: '192.0.2.7' });
    const facets = Object.fromEntries([...peer.facets].map(([name, values]) => [name, [...values]]));
    expect(facets).to.deep.equal({ transport: ['tcp'], unit: ['9', '1', '0'] });
  });

  it('judges no connections of a line, and no roles without TLS', () => {
    const identity = { transport: 'serial', address: '/dev/ttyTEST' } as const;
    for (let i = 0; i < 12; i += 1) {
      const line = rig.connect(identity);
      for (let requests = i % 2; requests >= 0; requests -= 1) line.write('704.WMaxLimPct', 500);
      line.close();
    }
    const peer = rig.peer('/dev/ttyTEST');
    for (const rule of [
      'connection_per_request',
      'reconnect_hasty',
      'frame_invalid',
      'role_missing',
      'role_insufficient',
    ])
      expect(rig.exercised(rule, peer), rule).to.equal(0);
  });

  it('remembers the last 64 devices of a master', () => {
    for (const [last, ids] of [
      [63, ['no_discovery', 'refused_write_repeated']],
      [64, []],
    ] as const) {
      rig = new JudgeRig();
      const master = rig.connect();
      const at = (index: number) => {
        rig.unit = new BankUnit({ index, bank: rig.device.bank });
        return master;
      };
      for (let i = 0; i < 3; i += 1) at(0).write('704.WMaxLimPct', 1001);
      for (let index = 1; index <= last; index += 1) at(index).readPoint('701.W');
      at(0).write('704.WMaxLimPct', 1001);
      for (let i = 0; i < 30; i += 1) at(0).readPoint('701.W');
      expect(rig.ids(), String(last)).to.have.members(ids);
    }
  });

  it('names the device of a case, and the message in the wire log if it has one', () => {
    const master = rig.connect();
    rig.unit = new BankUnit({ index: 3, bank: rig.device.bank });
    master.judge?.logged(7);
    master.write('701.W', 5);
    expect(rig.caseOf('write_read_only')).to.deep.include({
      deviceIndex: 3,
      message: { channel: 'modbus', id: 7 },
    });
    master.write('704.WMaxLimPct_SF', 0xffff);
    expect(rig.caseOf('write_scale_factor')?.message).to.equal(null);
    master.judge?.logged(8);
    master.unanswered(readPdu(40_000, 3));
    master.write('705.Crv[0].ActPt', 2);
    expect(rig.caseOf('write_set_in_force')?.message).to.equal(null);
  });

  it('names the registers of each case, also where one follows the other', () => {
    const master = rig.connect();
    const at = rig.at('701.W');
    const texts = [
      [at, 1],
      [at, 2],
      [at + 1, 2],
      [at + 1, 2],
      [at, 1],
    ].map(([address = 0, count]) => {
      rig.findings.registry.clear();
      master.write(address, ...Array.from({ length: count ?? 0 }, () => 5));
      return rig.caseOf('write_read_only')?.facts['registers'];
    });
    const [both, next] = [`registers ${at}..${at + 1}`, `registers ${at + 1}..${at + 2}`];
    expect(texts).to.deep.equal([`register ${at}`, both, next, next, `register ${at}`]);
    rig.findings.registry.clear();
    master.send(Buffer.from([6, at >> 8, at & 0xff, 1, 44]));
    expect(rig.caseOf('write_read_only')?.facts['registers']).to.equal(`register ${at}`);
  });

  it('judges nothing while findings are off', () => {
    rig.findings.isOn = false;
    expect(rig.connect().judge).to.equal(null);
  });

  it('switches its rules off when it fails, and the master gets its answer', () => {
    const master = rig.connect();
    master.read(40_000, 3);
    rig.unit = {
      deviceIndex: 0,
      read: (_address, count) => Buffer.alloc(2 * count),
      write: () => undefined,
      get judged(): never {
        throw new Error('a mistake');
      },
    };
    expect(master.read(40_000, 3)).to.equal(0);
    expect(rig.findings.lines.at(-1)).to.match(/^the judge of modbus.* failed and is off: a mistake$/);
    expect(rig.ids('not_observable')).to.include('write_read_only');
    rig.unit = new BankUnit({ index: 0, bank: rig.device.bank });
    master.read(40_000, 3);
    master.unanswered(readPdu(40_000, 3));
    expect(rig.peer().requests).to.equal(1);
  });

  it('switches its rules off when it fails before a request, or at one without an answer', () => {
    const mistake = () => {
      throw new Error('a mistake');
    };
    for (const act of [
      () => expect(rig.connect().judge).to.equal(null),
      () => {
        rig.judge.handshakeFailed('192.0.2.7', 'its certificate has expired', true);
      },
    ]) {
      rig = new JudgeRig();
      Object.defineProperty(rig.findings.registry, 'peer', { value: mistake });
      act();
      expect(rig.findings.lines.at(-1)).to.match(/failed and is off: a mistake$/);
    }
    rig = new JudgeRig();
    const master = rig.connect();
    const { unit } = rig;
    rig.unit = {
      read: (_address, count) => Buffer.alloc(2 * count),
      write: () => undefined,
      get judged() {
        return mistake();
      },
    };
    master.unanswered(readPdu(40_000, 3));
    expect(rig.findings.lines.at(-1)).to.match(/failed and is off: a mistake$/);
    rig.unit = unit;
    master.read(40_000, 3);
    expect(rig.peer().requests).to.equal(0);
  });

  it('switches its rules off when it fails at the end of a stream or connection', () => {
    for (const end of ['broken', 'unfinished', 'closed'] as const) {
      rig = new JudgeRig();
      const master = rig.connect();
      master.read(40_000, 3);
      const mistake = () => {
        throw new Error('a mistake');
      };
      Object.defineProperty(rig.peer(), 'cells', { get: mistake });
      Object.defineProperty(rig.judge.connections, 'closed', { value: mistake });
      expect(() => {
        if (end === 'closed') master.judge?.closed(true);
        else master.judge?.[end]();
      }, end).not.to.throw();
      expect(rig.findings.lines.at(-1), end).to.match(/failed and is off: a mistake$/);
    }
  });
});
