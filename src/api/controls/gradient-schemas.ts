import { memo } from '../../core/memo.ts';
import { gradientRange } from '../../contract/gradient.ts';
import { z } from '../description/zod.ts';
import { deviceIndex } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';

const ofWMax = 'Percent of 702.WMax per second';
const ofVarMax = 'Percent of the larger of 702.VarMaxInj and VarMaxAbs per second';

const slope = (base: string, register: string) =>
  z
    .number()
    .min(gradientRange.min)
    .max(gradientRange.max)
    .nullable()
    .optional()
    .openapi({ description: `${base}; null ends the gradient, then ${register} counts; absent: stays.` });

export const gradientBodySchema = memo(() =>
  z
    .strictObject({ w_pct_per_s: slope(ofWMax, '704.WRmp'), var_pct_per_s: slope(ofVarMax, '704.VarRmp') })
    .refine((body) => body.w_pct_per_s !== undefined || body.var_pct_per_s !== undefined, {
      error: 'at least one of w_pct_per_s, var_pct_per_s is required',
    })
    .openapi('GradientRequest', { minProperties: 1 }),
);

const slopeSource = z.enum(['gradient', 'register']).openapi({
  description: '`gradient`: of a request or of the profile; `register`: 704.WRmp with WRmpRef, or 704.VarRmp.',
});

const members = {
  w_pct_per_s: z.number().openapi({
    description: `Slope of active power on commands. ${ofWMax}; of 704.WRmpRef \`a_max\` converted to it.`,
  }),
  w_source: slopeSource,
  var_pct_per_s: z.number().openapi({ description: `Slope of reactive power on commands. ${ofVarMax}.` }),
  var_source: slopeSource,
  changed_by: writerSchema.nullable().openapi({
    description: 'Last request that set or ended a gradient; null: as started.',
  }),
};

/** The slopes in force, as a part of `controls`. */
export const slopesSchema = z.strictObject(members).openapi('Slopes');
export const gradientSchema = memo(() => z.strictObject({ device_index: deviceIndex, ...members }).openapi('Gradient'));

export type SlopesReply = z.output<typeof slopesSchema>;

export const exampleSlopes = {
  w_pct_per_s: 20,
  w_source: 'register' as const,
  var_pct_per_s: 20,
  var_source: 'register' as const,
  changed_by: null,
};
export const exampleGradient = { device_index: 0, ...exampleSlopes };
/** The answer to 0.27 % per second for active power. */
export const exampleGradientSet = {
  ...exampleGradient,
  w_pct_per_s: 0.27,
  w_source: 'gradient' as const,
  changed_by: exampleWriter,
};
