import { faultEnds } from '../../core/faults/active-fault.ts';
import { faultLayers, faultProtocols } from '../../core/faults/kinds.ts';
import { keptEnded, maxActiveFaults } from '../../core/faults/registry.ts';
import { faultKinds } from '../../fault-kinds/all.ts';
import { maxFaultsAtOnce } from '../../fault-kinds/profile.ts';
import { conditionSchema, faultSchema as faultRequestSchema, modbusFaultSchema } from '../../fault-kinds/request.ts';
import { z } from '../description/zod.ts';
import { deviceParam, exampleTime, isoTime, sourceSchema } from '../common/schemas.ts';
import { sourceDetailSchema } from '../common/writer-schemas.ts';

/** `device` of operations that concern all devices by default. */
export const anyDeviceQuery = z.strictObject({
  device: deviceParam
    .openapi({ description: 'Device index, 0-based: only faults that concern this device. Default all.' })
    .optional(),
});

/** `device` of operations that inject or end faults. */
export const faultDeviceQuery = z.strictObject({
  device: deviceParam
    .openapi({
      description:
        'Device index, 0-based, of faults that name none; default 0. With `clear` only faults of this device end, and the answer has only faults that concern it.',
    })
    .optional(),
});

const faultId = z.int().min(1).openapi({ description: 'Number of the fault, from 1; never used twice in a process.' });
const profileName = z.string().min(1).max(200);
const kindNames = [...new Set(faultKinds.map(({ kind }) => kind))] as [string, ...string[]];

const filterSchema = z
  .strictObject({
    id: faultId.optional(),
    protocol: z.enum(faultProtocols).optional().openapi({ description: 'Only faults of this protocol.' }),
    kind: z.enum(kindNames).optional().openapi({ description: 'Only faults of this kind.' }),
    profile: profileName.optional().openapi({ description: 'Only faults of this profile.' }),
    device: z
      .union([z.int().min(0), z.literal('all')], { error: 'must be a device index, or all' })
      .optional()
      .openapi({
        type: ['integer', 'string'],
        description: 'Only faults that name this device; `all`: only those of all devices together.',
      }),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
    error: 'at least one member is required',
  })
  .openapi('FaultFilter', { description: 'Selects faults; all members must match.', minProperties: 1 });

const clearSchema = z
  .strictObject({
    clear: z
      .union([z.literal(true), filterSchema], { error: 'must be true, or say which faults end' })
      .openapi({ description: 'True ends all faults, a filter those that match.' }),
  })
  .openapi('FaultClearing');

const profileRequest = z
  .strictObject({
    profile: profileName.openapi({ description: 'Name of a profile of `faults/profiles`; its faults are injected.' }),
    device: z
      .union([z.int().min(0), z.literal('all')], { error: 'must be a device index, or all' })
      .nullable()
      .optional()
      .openapi({
        type: ['integer', 'string', 'null'],
        description: 'Device index, or `all`; absent or null: the device of the query.',
      }),
  })
  .openapi('FaultProfileRequest');

export const faultsBodySchema = z
  .union(
    [
      clearSchema,
      z
        .strictObject({
          inject: z
            .array(faultRequestSchema)
            .min(1)
            .max(maxFaultsAtOnce)
            .openapi({ description: 'Faults to inject, all or none.' }),
        })
        .openapi('FaultInjection'),
      profileRequest,
    ],
    { error: 'one of clear, inject, profile is required' },
  )
  .openapi('FaultsRequest');

export const modbusFaultBodySchema = z
  .union([clearSchema, profileRequest, modbusFaultSchema], { error: 'one of kind, clear, profile is required' })
  .openapi('ModbusFaultRequest');

const targetSchema = z
  .strictObject({
    points: z.array(z.string()).nullable().openapi({ description: 'Points and models; null: any.' }),
    address: z.int().nullable().openapi({ description: 'First register, PDU address; null: any.' }),
    registers: z.int().nullable().openapi({ description: 'Number of registers; null: any.' }),
    function: z.array(z.int()).nullable().openapi({ description: 'Modbus function codes; null: any.' }),
  })
  .openapi('FaultTarget');

const scalar = z.union([z.number(), z.string(), z.boolean()]).nullable();

const parameterValue = z.union([
  z.number(),
  z.string(),
  z.boolean(),
  z.array(z.union([z.number(), z.string(), z.record(z.string(), z.number())])),
]);

const members = {
  id: faultId,
  protocol: z.enum(faultProtocols).openapi({ description: 'Protocol that applies it.' }),
  kind: z.string().openapi({ description: 'Kind, as `faults/kinds` lists it.' }),
  layer: z.enum(faultLayers).openapi({
    description:
      'Where it acts: on the registers that a write leaves, on what the device does with them, on the values that a read shows, or on the transport.',
  }),
  device_index: z.int().min(0).nullable().openapi({ description: 'Device index, 0-based; null: every device.' }),
  target: targetSchema,
  parameters: z.record(z.string(), parameterValue).openapi({ description: 'Parameters of the kind, with defaults.' }),
  when: conditionSchema.nullable().openapi({ description: 'The fault acts only while this holds; null: always.' }),
  count: z.int().nullable().openapi({ description: 'Strikes after which it ends; null: no limit.' }),
  remaining: z.int().nullable().openapi({ description: 'Remaining strikes; null: no limit.' }),
  duration_s: z.number().nullable().openapi({
    description: 'Duration in simulated seconds, in layer `transport` in wall seconds; null: no limit.',
  }),
  remaining_s: z.number().nullable().openapi({ description: 'Remaining seconds of `duration_s`; null: no limit.' }),
  probability: z.number().openapi({ description: 'Probability of a strike at an occasion, 0 to 1.' }),
  every: z.int().openapi({ description: 'Strikes only at every n-th occasion of a device.' }),
  seed: z.int().openapi({ description: 'Seed of its random numbers; given in a request, it yields the same numbers.' }),
  profile: z.string().nullable().openapi({ description: 'Profile of the fault; null without.' }),
  occasions: z.int().openapi({ description: 'How often it could have struck.' }),
  strikes: z.int().openapi({ description: 'How often it struck.' }),
  began_at: isoTime.openapi({ description: 'Wall time of its injection.' }),
  source: sourceSchema,
  source_detail: sourceDetailSchema,
};

