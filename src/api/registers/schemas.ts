import { memo } from '../../core/memo.ts';
import { servedModels } from '../../sunspec/models/served.ts';
import { z } from '../description/zod.ts';
import {
  deviceIndex,
  deviceParam,
  exampleTime,
  flagParam,
  integerParam,
  isoTime,
  namesParam,
  sourceSchema,
} from '../common/schemas.ts';
import { asSetNow, sourceDetailSchema } from '../common/writer-schemas.ts';

const modelsSchema = memo(() =>
  z.array(
    z.strictObject({
      id: z.int(),
      name: z.string(),
      label: z.string(),
      address: z.int().openapi({ description: 'Protocol address of the ID register.' }),
      length: z.int().openapi({ description: 'The L register.' }),
      hidden: z.boolean().optional().openapi({
        description:
          'True where Modbus masters do not find the model (`--map_layout`): its address lies behind the end of their map.',
      }),
    }),
  ),
);

export const registerModelsSchema = memo(() =>
  z.strictObject({ device_index: deviceIndex, models: modelsSchema() }).openapi('RegisterModels'),
);

/** The same of the meter of the connection point. */
export const meterModelsSchema = memo(() =>
  z
    .strictObject({
      unit_id: z.int().min(1).max(247).nullable().openapi({
        description: 'The setting meter_unit; null: none is given, and the meter has unit id 1 at its own port.',
      }),
      models: modelsSchema(),
    })
    .openapi('MeterModels'),
);

/** A decoded value in a reply. */
export const valueSchema = memo(() =>
  z
    .union([z.number(), z.string()])
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Engineering value: raw x 10^scale_factor; the number of an enumeration; text of a string; null when not implemented.',
    }),
);

const registerPointSchema = memo(() =>
  z
    .strictObject({
      name: z.string().openapi({ description: 'Path inside the model, for example `Crv[0].Pt[1].V`.' }),
      label: z.string(),
      type: z.string(),
      address: z.int(),
      size: z.int().openapi({ description: 'Registers.' }),
      raw: z.array(z.int().min(0).max(65_535)).optional().openapi({ description: 'Only with `raw=true`.' }),
      value: valueSchema(),
      scale_factor: z.int().nullable(),
      unit: z.string().nullable(),
      symbol: z.string().nullable().optional().openapi({ description: 'Only on enumerations: the name of the value.' }),
      implemented: z.boolean(),
      access: z.enum(['R', 'RW']).openapi({ description: 'Whether this device accepts a write.' }),
      source: sourceSchema,
      source_detail: sourceDetailSchema,
      changed_at: isoTime.nullable().openapi({
        description:
          'Simulated time of the last write; of the start for a value from the profile; null for a default or ' +
          `measurement. ${asSetNow}`,
      }),
    })
    .openapi('RegisterPoint'),
);

export const registersSchema = memo(() =>
  z
    .strictObject({
      id: z.int(),
      name: z.string(),
      address: z.int(),
      length: z.int(),
      points: z.array(registerPointSchema()),
    })
    .openapi('Registers'),
);

export const registersParamsSchema = z.strictObject({
  model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.'),
});
/** Parameters of reads of one model, whatever its map. */
export const modelQuerySchema = z.strictObject({
  raw: flagParam('raw', 'Adds the raw registers of each point.').optional(),
  points: namesParam(
    'points',
    'Paths of points, as a comma list or repeated: the answer has these alone, in the order of the map. Default: all.',
    ['W', 'Hz'],
  ).optional(),
});
export const registersQuerySchema = z.strictObject({ device: deviceParam.optional(), ...modelQuerySchema.shape });
/** A value for a point in a request. */
export const writtenSchema = memo(() =>
  z
    .union([z.number(), z.string()], { error: 'must be a number, a text or null' })
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Null marks a point of a stored curve (`Crv[..].Pt[..]`) as not in use; every other point refuses it.',
    }),
);
export const registersBodySchema = memo(() =>
  z
    .strictObject({
      points: z
        .record(z.string(), writtenSchema())
        .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
        .openapi({
          description: 'Values by point path, in engineering units; enumerations by name or number.',
          minProperties: 1,
        }),
    })
    .openapi('RegistersRequest'),
);

export type RegisterPointReply = z.output<ReturnType<typeof registerPointSchema>>;

/** Lengths of the models from 1 to 715 in the device that the examples are of. */
const exampleLengths = [66, 153, 50, 17, 65, 103, 88, 289, 289, 379, 379, 42, 84, 7, 43, 7];
const exampleAddress = (place: number) =>
  exampleLengths.slice(0, place).reduce((address, length) => address + length + 2, 40002);
/** The map of that device. */
export const exampleModels = servedModels.slice(0, exampleLengths.length).map(({ id, name, label }, place) => ({
  id,
  name,
  label,
  address: exampleAddress(place),
  length: exampleLengths[place] ?? 0,
}));
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

export const exampleMeterModels = {
  unit_id: 240,
  models: [
    { id: 1, name: 'common', label: 'Identification of the device', address: 40002, length: 66 },
    { id: 203, name: 'ac_meter_abcn', label: 'Three-phase meter with neutral', address: 40070, length: 105 },
  ],
};

const exampleMeterPoint = {
  scale_factor: 0,
  implemented: true,
  access: 'R' as const,
  source: 'default' as const,
  source_detail: null,
  changed_at: null,
};
/** Two of the points of the meter of a site that exports 5 kW. */
export const exampleMeterRegisters = {
  id: 203,
  name: 'ac_meter_abcn',
  address: 40070,
  length: 105,
  points: [
    {
      ...exampleMeterPoint,
      name: 'W',
      label: 'Active power, positive when drawn from the grid',
      type: 'int16',
      address: 40088,
      size: 1,
      value: -5000,
      unit: 'W',
    },
    {
      ...exampleMeterPoint,
      name: 'TotWhExp',
      label: 'Active energy given to the grid',
      type: 'acc32',
      address: 40108,
      size: 2,
      value: 12_345,
      unit: 'Wh',
    },
  ],
};
