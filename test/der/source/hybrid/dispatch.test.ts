import { expect } from 'chai';
import fc from 'fast-check';
import { hybridPolicies } from '../../../../src/contract/kinds/hybrid.ts';
import type { HybridPolicy } from '../../../../src/contract/kinds/hybrid.ts';
import { dispatch } from '../../../../src/der/source/hybrid.ts';
import type { DispatchInput } from '../../../../src/der/source/hybrid.ts';
import { goldenRows, needsGolden } from '../../golden.ts';
import { holds } from '../../../support/property.ts';

const base: DispatchInput = {
  policy: 'self_consumption',
  pvAvailableW: 0,
  chargeMaxW: 10_000,
  dischargeMaxW: 10_000,
  targetW: null,
  loadW: 0,
  floorW: 0,
  ceilingW: 15_000,
  pinnedBatteryW: null,
};

/** PV, battery, curtailed, bus power, W. */
function shares(changes: Partial<DispatchInput>): number[] {
  const { pvW, batteryW, curtailedW, dcW } = dispatch({ ...base, ...changes });
  return [pvW, batteryW, curtailedW, dcW];
}

/** A row of the acceptance table in DC watts. */
function inputOf(row: Record<string, string>): DispatchInput {
  const watts = (name: string) => Number(row[name]) * 1000;
  const eta = Number(row['inverter_eff']);
  const soc = Number(row['soc_pct']);
  const policy = row['policy'] as HybridPolicy;
  const target = policy === 'manual' ? 'manual_target_kw' : 'ac_setpoint_kw';
  const dcOf = (acW: number) => (acW < 0 ? acW * eta : acW / eta);
  return {
    policy,
    pvAvailableW: watts('pv_available_kw'),
    loadW: dcOf(watts('load_kw')),
    chargeMaxW: soc >= Number(row['soc_max_pct']) ? 0 : watts('batt_max_charge_kw'),
    dischargeMaxW: soc <= Number(row['soc_min_pct']) ? 0 : watts('batt_max_discharge_kw'),
    targetW: row[target] === '' ? null : dcOf(watts(target)),
    floorW: row['grid_charge_allowed'] === '1' ? dcOf(-watts('ac_max_kw')) : 0,
    ceilingW: dcOf(watts('ac_max_kw')),
    pinnedBatteryW: null,
  };
}

describe('hybrid dispatch: acceptance table', () => {
  it(`agrees with every row ${needsGolden}`, function () {
    const rows = goldenRows(this, 'hybrid_dispatch.csv');
    expect(rows).to.have.length(116);
    rows.forEach((row, at) => {
      const got = dispatch(inputOf(row));
      const eta = Number(row['inverter_eff']);
      const acW = got.dcW < 0 ? got.dcW / eta : got.dcW * eta;
      const shown = {
        pv_used_kw: got.pvW,
        batt_kw_discharge_positive: got.batteryW,
        dc_bus_kw: got.dcW,
        curtailed_kw: got.curtailedW,
        ac_kw: acW,
        grid_export_kw: acW - Number(row['load_kw']) * 1000,
      };
      for (const [name, valueW] of Object.entries(shown)) {
        expect(valueW / 1000, `row ${at + 2} ${name}: ${Object.values(row).join(',')}`).to.be.closeTo(
          Number(row[name]),
          1e-6,
        );
      }
    });
  });

  it('the table has the rows that distinguish the policies', () => {
    expect(shares({ pvAvailableW: 8000 })).to.deep.equal([8000, -8000, 0, 0]);
    expect(shares({ pvAvailableW: 3000, loadW: 4000 })).to.deep.equal([3000, 1000, 0, 4000]);
    expect(shares({ pvAvailableW: 18_000 })).to.deep.equal([18_000, -10_000, 0, 8000]);
    expect(shares({ pvAvailableW: 18_000, chargeMaxW: 0 })).to.deep.equal([15_000, 0, 3000, 15_000]);
    expect(shares({ policy: 'pv_priority', pvAvailableW: 18_000 })).to.deep.equal([18_000, -3000, 0, 15_000]);
    expect(shares({ policy: 'pv_priority', pvAvailableW: 3000, targetW: 6000 })).to.deep.equal([3000, 3000, 0, 6000]);
    expect(shares({ policy: 'manual', pvAvailableW: 18_000, targetW: 5000 })).to.deep.equal([
      15_000, -10_000, 3000, 5000,
    ]);
    expect(shares({ policy: 'manual', pvAvailableW: 2000, targetW: -6000, floorW: -15_000 })).to.deep.equal([
      2000, -8000, 0, -6000,
    ]);
  });
});

