/** The flat form of a fault in requests and files: one object, derived from the rows of the catalogue. */
import { z } from 'zod';
import { pointerStep, SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import type { FaultCondition, FaultKind, FaultProtocol, FaultRequest } from '../core/faults/kinds.ts';
import { faultKinds } from './all.ts';
import { pointName, registerAddress } from './row.ts';
import type { MapTarget, MapTargetName } from './targets.ts';

/** the protocol of a fault that names none */
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
const capitals = (text: string) =>
  text
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

const functionCode = z.int().min(1).max(127);

/** Members that select the target of a fault; none is required. */
const targetMembers = {
  points: {
    points: z.array(pointName).min(1).max(1000).meta({
      id: 'FaultPoints',
      description: 'Points, for example `704.WMaxLimPct`, groups, `705.Crv[1]`, or whole models, `704`; default all.',
    }),
  },
  registers: {
    address: registerAddress.meta({ id: 'FaultAddress', description: 'First register, PDU address; default any.' }),
    registers: z
      .int()
      .min(1)
      .max(65_536)
      .meta({ id: 'FaultRegisters', description: 'Number of registers from `address` on; default 1.' }),
  },
  functions: {
    function: z
      .union([functionCode, z.array(functionCode).min(1).max(127)], {
        error: 'must be a function code from 1 to 127, or a list of them',
      })
      .meta({ id: 'FaultFunction', description: 'Modbus function code, or several; default any.' }),
  },
} as const satisfies Record<MapTargetName, Record<string, z.ZodType>>;

/** Members that every fault takes; none is required. */
const commonMembers = {
  device: z
    .union([z.int().min(0), z.literal('all')], { error: 'must be a device index, or all' })
    .nullable()
    .meta({
      id: 'FaultDevice',
      description:
        'Device index, or `all`. Absent or null: in a request the device of the query, in a file every device.',
    }),
  when: conditionSchema,
  count: z.int().min(1).meta({ id: 'FaultCount', description: 'Ends after so many strikes; default never.' }),
  duration_s: z.number().gt(0).max(1e9).meta({
    id: 'FaultDurationS',
    description:
      'Ends after so many simulated seconds; in layer `transport` after so many wall seconds. Default never.',
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

/** Names that no parameter may have. */
export const reservedMembers: readonly string[] = ['protocol', 'kind', ...Object.keys(commonMembers)];

/** Members of every flat fault; parameters and targets depend on the kind. */
export interface FlatFault {
  readonly protocol?: FaultProtocol | undefined;
  readonly kind: string;
  readonly device?: number | 'all' | null | undefined;
  readonly [parameter: string]: unknown;
}

/** Members that select the target of one kind. */
export function targetMembersOf({ targets }: FaultKind): Readonly<Record<string, z.ZodType>> {
  return Object.assign({}, ...targets.map((name) => targetMembers[name as MapTargetName])) as Record<string, z.ZodType>;
}

function makeSchema(row: FaultKind) {
  const { protocol, kind, parameters, summary } = row;
  const named = protocol === defaultProtocol ? z.literal(protocol).optional() : z.literal(protocol);
  const members = Object.entries({ ...targetMembersOf(row), ...commonMembers }).map(
    ([name, schema]: [string, z.ZodType]) => [name, schema.optional()] as const,
  );
  return parameters
    .safeExtend({
      protocol: named.meta({
        description: protocol === defaultProtocol ? `Protocol; default ${protocol}.` : 'Protocol that applies it.',
      }),
      kind: z.literal(kind).meta({ description: summary }),
      ...Object.fromEntries(members),
    })
    .refine(
      (flat: Readonly<Record<string, unknown>>) =>
        !row.targets.includes('registers') || flat['registers'] === undefined || flat['address'] !== undefined,
      {
        path: ['registers'],
        error: 'needs address',
      },
    )
    .meta({ id: `${capitals(protocol)}${capitals(kind)}Fault`, description: summary });
}

type FlatSchema = ReturnType<typeof makeSchema>;

/** Schemas of the flat form, with names such as `ModbusDelayFault`; built once: descriptions refer to them. */
const schemas: ReadonlyMap<FaultKind, FlatSchema> = new Map(faultKinds.map((row) => [row, makeSchema(row)]));

/** Schema of the flat form of one kind of the catalogue. */
export function flatSchema(row: FaultKind): FlatSchema {
  const schema = schemas.get(row);
  if (schema === undefined)
    throw new SimError('INTERNAL', `the fault ${row.protocol} ${row.kind} is not in the catalogue`);
  return schema;
}

function protocolSchema(protocol: FaultProtocol) {
  const rows = faultKinds.filter((row) => row.protocol === protocol).map(flatSchema);
  return z.discriminatedUnion('kind', rows as [FlatSchema, ...FlatSchema[]], {
    error: ({ input }) => {
      const { kind } = (input ?? {}) as { readonly kind?: unknown };
      const other = faultKinds.find((row) => row.kind === kind && row.protocol !== protocol);
      return other && `a kind of the protocol ${protocol}; ${other.kind} is one of the protocol ${other.protocol}`;
    },
  });
}

const modbusSchema = protocolSchema('modbus');
/** Any kind of Modbus, discriminated by `kind`. */
export const modbusFaultSchema = modbusSchema as typeof modbusSchema & z.ZodType<FlatFault>;

/**
 * Any kind of any protocol. The parts have no names: a description cannot express that their discriminator may be
 * absent.
 */
export const faultSchema = z.discriminatedUnion('protocol', [modbusSchema, protocolSchema('device')]).meta({
  id: 'FaultRequest',
  description:
    'A fault of any protocol; without `protocol` one of Modbus. Besides its parameters each kind takes members for target, ' +
    'condition and duration.',
}) as unknown as z.ZodType<FlatFault>;

function targetOf(flat: FlatFault, { targets }: FaultKind): MapTarget | undefined {
  const {
    points,
    address,
    registers,
    function: codes,
  } = flat as { points?: string[]; address?: number; registers?: number; function?: number | number[] };
  const target: MapTarget = {
    ...(targets.includes('points') && points !== undefined && { points }),
    ...(targets.includes('registers') && address !== undefined && { registers: { address, count: registers ?? 1 } }),
    ...(targets.includes('functions') && codes !== undefined && { functions: Array.isArray(codes) ? codes : [codes] }),
  };
  return Object.keys(target).length === 0 ? undefined : target;
}

/** Numbers that every request takes, and their names in the request of the registry. */
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

/**
 * The registry's request of a flat fault.
 * @param flat output of its schema
 * @param fallback device if it names none; null: every device
 */
export function faultRequest(flat: FlatFault, fallback: number | null): FaultRequest {
  const protocol = flat.protocol ?? defaultProtocol;
  const row = faultKinds.find((known) => known.protocol === protocol && known.kind === flat.kind);
  if (row === undefined) return { protocol, kind: flat.kind };
  const target = targetOf(flat, row);
  const parameters = Object.fromEntries(
    Object.keys(row.parameters.shape)
      .filter((name) => flat[name] !== undefined)
      .map((name) => [name, flat[name]]),
  );
  const numbers = Object.entries(plainMembers).map(([member, name]) => [name, flat[member]] as const);
  return {
    protocol,
    kind: flat.kind,
    parameters,
    deviceIndex: flat.device === 'all' ? null : (flat.device ?? fallback),
    ...present(
      Object.fromEntries(numbers) as Record<
        'count' | 'durationS' | 'probability' | 'every' | 'seed',
        number | undefined
      >,
    ),
    ...present({ target }),
    ...present({ when: flat['when'] as FaultCondition | undefined }),
  };
}

/** Converts a pointer into the registry's request (`/0/target/points/1`) to the flat form: `/0/points/1`. */
export function flatPointer(pointer: string): string {
  return pointer
    .replace(/^(\/\d+)?\/parameters(?=\/|$)/, '$1')
    .replace(/^(\/\d+)?\/target\/points/, '$1/points')
    .replace(
      /^(\/\d+)?\/target\/registers(?:\/address)?(\/count)?/,
      (_whole, at: string | undefined, count: string | undefined) =>
        `${at ?? ''}${count === undefined ? '/address' : '/registers'}`,
    )
    .replace(/^(\/\d+)?\/target\/functions(?:\/\d+)?/, '$1/function');
}

/** Issues of `registry.inject`, each prefixed by the place of its request, for example `/inject/3`. */
export function flatFaults(issues: readonly Issue[], placeOf: (request: number) => string): Issue[] {
  return issues.map((issue) => {
    const [, number, rest = ''] = /^\/(\d+)(.*)$/s.exec(flatPointer(issue.name)) ?? [];
    return number === undefined ? issue : { ...issue, name: `${placeOf(Number(number))}${rest}` };
  });
}

/** Pointer of one member. */
export const place = (...steps: readonly PropertyKey[]) => steps.map(pointerStep).join('');
