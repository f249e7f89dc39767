import { expect } from 'chai';
import type { AssetType } from '../../../src/contract/device.ts';
import type { Issue } from '../../../src/core/errors.ts';
import { deviceProfileSchema, resolveProfile, settableModels } from '../../../src/config/profile/device-profile.ts';
import { fuelCellSchema } from '../../../src/config/profile/blocks/fuel-cell.ts';
import { fileIssues } from '../support.ts';

function resolve(raw: unknown, phases: 'single' | 'split' | 'three' = 'three', assetType: AssetType = 'pv') {
  const issues: Issue[] = [];
  const profile = resolveProfile(deviceProfileSchema.parse(raw), { assetType, phases, longitudeDeg: 7 }, 'p', issues);
  return { profile, issues, pv: profile?.source.kind === 'pv' ? profile.source.pv : null };
}

const moduleW = 46.9 * 4.69;

describe('interface 12.1: device profile', () => {
  it('fills in everything from nothing', () => {
    const { profile } = resolve({});
    expect(profile).to.deep.equal({
      name: null,
      description: null,
      nominalFrequencyHz: null,
      map: { layout: 'current', float: false, base: 40_000, hiddenModels: [] },
      models: { 702: { WMaxRtg: 10000, VAMaxRtg: 10000, VNomRtg: 480, NorOpCatRtg: 'CAT_B', AbnOpCatRtg: 'CAT_3' } },
      source: {
        kind: 'pv',
        pv: {
          module: 'CS5P-220M',
          series: 13,
          parallel: 4,
          minDcVoltageV: 304,
          maxDcVoltageV: 966,
          efficiencyNominal: 0.96,
          mpptTimeConstantS: 1.5,
          startTimeS: 10,
          startPowerW: 80,
          nightPowerW: 2,
          tiltDeg: 30,
          azimuthDeg: 180,
          latitudeDeg: 40,
          longitudeDeg: 7,
          shading: null,
          mppt: 'global',
        },
      },
      inverter: {
        lowPowerVars: 'reduced',
        mayTrip: 'stay',
        cessationReturnS: 0,
        cessationRampS: 0,
        antiIslandingS: 1,
        rocofRelayHzS: null,
        vectorShiftRelayDeg: null,
        adoptionS: 0,
        gradient: { wPctPerS: null, varPctPerS: null },
      },
      faults: [],
    });
  });

  describe('inverter block', () => {
    const block = (inverter: unknown) => resolve({ inverter }).profile?.inverter;

    it('keeps what is given', () => {
      expect(
        block({
          low_power_vars: 'full',
          may_trip: 'trip',
          cessation_return_s: 0.4,
          cessation_ramp_s: 10,
          anti_islanding_s: 0.16,
          rocof_relay_hz_s: 0.1,
          vector_shift_relay_deg: 180,
          adoption_s: 60,
          gradient: { w_pct_per_s: 0.27, var_pct_per_s: 1000 },
        }),
      ).to.deep.equal({
        lowPowerVars: 'full',
        mayTrip: 'trip',
        cessationReturnS: 0.4,
        cessationRampS: 10,
        antiIslandingS: 0.16,
        rocofRelayHzS: 0.1,
        vectorShiftRelayDeg: 180,
        adoptionS: 60,
        gradient: { wPctPerS: 0.27, varPctPerS: 1000 },
      });
    });

    it('gives devices that charge all of their reactive power, unless told otherwise', () => {
      expect(resolve({}, 'three', 'battery').profile?.inverter).to.include({ lowPowerVars: 'full' });
      expect(resolve({ inverter: { low_power_vars: 'reduced' } }, 'three', 'battery').profile?.inverter).to.include({
        lowPowerVars: 'reduced',
      });
    });

    it('takes one slope of a gradient without the other', () => {
      expect(block({ gradient: { w_pct_per_s: 0.27 } })).to.deep.include({
        gradient: { wPctPerS: 0.27, varPctPerS: null },
      });
    });

    it('takes null for a relay that is not fitted', () => {
      expect(block({ rocof_relay_hz_s: null, vector_shift_relay_deg: null })).to.include({
        rocofRelayHzS: null,
        vectorShiftRelayDeg: null,
      });
    });

    const refused: [string, unknown][] = [
      ['voltage_measure', 'mean'],
      ['low_power_vars', 'some'],
      ['may_trip', true],
      ['cessation_return_s', 10.1],
      ['cessation_ramp_s', -1],
      ['anti_islanding_s', 2.1],
      ['anti_islanding_s', 0.1],
      ['anti_islanding_s', null],
      ['rocof_relay_hz_s', 0],
      ['rocof_relay_hz_s', 20.1],
      ['vector_shift_relay_deg', 1],
      ['vector_shift_relay_deg', 181],
      ['adoption_s', 61],
      ['adoption_s', -1],
      ['adoptions', 1],
      ['gradient', null],
      ['gradient', { w_pct_per_s: 0 }],
      ['gradient', { var_pct_per_s: 1001 }],
      ['gradient', { pct_per_s: 1 }],
    ];
    for (const [key, value] of refused) {
      it(`refuses ${key}: ${JSON.stringify(value)}`, () => {
        expect(deviceProfileSchema.safeParse({ inverter: { [key]: value } }).success).to.equal(false);
      });
    }
  });

  for (const [phases, ratedW] of [
    ['three', 3000],
    ['three', 50_000],
    ['three', 2_000_000],
    ['split', 7600],
    ['single', 3800],
  ] as const) {
    it(`gives a ${phases} device of ${ratedW} W modules for its rating`, () => {
      const pv = resolve({ models: { 702: { WMaxRtg: ratedW } } }, phases).pv;
      const power = pv!.series * pv!.parallel * moduleW;
      expect(power / ratedW).to.be.within(0.85, 1.5);
      expect(pv!.minDcVoltageV).to.be.below(pv!.series * 46.9);
      expect(pv!.maxDcVoltageV).to.be.above(pv!.series * 59.4);
    });
  }

  it('lets one power rating follow the other', () => {
    expect(resolve({ models: { 702: { WMaxRtg: 8000 } } }).profile?.models['702']).to.include({
      WMaxRtg: 8000,
      VAMaxRtg: 8000,
    });
    expect(resolve({ models: { 702: { VAMaxRtg: 9000 } } }).profile?.models['702']).to.include({
      WMaxRtg: 9000,
      VAMaxRtg: 9000,
    });
  });
  it('takes values of every model that has start values as they are', () => {
    const models = Object.fromEntries(settableModels.map((id) => [id, { Any: 1, 'Crv[1].Pt[2].V': 'SYMBOL' }]));
    expect(resolve({ models }).profile?.models['705']).to.deep.equal({ Any: 1, 'Crv[1].Pt[2].V': 'SYMBOL' });
  });
  it('turns modules to the equator on the southern half', () => {
    expect(resolve({ pv: { latitude_deg: -33 } }).pv?.azimuthDeg).to.equal(0);
  });
  it('keeps what is given', () => {
    const pv = {
      module: 'DATASHEET-270',
      series: 18.5,
      parallel: 2,
      min_dc_voltage_v: 100,
      max_dc_voltage_v: 900,
      efficiency_nominal: 1,
      mppt_time_constant_s: 0.001,
      start_time_s: 0,
      start_power_w: 30,
      night_power_w: 0,
      tilt_deg: 0,
      azimuth_deg: 90,
      latitude_deg: 0,
      longitude_deg: 0,
      shading: { shaded_share: 0.5, irradiance_share: 0.2 },
      mppt: 'local',
    };
    const found = resolve({ name: 'n', description: 'd', pv });
    expect(found.profile).to.include({ name: 'n', description: 'd' });
    expect(found.pv).to.deep.equal({
      module: 'DATASHEET-270',
      series: 18.5,
      parallel: 2,
      minDcVoltageV: 100,
      maxDcVoltageV: 900,
      efficiencyNominal: 1,
      mpptTimeConstantS: 0.001,
      startTimeS: 0,
      startPowerW: 30,
      nightPowerW: 0,
      tiltDeg: 0,
      azimuthDeg: 90,
      latitudeDeg: 0,
      longitudeDeg: 0,
      shading: { shadedShare: 0.5, irradianceShare: 0.2 },
      mppt: 'local',
    });
  });
  it('refuses a start power that the array never has and a night power that no inverter takes', () => {
    const { issues } = resolve({ pv: { start_power_w: 50_000, night_power_w: 1_000_000 } });
    expect(issues.map(({ name }) => name.replace(/.*: /, ''))).to.deep.equal(['pv.start_power_w', 'pv.night_power_w']);
    expect(issues[1]?.detail).to.equal('given 1000000; allowed: up to 5 % of WMaxRtg, which is 500');
  });
  it('refuses a DC window that is none, also against a derived end', () => {
    expect(resolve({ pv: { min_dc_voltage_v: 500, max_dc_voltage_v: 500 } }).issues).to.have.length(1);
    const { profile, issues } = resolve({ pv: { max_dc_voltage_v: 100 } });
    expect(profile).to.equal(null);
    expect(issues[0]?.detail).to.equal('given or derived 304; allowed: below max_dc_voltage_v, which is 100');
  });

  const inline = (text: string) => fileIssues(`devices: [{ profile: ${text} }]`);
  const cases: readonly (readonly [string, string])[] = [
    [
      '{ tidal: {} }',
      'tidal: unknown key; allowed: name, description, nominal_frequency_hz, layout, float, base_address, ' +
        'hidden_models, chain, models, inverter, pv, battery, wind, fuel_cell, hybrid, evse, faults',
    ],
    ['{ models: { "803": {} } }', 'models.803: unknown key; nearest known: 703'],
    [
      '{ fuel_cell: { zzzzzz: 1 } }',
      `fuel_cell.zzzzzz: unknown key; allowed: ${Object.keys(fuelCellSchema.shape).join(', ')}`,
    ],
    ...[
      ['713', 'its values follow from the battery block (capacity_wh, power_w, soc_pct, soh_pct and others)'],
      ['802', 'its values follow from the battery block (capacity_wh, power_w, soc_pct, soh_pct and others)'],
      ['701', 'the device measures its values; models of measurements have no start values'],
      ['714', 'the device measures its values; models of measurements have no start values'],
    ].map(([id, why]): [string, string] => [
      `{ models: { "${id}": { W: 1 } } }`,
      `models.${id}: cannot be given: ${why}; allowed: ${settableModels.join(', ')}`,
    ]),
    [
      '{ models: { 702: { WMaxRtg: [1] } } }',
      'models.702.WMaxRtg: given [1]; allowed: a number, or text of 1 to 256 characters',
    ],
    ['{ models: { 702: { "W Max": 1 } } }', 'models.702.W Max: not a valid key; allowed: a point name'],
    ['{ models: { 702: 5 } }', 'models.702: given 5; allowed: a mapping'],
    ['{ pv: { module: X } }', 'pv.module: given "X"; allowed: CS5P-220M, DATASHEET-270'],
    ['{ pv: { series: 0 } }', 'pv.series: given 0; allowed: a number from 1 to 1000'],
    ['{ pv: { series: 1001 } }', 'pv.series: given 1001; allowed: a number from 1 to 1000'],
    ['{ pv: { parallel: 0 } }', 'pv.parallel: given 0; allowed: a number from 0.01 to 1000000'],
    ['{ pv: { parallel: 1000001 } }', 'pv.parallel: given 1000001; allowed: a number from 0.01 to 1000000'],
    ['{ pv: { mppt_time_constant_s: 0 } }', 'pv.mppt_time_constant_s: given 0; allowed: a number from 0.001 to 3600'],
    ['{ pv: { max_dc_voltage_v: 0 } }', 'pv.max_dc_voltage_v: given 0; allowed: a number from 1 to 100000'],
    ['{ pv: { efficiency_nominal: 1.1 } }', 'pv.efficiency_nominal: given 1.1; allowed: a number from 0.8 to 1'],
    ['{ pv: { latitude_deg: 91 } }', 'pv.latitude_deg: given 91; allowed: a number from -90 to 90'],
    ['{ name: "" }', 'name: given ""; allowed: text of 1 to 64 characters'],
  ];
  for (const [text, line] of cases) {
    it(`refuses ${text}`, () => expect(inline(text)).to.deep.equal([`c.yaml: devices[0].profile.${line}`]));
  }
});
