import { z } from '../description/zod.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

const share = z.number().min(0).max(1);

export const shadingBodySchema = z
  .strictObject({
    shaded_share: share.openapi({
      description: 'Fraction of the modules of each string that are shaded; 0 ends the shading.',
    }),
    irradiance_share: share.openapi({ description: 'Fraction of the irradiance that reaches the shaded modules.' }),
  })
  .openapi('ShadingRequest');

export const shadingSchema = z
  .strictObject({
    device_index: z.int(),
    shaded_share: share,
    irradiance_share: share,
    mppt_state: z
      .enum(['off', 'start', 'track', 'limit', 'dc_low'])
      .openapi({ description: 'State of the maximum power point tracker.' }),
    changed_by: writerSchema.nullable().openapi({ description: 'Last writer; null: as started.' }),
  })
  .openapi('Shading');

export const exampleShading = {
  device_index: 0,
  shaded_share: 0.3,
  irradiance_share: 0.4,
  mppt_state: 'track' as const,
  changed_by: exampleWriter,
};
