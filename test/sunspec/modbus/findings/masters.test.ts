import { expect } from 'chai';
import { JudgeRig } from '../../../support/modbus-master.ts';

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

    it('is kept by a connection that is used again', () => {
      visit(2);
      expect(rig.ids('held')).to.include('connection_per_request');
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
  });
  it('switches its rules off when it fails at the end of a stream or connection', () => {
    for (const end of ['broken', 'unfinished', 'closed'] as const) {
      rig = new JudgeRig();
      const master = rig.connect();
      master.read(40_000, 3);
      Object.defineProperty(rig.peer(), 'cells', {
        get: () => {
          throw new Error('a mistake');
        },
      });
      expect(() => {
        if (end === 'closed') master.judge?.closed(true);
        else master.judge?.[end]();
      }, end).not.to.throw();
      expect(rig.findings.lines.at(-1), end).to.match(/failed and is off: a mistake$/);
    }
  });
});
