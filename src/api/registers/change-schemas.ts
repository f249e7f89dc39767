import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { deviceIndex } from '../common/schemas.ts';
import { exampleWriter, writerSchema } from '../common/writer-schemas.ts';
import { valueSchema } from './schemas.ts';

const registerChangeSchema = memo(() =>
  z
    .strictObject({
      point: z.string().openapi({ description: 'Model and path, as `704.WMaxLimPct`.' }),
      label: z.string(),
      address: z.int().openapi({ description: 'Protocol address of its first register.' }),
      unit: z.string().nullable(),
      start_value: valueSchema().openapi({ description: 'Value at the start, in the form of `value`.' }),
      value: valueSchema(),
      start_symbol: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: 'Only on enumerations: the name of the start value.' }),
      symbol: z.string().nullable().optional().openapi({ description: 'Only on enumerations: the name of the value.' }),
      changed_by: writerSchema.nullable().openapi({
        description:
          'Last writer of the point; null: the device itself, as after a command (`overrides` of `controls`).',
      }),
    })
    .openapi('RegisterChange'),
);

export const registerChangesSchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      count: z.int().min(0).openapi({ description: 'Points that differ.' }),
      changes: z.array(registerChangeSchema()).openapi({ description: 'In the order of the map.' }),
    })
    .openapi('RegisterChanges'),
);

export type RegisterChangeReply = z.output<ReturnType<typeof registerChangeSchema>>;

/** After the example request of `set_registers`. */
export const exampleRegisterChanges = {
  device_index: 0,
  count: 2,
  changes: [
    {
      point: '704.WMaxLimPctEna',
      label: 'Active power limit: on/off',
      address: 40310,
      unit: null,
      start_value: 0,
      value: 1,
      start_symbol: 'DISABLED',
      symbol: 'ENABLED',
      changed_by: exampleWriter,
    },
    {
      point: '704.WMaxLimPct',
      label: 'Active power limit, share of WMax',
      address: 40311,
      unit: 'Pct',
      start_value: 100,
      value: 50,
      changed_by: exampleWriter,
    },
  ],
};
