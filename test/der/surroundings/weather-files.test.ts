import { expect } from 'chai';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import { weatherColumns } from '../../../src/der/surroundings/weather.ts';
import { weatherTable } from '../../../src/der/surroundings/weather-files.ts';
import { parseGridProfile } from '../../../src/der/surroundings/grid/profile.ts';

const read = (text: string) => parseSeries(weatherTable(text), { name: 'w', columns: weatherColumns, end: 'loop' });
const rowAt = (text: string, hours: number) => {
  const series = read(text);
  return weatherColumns
    .filter(({ name }) => series.has(name))
    .map(({ name }) => Number(series.at(name, hours * 3600).toFixed(6)));
};

const hourly = [
  'Latitude (decimal degrees):\t45.812',
  'Longitude (decimal degrees):\t8.611',
  'Elevation (m):\t214',
  'Radiation database:\tPVGIS-SARAH3',
  '',
  'time,Gb(i),Gd(i),Gr(i),H_sun,T2m,WS10m,Int',
  '20200101:0010,0.0,0.0,0.0,0.0,1.5,0.7,0.0',
  '20200101:0110,300.5,100.0,2.5,10.0,2.5,1.7,0.0',
  '',
  'Gb(i): Beam (direct) irradiance on the inclined plane (plane of the array) (W/m2)',
  'PVGIS (c) European Union, 2001-2026',
].join('\r\n');

describe('weather files of others', () => {
  it('PVGIS hourly: the parts in the plane of the array are summed, and UTC becomes the time of the place', () => {
    const series = read(hourly);
    expect([series.rows, series.startS, series.endS]).to.deep.equal([3, 4200, 11_400]);
    expect(rowAt(hourly, 4200 / 3600)).to.deep.equal([0, 1.5, 0.7]);
    expect(rowAt(hourly, 7800 / 3600)).to.deep.equal([403, 2.5, 1.7]);
    const whole = hourly.replace('Gb(i),Gd(i),Gr(i)', 'G(i),a,b');
    expect(rowAt(whole, 7800 / 3600)[0]).to.equal(300.5);
  });

  it('PVGIS typical year: months of several years follow each other', () => {
    const text = [
      'Latitude (decimal degrees): 52.0',
      'Longitude (decimal degrees): -0.1',
      'month,year',
      '1,2015',
      '2,2011',
      'time(UTC),T2m,RH,G(h),Gb(n),Gd(h),IR(h),WS10m,WD10m,SP',
      '20150131:2300,3.0,80,0.0,0.0,0.0,300,2.0,200,100000',
      '20110201:0000,4.0,80,10.0,0.0,10.0,300,3.0,200,100000',
    ].join('\n');
    const series = read(text);
    expect([series.rows, series.startS, series.endS]).to.deep.equal([3, 23 * 3600, 25 * 3600]);
    expect(rowAt(text, 24)).to.deep.equal([10, 4, 3]);
  });

  it('TMY3: a row stands in the middle of the hour that ends with it', () => {
    const text = [
      '690150,"TWENTYNINE PALMS",CA,-8.0,34.300,-116.167,626',
      'Date (MM/DD/YYYY),Time (HH:MM),ETR (W/m^2),GHI (W/m^2),Dry-bulb (C),Wspd (m/s)',
      '01/01/1988,12:00,500,400,10.0,2.1',
      '01/01/1988,24:00,0,-3,5.0,1.0',
    ].join('\n');
    const series = read(text);
    expect([series.startS, series.rows]).to.deep.equal([11.5 * 3600, 3]);
    expect(rowAt(text, 11.5)).to.deep.equal([400, 10, 2.1]);
    expect(rowAt(text, 23.5)).to.deep.equal([0, 5, 1]);
  });

  it('any other text stays as it is', () => {
    for (const text of ['', 'time_s,irradiance_w_m2\n0,1', 'time,G(i)\nx']) expect(weatherTable(text)).to.equal(text);
  });

  it('a little irradiance below zero is 0, as night values of sensors; more of it is refused', () => {
    const text = (value: number) => `time_s,irradiance_w_m2\n0,${value}\n10,5\n`;
    expect([-20, -0.4].map((value) => rowAt(text(value), 0)[0])).to.deep.equal([0, 0]);
    expect(() => read(text(-20.1))).to.throw(/irradiance_w_m2 is -20.1, outside 0 to 1500/);
  });
});

describe('a grid profile', () => {
  it('with deviations in mHz is refused with a hint', () => {
    const text = (hz: number) => `time_s,voltage_pu,frequency_hz\n0,1,50\n1,1,${hz}\n`;
    for (const hz of [-20, 3.5])
      expect(() => parseGridProfile(text(hz), 'g')).to.throw(
        new RegExp(`line 3: frequency_hz is ${hz}: .* deviation in mHz .* ${50 + hz / 1000} at 50 Hz`),
      );
    expect(parseGridProfile(text(0), 'g').at('frequency_hz', 1)).to.equal(0);
  });
});
