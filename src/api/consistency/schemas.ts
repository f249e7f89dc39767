import { memo } from '../../core/memo.ts';
import { deviceIndex, deviceParam, exampleTime, isoTime } from '../common/schemas.ts';
import { listParam } from '../common/list-param.ts';
import { z } from '../description/zod.ts';
import { causes, presenters, units } from './model.ts';
import type { Cause } from './model.ts';
import { quantityNames } from './names.ts';

export const consistencyQuery = z.strictObject({
  device: deviceParam.optional(),
  quantity: listParam('quantity', quantityNames, 'Only these quantities; default all that the device has.').optional(),
});

const count = (description: string) => z.int().min(0).openapi({ description });
const valueSchema = z.union([z.number(), z.string(), z.boolean(), z.null()]);

const shownSchema = memo(() =>
  z
    .strictObject({
      name: z.string().openapi({ description: 'Point, member or measurand.' }),
      raw: valueSchema.openapi({ description: 'As the protocol encodes it; null: "not implemented".' }),
      multiplier: z.number().nullable().openapi({ description: 'raw x multiplier is in `unit`; null: there is none.' }),
      unit: z.string().nullable().openapi({ description: 'Of the encoding; null: it has none.' }),
      decimals: z.int().nullable().openapi({ description: 'Digits after the decimal point of decimal text.' }),
      flags: z.int().nullable().openapi({ description: 'Octet of flags of DNP3.' }),
      listed: z
        .boolean()
        .nullable()
        .openapi({ description: 'Whether the configuration of the charge point asks for the measurand.' }),
    })
    .openapi('ShownValue'),
);

const presentationSchema = memo(() =>
  z
    .strictObject({
      protocol: protocolMember,
      place: z.string().openapi({ description: '`701.W`, `metrics.power_kw`, `AI537`, `Power.Active.Import`.' }),
      value: valueSchema.openapi({
        description: 'In the unit of the quantity; a state in words; whether it is on. Null: it shows none.',
      }),
      resolution: z.number().nullable().openapi({
        description: 'Step of the encoding in the unit of the quantity; null: it has none of its own.',
      }),
      difference: z.number().nullable().openapi({ description: 'Value less that of the first presentation.' }),
      agrees: z.boolean().nullable().openapi({ description: 'Equal but for rounding; null: nothing to compare.' }),
      cause: z.enum(causes).openapi({ description: 'What explains the difference.' }),
      explanation: z.string().nullable().openapi({ description: 'Why it differs; null: it does not.' }),
      at: isoTime.nullable().openapi({
        description: 'Simulated date of the state that it shows; null: known by the clock of a server alone.',
      }),
      sent_at: isoTime.nullable().openapi({
        description: 'Wall time at which the peer was told; null: it is told when it asks, or at its next interval.',
      }),
      interval: z
        .strictObject({
          start: isoTime.openapi({ description: 'Begin of the time.' }),
          end: isoTime.openapi({ description: 'End of the time.' }),
        })
        .nullable()
        .openapi({ description: 'It is the mean of this time, by the clock of the server.' }),
      shown: z.array(shownSchema()).openapi({ description: 'What the protocol has of it, as it encodes it.' }),
    })
    .openapi('Presentation'),
);

const quantitySchema = memo(() =>
  z
    .strictObject({
      quantity: z.enum(quantityNames).openapi({ description: 'As the query takes it.' }),
      description: z.string().openapi({ description: 'What it is.' }),
      unit: z.enum(units).nullable().openapi({ description: 'Null: a state, on or off, or a number without one.' }),
      agrees: z.boolean().openapi({ description: 'No presentation differs by more than rounding.' }),
      presentations: z.array(presentationSchema()).openapi({
        description: 'The first one is what the others are compared with: the register of the device, else REST.',
      }),
    })
    .openapi('ComparedQuantity'),
);

const protocolMember = z.enum(presenters).openapi({
  description: '`registers`: the map of the device without faults; `modbus`: as a master reads it.',
});

