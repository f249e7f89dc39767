/** `get`, `set` and `limit`: points of the register map. */
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

/** Writes points of a model. */
async function write({ client, device }: Call, model: string, values: Values): Promise<Result> {
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
async function percentOf({ client, device }: Call, kw: number): Promise<number> {
  const maxW = await client.point('702.WMax', device);
  return Math.round((kw * 1e5 * 100) / maxW) / 100;
}

async function limitExport({ client, words, device }: Call, text: string): Promise<Result> {
  noWords(words, 'limit --export POWERkW|off');
  const body = { export_limit_kw: kilowattsOf(text, '--export') };
  const document: unknown = await client.post('site', { query: { ...device }, body });
  const { export_limit_kw: limitKw } = document as { readonly export_limit_kw: number | null };
  return { document, lines: [`export limit: ${limitKw === null ? 'off' : `${limitKw} kW`}`] };
}

export const limit: ClientCommand = async (call) => {
  const siteLimit = optionOf(call, '--export');
  if (siteLimit !== null) return limitExport(call, siteLimit);
  const [text, ...more] = call.words;
  if (text === undefined) throw new UsageError('the limit is missing. Usage: derbench limit PERCENT|POWERkW|off.');
  noWords(more, 'limit PERCENT|POWERkW|off');
  if (text === 'off') return write(call, '704', { WMaxLimPctEna: 'DISABLED' });
  const isPower = /kw$/i.test(text);
  const percent = isPower
    ? await percentOf(call, kilowattsOf(text, 'the limit') ?? 0)
    : numberOf(text.replace(/%$/, ''), 'the limit');
  return write(call, '704', {
    WMaxLimPct: percent,
    WMaxLimPctEna: 'ENABLED',
    WMaxLimPctEnaRvrt: 'DISABLED',
    WMaxLimPctRvrtTms: secondsOf(call) ?? 0,
  });
};
