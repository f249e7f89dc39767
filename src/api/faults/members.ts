/** Faults, their kinds and profiles: members of replies and requests. */
import { faultEnds } from '../../core/faults/active-fault.ts';
import type { ActiveFault, FaultFacts } from '../../core/faults/active-fault.ts';
import { faultLayers, faultProtocols, meterIndex } from '../../core/faults/kinds.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import { keptEnded, maxActiveFaults } from '../../core/faults/registry.ts';
import type { EndedFault, FaultRegistry } from '../../core/faults/registry.ts';
import { memo } from '../../core/lazy.ts';
import {
  kindSchemas,
  maxFaultsAtOnce,
  capitals,
  conditionSchema,
  faultForms,
  targetMembersOf,
} from '../../fault-kinds/request.ts';
import type { FaultProfile, FaultForms } from '../../fault-kinds/request.ts';
import { protocolFaults } from '../../fault-kinds/protocols.ts';
import type { ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { shownTarget, targetRows } from '../../fault-kinds/rows.ts';
import { count, flag, integer, list, member, members, number, text, time, word } from '../common/members.ts';
import type { ReplyOf } from '../common/members.ts';
import { afterIdParam, deviceParam, integerParam, sourceSchema } from '../common/schemas.ts';
import { sourceDetailSchema } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { missingMember, shardMember } from '../fleet/members.ts';
import { listInPieces } from '../http/streaming.ts';

const faultId = memo(() =>
  z.int().min(1).openapi({ description: 'Number of the fault, from 1; never used twice in a process.' }),
);

/** Targets in replies: the members that every fault shows, and the target members of these protocols. */
function targetSchemaOf(protocols: readonly ProtocolFaults[]) {
  const targetMembers = new Set(
    protocols.flatMap(({ kinds }) => kinds.flatMap((row) => Object.values(targetMembersOf(row)))),
  );
  const members = new Map<string, z.ZodType>();
  for (const { members: ofRow, always } of targetRows) {
    for (const [name, member] of Object.entries(ofRow)) {
      if (!targetMembers.has(member) && (!always || members.has(name))) continue;
      const { shown: schema, words } = member;
      members.set(name, (always ? schema.nullable() : schema.optional()).openapi({ description: words }));
    }
  }
  return z.strictObject(Object.fromEntries(members)).openapi('FaultTarget');
}

type ParameterValue = z.output<ReturnType<typeof parameterValue>>;
const parameterValue = memo(() =>
  z.union([
    z.number(),
    z.string(),
    z.boolean(),
    z.array(z.union([z.number(), z.string(), z.record(z.string(), z.number())])),
  ]),
);

const protocol = word(faultProtocols);
const layer = word(faultLayers);
const protocolWords = 'Protocol that applies the fault.';
const layerWords =
  'Where the fault acts: on what a write puts into the registers, on what the device does with it, on the ' +
  'values that a read shows, or on the transport.';

/** A fault in a list. */
export interface ListedFault {
  readonly fault: ActiveFault;
  /** absent: it is in force */
  readonly endedAtMs?: number;
}

interface Registry {
  readonly faults: FaultRegistry;
}

/** The faults in force that a request concerns; expires faults first. */
export function activeFaults({ faults }: Registry, concerns: (fault: ActiveFault) => boolean): ListedFault[] {
  faults.expire();
  return faults.active.filter(concerns).map((fault) => ({ fault }));
}

interface Faults {
  /** all that the request concerns, on every page */
  readonly inForce: readonly ListedFault[];
  readonly page: readonly ListedFault[];
  readonly ended: readonly EndedFault[];
}

function faultTables(protocols: readonly ProtocolFaults[]) {
  const fact =
    <T>(read: (facts: FaultFacts) => T) =>
    (of: ListedFault) =>
      read(of.fault.facts);
  const fault = members<ListedFault, Registry>()(
    'Fault',
    () => ({
      id: member(faultId)(fact(({ id }) => id)),
      protocol: protocol(protocolWords, (of) => of.fault.protocol),
      kind: text(
        'Kind, as `faults/kinds` lists it.',
        fact(({ kind }) => kind.kind),
      ),
      layer: layer(layerWords, (of) => of.fault.layer),
      device_index: count.orNull(
        'Device index, 0-based; null: every device, those of `device_profile`, or the meter.',
        fact(({ deviceIndex }) => (deviceIndex === meterIndex ? null : deviceIndex)),
      ),
      meter: flag.optional(
        'True for a fault of the meter of the connection point; else absent.',
        fact(({ deviceIndex }) => (deviceIndex === meterIndex ? true : undefined)),
      ),
      target: member(() => targetSchemaOf(protocols))((of: ListedFault) =>
        shownTarget(of.fault.protocol, of.fault.facts.target),
      ),
      parameters: member(() => z.record(z.string(), parameterValue()))(
        'Parameters of the kind, with defaults.',
        fact(({ parameters }) => parameters as Readonly<Record<string, ParameterValue>>),
      ),
      when: member(() => conditionSchema).orNull(
        'The fault acts only while this holds; null: always.',
        fact(({ when }) => when),
      ),
      count: integer.orNull(
        'Strikes after which the fault ends; null: no limit.',
        fact((facts) => facts.count),
      ),
      remaining: integer.orNull('Remaining strikes; null: no limit.', (of) => of.fault.remaining),
      duration_s: number.orNull(
        'Duration in simulated seconds, in layer `transport` in wall seconds; null: no limit.',
        fact(({ durationS }) => durationS),
      ),
      remaining_s: number.orNull(
        'Remaining seconds of `duration_s`; null: no limit.',
        ({ fault: each, endedAtMs }, { faults }) => {
          if (endedAtMs === undefined) return faults.remainingS(each);
          return each.facts.durationS === null ? null : 0;
        },
      ),
      probability: number(
        'Probability of a strike at an occasion, 0 to 1.',
        fact(({ probability }) => probability),
      ),
      every: integer(
        'Strikes only at every n-th occasion of a device.',
        fact(({ every }) => every),
      ),
      seed: integer(
        'Seed of the random numbers of the fault; a request with this seed yields the same numbers.',
        fact(({ seed }) => seed),
      ),
      profile: text.orNull(
        'Fault profile that the fault was injected with; null: none.',
        fact(({ profile }) => profile),
      ),
      device_profile: text.orNull(
        'Device profile that contains the fault, which then strikes only devices of this profile; null: none.',
        fact(({ deviceProfile }) => deviceProfile),
      ),
      occasions: integer('Number of occasions for a strike.', (of) => of.fault.occasions),
      strikes: integer('Number of strikes.', (of) => of.fault.strikeCount),
      began_at: time(
        'Wall time of the injection.',
        fact(({ beganAtMs }) => beganAtMs),
      ),
      source: member(() => sourceSchema)(fact(({ by }) => by.source)),
      source_detail: member(() => sourceDetailSchema)(fact(({ by }) => by.peer ?? null)),
      shard: shardMember(),
    }),
    { description: 'A fault in force.' },
  );
  const ended = members<EndedFault, Registry>()(
    'EndedFault',
    () => ({
      ...fault.members(),
      end: word(faultEnds)('Why the fault ended.'),
      ended_at: time('Wall time of the end.', ({ endedAtMs }) => endedAtMs),
    }),
    { description: 'An ended fault.' },
  );
  const faults = members<Faults, Registry>()('Faults', () => ({
    faults: listInPieces(fault)('Faults in force, oldest first.', ({ page }) => page),
    count: integer('Faults in `faults`.', ({ page }) => page.length),
    total: integer('Faults in force that the request concerns, on all pages.', ({ inForce }) => inForce.length),
    ended: listInPieces(ended)(`Ended faults, newest first; the last ${keptEnded} are kept.`, (of) => of.ended),
    limit: integer(`Maximum number of faults in force: ${maxActiveFaults}.`, () => maxActiveFaults),
    missing: missingMember(),
  }));
  return { fault, ended, faults };
}

type Tables = ReturnType<typeof faultTables>;
export type FaultReply = ReplyOf<Tables['fault']>;
export type EndedFaultReply = ReplyOf<Tables['ended']>;
export type FaultsReply = ReplyOf<Tables['faults']>;

/** A parameter as JSON Schema. */
interface ParameterNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly items?: ParameterNode;
  readonly anyOf?: readonly ParameterNode[];
}

