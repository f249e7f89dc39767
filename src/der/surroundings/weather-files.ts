/** Weather files of PVGIS (hourly series, typical year) and TMY3, read as a series of irradiance. */

const hourS = 3600;
/** a year without 29 February, in which the months of a typical year follow each other */
const typicalYear = 2001;

interface Row {
  readonly timeS: number;
  readonly irradianceWm2: number;
  readonly ambientC: number;
  readonly windMS: number;
}

interface Format {
  /** start of the header line */
  readonly header: RegExp;
  /** Time of a row in local time, s since 1970; NaN: no row of values. @param lines all lines of the file */
  readonly timeS: (cells: readonly string[], lines: readonly string[]) => number;
  /** sets of columns whose sum is the irradiance; the first set that the header has counts */
  readonly irradiance: readonly (readonly string[])[];
  readonly ambient: string;
  readonly wind: string;
}

const longitude = /^Longitude \(decimal degrees\):\s*(-?[\d.]+)/;

/** Offset of local time from the UTC of PVGIS: the whole hours nearest to the solar time of the place, s. */
function zoneS(lines: readonly string[]): number {
  const degrees = lines.map((line) => longitude.exec(line)?.[1]).find((text) => text !== undefined);
  return Math.round(Number(degrees ?? 0) / 15) * hourS;
}

const pvgisTime = /^(\d{4})(\d\d)(\d\d):(\d\d)(\d\d)$/;

function pvgisTimeS(stamp: string, year: number | null): number {
  const parts = pvgisTime.exec(stamp);
  if (!parts) return NaN;
  const [, years, month, day, hour, minute] = parts;
  return Date.UTC(year ?? Number(years), Number(month) - 1, Number(day), Number(hour), Number(minute)) / 1000;
}

const tmy3Time = /^(\d\d)\/(\d\d)\/\d{4} (\d\d):(\d\d)$/;

const formats: readonly Format[] = [
  {
    header: /^time,G/,
    timeS: ([stamp = ''], lines) => pvgisTimeS(stamp, null) + zoneS(lines),
    irradiance: [['G(i)'], ['Gb(i)', 'Gd(i)', 'Gr(i)']],
    ambient: 'T2m',
    wind: 'WS10m',
  },
  {
    header: /^time\(UTC\),/,
    timeS: ([stamp = ''], lines) => pvgisTimeS(stamp, typicalYear) + zoneS(lines),
    irradiance: [['G(h)']],
    ambient: 'T2m',
    wind: 'WS10m',
  },
  {
    header: /^Date \(MM\/DD\/YYYY\),Time \(HH:MM\),/,
    timeS([date = '', time = '']) {
      const [, month = '', day = '', hour = '', minute = ''] = tmy3Time.exec(`${date} ${time}`) ?? [];
      const endS = Date.UTC(month === '' ? NaN : typicalYear, Number(month) - 1, Number(day), Number(hour)) / 1000;
      // a row is the mean of the hour that ends at its time, and counts in the middle of the hour
      return endS + Number(minute) * 60 - hourS / 2;
    },
    irradiance: [['GHI (W/m^2)']],
    ambient: 'Dry-bulb (C)',
    wind: 'Wspd (m/s)',
  },
];

/** The rows of a file; null: a column is missing. */
function rowsOf(format: Format, header: readonly string[], lines: readonly string[]): readonly Row[] | null {
  const columnSets = format.irradiance.map((names) => names.map((name) => header.indexOf(name)));
  const irradianceAt = columnSets.find((columns) => columns.every((at) => at >= 0));
  const [ambientAt, windAt] = [header.indexOf(format.ambient), header.indexOf(format.wind)];
  if (irradianceAt === undefined || ambientAt < 0 || windAt < 0) return null;
  return lines
    .map((line) => line.split(','))
    .map((cells) => ({
      timeS: format.timeS(cells, lines),
      irradianceWm2: irradianceAt.reduce((sum, at) => sum + Number(cells[at]), 0),
      ambientC: Number(cells[ambientAt]),
      windMS: Number(cells[windAt]),
    }))
    .filter(({ timeS }) => Number.isFinite(timeS));
}

/**
 * A file of PVGIS or TMY3 as a table of `parseSeries`; any other text unchanged. Times count from the midnight before
 * the first row of the file, in the local time of the place. A copy of the first row at the end closes the loop.
 */
export function weatherTable(text: string): string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const format of formats) {
    const at = lines.findIndex((line) => format.header.test(line));
    if (at < 0) continue;
    const rows = rowsOf(format, lines[at]?.split(',') ?? [], lines);
    const [first, second] = rows ?? [];
    const last = rows?.at(-1);
    if (!rows || !first || !second || !last) return text;
    const dayS = 24 * hourS;
    const originS = Math.floor((first.timeS + hourS / 2) / dayS) * dayS;
    const closing = { ...first, timeS: last.timeS + second.timeS - first.timeS };
    return [
      'time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s',
      ...[...rows, closing].map((row) =>
        [row.timeS - originS, row.irradianceWm2, row.ambientC, row.windMS].map(String).join(','),
      ),
    ].join('\n');
  }
  return text;
}
