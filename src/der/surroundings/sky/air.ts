/** Air temperature by date, time of day and place: a plain climate, no weather. */

const msPerDay = 86_400_000;
const msPerYear = 365.2425 * msPerDay;
/** 21 July 2000, noon UTC: a month behind the longest day of the north */
const warmestMs = Date.UTC(2000, 6, 21, 12);
/** local solar time at which a day is warmest, h */
const warmestHour = 15;
const dailySwingK = 5;
/** mean over the year: falls with latitude, and is the same in all of the tropics */
const tropicalMeanC = 27;
const meanAtZeroC = 31;
const meanPerDegreeK = -0.43;
/** half of the difference between summer and winter */
const swingPerDegreeK = 0.25;

/**
 * Mean of the year, season and time of day as cosines. The figures are a choice of this project and suit temperate
 * latitudes near the sea level: 13.8 C over the year at 40 degrees north, 23.8 C in July, 3.8 C in January, and 5 K more
 * or less in the course of a day. The same instant and place always give the same value.
 * @param simMs simulated time, ms since the epoch
 * @returns degrees Celsius
 */
export function airTemperature(simMs: number, latitudeDeg: number, longitudeDeg: number): number {
  const meanC = Math.min(tropicalMeanC, meanAtZeroC + meanPerDegreeK * Math.abs(latitudeDeg));
  // south of the equator the sign of the latitude turns summer and winter
  const season = swingPerDegreeK * latitudeDeg * Math.cos((2 * Math.PI * (simMs - warmestMs)) / msPerYear);
  const solarHour = (simMs / msPerDay) * 24 + longitudeDeg / 15;
  const day = dailySwingK * Math.cos((2 * Math.PI * (solarHour - warmestHour)) / 24);
  return meanC + season + day;
}