function typeOf({ type, anyOf }: ParameterNode): string {
  if (anyOf) return anyOf.map(typeOf).join('|');
  return typeof type === 'string' || type === undefined ? (type ?? 'object') : type.join('|');
}

/** A member of the parameters of a kind. */
interface Parameter {
  readonly name: string;
  readonly node: ParameterNode;
  readonly required: boolean;
}

function parametersOf(row: FaultKind): Parameter[] {
  const { properties = {}, required = [] } = kindSchemas(row).parameters as {
    readonly properties?: Readonly<Record<string, ParameterNode>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, node]) => ({ name, node, required: required.includes(name) }));
}

/** The node with the range of a parameter; for a list the node of its entries. */
const rangeOf = ({ node }: Parameter) => node.items ?? node.anyOf?.find(({ minimum }) => minimum !== undefined) ?? node;
const scalar = z.union([z.number(), z.string(), z.boolean()]).nullable();

const parameter = members<Parameter>()('FaultParameter', () => ({
  name: text(),
  type: text('JSON Schema type; alternatives are separated by `|`.', ({ node }) => typeOf(node)),
  required: flag('True if a request must have it.'),
  default: member(() => scalar.openapi({ type: ['number', 'string', 'boolean', 'null'] }))(
    'Value if the request gives none; null: no default.',
    ({ node }) => node.default ?? null,
  ),
  minimum: number.orNull(
    'Inclusive bound, for a list that of its entries; null: no bound.',
    (of) => rangeOf(of).minimum,
  ),
  maximum: number.orNull(
    'Inclusive bound, for a list that of its entries; null: no bound.',
    (of) => rangeOf(of).maximum,
  ),
  allowed: list(text()).orNull('Allowed words; null: the parameter is not a word.', (of) => rangeOf(of).enum),
  description: text(({ node }) => node.description ?? ''),
}));

