import { expect } from 'chai';
import { resolveWind, windSchema } from '../../../../src/config/profile/blocks/wind.ts';
import type { Issue } from '../../../../src/core/errors.ts';

function resolve(raw: unknown, ratedW = 5e6, type?: 'T3' | 'T4') {
  const issues: Issue[] = [];
  return { wind: resolveWind(windSchema.parse(raw), ratedW, 'p', issues, type), issues };
}

describe('interface 12.1: wind block', () => {
  it('fills in everything from nothing', () => {
    expect(resolve({}).wind).to.deep.equal({
      turbine: 'nrel-5mw',
      turbineType: 'T3',
      ratedPowerW: 5e6,
      hubHeightM: 90,
      rotorDiameterM: 126,
      cpModel: 'nrel-5mw',
      cutInMS: 3,
      cutOutMS: 25,
      airDensityKgM3: 1.225,
      turbulenceClass: 'B',
      anemometerHeightM: 5,
      shearExponent: 0.14,
      efficiencyNominal: 0.97,
      reactiveShare: 0.33,
      lvrtGain: 2,
      lvrtRecoveryS: 0.5,
      startDelayS: 60,
      stormDelayS: 300,
      dcVoltageV: 1150,
    });
  });

  it('chooses the machine by type and rating', () => {
    expect(resolve({}, 100e3).wind.turbine).to.equal('farm-100kw');
    expect(resolve({}, 15e6).wind.turbine).to.equal('iea-15mw');
    expect(resolve({}, 100e3, 'T3').wind.turbine).to.equal('nrel-5mw');
    expect(resolve({}, 5e6, 'T4').wind).to.include({ turbine: 'iea-15mw', turbineType: 'T4', reactiveShare: 0.5 });
    expect(resolve({}, 50e3, 'T4').wind).to.include({ turbine: 'farm-100kw', reactiveShare: 0.44 });
  });

  it('scales the rotor area with the rating', () => {
    const { wind } = resolve({ turbine: 'nrel-5mw', rated_power_w: 1.25e6 });
    expect(wind.rotorDiameterM).to.be.closeTo(63, 1e-9);
    expect(wind.ratedPowerW).to.equal(1.25e6);
  });

  it('keeps what is given', () => {
    expect(
      resolve({
        turbine: 'iea-15mw',
        hub_height_m: 140,
        cp_model: 'slootweg',
        cut_in_m_s: 4,
        cut_out_m_s: 28,
        air_density_kg_m3: 1.1,
        turbulence_class: 'none',
        anemometer_height_m: 10,
        shear_exponent: 0.1,
        efficiency_nominal: 0.96,
        reactive_share: 0.4,
        lvrt_gain: 4,
        lvrt_recovery_s: 1,
        start_delay_s: 0,
        storm_delay_s: 60,
      }).wind,
    ).to.include({
      hubHeightM: 140,
      cpModel: 'slootweg',
      cutInMS: 4,
      cutOutMS: 28,
      airDensityKgM3: 1.1,
      turbulenceClass: 'none',
      anemometerHeightM: 10,
      shearExponent: 0.1,
      efficiencyNominal: 0.96,
      reactiveShare: 0.4,
      lvrtGain: 4,
      lvrtRecoveryS: 1,
      startDelayS: 0,
      stormDelayS: 60,
    });
  });

  it('says what does not go together', () => {
    const wrongType = resolve({ turbine: 'nrel-5mw' }, 5e6, 'T4').issues;
    expect(wrongType).to.have.length(1);
    expect(wrongType[0]).to.deep.include({ name: 'p: wind.turbine', allowed: ['iea-15mw', 'farm-100kw'] });
    const low = resolve({ turbine: 'nrel-5mw', hub_height_m: 60 }).issues;
    expect(low.map(({ name }) => name)).to.deep.equal(['p: wind.hub_height_m']);
  });

  const refused: [string, unknown][] = [
    ['turbine', 'v90'],
    ['rated_power_w', 0.9],
    ['rated_power_w', 1.1e9],
    ['reactive_share', 1],
    ['turbulence_class', 'D'],
    ['shear_exponent', -0.1],
    ['efficiency_nominal', 1.1],
    ['cut_out_m_s', 11],
    ['lvrt_recovery_s', 0],
    ['start_delay_s', -1],
    ['blades', 3],
  ];
  for (const [key, value] of refused) {
    it(`refuses ${key}: ${JSON.stringify(value)}`, () => {
      expect(windSchema.safeParse({ [key]: value }).success).to.equal(false);
    });
  }

  it('describes every member', () => {
    for (const member of Object.values(windSchema.shape)) expect(member.meta()?.description).to.contain('default');
  });
});
