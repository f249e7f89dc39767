/** API names as terms: `duration_s` is "Duration" in s. */
import { words } from './format';

interface Term {
  readonly term: string;
  /** empty: no unit in the name */
  readonly unit: string;
}

/** Suffixes of names that are units, longer ones first. */
const unitEndings: readonly (readonly [ending: string, unit: string])[] = [
  ['_pct_per_s', '%/s'],
  ['_pct_s', '%/s'],
  ['_pu_s', 'pu/s'],
  ['_hz_s', 'Hz/s'],
  ['_m_s', 'm/s'],
  ['_w_m2', 'W/m²'],
  ['_kg_h', 'kg/h'],
  ['_kwh', 'kWh'],
  ['_wh', 'Wh'],
  ['_kvar', 'kvar'],
  ['_kva', 'kVA'],
  ['_kw', 'kW'],
  ['_hz', 'Hz'],
  ['_pu', 'pu'],
  ['_pct', '%'],
  ['_rpm', 'rpm'],
  ['_deg', '°'],
  ['_ms', 'ms'],
  ['_s', 's'],
  ['_c', '°C'],
  ['_v', 'V'],
  ['_a', 'A'],
];

const abbreviations: Readonly<Record<string, string>> = {
  soc: 'SoC',
  id: 'ID',
  ids: 'IDs',
  ev: 'EV',
  evse: 'EVSE',
  ocpp: 'OCPP',
  url: 'URL',
  lfdi: 'LFDI',
  mrid: 'mRID',
};

/** @param isNumber false: suffixes are not units */
export function termOf(name: string, isNumber = true): Term {
  const [ending, unit] = (isNumber ? unitEndings.find(([end]) => name.endsWith(end)) : undefined) ?? ['', ''];
  const [first = '', ...rest] = words(name.slice(0, name.length - ending.length)).split(' ');
  const start = abbreviations[first] ?? first.charAt(0).toUpperCase() + first.slice(1);
  return { term: [start, ...rest.map((word) => abbreviations[word] ?? word)].join(' '), unit };
}

/** `Duration, s` */
export function withUnit({ term, unit }: Term): string {
  return unit === '' ? term : `${term}, ${unit}`;
}
