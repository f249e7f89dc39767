import { expect } from 'chai';
import { byRest } from '../../../support/map.ts';
import { SimError } from '../../../../src/core/errors.ts';
import type { ErrorCode } from '../../../../src/core/errors.ts';
import { JudgeRig, readPdu, writePdu } from '../../../support/modbus-master.ts';
import type { RiggedMaster } from '../../../support/modbus-master.ts';

describe('findings of Modbus: writes', () => {
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

  describe('write_part_of_point', () => {
    it('is found with the point and the frame', () => {
      expect(master.write('704.WMaxLimPctEna', 1, 500, 1000, 0, 0)).to.equal(3);
      expect(rig.ids()).to.deep.equal(['write_part_of_point']);
      const { facts, excerpt } = rig.caseOf('write_part_of_point') ?? {};
      expect(facts?.['point']).to.equal('704.WMaxLimPctRvrtTms');
      expect(excerpt).to.match(/^0001000000110110.*0001/);
    });

    it('is kept by writes of whole points', () => {
      master.write('704.WMaxLimPctEna', 1, 500, 1000, 0, 0, 60);
      expect(rig.ids()).to.deep.equal([]);
      expect(rig.ids('held')).to.include('write_part_of_point');
    });

    it('leaves points of classic models that devices ignore alone', () => {
      rig = new JudgeRig({ classic: true });
      master = rig.connect();
      const slot = rig.device.layout.slots.find(
        (one) => one.modelId > 101 && one.modelId < 200 && !one.writable && one.def.size > 1,
      );
      master.write((slot?.address ?? 0) + 1, 0);
      expect(rig.ids()).to.not.include('write_part_of_point');
    });
  });

  describe('write_read_only', () => {
    it('is found with the point', () => {
      expect(master.write('701.W', 5)).to.equal(2);
      expect(rig.ids()).to.deep.equal(['write_read_only']);
      expect(rig.caseOf('write_read_only')?.facts['point']).to.equal('701.W');
    });

    it('is kept by a write of a setting', () => {
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids('held')).to.include('write_read_only');
    });

    it('leaves a write of a whole classic model alone', () => {
      rig = new JudgeRig({ classic: true });
      master = rig.connect();
      const raw = (at: number) => rig.device.bank.read(at, 1).readUInt16BE(0);
      const { address, length } = rig.device.layout.models.find(({ def }) => def.id === 123) ?? {
        address: 0,
        length: 0,
      };
      master.write(address, 0, 0, ...Array.from({ length }, (_, i) => raw(address + 2 + i)));
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('write_scale_factor', () => {
    it('is found with the point', () => {
      master.write('704.WMaxLimPct_SF', 0xffff);
      expect(rig.ids()).to.deep.equal(['write_scale_factor']);
      expect(rig.caseOf('write_scale_factor')?.facts['point']).to.equal('704.WMaxLimPct_SF');
    });

    it('is kept by a write of a setting', () => {
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids('held')).to.include('write_scale_factor');
    });

    it('leaves that of a classic model alone', () => {
      rig = new JudgeRig({ classic: true });
      rig.connect().write('123.WMaxLimPct_SF', 0);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('write_set_in_force', () => {
    it('is found with the point', () => {
      master.write('705.Crv[0].ActPt', 2);
      expect(rig.ids()).to.deep.equal(['write_set_in_force']);
      expect(rig.caseOf('write_set_in_force')?.facts['point']).to.equal('705.Crv[0].ActPt');
    });

    it('is kept by a write of a setting', () => {
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids('held')).to.include('write_set_in_force');
    });

    it('leaves stored sets alone', () => {
      master.write('705.Crv[1].ActPt', 2);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('value_out_of_range', () => {
    it('is found for an enumeration, a set and a number of points', () => {
      for (const [point, value] of [
        ['704.WMaxLimPctEna', 7],
        ['705.AdptCrvReq', 4],
        ['705.Crv[1].ActPt', 11],
      ] as const) {
        rig = new JudgeRig();
        expect(rig.connect().write(point, value), point).to.equal(3);
        expect(rig.ids(), point).to.deep.equal(['value_out_of_range']);
        expect(rig.caseOf('value_out_of_range')?.facts['point']).to.equal(point);
      }
    });

    it('is kept by values that are defined', () => {
      master.write('704.WMaxLimPctEna', 1);
      expect(rig.ids('held')).to.include('value_out_of_range');
    });

    it('leaves ranges of this device alone', () => {
      expect(master.write('704.WMaxLimPct', 1001)).to.equal(3);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('not_implemented_written', () => {
    it('is found with the point', () => {
      expect(master.write('704.WMaxLimPct', 0xffff)).to.equal(3);
      expect(rig.ids()).to.deep.equal(['not_implemented_written']);
      expect(rig.caseOf('not_implemented_written')?.facts['point']).to.equal('704.WMaxLimPct');
    });

    it('is kept by a value', () => {
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids('held')).to.include('not_implemented_written');
    });

    it('leaves curve points that are not in use and classic models alone', () => {
      rig = new JudgeRig({ classic: true });
      master = rig.connect();
      master.write('705.Crv[1].Pt[9].V', 0xffff);
      master.write('123.WMaxLimPct', 0xffff);
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('refused_write_repeated', () => {
    const write = (value = 1001) => master.write('704.WMaxLimPct', value);

    it('is found at the third repetition, with the exception', () => {
      times(3, () => write());
      expect(rig.ids()).to.deep.equal([]);
      write();
      expect(rig.ids()).to.deep.equal(['refused_write_repeated']);
      expect(rig.caseOf('refused_write_repeated')?.facts).to.deep.include({ writes: 4, exception: 3 });
    });

    it('is kept by a master that takes the refusal', () => {
      write();
      expect(rig.ids('held')).to.include('refused_write_repeated');
    });

    it('counts anew after a read of the registers, another value, a success and a minute', () => {
      const others = [
        () => master.readPoint('704.WMaxLimPct'),
        () => write(1002),
        () => master.write('704.WMaxLimPctEna', 1, 1001),
        () => master.write('704.VarSetPct', 1001),
        () => master.write('704.WMaxLimPct', 1000),
        () => {
          rig.pass(60.001);
        },
      ];
      for (const [i, other] of others.entries()) {
        rig = new JudgeRig();
        master = rig.connect();
        times(3, () => write());
        other();
        times(3, () => write());
        expect(rig.ids(), String(i)).to.deep.equal([]);
      }
    });

    it('leaves writes alone that differ in their first register', () => {
      times(6, (i) => master.write('704.WMaxLimPctEna', 2 + i, 500));
      expect(rig.ids()).to.deep.equal(['value_out_of_range']);
    });

    it('is found for writes a minute apart, and outside of the map', () => {
      const repeat = (at: string | number) => {
        times(3, () => {
          master.write(at, 1001);
          rig.pass(60);
        });
        expect(rig.ids()).to.deep.equal([]);
        master.write(at, 1001);
        expect(rig.ids()).to.deep.equal(['refused_write_repeated']);
        rig.findings.registry.clear();
      };
      repeat('704.WMaxLimPct');
      repeat(rig.device.layout.base + rig.device.layout.size + 10);
    });

    it('counts refusals by a fault, and a read in between, which may be one that was just judged', () => {
      const pdu = writePdu(rig.at('704.WMaxLimPct'), [500]);
      master.read(40_000, 3);
      times(9, () => {
        master.refusedByFault(4, pdu);
        master.readPoint('704.WMaxLimPct');
      });
      times(9, () => {
        master.refusedByFault(6, pdu);
      });
      times(9, () => {
        master.unanswered(pdu);
      });
      times(9, () => {
        master.refusedByFault(4, readPdu(rig.at('704.WMaxLimPct'), 1));
      });
      expect(rig.ids()).to.deep.equal([]);
      times(4, () => {
        master.refusedByFault(4, pdu);
      });
      expect(rig.ids()).to.deep.equal(['refused_write_repeated']);
      expect(rig.caseOf('refused_write_repeated')?.text).to.match(
        /^wrote register \d+ 4 times with the same values, refused with exception 4$/,
      );
    });

    it('counts refusals by the unit, except those that ask for a repetition', () => {
      master.read(40_000, 3);
      const refuse = (code: number) => {
        const { unit } = rig;
        rig.unit = {
          ...unit,
          deviceIndex: 0,
          read: () => Buffer.alloc(2),
          judged: unit.judged ?? null,
          write() {
            throw new SimError('MAP_BAD_VALUE', 'refused', [], code);
          },
        };
        times(9, () => write(500));
        rig.unit = unit;
      };
      refuse(6);
      expect(rig.ids()).to.deep.equal([]);
      refuse(4);
      expect(rig.ids()).to.deep.equal(['refused_write_repeated']);
    });
  });

  describe('local_control_ignored', () => {
    let refusal: ErrorCode | null;

    beforeEach(() => {
      const { unit } = rig;
      refusal = 'MAP_LOCAL_CONTROL';
      rig.unit = {
        deviceIndex: 0,
        read: (address, count, by) => unit.read(address, count, by),
        judged: unit.judged ?? null,
        write() {
          if (refusal !== null) throw new SimError(refusal, 'local');
        },
      };
    });

    it('is found a minute after the first refusal', () => {
      times(3, () => {
        expect(master.write('704.WMaxLimPct', 500)).to.equal(2);
        rig.pass(30);
      });
      expect(rig.ids()).to.deep.equal(['local_control_ignored']);
      expect(rig.caseOf('local_control_ignored')?.facts['refusals']).to.equal(3);
      expect(rig.caseOf('local_control_ignored')?.text).to.match(
        /^wrote register \d+ under local control; writes were refused 3 times within 60 s$/,
      );
    });

    it('leaves two attempts alone', () => {
      for (const pauseS of [0, 90]) {
        rig.pass(pauseS);
        master.write('704.WMaxLimPct', 500);
      }
      expect(rig.ids()).to.deep.equal([]);
    });

    it('counts anew after a write that was carried out, and not after another refusal', () => {
      const attempts = (between: ErrorCode | null) => {
        for (const code of ['MAP_LOCAL_CONTROL', 'MAP_LOCAL_CONTROL', between, 'MAP_LOCAL_CONTROL'] as const) {
          refusal = code;
          master.write('704.WMaxLimPct', 500);
          rig.pass(30);
        }
      };
      attempts(null);
      expect(rig.ids()).to.deep.equal([]);
      rig.pass(601);
      attempts('MAP_BAD_VALUE');
      expect(rig.ids()).to.deep.equal(['local_control_ignored']);
    });

    it('is kept by a master that takes the refusal', () => {
      master.write('704.WMaxLimPct', 500);
      expect(rig.ids('held')).to.include('local_control_ignored');
    });

    it('leaves an attempt each day alone', () => {
      times(9, () => {
        master.write('704.WMaxLimPct', 500);
        rig.pass(86_400);
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves the first minute alone', () => {
      times(9, () => master.write('704.WMaxLimPct', 500));
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  describe('settings_churn', () => {
    const write = (value = 10_600) => master.write('703.ESVHi', value);

    it('is found at the tenth write without change', () => {
      times(10, () => {
        expect(write()).to.equal(0);
      });
      expect(rig.ids()).to.deep.equal([]);
      write();
      expect(rig.ids()).to.deep.equal(['settings_churn']);
      expect(rig.caseOf('settings_churn')?.facts['writes']).to.equal(10);
    });

    it('is kept by a write', () => {
      write();
      expect(rig.ids('held')).to.include('settings_churn');
    });

    it('is found for ten writes within an hour', () => {
      for (const [pauseS, ids] of [
        [360, ['settings_churn']],
        [360.001, []],
      ] as const) {
        rig = new JudgeRig();
        master = rig.connect();
        times(11, () => {
          write();
          rig.pass(pauseS);
        });
        expect(rig.ids(), String(pauseS)).to.deep.equal(ids);
      }
    });

    it('is found for 16 settings in turn, as many as are remembered', () => {
      const { layout, bank } = rig.device;
      const settings = layout.slots.filter(
        ({ modelId, path, writable }) =>
          writable && ((modelId === 703 && path !== 'ES') || (modelId === 705 && /Crv\[1\].Pt\[[0-4]\]/.test(path))),
      );
      for (const [count, ids] of [
        [16, ['settings_churn']],
        [17, []],
      ] as const) {
        rig = new JudgeRig();
        master = rig.connect();
        master.read(40_000, 3);
        for (const { address, def } of [...settings.slice(0, count), ...settings.slice(0, count)]) {
          const octets = bank.read(address, def.size);
          const values = Array.from({ length: def.size }, (_, i) => octets.readUInt16BE(2 * i));
          expect(master.write(address, ...values)).to.equal(0);
        }
        expect(rig.ids(), String(count)).to.deep.equal(ids);
      }
    });

    it('leaves settings alone that a restart or another change may have reset', () => {
      master.read(40_000, 3);
      times(22, (i) => {
        write();
        if (i % 2 === 0) rig.device.bank.reload(rig.device.dump(), byRest);
        else rig.device.set({ '703.ESVHi': 107, '704.WMaxLimPct': 10 + i });
      });
      expect(rig.ids()).to.deep.equal([]);
    });

    it('leaves changes, writes over hours and set-points alone', () => {
      master.read(40_000, 3);
      times(12, () => {
        write(10_600);
        write(10_700);
      });
      times(12, () => {
        write();
        rig.pass(3700);
      });
      times(12, () => master.write('704.WMaxLimPctEna', 0, 500));
      times(12, () => master.write('703.ES', 1));
      times(12, () => master.write('706.RvrtTms', 0, 60));
      times(12, () => master.write('706.Ena', 1));
      expect(rig.ids()).to.deep.equal([]);
    });
  });

  it('settings_churn leaves settings alone that take the place of those of others', () => {
    const other = rig.connect({ address: '192.0.2.8' });
    for (const each of [master, other]) each.read(40_000, 3);
    times(12, () => {
      master.write('703.ESVHi', 10_600);
      expect(other.write('703.ESVHi', 10_700, 9200)).to.equal(0);
    });
    times(12, () => {
      master.write('703.ESVHi', 10_600);
      rig.device.set({ '703.ESVHi': 107 }, byRest);
    });
    expect(rig.ids()).to.deep.equal([]);
    expect(rig.ids('broken', rig.peer('192.0.2.8'))).to.deep.equal([]);
  });

  describe('roles', () => {
    const secured = (role: 'GridServiceSunSpec' | 'ReadOnlySunSpec' | null) =>
      rig.connect({ transport: 'tls', certificate: 'ab', role });
    const peer = () => rig.peer('192.0.2.7', 'ab');

    it('role_insufficient is found with the role', () => {
      expect(secured('ReadOnlySunSpec').write('704.WMaxLimPct', 500)).to.equal(1);
      expect(rig.ids('broken', peer())).to.deep.equal(['role_insufficient']);
      expect(rig.caseOf('role_insufficient', peer())?.facts['role']).to.equal('ReadOnlySunSpec');
    });

    it('role_insufficient and role_missing are kept by a role that may write', () => {
      secured('GridServiceSunSpec').write('704.WMaxLimPct', 500);
      expect(rig.ids('held', peer())).to.include.members(['role_insufficient', 'role_missing', 'tls_client']);
    });

    it('role_insufficient leaves models without published rights alone', () => {
      rig = new JudgeRig({ classic: true });
      expect(secured('ReadOnlySunSpec').write('123.WMaxLimPct', 50)).to.equal(1);
      expect(rig.ids('broken', peer())).to.deep.equal([]);
    });

    it('role_missing is found when something else than the chain is read', () => {
      expect(secured(null).readPoint('701.W')).to.equal(1);
      expect(rig.ids('broken', peer())).to.deep.equal(['role_missing']);
    });

    it('role_missing is all that is found at a write without a role', () => {
      expect(secured(null).write('704.WMaxLimPct', 500)).to.equal(1);
      expect(rig.ids('broken', peer())).to.deep.equal(['role_missing']);
      expect(rig.exercised('role_insufficient', peer())).to.equal(0);
    });

    it('are not judged without TLS', () => {
      master.write('704.WMaxLimPct', 500);
      master.readPoint('704.WMaxLimPct');
      expect([rig.exercised('role_missing'), rig.exercised('role_insufficient')]).to.deep.equal([0, 0]);
    });

    it('role_missing leaves the discovery alone', () => {
      secured(null).read(40_000, 3);
      expect(rig.ids('broken', peer())).to.deep.equal([]);
    });
  });
});
