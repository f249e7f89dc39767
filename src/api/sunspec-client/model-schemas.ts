import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { flagParam, integerParam, isoTime } from '../common/schemas.ts';

const register = z.int().min(0).max(65_535);
export const modelId = z.int().min(1).max(65_535).openapi({ description: 'SunSpec model id.' });
export const modelIndex = z
  .int()
  .min(0)
  .max(255)
  .openapi({ description: 'Which of several models of the same id, from 0; default 0.' });
export const notes = z.array(z.string()).openapi({ description: 'Deviations from the standard, in words.' });

export const foundModelSchema = z
  .strictObject({
    id: modelId,
    index: modelIndex,
    name: z
      .string()
      .nullable()
      .openapi({ description: 'Null for a model without a definition here; its registers are shown raw.' }),
    label: z.string().nullable(),
    address: z.int().openapi({ description: 'Protocol address of the ID register.' }),
    length: z.int().openapi({ description: 'The L register.' }),
  })
  .openapi('ClientModelPlace');

const valueSchema = memo(() =>
  z
    .union([z.number(), z.string()])
    .nullable()
    .openapi({
      type: ['number', 'string', 'null'],
      description:
        'Engineering value; the number of an enumeration or a bit field; text of a string, and of a number beyond 2^53; ' +
        'null when not implemented or not readable.',
    }),
);

const pointSchema = memo(() =>
  z
    .strictObject({
      name: z.string().openapi({ description: 'Path inside the model, 0-based: `Crv[0].Pt[1].V`.' }),
      label: z.string(),
      type: z.string().openapi({ description: 'SunSpec type of the point.' }),
      address: z.int(),
      size: z.int().openapi({ description: 'Registers.' }),
      raw: z
        .array(register)
        .nullable()
        .openapi({ description: 'Registers of the point; null when the device refuses to be read here.' }),
      value: valueSchema(),
      scale_factor: z.int().nullable().openapi({
        description: 'Current power of ten from the device; null if the point has none or the device gives none.',
      }),
      unit: z.string().nullable(),
      symbol: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: 'Only on enumerations: name of the value; null for an unknown number.' }),
      bits: z
        .array(z.string())
        .optional()
        .openapi({ description: 'Only on bit fields: names of the set bits, `BIT_9` for one without a name.' }),
      implemented: z.boolean(),
      access: z.enum(['R', 'RW']).openapi({ description: 'By the definition; the device may refuse.' }),
      note: z.string().optional().openapi({ description: 'Why there is no value, or what is unusual about it.' }),
    })
    .openapi('ClientPoint'),
);

export const modelSchema = memo(() =>
  z
    .strictObject({
      ...foundModelSchema.shape,
      points: z.array(pointSchema()).openapi({ description: 'Points of the model itself.' }),
      groups: z
        .array(
          z.strictObject({
            name: z.string().openapi({ description: 'Path of one repetition, 0-based: `Crv[0].Pt[1]`.' }),
            points: z.array(pointSchema()).openapi({ description: 'Its own points.' }),
          }),
        )
        .openapi({ description: 'Repetitions of all groups, in the order of the registers.' }),
      registers: z
        .array(register)
        .nullable()
        .openapi({ description: 'All registers from ID on, of a model without a definition here; else null.' }),
      expected_length: z.int().nullable().openapi({
        description:
          'What L should be by the definition and the counts; null if L is right or the right value is unknown.',
      }),
      notes,
      read_at: isoTime.openapi({ description: 'Wall time at which it was read.' }),
    })
    .openapi('ClientModel'),
);

export const modelParamsSchema = z.strictObject({ model_id: integerParam('model_id', 1, 65_535, 'SunSpec model id.') });
export const modelQuerySchema = z.strictObject({
  index: integerParam('index', 0, 255, 'Which of several models of the same id, from 0; default 0.').optional(),
  refresh: flagParam(
    'refresh',
    'Reads the device in any case; without it, the last reading if there is one.',
  ).optional(),
});

const registersReadSchema = memo(() =>
  z
    .strictObject({
      address: register.openapi({ description: 'Protocol address of the first register.' }),
      count: z.int().min(1).max(1000).openapi({ description: 'Registers; more than 125 take several requests.' }),
    })
    .openapi('ClientRegistersReadRequest'),
);

