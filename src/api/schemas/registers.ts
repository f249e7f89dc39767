import { z } from '../zod.ts';
import { deviceIndex, deviceParam, exampleTime, flagParam, integerParam, isoTime, sourceSchema } from './common.ts';

export const registerModelsSchema = z.strictObject({
  device_index: deviceIndex,
  models: z.array(z.strictObject({
    id: z.int(), name: z.string(), label: z.string(),
    address: z.int().openapi({ description: 'Protocol address of the ID register.' }),
    length: z.int().openapi({ description: 'The L register.' }),
  })),
}).openapi('RegisterModels');

const valueSchema = z.union([z.number(), z.string()]).nullable().openapi({
  type: ['number', 'string', 'null'],
  description: 'Engineering value: raw x 10^scale_factor; the number of an enumeration; text of a string; null when not implemented.',
});

const registerPointSchema = z.strictObject({
  name: z.string().openapi({ description: 'Path inside the model, for example `Crv[0].Pt[1].V`.' }),
  label: z.string(),
  type: z.string(),
  address: z.int(),
  size: z.int().openapi({ description: 'Registers.' }),
  raw: z.array(z.int().min(0).max(65_535)).optional().openapi({ description: 'Only with `raw=true`.' }),
  value: valueSchema,
  scale_factor: z.int().nullable(),
  unit: z.string().nullable(),
  symbol: z.string().nullable().optional().openapi({ description: 'Only on enumerations: the name of the value.' }),
  implemented: z.boolean(),
  access: z.enum(['R', 'RW']).openapi({ description: 'Whether this device takes a write.' }),
  source: sourceSchema,
  changed_at: isoTime.nullable().openapi({ description: 'Simulated time of the last write; null: start value or measurement.' }),
}).openapi('RegisterPoint');

export const registersSchema = z.strictObject({
  id: z.int(), name: z.string(), address: z.int(), length: z.int(), points: z.array(registerPointSchema),
}).openapi('Registers');

export const registersParamsSchema = z.strictObject({
  model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.'),
});
export const registersQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  raw: flagParam('raw', 'Adds the raw registers of each point.').optional(),
});
export const registersBodySchema = z.strictObject({
  points: z.record(z.string(), z.union([z.number(), z.string()], { error: 'must be a number or a text' }))
    .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
    .openapi({ description: 'Values by point path, in engineering units; enumerations by name or number.', minProperties: 1 }),
}).openapi('RegistersRequest');

export type RegisterPointReply = z.output<typeof registerPointSchema>;

export const exampleRegisters = {
  id: 704, name: 'DERCtlAC', address: 40264, length: 59,
  points: [
    {
      name: 'WMaxLimPctEna', label: 'Limit Max Power Pct Enable', type: 'enum16', address: 40278, size: 1, value: 1,
      scale_factor: null, unit: null, symbol: 'ENABLED', implemented: true, access: 'RW', source: 'modbus',
      changed_at: exampleTime,
    },
    {
      name: 'WMaxLimPct', label: 'Limit Max Power Pct', type: 'uint16', address: 40279, size: 1, value: 50,
      scale_factor: -1, unit: 'Pct', implemented: true, access: 'RW', source: 'rest', changed_at: exampleTime,
    },
  ],
};
export const exampleRegisterModels = {
  device_index: 0, models: [{ id: 704, name: 'DERCtlAC', label: 'DER AC Controls', address: 40264, length: 59 }],
};