/** A JSON Schema, whose members are those of the standard. */
const jsonSchema = member(() => z.record(z.string(), z.unknown()));

const kind = members<FaultKind>()('FaultKind', () => ({
  protocol: protocol(protocolWords),
  kind: text('Kind of the fault.'),
  layer: layer(layerWords),
  description: text(({ summary }) => summary),
  targets: list(text())('Members of a request that select the target.', (row) => Object.keys(targetMembersOf(row))),
  parameters: list(parameter)('Members of a request specific to this kind.', parametersOf),
  parameters_schema: jsonSchema(
    'The parameters as one object, in JSON Schema 2020-12: ranges, defaults, units in the descriptions, ' +
      'nested lists and objects.',
    (row) => kindSchemas(row).parameters,
  ),
  target_schema: jsonSchema(
    'The members that select the target as one object, in JSON Schema 2020-12.',
    (row) => kindSchemas(row).target,
  ),
}));

/** The catalogue of faults. */
export const kinds = members<readonly FaultKind[]>()('FaultKinds', () => ({
  kinds: list(kind)((rows) => rows),
  count: integer(({ length }) => length),
}));

function profileTable({ schema }: FaultForms) {
  const profile = members<FaultProfile>()('FaultProfile', () => ({
    name: text(),
    title: text('Behaviour of the device, in a few words.'),
    description: text(),
    faults: list(member(() => schema)())('Faults of the profile, as `inject` accepts them.'),
  }));
  return members<readonly FaultProfile[]>()('FaultProfiles', () => ({
    profiles: list(profile)((all) => all),
    count: integer(({ length }) => length),
  }));
}

/** `device` of operations that concern all devices by default. */
export const anyDeviceQuery = z.strictObject({
  device: deviceParam
    .openapi({ description: 'Device index, 0-based: only faults that concern this device. Default all.' })
    .optional(),
});

/** Parameters that select a page of the faults in force; without them all are shown. */
const pageParams = {
  limit: integerParam(
    'limit',
    1,
    maxActiveFaults,
    `Shows at most this many faults in force, oldest first; default ${maxActiveFaults}: all.`,
  ).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only faults in force with a higher id: the next page.' }),
};
/** Parameters of operations that show faults. */
export const faultsQuery = z.strictObject({ ...anyDeviceQuery.shape, ...pageParams });
/** Parameters of operations that show the faults of the device in the path. */
export const faultsPageQuery = z.strictObject(pageParams);

/** `device` of operations that inject or end faults. */
export const faultDeviceQuery = memo(() =>
  z.strictObject({
    device: deviceParam
      .openapi({
        description:
          'Device index, 0-based, for faults to inject that name no device; default: the first device. With `clear`: ' +
          'only faults of this device end, and the answer has only faults that concern it; default all.',
      })
      .optional(),
  }),
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

/** Tables and schemas that depend on the catalogue. */
export function createFaultSchemas(protocols: readonly ProtocolFaults[], forms: FaultForms) {
  const clear = clearSchemaOf(protocols);
  return {
    ...faultTables(protocols),
    profiles: profileTable(forms),
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

/** Schemas of all faults of the catalogue. */
export const faultSchemas = createFaultSchemas(protocolFaults, faultForms());