describe('hybrid dispatch: beyond the table', () => {
  it('a surplus is exported before it is curtailed', () => {
    expect(shares({ pvAvailableW: 12_000, chargeMaxW: 2000 })).to.deep.equal([12_000, -2000, 0, 10_000]);
  });

  it('PV is never curtailed in order to import more', () => {
    expect(shares({ policy: 'manual', pvAvailableW: 2000, targetW: -12_000, floorW: -15_000 })).to.deep.equal([
      2000, -10_000, 0, -8000,
    ]);
    expect(shares({ policy: 'manual', pvAvailableW: 14_000, targetW: -12_000, floorW: -15_000 })).to.deep.equal([
      10_000, -10_000, 4000, 0,
    ]);
  });

  it('manual without a target: PV goes to AC and the battery rests', () => {
    expect(shares({ policy: 'manual', pvAvailableW: 7000 })).to.deep.equal([7000, 0, 0, 7000]);
    expect(shares({ policy: 'manual', pvAvailableW: 17_000 })).to.deep.equal([15_000, 0, 2000, 15_000]);
  });

  it('a pinned battery holds, and the array makes the target', () => {
    expect(shares({ policy: 'manual', pvAvailableW: 9000, targetW: 4000, pinnedBatteryW: 1000 })).to.deep.equal([
      3000, 1000, 6000, 4000,
    ]);
    expect(shares({ policy: 'manual', pvAvailableW: 9000, targetW: 4000, pinnedBatteryW: -2000 })).to.deep.equal([
      6000, -2000, 3000, 4000,
    ]);
    expect(shares({ policy: 'manual', pvAvailableW: 2000, targetW: 9000, pinnedBatteryW: 3000 })).to.deep.equal([
      2000, 3000, 0, 5000,
    ]);
    expect(shares({ policy: 'self_consumption', pvAvailableW: 9000, pinnedBatteryW: 8000 })).to.deep.equal([
      7000, 8000, 2000, 15_000,
    ]);
  });

  it('a function that forces power either way moves array and battery', () => {
    for (const policy of hybridPolicies) {
      expect(shares({ policy, pvAvailableW: 3000, floorW: 9000 }), policy).to.deep.equal([3000, 6000, 0, 9000]);
      expect(shares({ policy, pvAvailableW: 3000, floorW: -9000, ceilingW: -4000 })[3], policy).to.equal(-4000);
      expect(
        shares({ policy, pvAvailableW: 3000, floorW: 4000, ceilingW: 4000, pinnedBatteryW: -5000 }),
        policy,
      ).to.deep.equal([3000, 1000, 0, 4000]);
    }
  });

  it('own bounds win over floor and ceiling', () => {
    expect(shares({ pvAvailableW: 3000, floorW: 20_000, ceilingW: 20_000 })).to.deep.equal([3000, 10_000, 0, 13_000]);
    expect(shares({ pvAvailableW: 3000, floorW: -20_000, ceilingW: -20_000 })).to.deep.equal([
      0, -10_000, 3000, -10_000,
    ]);
  });
});

const power = (max: number) => fc.double({ min: 0, max, noNaN: true });
const signed = (max: number) => fc.double({ min: -max, max, noNaN: true });
const situations = fc.record({
  policy: fc.constantFrom(...hybridPolicies),
  pvAvailableW: power(20_000),
  chargeMaxW: fc.oneof(fc.constant(0), power(12_000)),
  dischargeMaxW: fc.oneof(fc.constant(0), power(12_000)),
  targetW: fc.option(signed(25_000)),
  loadW: power(12_000),
  floorW: fc.oneof(
    fc.constant(0),
    power(15_000).map((w) => -w),
  ),
  ceilingW: power(16_000),
  pinnedBatteryW: fc.option(signed(15_000), { freq: 4 }),
});

describe('hybrid dispatch: invariants', () => {
  it('balance, bounds, and curtailment only where battery and inverter are at a limit', () => {
    holds(
      'balance and bounds of a dispatch',
      situations,
      (input) => {
        const { pvW, batteryW, curtailedW, dcW } = dispatch(input);
        expect(pvW + batteryW - dcW).to.be.closeTo(0, 1e-6);
        expect(pvW).to.be.within(0, input.pvAvailableW);
        expect(pvW + curtailedW).to.be.closeTo(input.pvAvailableW, 1e-6);
        expect(batteryW).to.be.within(-input.chargeMaxW, input.dischargeMaxW);
        expect(dcW).to.be.within(input.floorW - 1e-6, input.ceilingW + 1e-6);
        if (curtailedW < 1e-6 || input.policy === 'manual' || input.pinnedBatteryW !== null) return;
        expect(dcW).to.be.closeTo(input.ceilingW, 1e-6);
        expect(batteryW).to.be.closeTo(-input.chargeMaxW, 1e-6);
      },
      { runs: 5000 },
    );
  });

  it('floor equal to ceiling is met exactly, whatever the policy', () => {
    holds(
      'floor equal to ceiling',
      [situations, fc.double({ min: 0, max: 1, noNaN: true })],
      (input, part) => {
        const minW = -input.chargeMaxW;
        const dcW = minW + part * (input.pvAvailableW + input.dischargeMaxW - minW);
        const got = dispatch({ ...input, floorW: dcW, ceilingW: dcW });
        expect(got.dcW).to.be.closeTo(dcW, 1e-6);
        const discharging = got.batteryW > 1e-6 && got.curtailedW > 1e-6;
        expect(discharging && input.pinnedBatteryW === null, 'curtails while the battery gives').to.equal(false);
      },
      { runs: 5000 },
    );
  });

  it('more PV never lowers what reaches the bus', () => {
    holds(
      'more PV never lowers the output',
      [situations, power(5000)],
      (input, moreW) => {
        const before = dispatch(input).dcW;
        expect(dispatch({ ...input, pvAvailableW: input.pvAvailableW + moreW }).dcW).to.be.at.least(before - 1e-6);
      },
      { runs: 2000 },
    );
  });

  it('shows no negative zero', () => {
    for (const policy of hybridPolicies) {
      const { batteryW, pvW, dcW } = dispatch({ ...base, policy, chargeMaxW: 0, dischargeMaxW: 0, targetW: 0 });
      for (const value of [batteryW, pvW, dcW]) expect(Object.is(value, -0)).to.equal(false);
    }
  });

  it('fills the object that it is given', () => {
    const out = { pvW: 1, batteryW: 1, curtailedW: 1, dcW: 1 };
    expect(dispatch({ ...base, pvAvailableW: 500, loadW: 500 }, out)).to.equal(out);
    expect(out).to.deep.equal({ pvW: 500, batteryW: 0, curtailedW: 0, dcW: 500 });
  });
});
