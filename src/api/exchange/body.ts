/** Values of a grid outside, as requests give them. */
import type { Column, ExchangeNow, OutsideColumns } from '../../contract/exchange.ts';
import { memo } from '../../core/lazy.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { z } from '../description/zod.ts';
import { invalidAll, maxIssues } from '../http/errors.ts';

/** Maximum number of attached devices. */
export const maxAttached = 10_000;

const columnOf = <T extends z.ZodType>(value: T, description: string) =>
  z
    .union([value, z.array(value).min(1).max(maxAttached)])
    .optional()
    .openapi({ description: `${description} One value for all devices, or one for each; absent: unchanged.` });

const perUnit = z.number().min(0).max(2);
const flag = z.union([z.boolean(), z.literal(0), z.literal(1)]);

export const valuesShape = memo(() => ({
  va_pu: columnOf(perUnit, 'Voltage of phase a, per unit of nominal; without `vb_pu` and `vc_pu` of all phases.'),
  vb_pu: columnOf(perUnit, 'Voltage of phase b.'),
  vc_pu: columnOf(perUnit, 'Voltage of phase c.'),
  v_v: z
    .tuple([z.array(z.number().min(0)), z.array(z.number().min(0)), z.array(z.number().min(0))])
    .optional()
    .openapi({ description: 'Volts line to neutral of phases a, b and c in place of the members per unit.' }),
  frequency_hz: columnOf(z.number().min(40).max(70), 'Frequency, Hz.'),
  angle_deg: columnOf(z.number().min(-180).max(180), 'Angle of the positive sequence, degrees.'),
  outage: columnOf(flag, 'True or 1: the grid is gone.'),
  island: columnOf(flag, 'True or 1: the mains have failed, and local load holds voltage and frequency.'),
}));

export type ValuesBody = z.output<z.ZodObject<ReturnType<typeof valuesShape>>>;

type Members = Readonly<Record<string, unknown>>;

/** One issue for each list whose length is not the number of devices. */
function lengthIssues(body: Members, count: number): ProblemIssue[] {
  const lists = Object.entries(body).flatMap(([name, value]): [string, readonly unknown[]][] => {
    if (name === 'v_v' && Array.isArray(value)) return value.map((phase: unknown[], n) => [`/v_v/${n}`, phase]);
    return Array.isArray(value) ? [[`/${name}`, value]] : [];
  });
  return lists.flatMap(([name, list]) =>
    list.length === count
      ? []
      : [{ in: 'body' as const, name, detail: `has ${list.length} values; ${count} devices are attached` }],
  );
}

const truths = <T extends boolean | 0 | 1>(column: Column<T> | undefined): Column<boolean> | undefined =>
  Array.isArray(column) ? (column as readonly T[]).map(Boolean) : column === undefined ? undefined : Boolean(column);

const setOnly = (columns: { readonly [K in keyof OutsideColumns]?: OutsideColumns[K] | undefined }): OutsideColumns =>
  Object.fromEntries(Object.entries(columns).filter(([, column]) => column !== undefined));

function perUnitOf(volts: readonly (readonly number[])[], { devices }: ExchangeNow) {
  const issues: ProblemIssue[] = [];
  const [aPu, bPu, cPu] = volts.map((phase, n) =>
    phase.map((v, place) => {
      const nominalV = devices[place]?.nominalLnV ?? 1;
      if (v > 2 * nominalV)
        issues.push({ in: 'body', name: `/v_v/${n}/${place}`, detail: `must be at most ${2 * nominalV} V` });
      return v / nominalV;
    }),
  );
  if (issues.length > 0) throw invalidAll(issues.slice(0, maxIssues), issues.length);
  return { aPu, bPu, cPu };
}

/**
 * The columns of a request.
 * @throws HttpProblem `validation` with one issue for each member
 */
export function columnsOf(body: ValuesBody, exchange: ExchangeNow): OutsideColumns {
  const issues = lengthIssues(body, exchange.devices.length);
  const { va_pu: a, vb_pu: b, vc_pu: c, v_v: volts } = body;
  const isPerUnit = [a, b, c].some((column) => column !== undefined);
  if (volts !== undefined && isPerUnit)
    issues.push({ in: 'body', name: '/v_v', detail: 'cannot be given together with va_pu, vb_pu or vc_pu' });
  if (issues.length > 0) throw invalidAll(issues);
  const onlyA = a !== undefined && b === undefined && c === undefined;
  const voltages = volts ? perUnitOf(volts, exchange) : { aPu: a, bPu: onlyA ? a : b, cPu: onlyA ? a : c };
  return setOnly({
    ...voltages,
    frequencyHz: body.frequency_hz,
    angleDeg: body.angle_deg,
    outage: truths(body.outage),
    island: truths(body.island),
  });
}
