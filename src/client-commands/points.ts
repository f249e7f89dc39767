/** `get`, `set` and `limit`: points of the register map. */
import type { Client } from '../library/client.ts';
import { DerbenchError } from '../library/error.ts';
import type { RegisterModel, RegisterPoint } from '../library/replies.ts';
import { noWords, numberOf, optionOf, pairsOf, secondsOf, UsageError, valueOf } from './call.ts';
import type { Call, ClientCommand, Result } from './call.ts';
import { shown, table } from './output.ts';
import type { Column } from './output.ts';

const everyPoint = '*';

/** Where a command acts. */
type Target = Pick<Call, 'client' | 'device'>;

/** @throws UsageError */
export function pointName(word: string): { readonly model: string; readonly point: string } {
  const [, model, point] = /^(\d+(?::\d+)?)\.(.+)$/.exec(word) ?? [];
  if (model === undefined || point === undefined)
    throw new UsageError(
      `${JSON.stringify(word)} is no point. Write MODEL.POINT, such as 701.W; "derbench list points 701" has their names.`,
    );
  return { model, point };
}

/** Points by model, in the order of the words. @throws UsageError */
export function pointsByModel(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const models = new Map<string, string[]>();
  for (const { model, point } of words.map(pointName)) models.set(model, [...(models.get(model) ?? []), point]);
  return models;
}

const unitSigns: Readonly<Record<string, string>> = { Pct: '%', Secs: 's', C: '°C', Var: 'var' };

/** A value with its unit and its name. */
export function valueText({ value, symbol, unit }: Pick<RegisterPoint, 'value' | 'symbol' | 'unit'>): string {
  if (typeof symbol === 'string') return `${symbol} (${String(value)})`;
  return value === null || unit === null ? shown(value) : `${value} ${unitSigns[unit] ?? unit}`;
}

interface Row {
  readonly model: number;
  readonly point: RegisterPoint;
}

const columns: readonly Column<Row>[] = [
  { head: 'point', cell: ({ model, point }) => `${model}.${point.name}` },
  { head: 'value', cell: ({ point }) => valueText(point), isNumber: true },
  { head: 'written by', cell: ({ point }) => point.source },
  { head: 'meaning', cell: ({ point }) => point.label },
];

const rowsOf = ({ id, points }: RegisterModel): readonly Row[] => points.map((point) => ({ model: id, point }));

/** One answer by itself, several as a list. */
const documentOf = (answers: readonly unknown[]) => (answers.length === 1 ? answers[0] : answers);

/** True for a member of the snapshot, such as `metrics.power_kw`. */
const isMember = (word: string) => /^[a-z_]+\.[a-z_]/.test(word);

type MemberValues = Readonly<Record<string, number | string | boolean | null>>;

/** @throws DerbenchError `validation` for a name that the snapshot does not have */
async function memberValues({ client, device }: Target, names: readonly string[]): Promise<MemberValues> {
  if (names.length === 0) return {};
  const snapshot: unknown = await client.overview(device);
  const valueAt = (name: string) => {
    const value = name
      .split('.')
      .reduce<unknown>((part, key) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[key], snapshot);
    if (value === undefined || (typeof value === 'object' && value !== null))
      throw new DerbenchError({
        code: 'validation',
        detail: `${name} is no value of the snapshot. GET overview has them`,
      });
    return value as MemberValues[string];
  };
  return Object.fromEntries(names.map((name) => [name, valueAt(name)]));
}

export const get: ClientCommand = async ({ client, words, device }) => {
  if (words.length === 0) throw new UsageError('a point is missing. Usage: derbench get POINT [POINT ...].');
  const [members, names] = [words.filter(isMember), words.filter((word) => !isMember(word))];
  const answers: RegisterModel[] = [];
  for (const [model, points] of pointsByModel(names))
    answers.push(await client.registers(model, points.includes(everyPoint) ? device : { points, ...device }));
  const lines = answers.length === 0 ? [] : table(columns, answers.flatMap(rowsOf));
  const values = await memberValues({ client, device }, members);
  const shownMembers = Object.entries(values).map(([name, value]) => `${name}  ${String(value ?? '-')}`);
  return {
    document: documentOf([...answers, ...(members.length === 0 ? [] : [values])]),
    lines: [...lines, ...shownMembers],
  };
};

type Values = Readonly<Record<string, number | string>>;

/** Lines such as `704.WMaxLimPct: 100 % -> 50 %`. */
function changeLines(before: RegisterModel, after: RegisterModel): readonly string[] {
  return after.points.flatMap((point) => {
    const former = before.points.find(({ name }) => name === point.name);
    if (former === undefined) return [];
    const values = [...new Set([valueText(former), valueText(point)])];
    return [`${after.id}.${point.name}: ${values.length === 1 ? `${values[0]}, as before` : values.join(' -> ')}`];
  });
}

/** Writes points of a model. */
async function write({ client, device }: Target, model: string, values: Values): Promise<Result> {
  const points = Object.keys(values);
  const before = await client.registers(model, { points, ...device });
  const document = await client.write(model, values, device);
  const after = await client.registers(model, { points, ...device });
  return { document, lines: changeLines(before, after) };
}

