import { memo } from '../../core/memo.ts';
import { faultEnds } from '../../core/faults/active-fault.ts';
import { faultLayers, faultProtocols } from '../../core/faults/kinds.ts';
import { keptEnded, maxActiveFaults } from '../../core/faults/registry.ts';
import { maxFaultsAtOnce } from '../../fault-kinds/profile.ts';
import { protocolFaults } from '../../fault-kinds/protocols.ts';
import type { ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { capitals, conditionSchema, faultForms, targetMembersOf } from '../../fault-kinds/request.ts';
import type { FaultForms } from '../../fault-kinds/request.ts';
import { targetRows } from '../../fault-kinds/targets.ts';
import { z } from '../description/zod.ts';
import { afterIdParam, deviceParam, integerParam, isoTime, sourceSchema } from '../common/schemas.ts';
import { sourceDetailSchema } from '../common/writer-schemas.ts';

/** `device` of operations that concern all devices by default. */
export const anyDeviceQuery = z.strictObject({
  device: deviceParam
    .openapi({ description: 'Device index, 0-based: only faults that concern this device. Default all.' })
    .optional(),
});

/** Parameters of lists of faults in force, of which there are at most `maxActiveFaults`: without them, all are shown. */
const pageParams = {
  limit: integerParam(
    'limit',
    1,
    maxActiveFaults,
    `Most faults in force, the oldest; default ${maxActiveFaults}: all.`,
  ).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only faults in force with a higher id: the next page.' }),
};
/** Parameters of operations that show faults. */
export const faultsQuery = z.strictObject({ ...anyDeviceQuery.shape, ...pageParams });
/** The same where the path names the device. */
export const faultsPageQuery = z.strictObject(pageParams);

/** `device` of operations that inject or end faults. */
export const faultDeviceQuery = memo(() =>
  z.strictObject({
    device: deviceParam
      .openapi({
        description:
          'Device index, 0-based, of faults that name none; default 0. With `clear` only faults of this device ' +
          'end, and the answer has only faults that concern it.',
      })
      .optional(),
  }),
);

const faultId = memo(() =>
  z.int().min(1).openapi({ description: 'Number of the fault, from 1; never used twice in a process.' }),
);
const profileName = z.string().min(1).max(200);

function clearSchemaOf(protocols: readonly ProtocolFaults[]) {
  const kindNames = [...new Set(protocols.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)))];
  const filterSchema = z
    .strictObject({
      id: faultId().optional(),
      protocol: z.enum(faultProtocols).optional().openapi({ description: 'Only faults of this protocol.' }),
      kind: z.enum(kindNames).optional().openapi({ description: 'Only faults of this kind.' }),
      profile: profileName.optional().openapi({ description: 'Only faults of this profile.' }),
      device: z
        .union([z.int().min(0), z.literal('all'), z.literal('meter')], {
          error: 'must be a device index, all, or meter',
        })
        .optional()
        .openapi({
          type: ['integer', 'string'],
          description:
            'Only faults that name this device; `all`: only those of all devices together; `meter`: only those of the meter.',
        }),
    })
    .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
      error: 'at least one member is required',
    })
    .openapi('FaultFilter', { description: 'Selects faults; all members must match.', minProperties: 1 });

  return z
    .strictObject({
      clear: z
        .union([z.literal(true), filterSchema], { error: 'must be true, or say which faults end' })
        .openapi({ description: 'True ends all faults, a filter those that match.' }),
    })
    .openapi('FaultClearing');
}

const profileRequest = memo(() =>
  z
    .strictObject({
      profile: profileName.openapi({ description: 'Name of a profile of `faults/profiles`; its faults are injected.' }),
      device: z
        .union([z.int().min(0), z.literal('all'), z.literal('meter')], {
          error: 'must be a device index, all, or meter',
        })
        .nullable()
        .optional()
        .openapi({
          type: ['integer', 'string', 'null'],
          description: 'Device index, `all`, or `meter`; absent or null: the device of the query.',
        }),
    })
    .openapi('FaultProfileRequest'),
);

