import { z } from '../description/zod.ts';
import {
  deviceIndex,
  deviceParam,
  exampleTime,
  flagParam,
  integerParam,
  isoTime,
  sourceSchema,
} from '../common/schemas.ts';
import { asSetNow, sourceDetailSchema } from '../common/writer-schemas.ts';

export const registerModelsSchema = z
  .strictObject({
    device_index: deviceIndex,
    models: z.array(
      z.strictObject({
        id: z.int(),
        name: z.string(),
        label: z.string(),
        address: z.int().openapi({ description: 'Protocol address of the ID register.' }),
        length: z.int().openapi({ description: 'The L register.' }),
      }),
    ),
  })
  .openapi('RegisterModels');

const valueSchema = z
  .union([z.number(), z.string()])
  .nullable()
  .openapi({
    type: ['number', 'string', 'null'],
    description:
      'Engineering value: raw x 10^scale_factor; the number of an enumeration; text of a string; null when not implemented.',
  });

const registerPointSchema = z
  .strictObject({
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
    source_detail: sourceDetailSchema,
    changed_at: isoTime.nullable().openapi({
      description: `Simulated time of the last write, of the start for a value of the profile; null: default or measurement. ${asSetNow}`,
    }),
  })
  .openapi('RegisterPoint');

export const registersSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    address: z.int(),
    length: z.int(),
    points: z.array(registerPointSchema),
  })
  .openapi('Registers');

export const registersParamsSchema = z.strictObject({
  model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.'),
});
export const registersQuerySchema = z.strictObject({
  device: deviceParam.optional(),
  raw: flagParam('raw', 'Adds the raw registers of each point.').optional(),
});
const writtenSchema = z
  .union([z.number(), z.string()], { error: 'must be a number, a text or null' })
  .nullable()
  .openapi({
    type: ['number', 'string', 'null'],
    description: 'Null marks a point of a stored curve (`Crv[..].Pt[..]`) as not in use; every other point refuses it.',
  });
export const registersBodySchema = z
  .strictObject({
    points: z
      .record(z.string(), writtenSchema)
      .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
      .openapi({
        description: 'Values by point path, in engineering units; enumerations by name or number.',
        minProperties: 1,
      }),
  })
  .openapi('RegistersRequest');

export type RegisterPointReply = z.output<typeof registerPointSchema>;

/** The map of the device that the examples are of. */
export const exampleModels = [
  { id: 1, name: 'common', label: 'Identification of the device', address: 40002, length: 66 },
  { id: 701, name: 'DERMeasureAC', label: 'AC measurements', address: 40070, length: 153 },
  { id: 702, name: 'DERCapacity', label: 'Ratings and settings', address: 40225, length: 50 },
  { id: 703, name: 'DEREnterService', label: 'Entering service', address: 40277, length: 17 },
  { id: 704, name: 'DERCtlAC', label: 'Direct controls', address: 40296, length: 65 },
  { id: 705, name: 'DERVoltVar', label: 'Volt-var', address: 40363, length: 103 },
  { id: 706, name: 'DERVoltWatt', label: 'Volt-watt', address: 40468, length: 88 },
  { id: 707, name: 'DERTripLV', label: 'Low-voltage trip', address: 40558, length: 289 },
  { id: 708, name: 'DERTripHV', label: 'High-voltage trip', address: 40849, length: 289 },
  { id: 709, name: 'DERTripLF', label: 'Low-frequency trip', address: 41140, length: 379 },
  { id: 710, name: 'DERTripHF', label: 'High-frequency trip', address: 41521, length: 379 },
  { id: 711, name: 'DERFreqDroop', label: 'Frequency droop', address: 41902, length: 42 },
  { id: 712, name: 'DERWattVar', label: 'Watt-var', address: 41946, length: 84 },
  { id: 713, name: 'DERStorageCapacity', label: 'Storage capacity', address: 42032, length: 7 },
  { id: 714, name: 'DERMeasureDC', label: 'DC measurements', address: 42041, length: 43 },
  { id: 715, name: 'DERCtl', label: 'Operator control', address: 42086, length: 7 },
];
export const exampleRegisterModels = { device_index: 0, models: exampleModels };

/** Two of the points of model 704 after a write over REST. */
export const exampleRegisters = {
  id: 704,
  name: 'DERCtlAC',
  address: 40296,
  length: 65,
  points: [
    {
      name: 'WMaxLimPctEna',
      label: 'Active power limit: on/off',
      type: 'enum16',
      address: 40310,
      size: 1,
      value: 1,
      scale_factor: null,
      unit: null,
      symbol: 'ENABLED',
      implemented: true,
      access: 'RW',
      source: 'rest',
      source_detail: '127.0.0.1:50123',
      changed_at: exampleTime,
    },
    {
      name: 'WMaxLimPct',
      label: 'Active power limit, share of WMax',
      type: 'uint16',
      address: 40311,
      size: 1,
      value: 50,
      scale_factor: -2,
      unit: 'Pct',
      implemented: true,
      access: 'RW',
      source: 'rest',
      source_detail: '127.0.0.1:50123',
      changed_at: exampleTime,
    },
  ],
};