const pointsReadSchema = memo(() =>
  z
    .strictObject({
      model: modelId,
      index: modelIndex.optional(),
      points: z
        .array(z.string().max(200))
        .min(1)
        .max(1000)
        .optional()
        .openapi({ description: 'Paths of points, 0-based; default: all. The whole model is always read.' }),
    })
    .openapi('ClientPointsReadRequest'),
);

export const readRequestSchema = memo(() =>
  z
    .union([pointsReadSchema(), registersReadSchema()])
    .openapi('ClientReadRequest', { description: 'Points of a model, or registers.' }),
);

const registersSchema = memo(() =>
  z
    .strictObject({
      address: z.int(),
      registers: z.array(register).openapi({ description: 'As they were read.' }),
    })
    .openapi('ClientRegisters'),
);

export const readReplySchema = memo(() =>
  z
    .union([modelSchema(), registersSchema()])
    .openapi({ description: 'The model with the requested points, or `ClientRegisters`.' }),
);

const pointsWriteSchema = memo(() =>
  z
    .strictObject({
      model: modelId,
      index: modelIndex.optional(),
      points: z
        .record(
          z.string().max(200),
          z
            .union([z.number(), z.string().max(1000)], { error: 'must be a number, a text or null' })
            .nullable()
            .openapi({
              type: ['number', 'string', 'null'],
              description: 'Null marks a point of a stored curve (`Crv[..].Pt[..]`) as not in use.',
            }),
        )
        .refine((points) => Object.keys(points).length > 0, { error: 'at least one point is required' })
        .openapi({
          description: 'Values by point path, in engineering units; enumerations by name or number.',
          minProperties: 1,
        }),
    })
    .openapi('ClientPointsWriteRequest'),
);

const registersWriteSchema = memo(() =>
  z
    .strictObject({
      address: register.openapi({ description: 'Protocol address of the first register.' }),
      registers: z.array(register).min(1).max(123).openapi({ description: 'Raw values to write.' }),
    })
    .openapi('ClientRegistersWriteRequest'),
);

export const writeRequestSchema = memo(() =>
  z
    .union([pointsWriteSchema(), registersWriteSchema()])
    .openapi('ClientWriteRequest', { description: 'Points of a model, or registers.' }),
);

const requestsSchema = memo(() =>
  z
    .array(
      z.strictObject({
        function: z
          .union([z.literal(6), z.literal(16)])
          .openapi({ type: 'integer', enum: [6, 16], description: 'Function code.' }),
        address: z.int(),
        count: z.int().openapi({ description: 'Registers.' }),
      }),
    )
    .openapi({ description: 'Requests accepted by the device, in order.' }),
);

const pointsWrittenSchema = memo(() =>
  z
    .strictObject({
      model: foundModelSchema,
      match: z.boolean().openapi({ description: 'Whether every point reads back as it was written.' }),
      points: z.array(
        z.strictObject({
          name: z.string().openapi({ description: 'Path inside the model, 0-based.' }),
          written: valueSchema().openapi({
            description: 'Value of the registers that were written: rounded to a step of the register.',
          }),
          raw_written: z.array(register).openapi({ description: 'Registers that were written.' }),
          match: z.boolean().openapi({ description: 'Whether it reads back as it was written.' }),
          read_back: pointSchema(),
        }),
      ),
      requests: requestsSchema(),
    })
    .openapi('ClientPointsWritten'),
);

const registersWrittenSchema = memo(() =>
  z
    .strictObject({
      address: z.int(),
      match: z.boolean().openapi({ description: 'Whether every register reads back as it was written.' }),
      registers: z.array(register).openapi({ description: 'As they were written.' }),
      read_back: z.array(register).nullable().openapi({ description: 'Null: the device refuses to be read here.' }),
      requests: requestsSchema(),
    })
    .openapi('ClientRegistersWritten'),
);

export const writeReplySchema = memo(() =>
  z
    .union([pointsWrittenSchema(), registersWrittenSchema()])
    .openapi({ description: '`ClientPointsWritten` or `ClientRegistersWritten`, as requested.' }),
);

export type ClientModelReply = z.output<ReturnType<typeof modelSchema>>;
export type ClientPointReply = z.output<ReturnType<typeof pointSchema>>;
