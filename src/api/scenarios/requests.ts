/** Scenarios in requests: bodies and queries, and their contents in the terms of the scenario book. */
import { SimError } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { runPaces } from '../../contract/scenarios.ts';
import type { ScenarioAddition, TextChoice } from '../../contract/scenarios.ts';
import { deviceParam, integerParam, isoParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { parameters } from './reports.ts';

/** Longer texts are sent as JSON, which is checked in parts. */
const maxYamlLength = 100_000;

export interface AdditionBody {
  readonly scenario?: Readonly<Record<string, unknown>> | undefined;
  readonly yaml?: string | undefined;
  readonly bundled?: string | undefined;
}

const countOf = ({ scenario: content, yaml, bundled }: AdditionBody): number =>
  [content, yaml, bundled].filter((each) => each !== undefined).length;

export const isOneAddition = (body: AdditionBody): boolean => countOf(body) === 1;
export const isNoAddition = (body: AdditionBody): boolean => countOf(body) === 0;

export function additionOf({ scenario: content, yaml, bundled = '' }: AdditionBody): ScenarioAddition {
  if (content !== undefined) return { content };
  return yaml === undefined ? { bundled } : { yaml };
}

export const additionMembers = () => ({
  scenario: z.record(z.string(), z.unknown()).optional().openapi({
    description: 'The content of a scenario file as JSON (docs/how-to/scenarios.md); files cannot be included.',
  }),
  yaml: z.string().max(maxYamlLength).optional().openapi({
    description: 'The content as YAML text, of which issues name the line; files cannot be included.',
  }),
  bundled: z.string().max(100).optional().openapi({ description: 'A scenario that comes with the simulator.' }),
});

export const scenarioBodySchema = memo(() =>
  z
    .strictObject(additionMembers())
    .refine(isOneAddition, { error: 'exactly one of scenario, yaml, bundled is required' })
    .openapi('ScenarioRequest'),
);

export const scenarioStartSchema = memo(() =>
  z
    .strictObject({
      pace: z.enum(runPaces).optional().openapi({
        description:
          '`fast`: ticks at once, on the paused clock; `real`: the running clock. Default `fast` when the clock is paused.',
      }),
      parameters: parameters.optional().openapi({ description: 'Values that replace parameters of the scenario.' }),
    })
    .openapi('ScenarioStart'),
);

export const scenarioParams = z.object({
  id: z.string().max(100).openapi({ description: 'Id of the scenario, as in `scenarios`.' }),
});
export const textQuery = z
  .strictObject({
    id: z.string().max(100).optional().openapi({ description: 'Id of a scenario, as in `scenarios`.' }),
    bundled: z.string().max(100).optional().openapi({ description: 'Name of one that comes with the simulator.' }),
    run: z.string().max(100).optional().openapi({ description: 'Id of a run, as in `scenario-runs`.' }),
  })
  .refine((query) => Object.values(query).filter((each) => each !== undefined).length === 1, {
    error: 'exactly one of id, bundled, run is required',
  });

const maxEntryIds = 500;

const entryIds = z
  .string()
  .regex(/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/, { error: 'allowed: ids with a comma between them' })
  .transform((text) => new Set(text.split(',').map(Number)))
  .refine(({ size }) => size <= maxEntryIds, { error: `allowed: at most ${maxEntryIds} ids` })
  .openapi({
    param: { name: 'ids', style: 'form', explode: false },
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    minItems: 1,
    maxItems: maxEntryIds,
    description:
      'Of the timeline: these entries alone, by their ids as a comma list. One that is not kept is an unknown resource.',
  });

/** @throws SimError UNKNOWN_RESOURCE */
export function entriesWithIds({ timeline }: Pick<RouteContext, 'timeline'>, ids: ReadonlySet<number>) {
  const entries = timeline.list().filter(({ id }) => ids.has(id));
  if (entries.length === ids.size) return entries;
  const missing = [...ids].filter((id) => !entries.some((entry) => entry.id === id));
  throw new SimError('UNKNOWN_RESOURCE', `the timeline has no entry ${missing.slice(0, 10).join(', ')}`);
}

export const draftQuery = z
  .strictObject({
    capture: integerParam('capture', 1, Number.MAX_SAFE_INTEGER, 'Id of a capture.').optional(),
    since: isoParam('since', 'Of the timeline: only entries of this simulated time and later.').optional(),
    until: isoParam('until', 'Of the timeline: only entries up to this simulated time.').optional(),
    device: deviceParam.optional().openapi({ description: 'Of the timeline: only entries about this device.' }),
    ids: entryIds.optional(),
  })
  .refine((query) => (query.capture ?? query.ids) === undefined || Object.keys(query).length === 1, {
    error: 'capture and ids exclude each other, and since, until and device',
  });

type TextQuery = z.output<typeof textQuery>;

export function textChoice({ id, bundled = '', run }: TextQuery): TextChoice {
  if (run !== undefined) return { run };
  return id === undefined ? { bundled } : { id };
}

/** Bounds of a body with a scenario. */
export const ofContent = { isImport: true, maxTextLength: maxYamlLength } as const;