function injectionSchemaOf({ schema }: FaultForms) {
  return z
    .strictObject({
      inject: z.array(schema).min(1).max(maxFaultsAtOnce).openapi({ description: 'Faults to inject, all or none.' }),
    })
    .openapi('FaultInjection');
}

/** Targets in replies: the members that every fault shows, and those that kinds of these protocols take. */
function targetSchemaOf(protocols: readonly ProtocolFaults[]) {
  const taken = new Set(protocols.flatMap(({ kinds }) => kinds.flatMap((row) => Object.values(targetMembersOf(row)))));
  const members = new Map<string, z.ZodType>();
  for (const { members: own, always } of targetRows) {
    for (const [name, member] of Object.entries(own)) {
      if (!taken.has(member) && (!always || members.has(name))) continue;
      const { shown, words } = member;
      members.set(name, (always ? shown.nullable() : shown.optional()).openapi({ description: words }));
    }
  }
  return z.strictObject(Object.fromEntries(members)).openapi('FaultTarget');
}

const scalar = z.union([z.number(), z.string(), z.boolean()]).nullable();

const parameterValue = memo(() =>
  z.union([
    z.number(),
    z.string(),
    z.boolean(),
    z.array(z.union([z.number(), z.string(), z.record(z.string(), z.number())])),
  ]),
);

const protocolMember = memo(() => z.enum(faultProtocols).openapi({ description: 'Protocol that applies it.' }));
const layerMember = memo(() =>
  z.enum(faultLayers).openapi({
    description:
      'Where it acts: on the registers that a write leaves, on what the device does with them, on the ' +
      'values that a read shows, or on the transport.',
  }),
);

/** Members of a fault in replies. */
function membersOf(protocols: readonly ProtocolFaults[]) {
  return {
    id: faultId(),
    protocol: protocolMember(),
    kind: z.string().openapi({ description: 'Kind, as `faults/kinds` lists it.' }),
    layer: layerMember(),
    device_index: z
      .int()
      .min(0)
      .nullable()
      .openapi({ description: 'Device index, 0-based; null: every device, those of `device_profile`, or the meter.' }),
    meter: z
      .boolean()
      .optional()
      .openapi({ description: 'True on a fault of the meter of the connection point, and only there.' }),
    target: targetSchemaOf(protocols),
    parameters: z
      .record(z.string(), parameterValue())
      .openapi({ description: 'Parameters of the kind, with defaults.' }),
    when: conditionSchema.nullable().openapi({ description: 'The fault acts only while this holds; null: always.' }),
    count: z.int().nullable().openapi({ description: 'Strikes after which it ends; null: no limit.' }),
    remaining: z.int().nullable().openapi({ description: 'Remaining strikes; null: no limit.' }),
    duration_s: z.number().nullable().openapi({
      description: 'Duration in simulated seconds, in layer `transport` in wall seconds; null: no limit.',
    }),
    remaining_s: z.number().nullable().openapi({ description: 'Remaining seconds of `duration_s`; null: no limit.' }),
    probability: z.number().openapi({ description: 'Probability of a strike at an occasion, 0 to 1.' }),
    every: z.int().openapi({ description: 'Strikes only at every n-th occasion of a device.' }),
    seed: z
      .int()
      .openapi({ description: 'Seed of its random numbers; given in a request, it yields the same numbers.' }),
    profile: z.string().nullable().openapi({ description: 'Profile of the fault; null without.' }),
    device_profile: z.string().nullable().openapi({
      description:
        'Device profile that gives the fault, which then strikes devices of this profile alone; null: none does.',
    }),
    occasions: z.int().openapi({ description: 'How often it could have struck.' }),
    strikes: z.int().openapi({ description: 'How often it struck.' }),
    began_at: isoTime.openapi({ description: 'Wall time of its injection.' }),
    source: sourceSchema,
    source_detail: sourceDetailSchema,
  };
}

