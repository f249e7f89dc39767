/** Where an array stands and how it is mounted. Azimuth from north over east: 180 faces south. */
export interface SolarSite {
  readonly latitudeDeg: number;
  /** east positive */
  readonly longitudeDeg: number;
  /** tilt of the array from the horizontal */
  readonly tiltDeg: number;
  readonly azimuthDeg: number;
}

/** Where the sun stands, as angles and as a unit vector. */
export interface SunPosition {
  readonly zenithDeg: number;
  /** from north over east, 0 to 360 */
  readonly azimuthDeg: number;
  readonly east: number;
  readonly north: number;
  /** cosine of the zenith angle */
  readonly up: number;
}

/** Parts of the irradiance in W/m2: global and diffuse on the horizontal, direct at normal incidence. */
export interface Irradiance {
  readonly ghi: number;
  readonly dni: number;
  readonly dhi: number;
}

const radians = Math.PI / 180;
const msPerDay = 86_400_000;
const groundAlbedo = 0.2;

/** Part of the year as an angle, 0 at the first noon: the argument of the Spencer series. */
function yearAngle(simMs: number): number {
  const year = new Date(simMs).getUTCFullYear();
  const newYearMs = Date.UTC(year, 0, 1);
  const days = (Date.UTC(year + 1, 0, 1) - newYearMs) / msPerDay;
  return (2 * Math.PI * ((simMs - newYearMs) / msPerDay - 0.5)) / days;
}

/** Declination in radians, Spencer series. */
function declination(g: number): number {
  return (
    0.006918 -
    0.399912 * Math.cos(g) +
    0.070257 * Math.sin(g) -
    0.006758 * Math.cos(2 * g) +
    0.000907 * Math.sin(2 * g) -
    0.002697 * Math.cos(3 * g) +
    0.00148 * Math.sin(3 * g)
  );
}

/** Equation of time in minutes, Spencer series. */
function equationOfTime(g: number): number {
  const angle =
    0.0000075 +
    0.001868 * Math.cos(g) -
    0.032077 * Math.sin(g) -
    0.014615 * Math.cos(2 * g) -
    0.040849 * Math.sin(2 * g);
  return 229.18 * angle;
}

/**
 * Sun position without refraction, within 0.6 degrees of the zenith.
 * @param simMs simulated time, ms since the epoch
 */
export function sunPosition(simMs: number, latitudeDeg: number, longitudeDeg: number): SunPosition {
  const g = yearAngle(simMs);
  const dec = declination(g);
  const utcMinutes = (simMs - Math.floor(simMs / msPerDay) * msPerDay) / 60_000;
  const solarMinutes = utcMinutes + equationOfTime(g) + 4 * longitudeDeg;
  const hourAngle = (solarMinutes / 4 - 180) * radians;
  const lat = latitudeDeg * radians;
  const east = -Math.cos(dec) * Math.sin(hourAngle);
  const north = Math.sin(dec) * Math.cos(lat) - Math.cos(dec) * Math.sin(lat) * Math.cos(hourAngle);
  const up = Math.sin(lat) * Math.sin(dec) + Math.cos(lat) * Math.cos(dec) * Math.cos(hourAngle);
  const azimuthDeg = Math.atan2(east, north) / radians;
  return {
    zenithDeg: Math.acos(Math.min(Math.max(up, -1), 1)) / radians,
    azimuthDeg: azimuthDeg < 0 ? azimuthDeg + 360 : azimuthDeg,
    east,
    north,
    up,
  };
}

/** Clear-sky irradiance on the horizontal after Haurwitz, W/m2, from the cosine of the zenith angle. */
export function haurwitzGhi(cosZenith: number): number {
  return cosZenith > 0 ? 1098 * cosZenith * Math.exp(-0.057 / cosZenith) : 0;
}

/**
 * Direct and diffuse part of a clear-sky GHI. The diffuse part is a choice of this project: one tenth
 * plus a share that grows with the path through the air; at sunrise and sunset all light is diffuse.
 */
export function splitClearSky(ghi: number, cosZenith: number): Irradiance {
  if (!(ghi > 0) || !(cosZenith > 0)) return { ghi: 0, dni: 0, dhi: 0 };
  const dhi = ghi * Math.min(1, 0.1 + 0.025 / cosZenith);
  return { ghi, dni: (ghi - dhi) / cosZenith, dhi };
}

/** Irradiance in the plane of the array, W/m2, isotropic sky: direct, diffuse and from the ground. */
export function planeOfArray(sky: Irradiance, sun: SunPosition, tiltDeg: number, azimuthDeg: number): number {
  const tilt = tiltDeg * radians;
  const azimuth = azimuthDeg * radians;
  const horizontal = sun.east * Math.sin(azimuth) + sun.north * Math.cos(azimuth);
  const cosIncidence = sun.up * Math.cos(tilt) + horizontal * Math.sin(tilt);
  return (
    sky.dni * Math.max(0, cosIncidence) +
    (sky.dhi * (1 + Math.cos(tilt))) / 2 +
    (groundAlbedo * sky.ghi * (1 - Math.cos(tilt))) / 2
  );
}

/**
 * Clear-sky irradiance in the plane of an array, W/m2: Haurwitz on the horizontal, and from there with
 * {@link splitClearSky} and {@link planeOfArray}; without tilt it is the GHI itself. 0 while the sun is down.
 * @param simMs simulated time, ms since the epoch
 */
export function clearSkyIrradiance(simMs: number, site: SolarSite): number {
  const sun = sunPosition(simMs, site.latitudeDeg, site.longitudeDeg);
  if (!(sun.up > 0)) return 0;
  const ghi = haurwitzGhi(sun.up);
  if (site.tiltDeg === 0) return ghi;
  return planeOfArray(splitClearSky(ghi, sun.up), sun, site.tiltDeg, site.azimuthDeg);
}
