import { expect } from 'chai';
import { batterySchema, resolveBattery } from '../../../../src/config/profile/blocks/battery.ts';
import type { BatteryInput } from '../../../../src/config/profile/blocks/battery.ts';
import type { Issue } from '../../../../src/core/errors.ts';
import { issueLines } from '../../support.ts';

function issuesOf(input: BatteryInput): Issue[] {
  const issues: Issue[] = [];
  resolveBattery(batterySchema.parse(input), small, 'file', issues);
  return issues;
}

const small = { ratedW: 10_000, vNomV: 480 };

describe('profile block battery', () => {
  it('has a default for everything', () => {
    const issues: Issue[] = [];
    expect(resolveBattery({}, small, 'file', issues)).to.deep.equal({
      chemistry: 'nmc',
      capacityWh: 15_000,
      powerW: 10_500,
      socPct: 50,
      socMinPct: 10,
      socMaxPct: 90,
      socReserveMinPct: 10,
      socReserveMaxPct: 90,
      strings: 2,
      modules: 4,
      cells: 16,
      sohPct: 100,
      cycleLife: null,
      socDrift: null,
      ambientTemperatureC: null,
      thermalTimeConstantS: 7200,
      efficiencyNominal: 0.97,
    });
    expect(issues).to.deep.equal([]);
  });

  it('the reserve follows floor and ceiling', () => {
    const issues: Issue[] = [];
    expect(resolveBattery({ soc_min_pct: 5, soc_max_pct: 95 }, small, 'file', issues)).to.include({
      socReserveMinPct: 5,
      socReserveMaxPct: 95,
    });
    expect(resolveBattery({ soc_reserve_min_pct: 30, soc_reserve_max_pct: 70 }, small, 'file', issues)).to.include({
      socReserveMinPct: 30,
      socReserveMaxPct: 70,
      socMinPct: 10,
    });
    expect(issues).to.deep.equal([]);
  });

  it('takes over what is given', () => {
    const input = {
      chemistry: 'lfp',
      capacity_wh: 2e5,
      power_w: 1e5,
      soc_pct: 20,
      strings: 8,
      modules: 10,
      cells: 32,
      soh_pct: 92,
      cycle_life: 6000,
      ambient_temperature_c: 22,
      thermal_time_constant_s: 3600,
      efficiency_nominal: 0.98,
    } as const;
    expect(resolveBattery(batterySchema.parse(input), { ratedW: 1e5, vNomV: 480 }, 'file', [])).to.include({
      chemistry: 'lfp',
      capacityWh: 2e5,
      powerW: 1e5,
      socPct: 20,
      strings: 8,
      modules: 10,
      cells: 32,
      sohPct: 92,
      cycleLife: 6000,
      ambientTemperatureC: 22,
      thermalTimeConstantS: 3600,
      efficiencyNominal: 0.98,
    });
  });

  it('names the member that breaks the order of the bounds', () => {
    expect(issuesOf({ soc_min_pct: 95 })).to.deep.equal([
      { name: 'file: battery.soc_min_pct', detail: 'given 95; allowed: below soc_max_pct, which is 90' },
    ]);
    expect(issuesOf({ soc_max_pct: 5 })).to.deep.equal([
      { name: 'file: battery.soc_max_pct', detail: 'given 5; allowed: above soc_min_pct, which is 10' },
    ]);
    expect(issuesOf({ soc_reserve_min_pct: 5 })).to.deep.equal([
      { name: 'file: battery.soc_reserve_min_pct', detail: 'given 5; allowed: from soc_min_pct, which is 10' },
    ]);
    expect(issuesOf({ soc_reserve_max_pct: 95 })).to.deep.equal([
      { name: 'file: battery.soc_reserve_max_pct', detail: 'given 95; allowed: up to soc_max_pct, which is 90' },
    ]);
    expect(issuesOf({ soc_reserve_min_pct: 80, soc_reserve_max_pct: 60 })).to.deep.equal([
      {
        name: 'file: battery.soc_reserve_min_pct',
        detail: 'given 80; allowed: up to soc_reserve_max_pct, which is 60',
      },
    ]);
    expect(issuesOf({ soc_reserve_min_pct: 95 }).map(({ name }) => name)).to.deep.equal([
      'file: battery.soc_reserve_min_pct',
    ]);
    expect(issuesOf({ soc_reserve_max_pct: 5 }).map(({ name }) => name)).to.deep.equal([
      'file: battery.soc_reserve_max_pct',
    ]);
  });

  it('starts within its floor and ceiling', () => {
    const detail = (socPct: number, low = 10, high = 90) => [
      {
        name: 'file: battery.soc_pct',
        detail: `given ${socPct}; allowed: from soc_min_pct to soc_max_pct, which are ${low} and ${high}`,
      },
    ];
    expect(issuesOf({ soc_pct: 9.9 })).to.deep.equal(detail(9.9));
    expect(issuesOf({ soc_pct: 95 })).to.deep.equal(detail(95));
    expect(issuesOf({ soc_pct: 50, soc_min_pct: 60 })).to.deep.equal(detail(50, 60));
    for (const input of [
      { soc_pct: 10 },
      { soc_pct: 90 },
      { soc_pct: 20, soc_reserve_min_pct: 30 },
      { soc_pct: 0, soc_min_pct: 0 },
    ]) {
      expect(issuesOf(input)).to.deep.equal([]);
    }
    // limits in the wrong order are told, and nothing that follows from them
    expect(issuesOf({ soc_pct: 50, soc_min_pct: 95 }).map(({ name }) => name)).to.deep.equal([
      'file: battery.soc_min_pct',
    ]);
    for (const [input, socPct] of [
      [{ soc_min_pct: 60 }, 60],
      [{ soc_max_pct: 40 }, 40],
      [{}, 50],
    ] as const) {
      expect(resolveBattery(input, small, 'file', [])).to.include({ socPct });
      expect(issuesOf(input)).to.deep.equal([]);
    }
  });

  it('starts within limits that a hybrid block or a flag gives', () => {
    const files = {
      '/site/p.yaml': 'hybrid: { soc_max_pct: 80 }\nbattery: { soc_pct: 20 }',
      '/site/full.yaml': 'hybrid: { soc_max_pct: 80 }\nbattery: { soc_pct: 85 }',
    };
    const hybrid = (file: string, ...flags: string[]) =>
      issueLines(['-d', 'HybridDC-3Phase', '-f', file, ...flags], { files });
    expect(hybrid('full.yaml')).to.deep.equal([
      'full.yaml: battery.soc_pct: given 85; allowed: from soc_min_pct to soc_max_pct, which are 10 and 80',
    ]);
    expect(hybrid('p.yaml', '--hybrid_soc_min_pct', '30')).to.deep.equal([
      'p.yaml: battery.soc_pct: given 20; allowed: from soc_min_pct to soc_max_pct, which are 30 and 80',
    ]);
    expect(hybrid('p.yaml', '--hybrid_soc_min_pct', '90')).to.have.length(1);
  });

  it('refuses a bank of too many cells and members that it does not know', () => {
    expect(issuesOf({ strings: 100, modules: 100, cells: 100 })).to.have.length(1);
    expect(batterySchema.safeParse({ capacity_kwh: 15 }).success).to.equal(false);
    expect(batterySchema.safeParse({ chemistry: 'lead' }).success).to.equal(false);
    expect(batterySchema.safeParse({ soc_pct: 101 }).success).to.equal(false);
    expect(batterySchema.safeParse({ strings: 1.5 }).success).to.equal(false);
    for (const size of [0.9, 1.1e9]) {
      expect(batterySchema.safeParse({ capacity_wh: size }).success).to.equal(false);
      expect(batterySchema.safeParse({ power_w: size }).success).to.equal(false);
    }
    expect(batterySchema.safeParse({ capacity_wh: 1, power_w: 1e9 }).success).to.equal(true);
  });

  it('from 50 kW on a string reaches the peak of the AC voltage, a smaller one has a booster', () => {
    const modules = (chemistry: 'nmc' | 'lfp', ratedW: number, vNomV: number, cells = 16) =>
      resolveBattery({ chemistry, cells }, { ratedW, vNomV }, 'file', []).modules;
    expect([modules('lfp', 49_999, 480), modules('nmc', 10_000, 480)]).to.deep.equal([4, 4]);
    // 747 V at 3 V or 3.3 V per cell
    expect([modules('lfp', 250_000, 480), modules('nmc', 50_000, 480)]).to.deep.equal([16, 15]);
    expect([modules('lfp', 250_000, 480, 8), modules('nmc', 50_000, 400)]).to.deep.equal([32, 12]);
    expect(resolveBattery({ modules: 3 }, { ratedW: 1e5, vNomV: 480 }, 'file', []).modules).to.equal(3);
    // 20,000 cells have room for 12 modules of 100 strings, where the voltage asks for 15
    const issues: Issue[] = [];
    expect(resolveBattery({ strings: 100 }, { ratedW: 1e5, vNomV: 480 }, 'file', issues).modules).to.equal(12);
    expect(issues).to.deep.equal([]);
  });
});
