/** `get`, `set` and `limit`: points of the register map. */
import type { Client } from '../library/client.ts';
import type { RegisterModel, RegisterPoint } from '../library/replies.ts';
import { noWords, numberOf, optionOf, pairsOf, secondsOf, UsageError, valueOf } from './call.ts';
import type { Call, ClientCommand, Result } from './call.ts';
import { shown, table } from './output.ts';
import type { Column } from './output.ts';

const everyPoint = '*';

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

export const get: ClientCommand = async ({ client, words, device }) => {
  if (words.length === 0) throw new UsageError('a point is missing. Usage: derbench get POINT [POINT ...].');
  const answers: RegisterModel[] = [];
  for (const [model, points] of pointsByModel(words))
    answers.push(await client.registers(model, points.includes(everyPoint) ? device : { points, ...device }));
  return { document: documentOf(answers), lines: table(columns, answers.flatMap(rowsOf)) };
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

/** Where a command acts. */
type Target = Pick<Call, 'client' | 'device'>;

/** Writes points of a model. */
async function write({ client, device }: Target, model: string, values: Values): Promise<Result> {
  const points = Object.keys(values);
  const before = await client.registers(model, { points, ...device });
  const document = await client.write(model, values, device);
  const after = await client.registers(model, { points, ...device });
  return { document, lines: changeLines(before, after) };
}

export const set: ClientCommand = async (call) => {
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

/** Kilowatts of `5kW`; null: off. @throws UsageError */
function kilowattsOf(text: string, what: string): number | null {
  return text === 'off' ? null : numberOf(text.replace(/kw$/i, ''), what);
}

/** Share of 702.WMax. */
export async function percentOf(client: Client, kw: number, device: Call['device']): Promise<number> {
  const maxW = await client.point('702.WMax', device);
  return Math.round((kw * 1e5 * 100) / maxW) / 100;
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

export const limit: ClientCommand = async (call) => {
  const siteLimit = optionOf(call, '--export');
  if (siteLimit !== null) {
    noWords(call.words, 'limit --export POWERkW|off');
    return limitSite(call, 'export', kilowattsOf(siteLimit, '--export'));
  }
  const [text, ...more] = call.words;
  if (text === undefined) throw new UsageError('the limit is missing. Usage: derbench limit PERCENT|POWERkW|off.');
  noWords(more, 'limit PERCENT|POWERkW|off');
  const kw = /kw$/i.test(text) ? kilowattsOf(text, 'the limit') : null;
  if (kw !== null) return limitDevice(call, await percentOf(call.client, kw, call.device), secondsOf(call) ?? 0);
  const percent = text === 'off' ? null : numberOf(text.replace(/%$/, ''), 'the limit');
  return limitDevice(call, percent, secondsOf(call) ?? 0);
};
