import { expect } from 'chai';
import {
  clearSkyIrradiance,
  haurwitzGhi,
  planeOfArray,
  splitClearSky,
  sunPosition,
} from '../../../../src/der/surroundings/sky/solar.ts';
import { goldenRows, needsGolden, pvFixture } from '../../golden.ts';

const radians = Math.PI / 180;

function angleBetween(one: number, other: number): number {
  return Math.abs(((one - other + 540) % 360) - 180);
}

describe('sun and clear sky', () => {
  it('matches the pinned rows', () => {
    for (const [utc, lat, lon, zenith, azimuth, haurwitz, ghi, dni, dhi, poa30] of pvFixture.sun.rows) {
      const sun = sunPosition(Date.parse(utc), lat, lon);
      expect(sun.zenithDeg).to.be.closeTo(zenith, 0.6);
      expect(angleBetween(sun.azimuthDeg, azimuth)).to.be.below(1.1);
      expect(haurwitzGhi(Math.cos(zenith * radians))).to.be.closeTo(haurwitz, Math.max(3, 0.01 * haurwitz));
      expect(planeOfArray({ ghi, dni, dhi }, sun, 30, lat > 0 ? 180 : 0)).to.be.closeTo(poa30, 5);
    }
  });

  it(`keeps the zenith within 0.6 degrees of the NREL SPA ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'solar_clearsky.csv')) {
      const sun = sunPosition(Date.parse(row.utc ?? ''), Number(row.lat_deg), Number(row.lon_deg));
      const zenith = Number(row.zenith_deg);
      expect(sun.zenithDeg).to.be.closeTo(zenith, 0.6);
      // Near the zenith the azimuth turns too fast to mean anything.
      if (zenith > 10 && zenith < 170) expect(angleBetween(sun.azimuthDeg, Number(row.azimuth_deg))).to.be.below(1.1);
      expect(Math.hypot(sun.east, sun.north, sun.up)).to.be.closeTo(1, 1e-12);
    }
  });

  it(`gives the Haurwitz irradiance of the same zenith within 1 % or 3 W/m2 ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'solar_clearsky.csv')) {
      const wanted = Number(row.ghi_haurwitz_w_m2);
      const ghi = haurwitzGhi(Math.cos(Number(row.zenith_deg) * radians));
      expect(ghi).to.be.closeTo(wanted, Math.max(3, 0.01 * wanted));
    }
  });

  it(`turns the parts of the sky into the plane of the array within 5 W/m2 ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'solar_clearsky.csv')) {
      if (Number(row.zenith_deg) > 89) continue;
      const sun = sunPosition(Date.parse(row.utc ?? ''), Number(row.lat_deg), Number(row.lon_deg));
      const sky = {
        ghi: Number(row.ghi_ineichen_tl3_w_m2),
        dni: Number(row.dni_ineichen_tl3_w_m2),
        dhi: Number(row.dhi_ineichen_tl3_w_m2),
      };
      expect(planeOfArray(sky, sun, 30, Number(row.lat_deg) > 0 ? 180 : 0)).to.be.closeTo(
        Number(row.poa30_isotropic_w_m2),
        5,
      );
    }
  });

  it('splits a clear sky so that the parts make up the whole', () => {
    for (let zenith = 0; zenith < 90; zenith += 0.5) {
      const up = Math.cos(zenith * radians);
      const sky = splitClearSky(haurwitzGhi(up), up);
      expect(sky.dhi + sky.dni * up).to.be.closeTo(sky.ghi, 1e-9);
      expect(sky.dni).to.be.within(0, 1050);
    }
  });

  it('gives a flat array the horizontal irradiance, and a tilted one more at a winter noon', () => {
    const site = { latitudeDeg: 45, longitudeDeg: 0, tiltDeg: 0, azimuthDeg: 180 };
    const noon = Date.UTC(2025, 11, 21, 12);
    const flat = clearSkyIrradiance(noon, site);
    expect(flat).to.be.closeTo(haurwitzGhi(sunPosition(noon, 45, 0).up), 1e-9);
    expect(clearSkyIrradiance(noon, { ...site, tiltDeg: 60 })).to.be.above(1.5 * flat);
    expect(clearSkyIrradiance(noon, { ...site, tiltDeg: 60, azimuthDeg: 0 })).to.be.below(0.5 * flat);
  });

  it('is continuous into a small tilt', () => {
    const site = { latitudeDeg: 45, longitudeDeg: 0, tiltDeg: 0, azimuthDeg: 180 };
    const noon = Date.UTC(2025, 5, 21, 12);
    expect(clearSkyIrradiance(noon, { ...site, tiltDeg: 1e-6 })).to.be.closeTo(clearSkyIrradiance(noon, site), 1e-3);
  });

  it('is dark at night, in the polar winter, and at no time at all', () => {
    const site = { latitudeDeg: 45, longitudeDeg: 0, tiltDeg: 30, azimuthDeg: 180 };
    expect(clearSkyIrradiance(Date.UTC(2025, 5, 21, 0), site)).to.equal(0);
    expect(clearSkyIrradiance(Date.UTC(2025, 11, 21, 12), { ...site, latitudeDeg: 80 })).to.equal(0);
    expect(clearSkyIrradiance(NaN, site)).to.equal(0);
  });

  it('has no jump at midnight or new year', () => {
    for (const edge of [Date.UTC(2025, 0, 1), Date.UTC(2025, 5, 1)]) {
      const before = sunPosition(edge - 1000, 60, 170);
      const after = sunPosition(edge + 1000, 60, 170);
      expect(after.zenithDeg).to.be.closeTo(before.zenithDeg, 0.05);
    }
  });
});
