/** Members of requests in words, with their units. */

interface Unit {
  /** end of the names */
  readonly suffix: string;
  readonly unit: string;
  readonly factor?: number;
}

/** Longer endings before those that they end with. */
const units: readonly Unit[] = [
  { suffix: '_w_m2', unit: 'W/m²' },
  { suffix: '_hz_s', unit: 'Hz/s' },
  { suffix: '_m_s', unit: 'm/s' },
  { suffix: '_pu', unit: '%', factor: 100 },
  { suffix: '_pct', unit: '%' },
  { suffix: '_kwh', unit: 'kWh' },
  { suffix: '_kvar', unit: 'kvar' },
  { suffix: '_kw', unit: 'kW' },
  { suffix: '_hz', unit: 'Hz' },
  { suffix: '_deg', unit: '°' },
  { suffix: '_a', unit: 'A' },
  { suffix: '_c', unit: '°C' },
  { suffix: '_s', unit: 's' },
  { suffix: '_v', unit: 'V' },
  { suffix: '_w', unit: 'W' },
];

/** Without the rounding of a product. */
const plain = (value: number) => String(Number(value.toPrecision(9)));

/** `90 %` of `voltage_pu` 0.9 */
function quantityInWords(name: string, value: number): readonly [name: string, value: string] {
  const entry = units.find(({ suffix }) => name.endsWith(suffix) && name.length > suffix.length);
  if (entry === undefined) return [name, plain(value)];
  const { suffix, unit, factor = 1 } = entry;
  return [name.slice(0, -suffix.length), `${plain(value * factor)}${unit === '°' ? '' : ' '}${unit}`];
}

const spaced = (name: string) => name.replaceAll('_', ' ');

function memberInWords(name: string, value: unknown, secret: readonly string[]): string {
  if (secret.includes(name)) return `${spaced(name)} …`;
  if (typeof value === 'number') return quantityInWords(name, value).map(spaced).join(' ');
  if (typeof value === 'boolean') return `${spaced(name)} ${value ? 'yes' : 'no'}`;
  if (typeof value === 'string') return `${spaced(name)} ${value}`;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return `${spaced(name)} (${membersInWords(value, secret)})`;
  const text = JSON.stringify(value, (each, member: unknown) => (secret.includes(each) ? '…' : member));
  return `${spaced(name)} ${text}`;
}

/** `voltage 42 %, duration 0.5 s` */
export function membersInWords(body: unknown, secret: readonly string[]): string {
  if (typeof body !== 'object' || body === null) return '';
  return Object.entries(body)
    .map(([name, value]) => memberInWords(name, value, secret))
    .join(', ');
}

/** Parameters of a grid event that its title has. */
const levels = ['residual_pu', 'level_pu', 'to_pu', 'to_hz'];

/** A grid event in words, `Sag to 42 % for 1.2 s`; null: its end, or no event. */
export function gridEventInWords(body: unknown): string | null {
  const { event, parameters } = (body ?? {}) as { readonly event?: unknown; readonly parameters?: unknown };
  if (typeof event !== 'string') return null;
  const values = Object.entries((parameters ?? {}) as Readonly<Record<string, unknown>>);
  const level = values.find(([name, value]) => levels.includes(name) && typeof value === 'number');
  const span = values.find(([name, value]) => name === 'duration_s' && typeof value === 'number');
  const rest = values.filter((each) => each !== level && each !== span);
  const of = (member: typeof level, word: string) =>
    member === undefined ? '' : ` ${word} ${quantityInWords(member[0], Number(member[1]))[1]}`;
  const others = rest.length === 0 ? '' : `, ${membersInWords(Object.fromEntries(rest), [])}`;
  const name = spaced(event);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}${of(level, 'to')}${of(span, 'for')}${others}`;
}