const participationSchema = memo(() =>
  z
    .strictObject({
      protocol: protocolMember,
      presents: z.boolean().openapi({ description: 'Whether it presents anything of the device.' }),
      reason: z.string().nullable().openapi({ description: 'Why it presents nothing; null: it does.' }),
      faults: z
        .array(
          z.strictObject({
            id: z.int().openapi({ description: 'Number of the fault.' }),
            kind: z.string().openapi({ description: 'Kind of the fault.' }),
            changes_values: z.boolean().openapi({ description: 'Whether such a fault can change what is presented.' }),
          }),
        )
        .openapi({ description: 'Faults of the protocol in force for the device.' }),
    })
    .openapi('ProtocolPresence'),
);

const causeShape = {
  equal: count('The same value.'),
  rounding: count('Steps of the encodings explain the difference.'),
  earlier: count('A mean, or a document that was sent before.'),
  fault: count('A fault of the protocol explains the difference.'),
  unexplained: count('Nothing explains the difference.'),
  no_value: count('There is nothing to compare.'),
} satisfies Record<Cause, z.ZodType>;

export const consistencySchema = memo(() =>
  z
    .strictObject({
      device_index: deviceIndex,
      consistent: z.boolean().openapi({ description: 'No difference that a fault makes or nothing explains.' }),
      quantity_count: count('Quantities of the device.'),
      presentation_count: count('Presentations of them, the first ones included.'),
      difference_count: count('Presentations that differ by more than rounding.'),
      causes: z.strictObject(causeShape).openapi({ description: 'Presentations by cause.' }),
      protocols: z.array(participationSchema()).openapi({ description: 'How each protocol takes part.' }),
      quantities: z.array(quantitySchema()).openapi({ description: 'In the order of the table of quantities.' }),
    })
    .openapi('Consistency'),
);

export type ConsistencyReply = z.output<ReturnType<typeof consistencySchema>>;

const exampleShown = { raw: 399, multiplier: 10, unit: 'W', decimals: null, flags: null, listed: null };
const examplePresentation = {
  value: 3990,
  resolution: 10,
  difference: 0,
  agrees: true,
  cause: 'equal',
  explanation: null,
  at: exampleTime,
  sent_at: null,
  interval: null,
};

export const exampleConsistency = {
  device_index: 0,
  consistent: true,
  quantity_count: 1,
  presentation_count: 3,
  difference_count: 0,
  causes: { equal: 2, rounding: 1, earlier: 0, fault: 0, unexplained: 0, no_value: 0 },
  protocols: presenters.map((protocol) => {
    const presents = protocol === 'registers' || protocol === 'modbus' || protocol === 'ocpp';
    return { protocol, presents, reason: presents ? null : 'switched off', faults: [] };
  }),
  quantities: [
    {
      quantity: 'active_power',
      description: 'Active power at the terminals; positive = injected.',
      unit: 'W',
      agrees: true,
      presentations: [
        { protocol: 'registers', place: '701.W', ...examplePresentation, shown: [{ name: '701.W', ...exampleShown }] },
        { protocol: 'modbus', place: '701.W', ...examplePresentation, shown: [{ name: '701.W', ...exampleShown }] },
        {
          protocol: 'ocpp',
          place: 'Power.Active.Export, Power.Active.Import',
          ...examplePresentation,
          value: 3987.3,
          resolution: 0.1,
          difference: -2.7,
          cause: 'rounding',
          explanation: 'OCPP shows 3987.3 W; the register has 3990 W in steps of 10 W: rounding.',
          shown: [
            { ...exampleShown, name: 'Power.Active.Export', raw: 3987.3, multiplier: null, decimals: 1, listed: false },
            { ...exampleShown, name: 'Power.Active.Import', raw: 0, multiplier: null, decimals: 1, listed: true },
          ],
        },
      ],
    },
  ],
};
