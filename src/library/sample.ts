/** One value of a device, by its register point or its path in the snapshot. */
import { DerbenchError } from './error.ts';
import type { RegisterModel, Snapshot } from './replies.ts';

export interface Sample {
  /** null: the device does not have it */
  readonly value: number | string | boolean | null;
  /** name of an enumeration value */
  readonly symbol?: string | null;
}

/** Readers of the register map and of the snapshot. */
export interface SampleSource {
  readonly registers: (model: string, point: string) => Promise<RegisterModel>;
  readonly snapshot: () => Promise<Snapshot>;
}

function memberOf(name: string, snapshot: Snapshot): Sample {
  let value: unknown = snapshot;
  for (const step of name.split('.'))
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Readonly<Record<string, unknown>>)[step]
        : undefined;
  if (value === null || ['number', 'string', 'boolean'].includes(typeof value))
    return { value: value as Sample['value'] };
  throw new DerbenchError({
    code: 'validation',
    detail: `given "${name}"; allowed: a point as 701.W, or a member of the snapshot as metrics.power_kw`,
    issues: [{ name, detail: 'is no value of the snapshot' }],
  });
}

/** @param name `701.W`, `705.Crv[0].Pt[1].V`, `metrics.power_kw` @throws DerbenchError for a name of neither form */
export async function sampleOf(name: string, { registers, snapshot }: SampleSource): Promise<Sample> {
  const [, model, point] = /^(\d+)\.(.+)$/.exec(name) ?? [];
  if (model === undefined || point === undefined) return memberOf(name, await snapshot());
  const { points } = await registers(model, point);
  const { value = null, symbol = null } = points[0] ?? {};
  return { value, symbol };
}

/** @throws DerbenchError `not-a-number` */
export function numberOf(name: string, { value }: Sample): number {
  if (typeof value === 'number') return value;
  const given = value === null ? 'the device does not have it' : `it is ${JSON.stringify(value)}`;
  throw new DerbenchError({ code: 'not-a-number', detail: `${name} is no number: ${given}` });
}

/** @throws DerbenchError `not-a-text` */
export function wordOf(name: string, { value, symbol }: Sample): string {
  if (typeof symbol === 'string') return symbol;
  if (typeof value === 'string') return value;
  const given = value === null ? 'the device does not have it' : `it is ${value}`;
  throw new DerbenchError({ code: 'not-a-text', detail: `${name} is no text: ${given}` });
}
