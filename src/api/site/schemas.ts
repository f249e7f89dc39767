import { maxSiteLimitW, siteLimitNames } from '../../contract/site.ts';
import { z } from '../description/zod.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

const maxKw = maxSiteLimitW / 1000;
const limitToSet = (description: string) =>
  z
    .number()
    .min(0)
    .max(maxKw)
    .nullable()
    .optional()
    .openapi({ description: `${description} Rounded to 0.000001 kW. Null ends the limit, absent leaves it as it is.` });
const limit = (description: string) =>
  z
    .number()
    .nullable()
    .openapi({ description: `${description} Null: no limit.` });
const limitBy = writerSchema.nullable().openapi({ description: 'Last writer of the limit; null: as at the start.' });

const meanings = {
  export: 'Maximum net power into the grid, kW.',
  import:
    'Maximum net power from the grid, kW. If local loads alone take more, devices absorb nothing and the limit is exceeded.',
  generation: 'Maximum power that the devices inject together, kW.',
  load: 'Maximum power that the devices absorb together, kW; local loads do not count.',
} as const;

export const siteBodySchema = z
  .strictObject({
    export_limit_kw: limitToSet(meanings.export),
    import_limit_kw: limitToSet(meanings.import),
    generation_limit_kw: limitToSet(meanings.generation),
    load_limit_kw: limitToSet(meanings.load),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: `at least one of ${siteLimitNames.map((name) => `${name}_limit_kw`).join(', ')} is required`,
  })
  .openapi('SiteRequest', { minProperties: 1 });

const limitName = z.enum(siteLimitNames);

export const siteSchema = z
  .strictObject({
    net_power_kw: z.number().openapi({
      description:
        'Power through the connection point, kW: `generation_kw` less `consumption_kw` less `load_kw`. Positive = exported into the grid.',
    }),
    generation_kw: z.number().openapi({ description: 'Sum of what devices inject, kW, at least 0.' }),
    consumption_kw: z
      .number()
      .openapi({ description: 'Sum of what devices absorb (charging, electrolysis), kW, at least 0.' }),
    load_kw: z.number().openapi({
      description: 'Sum of the local loads beside the devices (`controls/environment`, load series), kW, at least 0.',
    }),
    export_limit_kw: limit(meanings.export),
    export_limit_by: limitBy,
    import_limit_kw: limit(meanings.import),
    import_limit_by: limitBy,
    generation_limit_kw: limit(meanings.generation),
    generation_limit_by: limitBy,
    load_limit_kw: limit(meanings.load),
    load_limit_by: limitBy,
    binding: z.array(limitName).openapi({ description: 'Limits that restrict devices now.' }),
    exceeded: z.array(limitName).openapi({
      description:
        'Limits that the powers shown exceed: because of local loads alone, or for at most one simulated second after a step.',
    }),
  })
  .openapi('Site');

export const exampleSite = {
  net_power_kw: 5,
  generation_kw: 8,
  consumption_kw: 0,
  load_kw: 3,
  export_limit_kw: 5,
  export_limit_by: exampleWriter,
  import_limit_kw: null,
  import_limit_by: null,
  generation_limit_kw: null,
  generation_limit_by: null,
  load_limit_kw: null,
  load_limit_by: null,
  binding: ['export'],
  exceeded: [],
};
/** Answer to a request that ends one limit and sets another; powers are still those of the last tick. */
export const exampleSiteSet = {
  ...exampleSite,
  export_limit_kw: null,
  import_limit_kw: 15,
  import_limit_by: exampleWriter,
  binding: [],
};
