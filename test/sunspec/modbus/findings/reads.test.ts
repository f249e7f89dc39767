import { expect } from 'chai';
import { SimError } from '../../../../src/core/errors.ts';
import { JudgeRig, readPdu } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: reads', () => {
  let rig: JudgeRig;
  let master: RiggedMaster;

  beforeEach(() => {
    rig = new JudgeRig();
    master = rig.connect();
  });

  afterEach(() => {
    expect(rig.findings.lines.filter((line) => line.includes('failed'))).to.deep.equal([]);
  });

  const times = (count: number, act: (i: number) => void) => {
    for (let i = 0; i < count; i += 1) act(i);
  };

  describe('read_part_of_point', () => {
    it('is found at the begin and at the end, with the points', () => {
      master.read(rig.at('701.MnAlrmInfo') + 5, 125);
      expect(rig.ids()).to.deep.equal(['read_part_of_point']);
      expect(rig.caseOf('read_part_of_point')?.facts['points']).to.contain('701.MnAlrmInfo');
      rig = new JudgeRig();
      rig.connect().read(rig.at('701.Alrm'), 1);
      expect(rig.caseOf('read_part_of_point')?.text).to.match(/^read register \d+, which have a part of 701.Alrm$/);
    });

    it('is found in a read that the device refuses for it, and in no other refused read', () => {
      const { unit } = rig;
      for (const code of ['MAP_ILLEGAL_ADDRESS', 'MAP_PARTIAL_POINT'] as const) {
        expect(rig.exercised('read_part_of_point')).to.equal(0);
        rig.unit = {
          deviceIndex: 0,
          judged: unit.judged ?? null,
          write: () => undefined,
          read() {
            throw new SimError(code, 'refused');
          },
        };
        master.read(rig.at('701.Alrm'), 1);
      }
      expect(rig.ids()).to.deep.equal(['read_part_of_point']);
    });

    it('is judged once a second for the same registers, and after each write', () => {
      master.read(40_000, 3);
      const exercised = (pauseS: number) => {
        rig.pass(pauseS);
        master.readPoint('701.W');
        return rig.exercised('read_part_of_point');
      };
      expect([0, 0.999, 0.001, 0.5].map(exercised)).to.deep.equal([2, 2, 3, 3]);
      master.write('704.WMaxLimPct', 500);
      expect([0, 0.001, 0.5].map(exercised)).to.deep.equal([4, 5, 5]);
    });

    it('is kept by reads of whole points', () => {
      master.readPoint('701.Alrm', '701.TotWhInj');
      master.readPoint('704.WMaxLimPctRvrtTms');
      expect(rig.ids('held')).to.include('read_part_of_point');
      expect(rig.exercised('read_part_of_point')).to.equal(2);
    });

    it('leaves reads across models, of the frame of the map and of makers alone', () => {
      rig = new JudgeRig({ simModels: true });
      master = rig.connect();
      master.read(40_000, 1);
      master.read(40_000, 3);
      master.read(40_002, 2);
      const last = rig.device.layout.slots.findLast(({ modelId, def }) => modelId === 64414 && def.size > 1);
      master.read(last?.address ?? 0, 1);
      master.read(rig.device.layout.base + rig.device.layout.size - 2, 1);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('no_discovery', () => {
    it('is found at the twentieth request', () => {
      times(19, () => master.readPoint('701.W'));
      expect(rig.ids()).to.deep.equal([]);
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids()).to.deep.equal(['no_discovery']);
      expect(rig.caseOf('no_discovery')?.facts).to.deep.equal({ requests: 20 });
    });

    it('is kept by a master that has read the marker', () => {
      master.read(40_000, 3);
      times(30, () => master.readPoint('701.W'));
      expect(rig.ids('held')).to.include('no_discovery');
    });

    it('remembers the discovery of a former connection, and counts the id of a model as one', () => {
      master.readPoint('701.ID');
      master.close();
      times(30, () => rig.connect().readPoint('701.W'));
      expect(rig.ids('held')).to.include('no_discovery');
    });
  });

  describe('exception_ignored_read', () => {
    const read = () => master.read(30_000, 10);

    it('is found a minute after the first refusal, with the registers', () => {
      times(5, () => {
        expect(read()).to.equal(2);
        rig.pass(12);
      });
      expect(rig.ids()).to.deep.equal([]);
      read();
      expect(rig.ids()).to.deep.equal(['exception_ignored_read']);
      expect(rig.caseOf('exception_ignored_read')?.facts).to.deep.equal({
        registers: 'registers 30000..30009',
        reads: 6,
      });
    });

    it('is kept by a master that takes the refusal', () => {
      read();
      expect(rig.ids('held')).to.include('exception_ignored_read');
    });

    it('counts from the first refusal after a pause of more than ten minutes', () => {
      read();
      rig.pass(601);
      times(6, () => {
        read();
        rig.pass(10);
      });
      expect(rig.ids()).to.deep.equal([]);
      read();
      expect(rig.ids()).to.deep.equal(['exception_ignored_read']);
    });

    it('is found for eight reads at a time, as many as are remembered', () => {
      for (const [count, broken] of [
        [8, 8],
        [9, 0],
      ] as const) {
        rig = new JudgeRig();
        master = rig.connect();
        times(6, () => {
          times(count, (i) => master.read(30_000 + 20 * i, 10));
          rig.pass(12);
        });
        expect(rig.findings.row(rig.peer(), 'modbus.exception_ignored_read').broken, String(count)).to.equal(broken);
      }
    });

    it('leaves registers alone that were there in between, and no others', () => {
      const { unit } = rig;
      const refused = [
        [30_000, 10],
        [30_000, 11],
        [30_020, 10],
      ] as const;
      times(7, (i) => {
        if (i === 5) {
          rig.unit = {
            deviceIndex: 0,
            judged: unit.judged ?? null,
            read: (_, n) => Buffer.alloc(2 * n),
            write: () => undefined,
          };
          master.read(30_000, 10);
          rig.unit = unit;
        }
        for (const [address, count] of refused) master.read(address, count);
        rig.pass(12);
      });
      const { cases } = rig.findings.row(rig.peer(), 'modbus.exception_ignored_read');
      expect(cases.map(({ facts }) => facts['registers'])).to.deep.equal([
        'registers 30000..30010',
        'registers 30020..30029',
      ]);
    });

    it('leaves an attempt at each daily start alone', () => {
      times(9, () => {
        read();
        rig.pass(86_400);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves registers alone that are there each third time', () => {
      const { unit } = rig;
      times(9, (i) => {
        rig.unit =
          i % 3 === 2
            ? {
                deviceIndex: 0,
                judged: unit.judged ?? null,
                read: (_, n) => Buffer.alloc(2 * n),
                write: () => undefined,
              }
            : unit;
        read();
        rig.pass(61);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves probes and the first minute alone', () => {
      times(9, () => {
        master.read(50_000, 3);
        rig.pass(20);
      });
      times(9, read);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('chain_end_passed', () => {
    const end = () => rig.device.layout.base + rig.device.layout.size;

    it('is found with the last register', () => {
      expect(master.read(end() - 2, 100)).to.equal(2);
      expect(rig.ids()).to.deep.equal(['chain_end_passed']);
      expect(rig.caseOf('chain_end_passed')?.facts['last']).to.equal(end() - 1);
      expect(rig.caseOf('chain_end_passed')?.text).to.equal(
        `read registers ${end() - 2}..${end() + 97}, of which the map ends with ${end() - 1}`,
      );
    });

    it('is kept by a read up to the end', () => {
      master.read(end() - 2, 2);
      expect(rig.ids('held')).to.include('chain_end_passed');
    });

    it('leaves short probes alone', () => {
      master.read(end() - 1, 3);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  for (const [rule, found, kept] of [
    ['poll_fast', 0.9, 1],
    ['poll_flood', 0.1, 0.2],
  ] as const)
    describe(rule, () => {
      const poll = (count: number, seconds: number) => {
        times(count, () => {
          master.read(40_000, 3);
          rig.pass(seconds);
        });
      };

      beforeEach(() => {
        rig.pass(60);
      });

      it('is found by the mean of 30 polls', () => {
        poll(30, found);
        expect(rig.ids()).to.deep.equal([]);
        poll(1, found);
        expect(rig.ids()).to.include(rule);
        expect(rig.caseOf(rule)?.facts).to.deep.include({ interval_ms: found * 1000, polls: 30 });
      });

      it('is kept by slower polls', () => {
        poll(31, kept);
        expect(rig.ids('held')).to.include(rule);
      });

      it('is found for two reads in turn, of which each is polled so often', () => {
        times(31, () => {
          master.read(40_000, 3);
          master.readPoint('701.W');
          rig.pass(found);
        });
        const { cases } = rig.findings.row(rig.peer(), `modbus.${rule}`);
        expect(cases.map(({ facts }) => facts['registers'])).to.deep.equal([
          'registers 40000..40002',
          `register ${rig.at('701.W')}`,
        ]);
      });

      it('leaves the same registers of two units or functions alone, polled in turn', () => {
        times(62, (i) => {
          master.send(readPdu(40_000, 3), i % 2);
          rig.pass(kept / 2);
        });
        rig.pass(kept);
        times(62, (i) => {
          master.read(40_000, 3, 3 + (i % 2));
          rig.pass(kept / 2);
        });
        expect(rig.ids()).to.not.include(rule);
      });

      it('counts from two seconds after a write on', () => {
        poll(25, 0.1);
        master.write('704.WMaxLimPct', 500);
        poll(20, 0.1);
        poll(30, 0.1);
        expect(rig.ids()).to.not.include(rule);
        poll(1, 0.1);
        expect(rig.ids()).to.include(rule);
      });

      it('leaves other spans, the first minute and the reads after a write alone', () => {
        times(31, () => {
          for (let at = 0; at < 9; at += 1) master.read(40_000 + at, 1);
        });
        times(40, () => {
          master.write('704.WMaxLimPct', 500);
          master.read(40_000, 3);
          rig.pass(found);
        });
        const fresh = rig.connect({ address: '192.0.2.8' });
        times(40, () => fresh.read(40_000, 3));
        expect(rig.ids()).to.not.include(rule);
        expect(rig.ids('broken', rig.peer('192.0.2.8'))).to.not.include(rule);
      });
    });
});
