import { memo } from '../../core/lazy.ts';
import { problemCodes } from '../../core/http/problem.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { sources } from '../../core/origin.ts';
import { z } from '../description/zod.ts';
import { givenText, suggestions } from '../../core/nearest.ts';

/** A query or path parameter that holds an integer; anything but digits, with or without a minus, is refused. */
export function integerParam(name: string, min: number, max: number, description: string) {
  const error = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^-?\d+$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .openapi({ param: { name }, type: 'integer', minimum: min, maximum: max, description });
}

const maxId = 999_999_999_999_999;

/** An id of an entry as a parameter: plain digits; no id has more than 15. */
const idParam = (name: string, description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, { error: `must be an integer from 0 to ${maxId}, in at most 15 digits` })
    .transform(Number)
    .openapi({ param: { name }, type: 'integer', minimum: 0, maximum: maxId, description });

/** `to_id` of messages: with `after_id` one before it, it selects one message. */
export const toIdParam = idParam('to_id', 'Only messages up to this id.');

/** `after_id` of lists that clients poll for new entries. */
export const afterIdParam = idParam('after_id', 'Only entries with a higher id.');

/** `limit` of lists that clients poll; a value above `max` means `max`. @param byDefault limit without the parameter */
export function newestParam(max: number, byDefault: number) {
  return z
    .string()
    .regex(/^0*[1-9]\d*$/, { error: 'must be an integer from 1 on' })
    .transform((text) => Math.min(Number(text), max))
    .openapi({
      param: { name: 'limit' },
      type: 'integer',
      minimum: 1,
      description: `Maximum number of entries, the newest; default ${byDefault}. Values above ${max} mean ${max}.`,
    });
}

/** The largest index that a request may contain; an index up to it without a device is answered with 404. */
export const maxDeviceIndex = 999_999_999;

export const deviceParam = integerParam(
  'device',
  0,
  maxDeviceIndex,
  'Device index, 0-based; default the first device of the start.',
);

/** Longest duration, s: any simulated instant plus this is still exact in microseconds. */
const longestS = 1e8;

export const durationS = z.number().gt(0).max(longestS).nullable().optional();

/** `device` of the per-device operations. */
export const deviceQuery = z.strictObject({ device: deviceParam.optional() });

/** A yes-or-no query parameter. */
export function flagParam(name: string, description: string) {
  return z
    .string()
    .regex(/^(true|false)$/, { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .openapi({ param: { name }, type: 'boolean', description });
}

/** Names as a comma list, a repeated parameter, or both; duplicates are removed. */
export function namesParam(name: string, description: string, example: readonly string[]) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [...new Set([value].flat().flatMap((list) => list.split(',')))])
    .openapi({
      param: { name, style: 'form', explode: false },
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description,
      example,
    });
}

export const exampleTime = '2026-06-21T12:00:00.000Z';

export const isoTime = z.iso
  .datetime({ offset: true })
  .openapi({ description: 'ISO 8601 with offset.', example: exampleTime });

const isoMessage = {
  error: 'must be an ISO 8601 time with offset, such as 2026-06-21T12:00:00Z (the + of an offset is %2B in a query)',
};

const moment = memo(() =>
  z.iso
    .datetime({ offset: true, ...isoMessage })
    .transform((text) => Date.parse(text))
    .refine((ms) => !Number.isNaN(ms), isoMessage),
);

/** A moment in a query, as ms since the epoch. */
export function isoParam(name: string, description: string) {
  return moment().openapi({ param: { name }, type: 'string', format: 'date-time', description, example: exampleTime });
}

/** A moment in a body, as ms since the epoch. */
export function isoMember(description: string) {
  return moment().openapi({ type: 'string', format: 'date-time', description, example: exampleTime });
}

export const deviceIndex = z.int().min(0).openapi({ description: 'Device index, 0-based.' });

/** A measured or set quantity; null if the device does not have it. */
export function quantity(description: string) {
  return z.number().nullable().openapi({ description });
}

export const sourceSchema = z.enum(sources).openapi('Source', {
  description:
    'Source of the write. `default`: the start value of the map; `dashboard`: REST with `X-Derbench-Client: dashboard`.',
});

export const problemSchema = memo(() =>
  z
    .strictObject({
      type: z.string().openapi({ description: '`urn:derbench:problem:<code>`' }),
      title: z.string(),
      status: z.int(),
      detail: z.string().openapi({ description: 'Cause of this occurrence, for the user.' }),
      instance: z.string().openapi({ description: 'Request path with query.' }),
      code: z.enum(problemCodes),
      request_id: z.string().openapi({ description: 'Same as the header `X-Request-Id`.' }),
      errors: z
        .array(
          z.strictObject({
            in: z.enum(['body', 'query', 'path']),
            name: z.string().openapi({ description: 'JSON pointer or parameter name.' }),
            detail: z.string(),
            allowed: z.array(z.union([z.string(), z.number()])).optional(),
          }),
        )
        .optional()
        .openapi({ description: 'Only with `validation`: every invalid member.' }),
      modbus_exception: z.int().min(0).max(255).optional().openapi({
        description: 'Only with `upstream-error`, when a remote Modbus device answered with an exception: its code.',
      }),
    })
    .openapi('Problem', { description: 'Error body of RFC 9457.' }),
);

/** Simulated or wall milliseconds as ISO text; null or undefined: null. */
export function isoOrNull(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

/** A query parameter of several words: a comma list, or the parameter repeated. */
export function listParam(name: string, words: readonly string[], description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((text) => text.split(',')))
    .openapi({
      param: { name, style: 'form', explode: false },
      type: 'array',
      items: { type: 'string', enum: [...words] },
      minItems: 1,
      description: `${description} Comma list or repeated, in upper or lower case.`,
    });
}

/** Explains an empty name in a comma list; the name of the parameter precedes it. */
export const emptyName = 'has an empty name: it is empty, or has a comma without a name beside it';

/** The valid words of a list, and an issue for each invalid one. */
export function chosenWords<W extends string>(
  name: string,
  texts: readonly string[],
  words: readonly W[],
): { readonly chosen: readonly W[]; readonly issues: readonly ProblemIssue[] } {
  const chosen: W[] = [];
  const issues: ProblemIssue[] = [];
  const near = suggestions(() => words);
  for (const text of texts) {
    const word = words.find((each) => each.toLowerCase() === text.trim().toLowerCase());
    if (word === undefined)
      issues.push({
        in: 'query',
        name,
        detail: `${givenText(text)} is not one of ${words.join(', ')}${near(text)}`,
        allowed: words,
      });
    else chosen.push(word);
  }
  return { chosen, issues };
}
