import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { maxPvInputs } from '../../contract/kinds/pv.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

const share = z.number().min(0).max(1);

export const shadingBodySchema = memo(() =>
  z
    .strictObject({
      shaded_share: share.openapi({
        description: 'Fraction of the modules of each string that are shaded; 0 ends the shading.',
      }),
      irradiance_share: share.openapi({ description: 'Fraction of the irradiance that reaches the shaded modules.' }),
      input: z
        .int()
        .min(0)
        .max(maxPvInputs - 1)
        .optional()
        .openapi({
          description: 'The input that is shaded, as `port` of `dc-iv`. Default: every input of the inverter.',
        }),
    })
    .openapi('ShadingRequest'),
);

const trackerState = z.enum(['off', 'start', 'track', 'limit', 'dc_low']);

const inputShadingSchema = memo(() =>
  z
    .strictObject({
      input: z.int().min(0).openapi({ description: 'Number of the input, as `port` of `dc-iv`.' }),
      name: z.string().openapi({ description: '714.Prt.IDStr.' }),
      shaded_share: share,
      irradiance_share: share,
      mppt_state: trackerState.openapi({ description: 'State of the tracker of this input.' }),
    })
    .openapi('InputShading'),
);

export const shadingSchema = memo(() =>
  z
    .strictObject({
      device_index: z.int(),
      shaded_share: share.openapi({ description: 'With several inputs that of the first one that is shaded.' }),
      irradiance_share: share.openapi({ description: 'With several inputs that of the first one that is shaded.' }),
      mppt_state: trackerState.openapi({
        description:
          'State of the maximum power point tracker. With several inputs the first of limit, track, dc_low, start, off that a tracker has.',
      }),
      inputs: z
        .array(inputShadingSchema())
        .optional()
        .openapi({ description: 'Each input of an inverter with several ones; absent: there is one.' }),
      changed_by: writerSchema.nullable().openapi({ description: 'Last writer; null: as started.' }),
    })
    .openapi('Shading'),
);

export const exampleShading = {
  device_index: 0,
  shaded_share: 0.3,
  irradiance_share: 0.4,
  mppt_state: 'track' as const,
  changed_by: exampleWriter,
};
