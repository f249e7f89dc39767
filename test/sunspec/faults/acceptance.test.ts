import { expect } from 'chai';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  alterWriteFault,
  exceptionCodeFault,
  ignoreWriteFault,
  lateWriteFault,
  partialWriteFault,
  writeLockFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { delayFault } from '../../../src/fault-kinds/modbus-transport.ts';
import { Acceptance, checkAcceptance, isAcceptance, maxPendingWrites } from '../../../src/sunspec/faults/acceptance.ts';
import { FaultBench } from '../../support/faults.ts';
import { byModbus, createTestBank, errorOf, words } from '../../support/map.ts';
import { answeredWith, type AcceptanceRig, createRig, expectRefused } from './acceptance-rig.ts';

const limit = { target: { points: ['704.WMaxLimPct'] } };

describe('faults in what a write leaves', () => {
  let rig: AcceptanceRig;
  beforeEach(() => {
    rig = createRig();
  });

  it('writes straight to the bank without a fault of this layer', () => {
    rig.inject(delayFault, { delay_ms: 5 });
    rig.write('704.WMaxLimPct', 500);
    expect(rig.value('704.WMaxLimPct')).to.equal(50);
    expect(rig.changes.at(-1)?.by).to.deep.equal(byModbus);
    expect(rig.faults.registry.active.map(isAcceptance)).to.deep.equal([false]);
  });

  describe('ignore_write', () => {
    it('acknowledges a write and keeps the value, without a commit', () => {
      const fault = rig.inject(ignoreWriteFault, {}, limit);
      rig.write('704.WMaxLimPct', 500);
      expect(rig.value('704.WMaxLimPct')).to.equal(100);
      expect(rig.changes).to.have.length(0);
      expect(rig.bank.provenance(rig.slot(704, 'WMaxLimPct'))).to.equal(undefined);
      expect([fault.occasions, fault.strikeCount]).to.deep.equal([1, 1]);
    });

    it('lets the other points of the request land, in one commit', () => {
      rig.inject(ignoreWriteFault, {}, limit);
      rig.write('704.WMaxLimPctEna', 1, 500);
      expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 100]);
      expect(rig.changes.map(({ points, by }) => [points.map(({ path }) => path), by])).to.deep.equal([
        [['WMaxLimPctEna'], byModbus],
      ]);
    });

    it('covers all registers of a point when it is aimed at one of them', () => {
      rig.inject(ignoreWriteFault, {}, { target: { registers: { address: rig.addressOf('704.WSet') + 1, count: 1 } } });
      rig.write('704.WSet', 0, 5000);
      expect(rig.value('704.WSet')).to.equal(0);
    });

    it('still refuses what the device refuses, which is no occasion', () => {
      const fault = rig.inject(ignoreWriteFault);
      expectRefused(rig, 3, () => {
        rig.write('704.WMaxLimPct', 1200);
      });
      expectRefused(rig, 2, () => {
        rig.write('701.W', 1);
      });
      expectRefused(rig, 3, () => {
        rig.write('704.WSet', 1);
      });
      expect(fault.occasions).to.equal(0);
    });

    it('strikes one model whole, and no other', () => {
      rig.inject(ignoreWriteFault, {}, { target: { points: ['704'] } });
      rig.write('704.WMaxLimPct', 500);
      rig.write('703.ESDlyTms', 0, 77);
      expect([rig.value('704.WMaxLimPct'), rig.value('703.ESDlyTms')]).to.deep.equal([100, 77]);
    });

    it('is as before when its strikes are used up', () => {
      rig.inject(ignoreWriteFault, {}, { ...limit, count: 2 });
      for (const value of [500, 600]) rig.write('704.WMaxLimPct', value);
      expect(rig.value('704.WMaxLimPct')).to.equal(100);
      rig.write('704.WMaxLimPct', 700);
      expect(rig.value('704.WMaxLimPct')).to.equal(70);
    });

    it('rests while its condition does not hold', () => {
      rig.inject(ignoreWriteFault, {}, { ...limit, when: { point: '704.WMaxLimPctEna', equals: 'ENABLED' } });
      rig.write('704.WMaxLimPct', 500);
      rig.set({ '704.WMaxLimPctEna': 'ENABLED' });
      rig.write('704.WMaxLimPct', 600);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });

    it('loses a value too that cannot land without what was ignored', () => {
      rig = createRig((map) => {
        map.m702.PFOvrExtRtg = 0.95;
      });
      rig.inject(ignoreWriteFault, {}, { target: { points: ['704.PFWInj.Ext'] } });
      rig.write('704.PFWInj.PF', 850, 1);
      expect([rig.value('704.PFWInj.PF'), rig.value('704.PFWInj.Ext')]).to.deep.equal([1, 'OVER_EXCITED']);
      expect(rig.lines).to.have.length(1);
      rig.faults.registry.clear();
      rig.write('704.PFWInj.PF', 850, 1);
      expect([rig.value('704.PFWInj.PF'), rig.value('704.PFWInj.Ext')]).to.deep.equal([0.85, 'UNDER_EXCITED']);
    });
  });

  describe('write_lock', () => {
    it('refuses every write with its code, and lifts with its end', () => {
      const fault = rig.inject(writeLockFault, { code: 6 });
      expectRefused(rig, 6, () => {
        rig.write('704.WMaxLimPct', 500);
      });
      expectRefused(rig, 6, () => {
        rig.write('701.W', 1);
      });
      rig.faults.registry.clear({ id: fault.facts.id });
      rig.write('704.WMaxLimPct', 500);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });

    it('answers exception 2 unless told otherwise, and lasts as long as it was asked to', () => {
      rig.inject(writeLockFault, {}, { durationS: 60 });
      rig.pass(59);
      expectRefused(rig, 2, () => {
        rig.write('704.WMaxLimPct', 500);
      });
      rig.pass(1);
      rig.write('704.WMaxLimPct', 500);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });

    it('locks the points it names, and with them each request that touches one', () => {
      rig.inject(writeLockFault, {}, limit);
      rig.write('704.WMaxLimPctEna', 1);
      expectRefused(rig, 2, () => {
        rig.write('704.WMaxLimPctEna', 0, 500);
      });
      expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
    });
  });

  describe('late_write', () => {
    it('acknowledges at once and lands after simulated time, under the name of the writer', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      rig.write('704.WMaxLimPct', 500);
      rig.pass(9.9);
      expect(rig.value('704.WMaxLimPct')).to.equal(100);
      rig.pass(0.1);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
      expect(rig.bank.provenance(rig.slot(704, 'WMaxLimPct'))).to.include(byModbus);
    });

    it('holds the named points back and lets the others land at once', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      rig.write('704.WMaxLimPctEna', 1, 500);
      expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 100]);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });

    it('checks now: a value out of range is refused', () => {
      rig.inject(lateWriteFault, { delay_s: 10 });
      expectRefused(rig, 3, () => {
        rig.write('704.WMaxLimPct', 1200);
      });
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(100);
    });

    it('says so when the value cannot land any more', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, { target: { points: ['704.WSet'] } });
      rig.write('704.WSet', 0, 60_000);
      rig.set({ '702.WMax': 50_000 });
      rig.pass(10);
      expect(rig.value('704.WSet')).to.equal(0);
      expect(rig.lines).to.have.length(1);
      expect(rig.lines[0]).to.contain('704.WSet').and.contain(byModbus.peer);
    });

    it('lands what was acknowledged also after the fault has ended', () => {
      const fault = rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      rig.write('704.WMaxLimPct', 500);
      rig.faults.registry.clear({ id: fault.facts.id });
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });

    it('adds up delays, and lands in the order of time', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      rig.inject(lateWriteFault, { delay_s: 5 }, limit);
      rig.write('704.WMaxLimPct', 500);
      rig.pass(5);
      rig.write('704.WMaxLimPct', 600);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
      rig.pass(5);
      expect(rig.value('704.WMaxLimPct')).to.equal(60);
    });

    it('refuses with busy when too many writes wait, and takes more when they have landed', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      for (let i = 0; i < maxPendingWrites; i++) rig.write('704.WMaxLimPct', i % 1000);
      expectRefused(rig, 6, () => {
        rig.write('704.WMaxLimPct', 500);
      });
      rig.pass(10);
      rig.write('704.WMaxLimPct', 123);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(12.3);
    });

    it('counts no strike of a write that is refused with busy, and no occasion of the faults before it', () => {
      const altered = rig.inject(alterWriteFault, { offset: 1 }, limit);
      const late = rig.inject(lateWriteFault, { delay_s: 10 }, { ...limit, count: maxPendingWrites + 1 });
      for (let i = 0; i < maxPendingWrites; i++) rig.write('704.WMaxLimPct', i % 1000);
      for (let i = 0; i < 3; i++)
        expectRefused(rig, 6, () => {
          rig.write('704.WMaxLimPct', 500);
        });
      expect([altered.occasions, late.occasions, late.remaining, late.end]).to.deep.equal([1000, 1000, 1, null]);
      rig.pass(10);
      rig.write('704.WMaxLimPct', 500);
      expect([late.occasions, late.end]).to.deep.equal([1001, 'count']);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(51);
    });

    it('lets a write of another chance pass while no further one can wait', () => {
      const late = rig.inject(lateWriteFault, { delay_s: 10 }, { ...limit, every: 2 });
      for (let i = 0; i < 2 * maxPendingWrites; i++) rig.write('704.WMaxLimPct', i % 1000);
      rig.write('704.WMaxLimPct', 123);
      expect(rig.value('704.WMaxLimPct')).to.equal(12.3);
      expectRefused(rig, 6, () => {
        rig.write('704.WMaxLimPct', 500);
      });
      expect([late.occasions, late.strikeCount]).to.deep.equal([2001, 1000]);
    });
  });

  describe('late_write of a device that is reset', () => {
    it('has room again for what never landed', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      for (let i = 0; i < maxPendingWrites; i++) rig.write('704.WMaxLimPct', i % 1000);
      rig.scheduler.clear();
      rig.write('704.WMaxLimPct', 500);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
    });
  });

  describe('alter_write', () => {
    it('lands another number, rounded to the register', () => {
      rig.inject(alterWriteFault, { factor: 0.5, offset: 1.23 }, limit);
      rig.write('704.WMaxLimPct', 500);
      expect(rig.value('704.WMaxLimPct')).to.equal(26.2);
      expect(rig.bank.provenance(rig.slot(704, 'WMaxLimPct'))).to.include(byModbus);
    });

    it('lands a fixed value, whatever was written, of numbers and of enumerations', () => {
      rig.inject(alterWriteFault, { value: 1 }, { target: { points: ['704.WMaxLimPct', '704.WMaxLimPctEna'] } });
      rig.write('704.WMaxLimPctEna', 0, 500);
      expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 1]);
    });

    it('multiplies no enumeration, and no text', () => {
      const fault = rig.inject(alterWriteFault, { factor: 2 });
      rig.write('704.WMaxLimPctEna', 1);
      expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
      expect(fault.occasions).to.equal(0);
    });

    it('loses an altered value that the device does not take, and lands the rest', () => {
      rig.inject(alterWriteFault, { factor: 2 }, limit);
      rig.write('704.WMaxLimPctEna', 1, 700);
      expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 100]);
      expect(rig.lines).to.have.length(1);
    });

    it('goes before the delay, in order of injection among its like', () => {
      rig.inject(lateWriteFault, { delay_s: 10 }, limit);
      rig.inject(alterWriteFault, { factor: 2 }, limit);
      rig.inject(alterWriteFault, { factor: 1, offset: 5 }, limit);
      rig.write('704.WMaxLimPct', 100);
      rig.pass(10);
      expect(rig.value('704.WMaxLimPct')).to.equal(25);
    });
  });

  describe('partial_write', () => {
    it('lands the first points of a request and acknowledges all', () => {
      const fault = rig.inject(partialWriteFault, { landing_points: 1 });
      rig.write('704.WMaxLimPctEna', 1, 500);
      expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 100]);
      rig.write('704.WMaxLimPct', 500);
      expect(rig.value('704.WMaxLimPct')).to.equal(50);
      expect(fault.occasions).to.equal(1);
    });
  });

  describe('exception_code', () => {
    const cases = [
      {
        rule: 'read_only',
        write: (r: AcceptanceRig) => {
          r.write('701.W', 1);
        },
        usual: 2,
      },
      {
        rule: 'bad_value',
        write: (r: AcceptanceRig) => {
          r.write('704.WMaxLimPct', 1200);
        },
        usual: 3,
      },
      {
        rule: 'partial_point',
        write: (r: AcceptanceRig) => {
          r.write('704.WSet', 1);
        },
        usual: 3,
      },
      {
        rule: 'illegal_address',
        write: (r: AcceptanceRig) => {
          r.write('715.OpCtl', 0, 0, 0, 0, 0, 0);
        },
        usual: 2,
      },
    ];
    for (const { rule, write } of cases) {
      it(`answers a refusal for ${rule} with another code, and no other refusal`, () => {
        const fault = rig.inject(exceptionCodeFault, { rule, code: 9 });
        expectRefused(rig, 9, () => {
          write(rig);
        });
        for (const other of cases.filter((each) => each.rule !== rule))
          expectRefused(rig, other.usual, () => {
            other.write(rig);
          });
        expect([fault.occasions, fault.strikeCount]).to.deep.equal([1, 1]);
        rig.write('704.WMaxLimPct', 500);
        expect(rig.value('704.WMaxLimPct')).to.equal(50);
      });
    }

    it('names a point that is not implemented', () => {
      const lean = createTestBank({ omit: ['704.WSet'] });
      const faults = new FaultBench();
      faults.inject(exceptionCodeFault, { rule: 'not_implemented', code: 1 });
      const acceptance = new Acceptance({
        deviceIndex: 0,
        bank: lean.bank,
        later: () => {
          throw new Error('nothing is late');
        },
        again: () => {
          throw new Error('nothing is late');
        },
        log: { info: () => undefined },
      });
      const { address } = lean.slot(704, 'WSet');
      expect(
        answeredWith(() => {
          acceptance.writeThrough(faults.registry.active, address, words(0, 1), byModbus);
        }),
      ).to.equal(1);
    });
  });

  it('takes points out first, then alters, then delays', () => {
    rig.inject(lateWriteFault, { delay_s: 3 });
    rig.inject(alterWriteFault, { offset: 1 }, limit);
    rig.inject(ignoreWriteFault, {}, { target: { points: ['704.WMaxLimPctEna'] } });
    rig.write('704.WMaxLimPctEna', 1, 500);
    expect(rig.changes).to.have.length(0);
    rig.pass(3);
    expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPct')]).to.deep.equal(['DISABLED', 51]);
  });

  it('strikes by chance, the same writes for the same seed', () => {
    const pattern = (seed: number) => {
      const fresh = createRig();
      fresh.inject(ignoreWriteFault, {}, { ...limit, probability: 0.5, seed });
      return Array.from({ length: 64 }, (_, i) => {
        fresh.write('704.WMaxLimPct', i + 1);
        return fresh.value('704.WMaxLimPct') === (i + 1) / 10 ? '.' : 'x';
      }).join('');
    };
    expect(pattern(3)).to.equal(pattern(3)).and.to.match(/x/).and.to.match(/\./);
    expect(pattern(4)).not.to.equal(pattern(3));
  });

  describe('what a fault is refused for', () => {
    const refusal = (kind: FaultKind, parameters: Readonly<Record<string, unknown>>, target = {}) =>
      errorOf(() => {
        checkAcceptance(
          { kind, parameters, request: { protocol: 'modbus', kind: kind.kind, parameters, target } },
          rig.layout,
        );
      }).issues[0]?.name;

    it('names the target when nothing there can be written', () => {
      expect(refusal(ignoreWriteFault, {}, { points: ['701.W'] })).to.equal('/target/points');
      expect(
        refusal(lateWriteFault, { delay_s: 1 }, { registers: { address: rig.addressOf('701.W'), count: 1 } }),
      ).to.equal('/target/registers');
    });

    it('wants points for one value', () => {
      expect(refusal(alterWriteFault, { value: 1 })).to.equal('/target/points');
    });

    it('has nothing against the others', () => {
      for (const [kind, target] of [
        [ignoreWriteFault, limit.target],
        [ignoreWriteFault, {}],
        [writeLockFault, { points: ['701'] }],
      ] as const) {
        checkAcceptance({ kind, parameters: {}, request: { protocol: 'modbus', kind: kind.kind, target } }, rig.layout);
      }
      expect(errorOf(() => rig.inject(alterWriteFault, {})).code).to.equal('COMMAND_BAD_VALUE');
    });
  });
});