function replySchemasOf(protocols: readonly ProtocolFaults[]) {
  const members = membersOf(protocols);
  const fault = z.strictObject(members).openapi('Fault', { description: 'A fault in force.' });
  const ended = z
    .strictObject({
      ...members,
      end: z.enum(faultEnds).openapi({ description: 'Why it ended.' }),
      ended_at: isoTime.openapi({ description: 'Wall time at which it ended.' }),
    })
    .openapi('EndedFault', { description: 'An ended fault.' });
  const faults = z
    .strictObject({
      faults: z.array(fault).openapi({ description: 'Faults in force, oldest first.' }),
      count: z.int().openapi({ description: 'Faults in `faults`.' }),
      total: z.int().openapi({ description: 'Faults in force that the request concerns, on all pages.' }),
      ended: z.array(ended).openapi({ description: `Ended faults, newest first; the last ${keptEnded} are kept.` }),
      limit: z.int().openapi({ description: `Maximum number of faults in force: ${maxActiveFaults}.` }),
    })
    .openapi('Faults');
  return { fault, ended, faults };
}

export type FaultReply = z.output<ReturnType<typeof replySchemasOf>['fault']>;
export type EndedFaultReply = z.output<ReturnType<typeof replySchemasOf>['ended']>;
export type FaultsReply = z.output<ReturnType<typeof replySchemasOf>['faults']>;

const parameterSchema = memo(() =>
  z
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
    .openapi('FaultParameter'),
);

/** A JSON Schema, whose members are those of the standard. */
const jsonSchema = z.record(z.string(), z.unknown());

export type FaultParameterReply = z.output<ReturnType<typeof parameterSchema>>;

export const faultKindsSchema = memo(() =>
  z
    .strictObject({
      kinds: z.array(
        z
          .strictObject({
            protocol: protocolMember(),
            kind: z.string().openapi({ description: 'Kind of the fault.' }),
            layer: layerMember(),
            description: z.string(),
            targets: z.array(z.string()).openapi({ description: 'Members of a request that select its target.' }),
            parameters: z
              .array(parameterSchema())
              .openapi({ description: 'Members of a request specific to this kind.' }),
            parameters_schema: jsonSchema.openapi({
              description:
                'The parameters as one object, in JSON Schema 2020-12: ranges, defaults, units in the descriptions, ' +
                'nested lists and objects.',
            }),
            target_schema: jsonSchema.openapi({
              description: 'The members that select the target as one object, in JSON Schema 2020-12.',
            }),
          })
          .openapi('FaultKind'),
      ),
      count: z.int(),
    })
    .openapi('FaultKinds'),
);

function profilesSchemaOf({ schema }: FaultForms) {
  return z
    .strictObject({
      profiles: z.array(
        z
          .strictObject({
            name: z.string(),
            title: z.string().openapi({ description: 'Behaviour of the device, in a few words.' }),
            description: z.string(),
            faults: z.array(schema).openapi({ description: 'Its faults, as `inject` takes them.' }),
          })
          .openapi('FaultProfile'),
      ),
      count: z.int(),
    })
    .openapi('FaultProfiles');
}

/** The schemas that depend on the catalogue. */
export function createFaultSchemas(protocols: readonly ProtocolFaults[], forms: FaultForms) {
  const clear = clearSchemaOf(protocols);
  return {
    ...replySchemasOf(protocols),
    profiles: profilesSchemaOf(forms),
    /** body of `faults` */
    body: z
      .union([clear, injectionSchemaOf(forms), profileRequest()], {
        error: 'one of clear, inject, profile is required',
      })
      .openapi('FaultsRequest'),
    /** body of the path of one protocol: the fault itself, or `clear`, or `profile` */
    bodyOf: ({ protocol }: ProtocolFaults) =>
      z
        .union([clear, profileRequest(), forms.ofProtocol(protocol)], {
          error: 'one of kind, clear, profile is required',
        })
        .openapi(`${capitals(protocol)}FaultRequest`),
  };
}

export type FaultSchemas = ReturnType<typeof createFaultSchemas>;
export type Clearing = z.output<ReturnType<typeof clearSchemaOf>>['clear'];
export type ProfileRequest = z.output<ReturnType<typeof profileRequest>>;

/** Those of the product's catalogue. */
export const faultSchemas = createFaultSchemas(protocolFaults, faultForms);
