/**
 * The flat form of a fault in requests, files and profiles: one object, described by the rows of the catalogue; and its
 * JSON Schemas.
 */
import { z } from 'zod';
import { pointerStep, SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import { meterIndex } from '../core/faults/kinds.ts';
import type { FaultCondition, FaultKind, FaultProtocol, FaultRequest, FaultTarget } from '../core/faults/kinds.ts';
import { memo } from '../core/lazy.ts';
import { protocolFaults } from './protocols.ts';
import type { FlatFault, ProtocolFaults } from './protocols.ts';
import { flatTargetPointer, targetRow, pointName } from './rows.ts';
import type { TargetMember, TargetRow } from './rows.ts';

export type { FlatFault } from './protocols.ts';

/** default of `protocol` */
const defaultProtocol: FaultProtocol = 'modbus';

export const conditionSchema = z
  .strictObject({
    point: pointName.meta({ description: 'Observed point, for example `701.W`.' }),
    below: z.number().optional().meta({ description: 'Holds while the value is below, in the unit of the point.' }),
    above: z.number().optional().meta({ description: 'Holds while the value is above, in the unit of the point.' }),
    equals: z
      .union([z.number(), z.string().max(64)])
      .optional()
      .meta({ description: 'Holds while the value is this; enumerations by name or number.' }),
  })
  .refine((when) => when.below !== undefined || when.above !== undefined || when.equals !== undefined, {
    error: 'one of below, above, equals is required',
  })
  .meta({ id: 'FaultCondition', description: 'The fault acts only while this holds.' });

/** `duration_s` as `DurationS`. */
export const capitals = (text: string) =>
  text
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** Optional members of every fault. */
const commonMembers = {
  device: z
    .union([z.int().min(0), z.literal('all'), z.literal('meter')], { error: 'must be a device index, all, or meter' })
    .nullable()
    .meta({
      id: 'FaultDevice',
      description:
        'Device index, `all`, or `meter`: the meter at the connection point, on which only Modbus faults act, except ' +
        'those of writes. Absent or null: in a request the device of the query, in a file every device.',
    }),
  when: conditionSchema,
  count: z
    .int()
    .min(1)
    .meta({ id: 'FaultCount', description: 'Number of strikes after which the fault ends; default: it does not end.' }),
  duration_s: z.number().gt(0).max(1e9).meta({
    id: 'FaultDurationS',
    description:
      'Simulated seconds after which the fault ends, in layer `transport` wall seconds; default: it does not end.',
  }),
  probability: z.number().gt(0).max(1).meta({
    id: 'FaultProbability',
    description: 'Probability of a strike at an occasion, above 0 and up to 1; default 1.',
  }),
  every: z
    .int()
    .min(1)
    .meta({ id: 'FaultEvery', description: 'Strikes only at every n-th occasion of a device; default 1.' }),
  seed: z.int().min(0).max(0xffff_ffff).meta({
    id: 'FaultSeed',
    description: 'Seed of its random numbers; default from the seed of the process and the number of the fault.',
  }),
} as const;

/** Names that parameters must not have. */
export const reservedMembers: readonly string[] = ['protocol', 'kind', ...Object.keys(commonMembers)];

/** @throws SimError INTERNAL for a target that its protocol does not have */
function targetRowsOf({ protocol, kind, targets }: FaultKind): readonly TargetRow[] {
  return targets.map((name) => {
    const row = targetRow(protocol, name);
    if (row === undefined)
      throw new SimError('INTERNAL', `faults of ${protocol} have no target ${name}, which ${kind} names`);
    return row;
  });
}

/** Members for the target of one kind. @throws SimError INTERNAL for a target that its protocol does not have */
export function targetMembersOf(row: FaultKind): Readonly<Record<string, TargetMember>> {
  return Object.assign({}, ...targetRowsOf(row).map(({ members }) => members)) as Record<string, TargetMember>;
}

/** `commonMembers` as every kind has them: one copy for some hundred schemas. */
const optionalMembers = Object.fromEntries(
  Object.entries<z.ZodType>(commonMembers).map(([name, schema]) => [name, schema.optional()]),
);

/** Named schemas are shared parts of descriptions, so each exists once. */
const namedMembers = new Map<TargetMember, z.ZodType>();

function namedMember(member: TargetMember): z.ZodType {
  const { schema, id } = member;
  const named = namedMembers.get(member) ?? schema.meta({ ...schema.meta(), id }).optional();
  namedMembers.set(member, named);
  return named;
}

const protocolMembers = new Map<string, z.ZodType>();

/** The member `protocol`, which the kinds of a protocol share. */
function protocolMember(protocol: FaultProtocol, isRequired: boolean): z.ZodType {
  const key = `${protocol} ${String(isRequired)}`;
  const member =
    protocolMembers.get(key) ??
    (isRequired
      ? z.literal(protocol).meta({ description: 'Protocol that applies it.' })
      : z
          .literal(protocol)
          .optional()
          .meta({ description: `Protocol; default ${protocol}.` }));
  protocolMembers.set(key, member);
  return member;
}

/** @param requiresProtocol true if the member `protocol` is required */
function makeSchema(row: FaultKind, requiresProtocol: boolean) {
  const { protocol, kind, parameters, summary } = row;
  const targets = Object.entries(targetMembersOf(row));
  const targetMembers = targets.map(([name, member]) => [name, namedMember(member)] as const);
  const flat = parameters.safeExtend({
    protocol: protocolMember(protocol, requiresProtocol),
    kind: z.literal(kind).meta({ description: summary }),
    ...Object.fromEntries(targetMembers),
    ...optionalMembers,
  });
  const dependent = targets.flatMap(([name, { needs }]) => (needs === undefined ? [] : [{ name, needs }]));
  const suffix = requiresProtocol || protocol === defaultProtocol ? 'Fault' : 'FaultBody';
  return dependent
    .reduce(
      (schema, { name, needs }) =>
        schema.refine((given: FlatMembers) => given[name] === undefined || given[needs] !== undefined, {
          path: [name],
          error: `needs ${needs}`,
        }),
      flat,
    )
    .meta({ id: `${capitals(protocol)}${capitals(kind)}${suffix}`, description: summary });
}

type FlatMembers = Readonly<Record<string, unknown>>;
type FlatSchema = ReturnType<typeof makeSchema>;

function protocolSchema(protocol: FaultProtocol, catalogue: readonly FaultKind[], options: readonly FlatSchema[]) {
  return z.discriminatedUnion('kind', options as [FlatSchema, ...FlatSchema[]], {
    error: ({ input }) => {
      const { kind } = (input ?? {}) as { readonly kind?: unknown };
      const other = catalogue.find((row) => row.kind === kind && row.protocol !== protocol);
      return other && `a kind of the protocol ${protocol}; ${other.kind} is one of the protocol ${other.protocol}`;
    },
  });
}

type ProtocolSchema = ReturnType<typeof protocolSchema>;

/** The flat form of a catalogue: its schemas, and their conversion to requests of the registry. */
export interface FaultForms {
  /** any kind of any protocol */
  readonly schema: z.ZodType<FlatFault>;
  /**
   * Any kind of one protocol, discriminated by `kind`, with an optional `protocol`.
   * @throws SimError INTERNAL for a protocol without kinds
   */
  ofProtocol(protocol: FaultProtocol): ProtocolSchema & z.ZodType<FlatFault>;
  /** The schema of one kind, with a name such as `ModbusDelayFault`. @throws SimError INTERNAL for a kind of another catalogue */
  ofKind(row: FaultKind): FlatSchema;
  /**
   * Converts a flat fault to a request of the registry.
   * @param flat output of its schema
   * @param fallback default device; null: every device
   */
  request(flat: FlatFault, fallback: number | null): FaultRequest;
}

function entryOf<K, V>(catalogueEntries: ReadonlyMap<K, V>, key: K, what: string): V {
  const value = catalogueEntries.get(key);
  if (value === undefined) throw new SimError('INTERNAL', `${what} is not in the catalogue`);
  return value;
}

/** The flat form of the kinds of these protocols; created once per catalogue: descriptions refer to its schemas. */
export function createFaultForms(protocols: readonly ProtocolFaults[]): FaultForms {
  const catalogue = protocols.flatMap(({ kinds }) => kinds);
  const rows = new Map(protocols.map((row) => [row.protocol, row]));
  const ofKinds = new Map(catalogue.map((row) => [row, makeSchema(row, row.protocol !== defaultProtocol)]));
  const ofKind = (row: FaultKind) => entryOf(ofKinds, row, `the fault ${row.protocol} ${row.kind}`);
  const schemas = new Map(
    protocols.map(({ protocol, kinds }) => [protocol, protocolSchema(protocol, catalogue, kinds.map(ofKind))]),
  );
  const [firstSchema, ...otherSchemas] = schemas.values();
  if (firstSchema === undefined) throw new SimError('INTERNAL', 'a catalogue of faults needs at least one protocol');
  // schemas with an optional `protocol`, created at the first call
  const optionalProtocolSchemas = new Map([...schemas].filter(([protocol]) => protocol === defaultProtocol));
  const optionalProtocolSchema = (protocol: FaultProtocol) => {
    const { kinds } = entryOf(rows, protocol, `the protocol ${protocol}`);
    return protocolSchema(
      protocol,
      catalogue,
      kinds.map((row) => makeSchema(row, false)),
    );
  };
  return {
    ofKind,
    ofProtocol(protocol) {
      const schema = optionalProtocolSchemas.get(protocol) ?? optionalProtocolSchema(protocol);
      optionalProtocolSchemas.set(protocol, schema);
      return schema as ProtocolSchema & z.ZodType<FlatFault>;
    },
    // nested unions have no names: a description cannot express that their discriminator may be absent
    schema: z.discriminatedUnion('protocol', [firstSchema, ...otherSchemas]).meta({
      id: 'FaultRequest',
      description:
        'A fault of any protocol; without `protocol` one of Modbus. Besides its parameters each kind has members for ' +
        'target, condition and duration.',
    }) as unknown as z.ZodType<FlatFault>,
    request(flat, fallback) {
      const protocol = flat.protocol ?? defaultProtocol;
      const row = catalogue.find((kindRow) => kindRow.protocol === protocol && kindRow.kind === flat.kind);
      return row === undefined ? { protocol, kind: flat.kind } : requestOf(row, flat, fallback);
    },
  };
}

function targetOfFlat(row: FaultKind, flat: FlatFault): FaultTarget | undefined {
  const members = targetRowsOf(row)
    .map(({ target, read }) => [target, read(flat)] as const)
    .filter(([, value]) => value !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Numbers of every request, and their names in the request of the registry. */
const plainMembers = {
  count: 'count',
  duration_s: 'durationS',
  probability: 'probability',
  every: 'every',
  seed: 'seed',
} as const;

function present<K extends string, V>(members: Readonly<Record<K, V | undefined>>): { readonly [M in K]?: V } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as { [M in K]?: V };
}

function requestOf(row: FaultKind, flat: FlatFault, fallback: number | null): FaultRequest {
  const parameters = Object.fromEntries(
    Object.keys(row.parameters.shape)
      .filter((name) => flat[name] !== undefined)
      .map((name) => [name, flat[name]]),
  );
  const numbers = Object.entries(plainMembers).map(([member, name]) => [name, flat[member]] as const);
  return {
    protocol: row.protocol,
    kind: row.kind,
    parameters,
    deviceIndex: flat.device === 'meter' ? meterIndex : flat.device === 'all' ? null : (flat.device ?? fallback),
    ...present(
      Object.fromEntries(numbers) as Record<
        'count' | 'durationS' | 'probability' | 'every' | 'seed',
        number | undefined
      >,
    ),
    ...present({ target: targetOfFlat(row, flat) }),
    ...present({ when: flat['when'] as FaultCondition | undefined }),
  };
}

/** The flat form of the complete catalogue; a start without faults does not need its schemas. */
export const faultForms = memo(() => createFaultForms(protocolFaults));
/** Any kind of any protocol. */
export const faultSchema = z.lazy(() => faultForms().schema);
/** The registry's request of a flat fault; see `FaultForms.request`. */
export const faultRequest = (flat: FlatFault, fallback: number | null): FaultRequest =>
  faultForms().request(flat, fallback);

/** Converts a pointer into the registry's request (`/0/target/points/1`) to the flat form (`/0/points/1`). */
export function flatPointer(pointer: string): string {
  return pointer
    .replace(/^(\/\d+)?\/parameters(?=\/|$)/, '$1')
    .replace(
      /^(\/\d+)?\/target(\/.*)$/s,
      (_whole, at: string | undefined, within: string) => `${at ?? ''}${flatTargetPointer(within)}`,
    );
}

/** Issues of `registry.inject`, each prefixed with the place of its request, for example `/inject/3`. */
export function flatFaults(issues: readonly Issue[], placeOf: (request: number) => string): Issue[] {
  return issues.map((issue) => {
    const [, number, rest = ''] = /^\/(\d+)(.*)$/s.exec(flatPointer(issue.name)) ?? [];
    return number === undefined ? issue : { ...issue, name: `${placeOf(Number(number))}${rest}` };
  });
}

/** Pointer of one member. */
export const place = (...steps: readonly PropertyKey[]) => steps.map(pointerStep).join('');

/** Maximum number of faults in a file or request. */
export const maxFaultsAtOnce = 100;

/** A fault profile as a file. */
export const faultProfileSchema = z.strictObject({
  title: z.string().min(1).max(100).meta({ description: 'Behaviour of the device, in a few words.' }),
  description: z.string().min(1).max(2000).meta({ description: 'How the device appears in the field.' }),
  faults: z
    .array(faultSchema)
    .min(1)
    .max(maxFaultsAtOnce)
    .meta({ description: 'Its faults, in the order in which they begin.' }),
});

export interface FaultProfile {
  /** name for `--faults` */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly faults: readonly FlatFault[];
}

/** A JSON Schema (2020-12). */
type JsonSchema = Readonly<Record<string, unknown>>;

/** Schemas of the members that only one kind has, for external forms and checks. */
interface KindSchemas {
  /** parameters as one object, with ranges, defaults, units in descriptions, and nested lists and objects */
  readonly parameters: JsonSchema;
  /** members of the target as one object; closed and empty if the kind has none */
  readonly target: JsonSchema;
}

const schemasByKind = new WeakMap<FaultKind, KindSchemas>();

function targetSchema(row: FaultKind): JsonSchema {
  const members = Object.entries(targetMembersOf(row));
  const shape = Object.fromEntries(members.map(([name, { schema }]) => [name, schema.optional()]));
  const needs = members.flatMap(([name, { needs: other }]) => (other === undefined ? [] : [[name, [other]]]));
  return {
    ...z.toJSONSchema(z.strictObject(shape), { io: 'input' }),
    ...(needs.length > 0 && { dependentRequired: Object.fromEntries(needs) as JsonSchema }),
  };
}

/** The schemas of a kind, created at the first call. */
export function kindSchemas(row: FaultKind): KindSchemas {
  const existing = schemasByKind.get(row);
  if (existing !== undefined) return existing;
  const schemas = { parameters: z.toJSONSchema(row.parameters, { io: 'input' }), target: targetSchema(row) };
  schemasByKind.set(row, schemas);
  return schemas;
}
