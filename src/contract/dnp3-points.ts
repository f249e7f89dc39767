/** Point maps of DNP3 in files: rows that replace the built-in table. */
import { z } from 'zod';
import { jsonPlace } from '../core/json-place.ts';
import { issueWords, withInput } from '../core/zod-issues.ts';
import { dnp3PointTypes } from './dnp3.ts';

const maxIndex = 0xffff;
const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);
const pointName = z.string().regex(/^(BI|BO|AI|AO|CTR)\d{1,5}$/, { error: 'must be a point such as AI149' });

const rowSchema = z.strictObject({
  type: z.enum(dnp3PointTypes),
  index: z.int().min(0).max(maxIndex),
  name: z.string().min(1).max(200),
  class: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]).default(0),
  min: int32.optional(),
  max: int32.optional(),
  multiplier: z.number().min(1e-9).max(1e9).optional(),
  unit: z.string().max(40).optional(),
  iec61850: z.string().max(100).optional(),
  read_back: pointName.optional(),
  deadband: z.number().min(0).optional(),
  /** a point of the built-in map, or one of SunSpec: `AI149`, `701.W` */
  bind: z
    .string()
    .regex(/^((BI|BO|AI|AO|CTR)\d{1,5}|\d{3}\.[A-Za-z0-9.]{1,60})$/, {
      error: 'must be a point of the built-in map such as AI149, or of SunSpec such as 701.W',
    })
    .optional(),
});
export type Dnp3FileRow = z.output<typeof rowSchema>;

const fileSchema = z.strictObject({ points: z.array(rowSchema).min(1).max(10_000) });

/** Octets of the longest file that is read. */
export const maxPointsFileBytes = 4 * 1024 * 1024;

/** @returns the rows, or the issues of the text: member and reason */
export function readDnp3Points(text: string): readonly Dnp3FileRow[] | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const place = jsonPlace(text);
    if (place === null) return 'is no JSON';
    const { line, column, expected, character } = place;
    const what = character === null ? 'the text ends' : `there is ${JSON.stringify(character)}`;
    return `is no JSON: at line ${line}, column ${column} ${what}, where ${expected} must stand`;
  }
  const parsed = fileSchema.safeParse(json, withInput);
  if (!parsed.success)
    return listed(
      parsed.error.issues
        .flatMap((issue) => issueWords(issue, 'a member here'))
        .map(({ path, detail }) => (path.length === 0 ? `the file ${detail}` : `${path.join('.')}: ${detail}`)),
    );
  const { points } = parsed.data;
  const issues = rowIssues(points);
  return issues.length > 0 ? listed(issues) : points;
}

/** Maximum number of issues that a message names; the message counts the rest. */
const namedIssues = 5;

function listed(issues: readonly string[]): string {
  const more = issues.length - namedIssues;
  return issues.slice(0, namedIssues).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** Issues across rows: duplicate names, empty ranges, missing mirrors. */
function rowIssues(points: readonly Dnp3FileRow[]): readonly string[] {
  const nameOf = ({ type, index }: Pick<Dnp3FileRow, 'type' | 'index'>) => `${type}${index}`;
  const names = new Set(points.map(nameOf));
  const seen = new Set<string>();
  return points.flatMap((row, i) => {
    const { min, max, type, read_back: readBack } = row;
    const name = nameOf(row);
    const isRepeated = seen.has(name);
    seen.add(name);
    const mirror = { BO: 'BI', AO: 'AI' }[type as string];
    return [
      ...(isRepeated ? [`${name} occurs twice`] : []),
      ...(min !== undefined && max !== undefined && min > max ? [`points.${i}: min ${min} is above max ${max}`] : []),
      ...(readBack !== undefined && !names.has(readBack)
        ? [`points.${i}.read_back: the file has no point ${readBack}`]
        : []),
      ...(readBack !== undefined && !readBack.startsWith(`${mirror}`)
        ? [`points.${i}.read_back: ${readBack} is no input that can mirror ${name}`]
        : []),
    ];
  });
}
