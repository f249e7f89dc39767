import { expect } from 'chai';
import {
  fuelCellCombinationIssue,
  fuelCellSchema,
  resolveFuelCell,
} from '../../../../src/config/profile/blocks/fuel-cell.ts';
import type { Issue } from '../../../../src/core/errors.ts';
import {
  fuelCellChemistries,
  fuelCellCombinations,
  fuelCellFuels,
  fuelCellOperatingModes,
} from '../../../../src/contract/kinds/fuelcell.ts';
import { stackHeat } from '../../../../src/der/source/fuelcell/dynamics.ts';
import { electrolyserCell, oxideCellV, pemLaws, pemV } from '../../../../src/der/source/fuelcell/cells.ts';

function resolve(raw: unknown, ratedW = 5000) {
  const issues: Issue[] = [];
  return { parameters: resolveFuelCell(fuelCellSchema.parse(raw), ratedW, 'p', issues), issues };
}

const both = { operating_mode: 'bidirectional' };

describe('fuel cell block', () => {
  it('fills in everything from nothing', () => {
    const { parameters, issues } = resolve({});
    expect(issues).to.deep.equal([]);
    const { cellAreaCm2, ...rest } = parameters;
    expect(cellAreaCm2).to.be.closeTo(165.5, 0.1);
    expect(rest).to.deep.equal({
      chemistry: 'PEMFC',
      operatingMode: 'fc_only',
      fuel: 'tank',
      stackModel: 'tafel',
      ratedPowerW: 5000,
      ratedElPowerW: 0,
      efficiencyNominal: 0.97,
      cellCount: 78,
      elCellAreaCm2: 0,
      parasiticFixedPct: 3,
      parasiticPct: 4,
      fuelUtilizationPct: 97,
      dryingLossPct: 4,
      rampUpPctS: 15,
      rampDownPctS: 50,
      dwellS: 30,
      startTemperatureC: null,
      tankCapacityKg: 5 * 0.07 * 8,
      tankLevelPct: 90,
      tankPressureMaxBar: 200,
      tankReserveMinPct: 5,
      tankReserveMaxPct: 95,
      tankLowPct: 15,
    });
  });

  it('fills in a bidirectional and a solid oxide plant', () => {
    expect(resolve(both).parameters).to.include({ ratedElPowerW: 5000, tankLevelPct: 50, tankPressureMaxBar: 30 });
    const oxide = resolve({ ...both, chemistry: 'SOFC' }).parameters;
    expect(oxide).to.include({ rampUpPctS: 1 / 3, dwellS: 600, fuel: 'tank', elCellAreaCm2: oxide.cellAreaCm2 });
    expect(resolve({ chemistry: 'SOFC' }).parameters).to.include({ fuel: 'continuous', operatingMode: 'fc_only' });
  });

  it('sizes stacks by the laws of the cells', () => {
    for (const ratedW of [100, 5000, 2e6]) {
      const { parameters } = resolve(both, ratedW);
      const { cellCount, cellAreaCm2, elCellAreaCm2 } = parameters;
      expect(cellCount * cellAreaCm2 * 0.7 * pemV(0.7, 338.15)).to.be.closeTo(ratedW / 0.97 / 0.93, 1e-6 * ratedW);
      expect(cellCount * elCellAreaCm2 * electrolyserCell(1, 338.15).cellV).to.be.closeTo(ratedW / 1.07, 1e-3 * ratedW);
      const amphlett = resolve({ stack_model: 'amphlett' }, ratedW).parameters;
      expect(amphlett).to.include({ stackModel: 'amphlett', cellCount });
      expect(cellCount * amphlett.cellAreaCm2 * 0.7 * pemV(0.7, 338.15, pemLaws.amphlett)).to.be.closeTo(
        ratedW / 0.97 / 0.93,
        1e-6 * ratedW,
      );
      const oxide = resolve({ chemistry: 'SOFC' }, ratedW).parameters;
      expect(oxide.cellCount * oxide.cellAreaCm2 * 0.4 * oxideCellV(0.4, 1023.15)).to.be.closeTo(
        ratedW / 0.97 / 0.93,
        1e-9 * ratedW,
      );
    }
  });

  it('keeps what is given', () => {
    const { parameters, issues } = resolve({
      ...both,
      chemistry: 'PEMFC',
      fuel: 'tank',
      rated_el_power_w: 2000,
      efficiency_nominal: 0.9,
      cell_count: 100,
      cell_area_cm2: 150,
      parasitic_fixed_pct: 0,
      parasitic_pct: 1,
      fuel_utilization_pct: 95,
      drying_loss_pct: 6.5,
      ramp_pct_s: 20,
      ramp_down_pct_s: 40,
      dwell_s: 10,
      start_temperature_c: -5,
      tank_capacity_kg: 7,
      tank_level_pct: 33,
      tank_pressure_max_bar: 350,
      tank_reserve_min_pct: 10,
      tank_reserve_max_pct: 90,
      tank_low_pct: 20,
    });
    expect(issues).to.deep.equal([]);
    expect(parameters).to.include({
      ratedElPowerW: 2000,
      efficiencyNominal: 0.9,
      cellCount: 100,
      cellAreaCm2: 150,
      parasiticFixedPct: 0,
      parasiticPct: 1,
      fuelUtilizationPct: 95,
      dryingLossPct: 6.5,
      rampUpPctS: 20,
      rampDownPctS: 40,
      dwellS: 10,
      startTemperatureC: -5,
      tankCapacityKg: 7,
      tankLevelPct: 33,
      tankPressureMaxBar: 350,
      tankReserveMinPct: 10,
      tankReserveMaxPct: 90,
      tankLowPct: 20,
    });
    expect(resolve({ start_temperature_c: null }).parameters.startTemperatureC).to.equal(null);
  });

  it('exactly four combinations exist', () => {
    let valid = 0;
    for (const chemistry of fuelCellChemistries) {
      for (const operatingMode of fuelCellOperatingModes) {
        for (const fuel of fuelCellFuels) {
          const issue = fuelCellCombinationIssue({ chemistry, operatingMode, fuel }, '--fuelcell_fuel');
          const { issues } = resolve({ chemistry, operating_mode: operatingMode, fuel });
          expect(issues.length).to.equal(issue === null ? 0 : 1);
          if (issue === null) valid += 1;
          else {
            expect(issue).to.deep.include({ name: '--fuelcell_fuel' });
            expect(issue.detail).to.equal(
              `given ${chemistry} ${operatingMode} ${fuel}; allowed: PEMFC fc_only tank, PEMFC bidirectional tank, ` +
                'SOFC bidirectional tank, SOFC fc_only continuous',
            );
          }
        }
      }
    }
    expect([valid, fuelCellCombinations.length]).to.deep.equal([4, 4]);
  });

  const crossed: [string, unknown, RegExp][] = [
    ['rated_el_power_w', { rated_el_power_w: 100 }, /given 100; allowed: only with operating_mode bidirectional/],
    ['dwell_s', { dwell_s: 5 }, /only with operating_mode bidirectional/],
    ['drying_loss_pct', { drying_loss_pct: 5 }, /only with operating_mode bidirectional/],
    ['tank_level_pct', { chemistry: 'SOFC', tank_level_pct: 50 }, /given 50; allowed: only with fuel tank/],
    [
      'tank_reserve_min_pct',
      { tank_reserve_min_pct: 95 },
      /given 95; allowed: below tank_reserve_max_pct, which is 95/,
    ],
    ['tank_reserve_max_pct', { tank_reserve_max_pct: 5 }, /given 5; allowed: above tank_reserve_min_pct, which is 5/],
    ['tank_low_pct', { tank_low_pct: 4 }, /given 4; allowed: at least tank_reserve_min_pct, which is 5/],
    [
      'start_temperature_c',
      { start_temperature_c: 66 },
      /given 66; allowed: up to the working temperature of PEMFC, 65 C, or null/,
    ],
    ['stack_model', { chemistry: 'SOFC', stack_model: 'tafel' }, /given tafel; allowed: only with chemistry PEMFC/],
    [
      'cell_area_cm2',
      { cell_area_cm2: 170, cell_count: 75, stack_model: 'amphlett' },
      /given 170; allowed: at least 174.7 for rated power with 75 cells/,
    ],
    [
      'cell_area_cm2',
      { cell_area_cm2: 100, cell_count: 75 },
      /given 100; allowed: at least 140.2 for rated power with 75 cells/,
    ],
    [
      'rated_el_power_w',
      { ...both, chemistry: 'SOFC', rated_el_power_w: 30_000 },
      /given 30000; allowed: up to \d+ with 78 cells of 224.9 cm2/,
    ],
  ];
  for (const [member, raw, detail] of crossed) {
    it(`names the issue of ${JSON.stringify(raw)}`, () => {
      const { issues } = resolve(raw);
      expect(issues.map(({ name }) => name)).to.deep.equal([`p: fuel_cell.${member}`]);
      expect(issues[0]!.detail).to.match(detail);
    });
  }

  it('takes a start up to the temperature that the stack is held at', () => {
    for (const chemistry of fuelCellChemistries) {
      const { holdC } = stackHeat(chemistry, 5000);
      const issuesAt = (startC: number) => resolve({ chemistry, start_temperature_c: startC }).issues.length;
      expect(issuesAt(holdC), chemistry).to.equal(0);
      if (holdC < 750) expect(issuesAt(holdC + 0.1), chemistry).to.equal(1);
    }
  });

  const refused: [string, unknown][] = [
    ['chemistry', 'AFC'],
    ['stack_model', 'butler'],
    ['operating_mode', 'el_only'],
    ['fuel', 'bottle'],
    ['rated_el_power_w', 0.9],
    ['efficiency_nominal', 0.7],
    ['cell_count', 1.5],
    ['cell_area_cm2', 0],
    ['fuel_utilization_pct', 49],
    ['drying_loss_pct', 51],
    ['ramp_pct_s', 0],
    ['ramp_down_pct_s', -1],
    ['dwell_s', -1],
    ['start_temperature_c', 751],
    ['tank_capacity_kg', 0],
    ['tank_level_pct', 101],
    ['tank_pressure_max_bar', 1001],
    ['tank_low_pct', -1],
    ['setpoint_w', 1],
  ];
  for (const [key, value] of refused) {
    it(`refuses ${key}: ${JSON.stringify(value)}`, () => {
      expect(fuelCellSchema.safeParse({ [key]: value }).success).to.equal(false);
    });
  }
});