export const faultSchema = z.strictObject(members).openapi('Fault', { description: 'A fault in force.' });

export const endedFaultSchema = z
  .strictObject({
    ...members,
    end: z.enum(faultEnds).openapi({ description: 'Why it ended.' }),
    ended_at: isoTime.openapi({ description: 'Wall time at which it ended.' }),
  })
  .openapi('EndedFault', { description: 'An ended fault.' });

export const faultsSchema = z
  .strictObject({
    faults: z.array(faultSchema).openapi({ description: 'Faults in force, oldest first.' }),
    count: z.int(),
    ended: z
      .array(endedFaultSchema)
      .openapi({ description: `Ended faults, newest first; the last ${keptEnded} are kept.` }),
    limit: z.int().openapi({ description: `Maximum number of faults in force: ${maxActiveFaults}.` }),
  })
  .openapi('Faults');

const parameterSchema = z
  .strictObject({
    name: z.string(),
    type: z.string().openapi({ description: 'JSON Schema type; alternatives are separated by `|`.' }),
    required: z.boolean().openapi({ description: 'Whether a request must have it.' }),
    default: scalar.openapi({
      type: ['number', 'string', 'boolean', 'null'],
      description: 'Value if the request gives none; null without.',
    }),
    minimum: z
      .number()
      .nullable()
      .openapi({ description: 'Inclusive bound, for a list that of its entries; null without.' }),
    maximum: z
      .number()
      .nullable()
      .openapi({ description: 'Inclusive bound, for a list that of its entries; null without.' }),
    allowed: z.array(z.string()).nullable().openapi({ description: 'Allowed words; null if it is not a word.' }),
    description: z.string(),
  })
  .openapi('FaultParameter');

export type FaultParameterReply = z.output<typeof parameterSchema>;

export const faultKindsSchema = z
  .strictObject({
    kinds: z.array(
      z
        .strictObject({
          protocol: members.protocol,
          kind: z.string().openapi({ description: 'Kind of the fault.' }),
          layer: members.layer,
          description: z.string(),
          targets: z.array(z.string()).openapi({ description: 'Members of a request that select its target.' }),
          parameters: z.array(parameterSchema).openapi({ description: 'Members of a request specific to this kind.' }),
        })
        .openapi('FaultKind'),
    ),
    count: z.int(),
  })
  .openapi('FaultKinds');

export const faultProfilesSchema = z
  .strictObject({
    profiles: z.array(
      z
        .strictObject({
          name: z.string(),
          title: z.string().openapi({ description: 'Behaviour of the device, in a few words.' }),
          description: z.string(),
          faults: z.array(faultRequestSchema).openapi({ description: 'Its faults, as `inject` takes them.' }),
        })
        .openapi('FaultProfile'),
    ),
    count: z.int(),
  })
  .openapi('FaultProfiles');

const exampleFault = {
  id: 3,
  protocol: 'modbus' as const,
  kind: 'delay',
  layer: 'transport' as const,
  device_index: 0,
  target: { points: null, address: null, registers: null, function: [3] },
  parameters: { delay_ms: 300, jitter_ms: 500 },
  when: null,
  count: null,
  remaining: null,
  duration_s: 60,
  remaining_s: 57.5,
  probability: 1,
  every: 1,
  seed: 1_193_480_713,
  profile: null,
  occasions: 12,
  strikes: 12,
  began_at: exampleTime,
  source: 'rest' as const,
  source_detail: '127.0.0.1:50123',
};
const exampleEnded = {
  ...exampleFault,
  id: 2,
  kind: 'exception',
  layer: 'acceptance' as const,
  target: { points: ['704.WMaxLimPct'], address: null, registers: null, function: [6, 16] },
  parameters: { code: 6, carried_out: false },
  count: 3,
  remaining: 0,
  duration_s: null,
  remaining_s: null,
  occasions: 3,
  strikes: 3,
  end: 'count' as const,
  ended_at: exampleTime,
};

export const exampleFaults = { faults: [exampleFault], count: 1, ended: [exampleEnded], limit: maxActiveFaults };
export const exampleModbusFault = { kind: 'delay', delay_ms: 300, jitter_ms: 500, function: 3, duration_s: 60 };
export const exampleFaultKinds = {
  kinds: [
    {
      protocol: 'modbus' as const,
      kind: 'late_write',
      layer: 'acceptance' as const,
      description: 'A write is acknowledged at once and lands later.',
      targets: ['address', 'registers', 'points'],
      parameters: [
        {
          name: 'delay_s',
          type: 'number',
          required: true,
          default: null,
          minimum: 0,
          maximum: 1e6,
          allowed: null,
          description: 'Delay, simulated s.',
        },
      ],
    },
  ],
  count: 1,
};
export const exampleFaultProfiles = {
  profiles: [
    {
      name: 'slow-answers',
      title: 'Answers take 0.3 to 0.8 s',
      description: 'A gateway that first polls its device over a slow line.',
      faults: [{ protocol: 'modbus' as const, kind: 'delay', delay_ms: 300, jitter_ms: 500 }],
    },
  ],
  count: 1,
};
