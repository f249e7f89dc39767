import { z } from '../description/zod.ts';
import { gridSupportBodySchema, gridSupportSchema } from '../grid-support/schemas.ts';

export const derControlsSchema = z
  .strictObject({
    ...gridSupportSchema.shape,
    limit_max_discharge_pct: z
      .number()
      .nullable()
      .openapi({ description: '704.WMaxLimPct: the most that vehicles give, of 702.WMax; null: not limited.' }),
    control_ids: z.record(z.string(), z.string()).openapi({
      description:
        'By function, the id of the OCPP 2.1 control that set it last; functions that another has set are not in it.',
    }),
  })
  .openapi('EvseDerControls');

export const derControlsBodySchema = z
  .strictObject({
    ...gridSupportBodySchema.shape,
    limit_max_discharge_pct: z
      .number()
      .min(0)
      .max(100)
      .nullable()
      .optional()
      .openapi({ description: 'Sets and enables 704.WMaxLimPct; null disables it.' }),
  })
  .openapi('EvseDerControlsRequest');
