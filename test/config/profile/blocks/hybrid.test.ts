import { expect } from 'chai';
import { hybridSchema, resolveHybrid } from '../../../../src/config/profile/blocks/hybrid.ts';
import type { Issue } from '../../../../src/core/errors.ts';

function resolve(raw: unknown, ratedW = 15_000) {
  const issues: Issue[] = [];
  return { block: resolveHybrid(hybridSchema.parse(raw), ratedW, 'p', issues), issues };
}

describe('interface 12.1: hybrid block', () => {
  it('fills in everything from nothing', () => {
    expect(resolve({})).to.deep.equal({
      block: {
        policy: 'self_consumption',
        pvW: 10_000,
        batteryW: 10_000,
        batteryWh: 15_000,
        chargeFromGrid: true,
        socMinPct: 10,
        socMaxPct: 95,
        busVoltageV: 800,
      },
      issues: [],
    });
    expect(resolve({}, 100_000).block.busVoltageV).to.equal(1100);
  });

  it('keeps what is given', () => {
    const { block, issues } = resolve({
      policy: 'manual',
      pv_w: 20_000,
      battery_w: 5000,
      battery_wh: 40_000,
      charge_from_grid: false,
      soc_min_pct: 0,
      soc_max_pct: 100,
      bus_voltage_v: 700,
    });
    expect(block).to.deep.equal({
      policy: 'manual',
      pvW: 20_000,
      batteryW: 5000,
      batteryWh: 40_000,
      chargeFromGrid: false,
      socMinPct: 0,
      socMaxPct: 100,
      busVoltageV: 700,
    });
    expect(issues).to.deep.equal([]);
    expect(resolve({ battery_w: 4000 }).block.batteryWh).to.equal(6000);
  });

  it('refuses bounds in the wrong order, by the name of what was given', () => {
    expect(resolve({ soc_min_pct: 96 }).issues).to.deep.equal([
      { name: 'p: hybrid.soc_min_pct', detail: 'given 96; allowed: below soc_max_pct, which is 95' },
    ]);
    expect(resolve({ soc_max_pct: 10 }).issues).to.deep.equal([
      { name: 'p: hybrid.soc_max_pct', detail: 'given 10; allowed: above soc_min_pct, which is 10' },
    ]);
    expect(resolve({ soc_min_pct: 60, soc_max_pct: 50 }).issues).to.have.length(1);
  });

  const refused: [string, unknown][] = [
    ['policy', 'best'],
    ['pv_w', 0.9],
    ['pv_w', 1.1e9],
    ['pv_w', '10'],
    ['battery_w', 0.9],
    ['battery_wh', 0.9],
    ['charge_from_grid', 'yes'],
    ['soc_min_pct', -1],
    ['soc_max_pct', 101],
    ['bus_voltage_v', 49],
    ['bus_voltage_v', 3001],
    ['pv_kw', 1],
  ];
  for (const [key, value] of refused) {
    it(`refuses ${key}: ${JSON.stringify(value)}`, () => {
      expect(hybridSchema.safeParse({ [key]: value }).success).to.equal(false);
    });
  }
});
