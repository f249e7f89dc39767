import { expect } from 'chai';
import { lateWriteFault, lenientWritesFault, partialWriteFault } from '../../../src/fault-kinds/modbus-map.ts';
import { checkAcceptance } from '../../../src/sunspec/faults/acceptance.ts';
import { byModbus, errorOf, words } from '../../support/map.ts';
import { type AcceptanceRig, createRig, expectRefused } from './acceptance-rig.ts';

describe('lenient_writes', () => {
  let rig: AcceptanceRig;
  beforeEach(() => {
    rig = createRig();
  });

  // the limiter that Victron ships writes five registers from 704 + 14 on, and so half of the reversion time
  const limiter = [1, 500, 1000, 1, 120] as const;
  const put = (r: AcceptanceRig) => {
    r.write('704.WMaxLimPctEna', ...limiter);
  };

  it('without it such a write is refused', () => {
    expect(rig.addressOf('704.WMaxLimPctEna') - rig.addressOf('704.ID')).to.equal(14);
    expectRefused(rig, 3, () => {
      put(rig);
    });
  });

  it('keeps the whole points, and drops the part of the last one', () => {
    const fault = rig.inject(lenientWritesFault);
    put(rig);
    expect(['Ena', '', 'Rvrt', 'EnaRvrt', 'RvrtTms'].map((end) => rig.value(`704.WMaxLimPct${end}`))).to.deep.equal([
      'ENABLED',
      50,
      100,
      'ENABLED',
      0,
    ]);
    expect(rig.changes).to.have.length(1);
    expect(rig.lines).to.deep.equal([
      'a fault drops the part of 704.WMaxLimPctRvrtTms at the end of a write of 192.0.2.1:4711',
    ]);
    expect([fault.occasions, fault.strikeCount]).to.deep.equal([1, 1]);
  });

  it('refuses what is wrong otherwise: a bad value, a part at the start, a part alone, one of a read-only point', () => {
    const fault = rig.inject(lenientWritesFault);
    expectRefused(rig, 3, () => {
      rig.write('704.WMaxLimPctEna', 1, 1200, 1000, 1, 120);
    });
    const inside = rig.addressOf('704.WMaxLimPctRvrtTms') + 1;
    expectRefused(rig, 3, () => {
      rig.acceptance.writeThrough(rig.faults.registry.active, inside, words(120, 0, 0), byModbus);
    });
    expectRefused(rig, 3, () => {
      rig.write('704.WMaxLimPctRvrtTms', 0);
    });
    expectRefused(rig, 2, () => {
      rig.write('704.WMaxLimPctRvrtTms', 0, 120, 0);
    });
    expect(fault.occasions).to.equal(1);
  });

  it('is aimed at the point that would be dropped, and counts such writes alone', () => {
    const fault = rig.inject(lenientWritesFault, {}, { target: { points: ['704.WSet'] }, every: 2 });
    expectRefused(rig, 3, () => {
      put(rig);
    });
    rig.write('704.WSetMod', 1, 0, 5000);
    expect(fault.occasions).to.equal(0);
    const half = () => {
      rig.write('704.WSetMod', 0, 0);
    };
    expectRefused(rig, 3, half);
    half();
    expect([rig.value('704.WSetMod'), rig.value('704.WSet')]).to.deep.equal(['W_MAX_PCT', 5000]);
  });

  it('leaves the rest to the other kinds', () => {
    rig.inject(lenientWritesFault);
    rig.inject(partialWriteFault, { landing_points: 1 });
    rig.inject(lateWriteFault, { delay_s: 5 });
    put(rig);
    rig.pass(5);
    expect([rig.value('704.WMaxLimPctEna'), rig.value('704.WMaxLimPctRvrtTms')]).to.deep.equal(['ENABLED', 0]);
    expect([rig.value('704.WMaxLimPct'), rig.value('704.WMaxLimPctEnaRvrt')]).to.deep.equal([100, 'DISABLED']);
  });

  it('wants a target with a point that can be written', () => {
    const request = { protocol: 'modbus', kind: 'lenient_writes', target: { points: ['701.W'] } } as const;
    expect(
      errorOf(() => {
        checkAcceptance({ kind: lenientWritesFault, parameters: {}, request }, rig.layout);
      }).issues[0]?.name,
    ).to.equal('/target/points');
  });
});
