import { expect } from 'chai';
import { termOf, withUnit } from '../../../src/ui/look/format';

describe('terms of the dashboard', () => {
  const rows: readonly (readonly [name: string, label: string])[] = [
    ['duration_s', 'Duration, s'],
    ['delay_ms', 'Delay, ms'],
    ['power_kw', 'Power, kW'],
    ['var_kvar', 'Var, kvar'],
    ['size_kva', 'Size, kVA'],
    ['capacity_kwh', 'Capacity, kWh'],
    ['energy_wh', 'Energy, Wh'],
    ['soc_pct', 'SoC, %'],
    ['w_pct_per_s', 'W, %/s'],
    ['w_ramp_pct_s', 'W ramp, %/s'],
    ['slope_pu_s', 'Slope, pu/s'],
    ['rocof_hz_s', 'Rocof, Hz/s'],
    ['db_of_hz', 'Db of, Hz'],
    ['voltage_pu', 'Voltage, pu'],
    ['wind_speed_m_s', 'Wind speed, m/s'],
    ['irradiance_w_m2', 'Irradiance, W/m²'],
    ['flow_kg_h', 'Flow, kg/h'],
    ['generator_rpm', 'Generator, rpm'],
    ['phase_deg', 'Phase, °'],
    ['cell_temperature_c', 'Cell temperature, °C'],
    ['dc_v', 'Dc, V'],
    ['max_a', 'Max, A'],
    ['count', 'Count'],
    ['evse_id', 'EVSE ID'],
    ['reply_to_mrid', 'Reply to mRID'],
  ];
  for (const [name, label] of rows) it(`${name} is "${label}"`, () => expect(withUnit(termOf(name))).to.equal(label));

  it('takes an ending for a unit in names of numbers only', () => {
    expect(termOf('phase_a', false)).to.deep.equal({ term: 'Phase a', unit: '' });
    expect(termOf('phase_a', true)).to.deep.equal({ term: 'Phase', unit: 'A' });
  });
});