export const set: ClientCommand = async (call) => {
  const [first = '', second] = call.words;
  const isSplit = call.words.length === 2 && second !== undefined && !first.includes('=') && !second.includes('=');
  if (isSplit) throw new UsageError(`${JSON.stringify(first)} has no value. Write ${first}=${second}.`);
  const pairs = pairsOf(call.words, 'POINT=VALUE, such as 704.WMaxLimPct=50');
  if (pairs.size === 0) throw new UsageError('a point is missing. Usage: derbench set POINT=VALUE [POINT=VALUE ...].');
  const results: Result[] = [];
  for (const [model, points] of pointsByModel([...pairs.keys()])) {
    const values = points.map((point) => [point, valueOf(pairs.get(`${model}.${point}`) ?? '')] as const);
    results.push(await write(call, model, Object.fromEntries(values)));
  }
  return {
    document: documentOf(results.map(({ document }) => document)),
    lines: results.flatMap(({ lines }) => lines),
  };
};

const kilowattsByUnit: Readonly<Record<string, number>> = { w: 0.001, '': 1, kw: 1, mw: 1000 };
const powerWithUnit = /^(.*?)(kW|MW|W|)$/i;

/** Kilowatts of `5kW`, `500W` or `0.5MW`, and of a plain number; null: off. @throws UsageError */
function kilowattsOf(text: string, what: string): number | null {
  if (text === 'off') return null;
  const [, number = '', unit = ''] = powerWithUnit.exec(text) ?? [];
  const factor = kilowattsByUnit[unit.toLowerCase()] ?? 1;
  return numberOf(number, what) * factor;
}

/** Share of 702.WMax. @throws DerbenchError `validation` for more than that */
export async function percentOf(client: Client, kw: number, device: Call['device']): Promise<number> {
  const maxW = await client.point('702.WMax', device);
  const percent = Math.round((kw * 1e5 * 100) / maxW) / 100;
  if (percent <= 100) return percent;
  const detail = `a limit of ${kw} kW is above 702.WMax, which is ${maxW / 1000} kW. Give at most that, or off`;
  throw new DerbenchError({ code: 'validation', detail });
}

export const siteLimits = ['export', 'import', 'generation', 'load'] as const;

/** A limit of the connection point of a device, or of the whole site. @param limitKw null: ends it */
export async function limitSite(
  { client, device }: Target,
  name: (typeof siteLimits)[number],
  limitKw: number | null,
): Promise<Result> {
  const member = `${name}_limit_kw`;
  const document: unknown = await client.post('site', { query: { ...device }, body: { [member]: limitKw } });
  const { [member]: tightestKw } = document as Readonly<Record<string, number | null>>;
  return { document, lines: [`${name} limit: ${tightestKw == null ? 'off' : `${tightestKw} kW`}`] };
}

/** Limits active power of a device. @param percent of 702.WMax; null: ends the limit @param seconds 0: no reversion */
export function limitDevice(target: Target, percent: number | null, seconds: number): Promise<Result> {
  if (percent === null) return write(target, '704', { WMaxLimPctEna: 'DISABLED' });
  return write(target, '704', {
    WMaxLimPct: percent,
    WMaxLimPctEna: 'ENABLED',
    WMaxLimPctEnaRvrt: 'DISABLED',
    WMaxLimPctRvrtTms: seconds,
  });
}

/** Percent of a limit; null: off. @throws UsageError */
async function shareOf({ client, device }: Target, text: string): Promise<number | null> {
  if (text === 'off') return null;
  if (/^[-+.\d].*w$/i.test(text)) return percentOf(client, kilowattsOf(text, 'the limit') ?? 0, device);
  const percent = text.replace(/%$/, '');
  if (!Number.isFinite(Number(percent)) || percent.trim() === '')
    throw new UsageError(`${JSON.stringify(text)} is no limit. Give percent of 702.WMax, a power such as 5kW, or off.`);
  return numberOf(percent, 'the limit');
}

/** A note for a charging station, whose charging 704.WMaxLimPct does not limit. */
async function stationLines(client: Client, device: Call['device']): Promise<readonly string[]> {
  const [target] = (await client.get('devices', { query: { device: 0, ...device } })).devices;
  if (target?.device_type !== 'EVSE') return [];
  return [
    `Device ${target.device_index} is a charging station: this limits what it delivers, not what it charges. ` +
      'OCPP limits charging, or POST evse/ID/connectors/1/limit.',
  ];
}

export const limit: ClientCommand = async (call) => {
  const siteLimit = optionOf(call, '--export');
  if (siteLimit !== null) {
    noWords(call.words, 'limit --export POWERkW|off');
    return limitSite(call, 'export', kilowattsOf(siteLimit, '--export'));
  }
  const [text, ...more] = call.words;
  if (text === undefined) throw new UsageError('the limit is missing. Usage: derbench limit PERCENT|POWERkW|off.');
  noWords(more, 'limit PERCENT|POWERkW|off');
  const seconds = secondsOf(call) ?? 0;
  const { client, device } = call;
  const { document, lines } = await limitDevice(call, await shareOf(call, text), seconds);
  return { document, lines: [...lines, ...(await stationLines(client, device))] };
};
