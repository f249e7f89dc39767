import { expect } from 'chai';
import { didYouMean, givenText, nearest, suggestions } from '../../src/core/nearest.ts';

describe('the nearest known name', () => {
  const points = ['WMaxLimPct', 'WMaxLimPctEna', 'WSet', 'WSetPct', 'Crv[0].VRef'];

  it('a missing, an added, another or a swapped letter still finds it', () => {
    for (const given of ['WMaxLimPc', 'WMaxLimPctt', 'VMaxLimPct', 'WMaxLmiPct', 'wmaxlimpct'])
      expect(nearest(given, points), given).to.equal('WMaxLimPct');
    expect(nearest('crv[0].vrfe', points)).to.equal('Crv[0].VRef');
    expect(nearest('--max-power', ['--max_power'])).to.equal('--max_power');
  });

  it('a name that is far off finds none', () => {
    for (const given of ['Colour', 'x', '', 'Wavelength']) expect(nearest(given, points), given).to.equal(null);
    expect(nearest('enabled_until_further_notice', ['reversion_setpoint_percent'])).to.equal(null);
    expect(didYouMean('Colour', points)).to.equal('');
    expect(didYouMean('WSet', points), 'a name that is right, at a wrong place').to.equal('');
    expect(didYouMean('WSte', points)).to.equal('; did you mean WSet?');
    expect(didYouMean('1.1', ['1.2', '1.3']) + didYouMean('AC', ['A', 'CA'])).to.equal('');
    expect(didYouMean('ca', ['A', 'CA'])).to.equal('; did you mean CA?');
  });

  it('only the beginning of a long name counts, and of many known names the first 4096', () => {
    expect(nearest('x'.repeat(1_000_000), ['x'.repeat(64)])).to.equal('x'.repeat(64));
    const many = [...Array.from({ length: 4096 }, (_, i) => `unlike${i}`), 'WSetPct'];
    expect(nearest('WSetPtc', many)).to.equal(null);
    expect(nearest('WSetPtc', many.slice(1))).to.equal('WSetPct');
  });

  it('names made of the same letters are compared step by step 256 times at most', () => {
    const anagrams = [...Array.from({ length: 256 }, () => 'tcPteSW'), 'WSetPct'];
    expect(nearest('WSetPtc', anagrams)).to.equal(null);
    expect(nearest('WSetPtc', anagrams.slice(1))).to.equal('WSetPct');
  });

  it('a request with thousands of wrong names gets ten of them sought', () => {
    const near = suggestions(() => points);
    const found = Array.from({ length: 12 }, () => near('WSte'));
    expect(found.map((each) => each !== '')).to.deep.equal([...Array(10).fill(true), false, false]);
  });

  it('words that are cut short or run on mean the only name that fits', () => {
    expect(nearest('web_port', ['mb_port', 'website_port'])).to.equal('website_port');
    expect(nearest('voltage', ['outage', 'voltage_a_pu', 'voltage_pu', 'voltage_b_pu'])).to.equal('voltage_pu');
    expect(nearest('Battery', ['PV', 'Batt-3Phase', 'Batt', 'EVSE'])).to.equal('Batt');
    expect(nearest('Fuelcell', ['PV', 'Fuelcell-3Phase'])).to.equal('Fuelcell-3Phase');
    expect(nearest('Wind', ['Wind-T3-3Phase', 'Wind-T4-3Phase'])).to.equal(null);
  });

  it('another word and another quantity are no slips', () => {
    expect(nearest('restart', ['start', 'stop'])).to.equal(null);
    expect(nearest('setpoint_ac_kw', ['setpoint_kw', 'power_kw'])).to.equal(null);
    expect(nearest('setpont_kw', ['setpoint_kw', 'power_kw'])).to.equal('setpoint_kw');
  });

  it('a name with another unit is named with its own', () => {
    expect(didYouMean('setpoint_w', ['setpoint_kw'])).to.equal('; did you mean setpoint_kw, in kW?');
    expect(didYouMean('setpont_kw', ['setpoint_kw'])).to.equal('; did you mean setpoint_kw?');
  });

  it('a given value is shown shortened', () => {
    expect([5, -0.5, true, null].map(givenText)).to.deep.equal(['5', '-0.5', 'true', 'null']);
    expect(givenText('a"b')).to.equal('"a\\"b"');
    expect(givenText('x'.repeat(1_000_000))).to.equal(`"${'x'.repeat(59)}…"`);
    expect([[1], { a: 1 }].map(givenText)).to.deep.equal(['a list', 'an object']);
  });
});
