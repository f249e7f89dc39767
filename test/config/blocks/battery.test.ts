import { expect } from 'chai';
import { batterySchema, resolveBattery } from '../../../src/config/blocks/battery.ts';
import type { BatteryInput } from '../../../src/config/blocks/battery.ts';
import type { Fault } from '../../../src/core/errors.ts';

function faultsOf(input: BatteryInput): Fault[] {
  const faults: Fault[] = [];
  resolveBattery(batterySchema.parse(input), 10_000, 'file', faults);
  return faults;
}

describe('profile block battery', () => {
  it('has a default for everything', () => {
    const faults: Fault[] = [];
    expect(resolveBattery({}, 10_000, 'file', faults)).to.deep.equal({
      chemistry: 'nmc', capacityWh: 15_000, powerW: 10_500, socPct: 50, socMinPct: 10, socMaxPct: 90, socReserveMinPct: 10,
      socReserveMaxPct: 90, strings: 2, modules: 4, cells: 16, sohPct: 100, cycleLife: null, ambientTemperatureC: null,
      thermalTimeConstantS: 7200, efficiencyNominal: 0.97,
    });
    expect(faults).to.deep.equal([]);
  });

  it('the reserve follows floor and ceiling', () => {
    const faults: Fault[] = [];
    expect(resolveBattery({ soc_min_pct: 5, soc_max_pct: 95 }, 1e4, 'file', faults)).to.include({ socReserveMinPct: 5, socReserveMaxPct: 95 });
    expect(resolveBattery({ soc_reserve_min_pct: 30, soc_reserve_max_pct: 70 }, 1e4, 'file', faults)).to.include({ socReserveMinPct: 30, socReserveMaxPct: 70, socMinPct: 10 });
    expect(faults).to.deep.equal([]);
  });

  it('takes over what is given', () => {
    const input = {
      chemistry: 'lfp', capacity_wh: 2e5, power_w: 1e5, soc_pct: 20, strings: 8, modules: 10, cells: 32, soh_pct: 92, cycle_life: 6000,
      ambient_temperature_c: 22, thermal_time_constant_s: 3600, efficiency_nominal: 0.98,
    } as const;
    expect(resolveBattery(batterySchema.parse(input), 1e5, 'file', [])).to.include({
      chemistry: 'lfp', capacityWh: 2e5, powerW: 1e5, socPct: 20, strings: 8, modules: 10, cells: 32, sohPct: 92, cycleLife: 6000,
      ambientTemperatureC: 22, thermalTimeConstantS: 3600, efficiencyNominal: 0.98,
    });
  });

  it('names the member that breaks the order of the bounds', () => {
    expect(faultsOf({ soc_min_pct: 95 })).to.deep.equal([{ name: 'file: battery.soc_min_pct', detail: 'given 95; allowed: below soc_max_pct, which is 90' }]);
    expect(faultsOf({ soc_max_pct: 5 })).to.deep.equal([{ name: 'file: battery.soc_max_pct', detail: 'given 5; allowed: above soc_min_pct, which is 10' }]);
    expect(faultsOf({ soc_reserve_min_pct: 5 })).to.deep.equal([{ name: 'file: battery.soc_reserve_min_pct', detail: 'given 5; allowed: from soc_min_pct, which is 10' }]);
    expect(faultsOf({ soc_reserve_max_pct: 95 })).to.deep.equal([{ name: 'file: battery.soc_reserve_max_pct', detail: 'given 95; allowed: up to soc_max_pct, which is 90' }]);
    expect(faultsOf({ soc_reserve_min_pct: 80, soc_reserve_max_pct: 60 })).to.deep.equal([{ name: 'file: battery.soc_reserve_min_pct', detail: 'given 80; allowed: up to soc_reserve_max_pct, which is 60' }]);
    expect(faultsOf({ soc_reserve_min_pct: 95 }).map(({ name }) => name)).to.deep.equal(['file: battery.soc_reserve_min_pct']);
    expect(faultsOf({ soc_reserve_max_pct: 5 }).map(({ name }) => name)).to.deep.equal(['file: battery.soc_reserve_max_pct']);
  });

  it('refuses a bank of too many cells and members that it does not know', () => {
    expect(faultsOf({ strings: 100, modules: 100, cells: 100 })).to.have.length(1);
    expect(batterySchema.safeParse({ capacity_kwh: 15 }).success).to.equal(false);
    expect(batterySchema.safeParse({ chemistry: 'lead' }).success).to.equal(false);
    expect(batterySchema.safeParse({ soc_pct: 101 }).success).to.equal(false);
    expect(batterySchema.safeParse({ strings: 1.5 }).success).to.equal(false);
  });
});
