import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { gridSupportBodySchema, gridSupportSchema } from '../grid-support/schemas.ts';

export const derControlsSchema = memo(() =>
  z
    .strictObject({
      ...gridSupportSchema().shape,
      limit_max_discharge_pct: z.number().nullable().openapi({
        description: '704.WMaxLimPct: maximum power from the vehicles, percent of 702.WMax; null: no limit.',
      }),
      control_ids: z.record(z.string(), z.string()).openapi({
        description:
          'By function, the id of the OCPP 2.1 control that set it last. Functions that were set otherwise are left out.',
      }),
    })
    .openapi('EvseDerControls'),
);

export const derControlsBodySchema = memo(() =>
  z
    .strictObject({
      ...gridSupportBodySchema().shape,
      limit_max_discharge_pct: z
        .number()
        .min(0)
        .max(100)
        .nullable()
        .optional()
        .openapi({ description: 'Sets and enables 704.WMaxLimPct; null disables it.' }),
    })
    .openapi('EvseDerControlsRequest'),
);
