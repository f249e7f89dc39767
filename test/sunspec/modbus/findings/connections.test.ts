import { expect } from 'chai';
import { JudgeRig, readPdu, writePdu } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: connections', () => {
  let rig: JudgeRig;

  beforeEach(() => {
    rig = new JudgeRig();
  });

  afterEach(() => {
    expect(rig.findings.lines.filter((line) => line.includes('failed'))).to.deep.equal([]);
  });

  const times = (count: number, act: (i: number) => void) => {
    for (let i = 0; i < count; i += 1) act(i);
  };
  const use = (master: RiggedMaster, requests = 2) => {
    times(requests, () => master.read(40_000, 3));
  };
  const milliseconds = (count: number) => {
    rig.pass(count / 1000);
  };

  describe('reconnect_hasty', () => {
    const visit = (pauseMs: number, identity = {}, byMaster = true) => {
      const master = rig.connect(identity);
      use(master);
      master.close(byMaster);
      milliseconds(pauseMs);
    };

    it('is found at the fifth return of a minute', () => {
      times(5, () => visit(99));
      expect(rig.ids()).to.deep.equal([]);
      use(rig.connect());
      expect(rig.ids()).to.deep.equal(['reconnect_hasty']);
      expect(rig.caseOf('reconnect_hasty')?.facts).to.deep.equal({ connections: 5, pause_ms: 99 });
      expect(rig.exercised('reconnect_hasty')).to.equal(5);
      rig = new JudgeRig();
      times(2, () => visit(99));
      rig.pass(60);
      times(4, () => visit(99));
      expect(rig.ids()).to.deep.equal([]);
    });

    it('is kept by a longer pause', () => {
      times(20, () => visit(100));
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('reconnect_hasty')).to.equal(19);
    });

    it('leaves other ports, an end by this side, health checks and slow series alone', () => {
      times(10, (i) => visit(10, { listener: 502 + (i % 2) }));
      times(10, () => visit(10, {}, false));
      rig.pass(60);
      times(10, () => {
        visit(10);
        rig.connect().close();
      });
      times(10, () => {
        rig.pass(15);
        visit(10);
        visit(10);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves masters behind one address alone that take turns', () => {
      times(10, () => {
        visit(20);
        visit(20);
        visit(5000);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves a master alone that has other connections', () => {
      use(rig.connect());
      times(10, () => visit(10));
      expect(rig.ids()).to.not.include('reconnect_hasty');
    });
  });

  describe('connections_parallel', () => {
    const inTurn = (seconds: number, ...masters: readonly RiggedMaster[]) => {
      times(seconds / 2, () => {
        for (const master of masters) {
          master.readPoint('701.ConnSt');
          rig.pass(1);
        }
      });
    };

    it('is found after ten seconds, with the request', () => {
      const [first, second] = [rig.connect(), rig.connect()];
      inTurn(10, first, second);
      expect(rig.ids()).to.deep.equal([]);
      inTurn(4, first, second);
      expect(rig.ids()).to.deep.equal(['connections_parallel']);
      const { facts, excerpt } = rig.caseOf('connections_parallel') ?? {};
      expect(facts).to.deep.equal({ connections: 2 });
      expect(excerpt).to.match(/03.{8}$/);
    });

    it('is found at exactly ten seconds, at a request over one of the two', () => {
      const [first, second, third] = [rig.connect(), rig.connect(), rig.connect()];
      const ask = (master: RiggedMaster, pauseS: number) => {
        master.readPoint('701.ConnSt');
        rig.pass(pauseS);
      };
      ask(first, 1);
      ask(second, 9.999);
      ask(first, 1);
      expect(rig.ids()).to.deep.equal([]);
      ask(third, 1);
      expect(rig.ids()).to.deep.equal([]);
      ask(second, 0);
      expect(rig.ids()).to.deep.equal(['connections_parallel']);
      rig = new JudgeRig();
      const others = [rig.connect(), rig.connect()] as const;
      ask(others[0], 1);
      ask(others[1], 10);
      ask(others[0], 0);
      expect(rig.ids()).to.deep.equal(['connections_parallel']);
    });

    it('is found with more connections than the four that are remembered', () => {
      const masters = Array.from({ length: 6 }, () => rig.connect());
      inTurn(16, ...masters);
      rig.findings.registry.clear();
      inTurn(4, ...masters);
      expect(rig.caseOf('connections_parallel')?.text).to.equal('used the device over 4 connections at a time');
    });

    it('is looked at once a second', () => {
      const exercised = (pauseS: number) => {
        rig.pass(pauseS);
        const master = rig.connect();
        use(master);
        master.close();
        return rig.exercised('connections_parallel');
      };
      expect([0, 0.999, 0.001].map(exercised)).to.deep.equal([1, 1, 2]);
    });

    it('is kept by one connection, and by one after the other', () => {
      times(5, () => {
        const master = rig.connect();
        master.read(40_000, 3);
        inTurn(12, master);
        master.close();
      });
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('connections_parallel')).to.equal(5);
    });

    it('leaves a connection alone beside which others come and go', () => {
      const lasting = rig.connect();
      times(15, () => {
        const visitor = rig.connect();
        inTurn(2, lasting, visitor);
        visitor.close();
      });
      expect(rig.ids()).to.not.include('connections_parallel');
    });

    it('leaves an idle second connection, one that took the place of the first, and a line alone', () => {
      const first = rig.connect();
      use(first);
      const second = rig.connect();
      inTurn(30, second);
      times(3, () => {
        const line = rig.connect({ transport: 'serial', address: '/dev/ttyTEST' });
        use(line);
      });
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.ids('broken', rig.peer('/dev/ttyTEST'))).to.deep.equal([]);
    });
  });

  describe('retry_hasty', () => {
    const request = readPdu(40_072, 10);
    const retry = (master: RiggedMaster, waitMs: number, pdu = request) => {
      master.unanswered(request);
      milliseconds(waitMs);
      master.send(pdu);
      rig.pass(10);
    };

    it('is found at the third repetition within a second', () => {
      const master = rig.connect();
      times(2, () => retry(master, 999));
      expect(rig.ids()).to.deep.equal([]);
      retry(master, 999);
      expect(rig.ids()).to.deep.equal(['retry_hasty']);
      expect(rig.caseOf('retry_hasty')?.facts).to.deep.equal({ wait_ms: 999, retries: 3 });
      expect(rig.exercised('retry_hasty')).to.equal(3);
    });

    it('is found for a request that was answered 1500 ms before the one without an answer, not for one just before', () => {
      for (const [pauseMs, ids] of [
        [1499, []],
        [1500, ['retry_hasty']],
      ] as const) {
        rig = new JudgeRig();
        const master = rig.connect();
        times(3, () => {
          master.send(request);
          milliseconds(pauseMs);
          retry(master, 500);
        });
        expect(rig.ids(), String(pauseMs)).to.deep.equal(ids);
      }
    });

    it('leaves requests alone to which a fault gives an exception, and any other function', () => {
      const master = rig.connect();
      times(5, () => {
        master.refusedByFault(6, request);
        milliseconds(300);
      });
      times(5, () => {
        master.unanswered(Buffer.from([1, 0, 0, 0, 1]));
        milliseconds(300);
        master.unanswered(Buffer.from([2, 0, 0]));
        milliseconds(300);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('is found in a row of requests without an answer', () => {
      const master = rig.connect();
      times(4, () => {
        master.unanswered(request);
        milliseconds(300);
      });
      expect(rig.ids()).to.deep.equal(['retry_hasty']);
    });

    it('is found for repetitions to which a fault gives an exception', () => {
      const master = rig.connect();
      times(3, () => {
        master.unanswered(request);
        milliseconds(300);
        master.refusedByFault(6, request);
        milliseconds(300);
        master.send(request);
        rig.pass(10);
      });
      expect(rig.ids()).to.deep.equal(['retry_hasty']);
      expect(rig.exercised('retry_hasty')).to.equal(3);
    });

    it('is kept by a wait of a second', () => {
      const master = rig.connect();
      times(5, () => retry(master, 1000));
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.exercised('retry_hasty')).to.equal(5);
    });

    it('leaves other requests, requests that come together, fast polls and a line alone', () => {
      const master = rig.connect();
      times(5, () => retry(master, 100, readPdu(40_072, 2)));
      times(5, () => {
        master.unanswered(request, request);
        rig.pass(10);
      });
      times(20, (i) => {
        if (i % 4 === 0) master.send(request);
        else master.unanswered(request);
        milliseconds(500);
      });
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.findings.row(rig.peer(), 'modbus.retry_hasty').undecided).to.be.greaterThan(5);
      const line = rig.connect({ transport: 'serial', address: '/dev/ttyTEST' });
      times(5, () => retry(line, 100));
      expect(rig.ids('broken', rig.peer('/dev/ttyTEST'))).to.deep.equal([]);
    });

    it('leaves a gateway alone that asks several units the same, and writes that come as often anyway', () => {
      const gateway = rig.connect();
      times(10, () => {
        gateway.unanswered({ pdu: request, unitId: 1 });
        milliseconds(5);
        gateway.unanswered({ pdu: request, unitId: 2 });
        milliseconds(5);
        gateway.send(request, 0);
        rig.pass(10);
      });
      const limit = writePdu(rig.at('704.WMaxLimPct'), [500]);
      times(10, () => {
        gateway.send(limit);
        milliseconds(700);
        gateway.unanswered(limit);
        milliseconds(700);
      });
      expect(rig.ids()).to.not.include('retry_hasty');
    });

    it('is forgotten after ten minutes', () => {
      const master = rig.connect();
      times(5, () => {
        retry(master, 500);
        rig.pass(600);
      });
      expect(rig.ids()).to.deep.equal([]);
    });
  });
});
