import { expect } from 'chai';
import {
  alike,
  dash,
  dateAndTime,
  dateWords,
  duration,
  remaining,
  fixed,
  limitText,
  pair,
  quantities,
  show,
  timeOfDay,
  timeOrDate,
  timeWithMs,
  wallTime,
  words,
  zone,
} from '../../../src/ui/look/format';
import type { QuantityName } from '../../../src/ui/look/format';

/** A text with plain spaces and signs. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ').replaceAll('−', '-');

describe('numbers of the dashboard', () => {
  const rows: readonly (readonly [value: number, quantity: QuantityName, text: string])[] = [
    [7.4249, 'activePower', '7.42 kW'],
    [-1.5, 'reactivePower', '-1.50 kvar'],
    [10, 'apparentPower', '10.00 kVA'],
    [277.128, 'voltage', '277.1 V'],
    [26.75, 'current', '26.8 A'],
    [59.9996, 'frequency', '60.000 Hz'],
    [0.95, 'powerFactor', '0.950'],
    [50, 'soc', '50.0 %'],
    [101.25, 'percent', '101.3 %'],
    [15, 'energy', '15.00 kWh'],
    [-20.04, 'temperature', '-20.0 °C'],
    [999.6, 'irradiance', '1000 W/m²'],
    [9, 'windSpeed', '9.0 m/s'],
    [6.49, 'speed', '6.5 rpm'],
    [-90, 'angle', '-90.0 °'],
    [0.16, 'seconds', '0.2 s'],
    [1.05, 'perUnit', '1.0500 pu'],
    [999.99, 'activePower', '999.99 kW'],
    [1000, 'activePower', '1000.0 kW'],
    [-9999, 'reactivePower', '-9999.0 kvar'],
    [15_005, 'activePower', '15.01 MW'],
    [-12_000, 'apparentPower', '-12.00 MVA'],
    [1920, 'energy', '1.92 MWh'],
    [999.996, 'activePower', '1000.0 kW'],
    [-9999.96, 'reactivePower', '-10.00 Mvar'],
  ];
  for (const [value, quantity, text] of rows)
    it(`shows ${value} as ${quantity}: ${text}`, () => expect(plain(show(value, quantity))).to.equal(text));

  it('shows values that stand together in the unit of the largest', () => {
    expect(plain(pair(9800, 12_000, 'activePower'))).to.equal('9.80 of 12.00 MW');
    expect(plain(pair(6, 11, 'activePower'))).to.equal('6.00 of 11.00 kW');
    expect(alike([1, null, -2000], 'reactivePower')).to.deep.equal({ texts: ['1.0', dash, '−2000.0'], unit: 'kvar' });
  });

  it('has a row for each quantity', () => {
    expect(Object.keys(quantities).filter((name) => !rows.some(([, quantity]) => quantity === name))).to.deep.equal([]);
  });

  it('keeps number and unit on one line, and has a real minus sign', () => {
    expect(show(-3, 'activePower')).to.equal('−3.00\u00a0kW');
  });

  it('shows what is no number as a dash without a unit', () => {
    for (const value of [null, undefined, Number.NaN, Infinity, -Infinity])
      for (const quantity of Object.keys(quantities)) expect(show(value, quantity as QuantityName)).to.equal(dash);
  });

  it('has no negative zero', () => {
    expect(fixed(-0.004, 2)).to.equal('0.00');
    expect(fixed(-0, 0)).to.equal('0');
    expect(fixed(-0.005, 2)).to.equal('−0.01');
  });
});

describe('times of the dashboard', () => {
  afterEach(() => (zone.value = 'UTC'));

  it('are in the zone of the simulated clock', () => {
    expect(dateAndTime('2026-06-21T23:04:07.900Z')).to.equal('2026-06-21 23:04:07');
    zone.value = 'Europe/Berlin';
    expect(dateAndTime('2026-06-21T23:04:07.900Z')).to.equal('2026-06-22 01:04:07');
    expect(timeOfDay('2026-06-21T22:04:07.000Z')).to.equal('00:04:07');
    zone.value = 'America/Los_Angeles';
    expect(timeOfDay('2026-01-21T22:04:07.000Z')).to.equal('14:04:07');
  });

  it('has milliseconds for captures, and the date where the day differs', () => {
    expect(timeWithMs('2026-06-21T12:03:41.460Z')).to.equal('12:03:41.460');
    expect(timeOrDate('2026-06-21T12:03:41Z', '2026-06-21T23:00:00Z')).to.equal('12:03:41');
    expect(timeOrDate('2026-06-20T12:03:41Z', '2026-06-21T23:00:00Z')).to.equal('2026-06-20 12:03:41');
    zone.value = 'Europe/Berlin';
    expect(timeOrDate('2026-06-21T12:03:41Z', '2026-06-21T23:00:00Z')).to.equal('2026-06-21 14:03:41');
    expect(dateWords('2026-06-21T23:00:00Z')).to.equal('Mon 22 Jun');
  });

  it('says UTC where an instant is real, in any zone', () => {
    zone.value = 'Asia/Tokyo';
    expect(wallTime('2026-06-21T05:50:17.120Z')).to.equal('05:50:17 UTC');
  });

  it('shows an instant that is not there as a dash', () => {
    for (const format of [dateAndTime, timeOfDay, wallTime]) {
      expect(format(null)).to.equal(dash);
      expect(format(undefined)).to.equal(dash);
    }
  });
});

describe('spans of the dashboard', () => {
  const rows: readonly (readonly [seconds: number | null, text: string])[] = [
    [0.16, '0.16 s'],
    [12.54, '12.5 s'],
    [40, '40 s'],
    [276, '4:36'],
    [60.9, '1:00'],
    [600, '10 min'],
    [3572, '59 min'],
    [7200, '2 h'],
    [18_725, '5 h 12 min'],
    [187_200, '2 d 4 h'],
    [null, dash],
  ];
  for (const [seconds, text] of rows)
    it(`shows ${seconds} s as ${text}`, () => expect(plain(duration(seconds))).to.equal(text));

  it('counts down in whole seconds from 10 s on', () => {
    const spans = [0.16, 9.94, 10.04, 59.6, 3569.4, null];
    expect(spans.map((s) => plain(remaining(s)))).to.deep.equal(['0.16 s', '9.94 s', '10 s', '1:00', '59 min', dash]);
  });

  it('shows a limit in percent without decimals when it is whole', () => {
    expect([50, 62.5, null].map((pct) => plain(limitText(pct)))).to.deep.equal(['50 %', '62.5 %', dash]);
  });
});

describe('names of the API for people', () => {
  it('have spaces', () => expect(words('in_service_now')).to.equal('in service now'));

  it('are a dash where there is none', () => {
    expect(words(null)).to.equal(dash);
    expect(words(undefined)).to.equal(dash);
  });
});
