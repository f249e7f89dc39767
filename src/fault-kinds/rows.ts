/**
 * Building blocks of the rows of the catalogue: values, and targets other than devices, with the protocols that have
 * each.
 */
import { z } from 'zod';
import type { Issue } from '../core/errors.ts';
import type { FaultProtocol, FaultTarget, FaultKind } from '../core/faults/kinds.ts';

/** Schemas of values that several faults have. */
export const unitId = z.int().min(0).max(255);
export const modelId = z.int().min(1).max(65_534);
export const registerAddress = z.int().min(0).max(65_535);
/** a Modbus exception code: one octet, not 0 */
export const exceptionCode = z.int().min(1).max(255);
/** A number from 0 to a maximum, as one check: two could give two issues. */
export const upTo = (max: number) => z.number().min(0).max(max);
export const waitMs = upTo(600_000);
export const simSeconds = upTo(1e6);
export const pointName = z.string().min(1).max(80);
export const factor = z.number().min(-1e6).max(1e6);
export const amount = z.number().min(-1e15).max(1e15);

/** Possible targets of all protocols. Absent: no restriction. */
interface KnownTarget {
  /** points by name, `704.WMaxLimPct` or `705.Crv[1].Pt[0].V`; a model alone, `704`, means all of its points */
  readonly points?: readonly string[];
  /** raw registers, PDU addresses */
  readonly registers?: { readonly address: number; readonly count: number };
  /** function codes of Modbus or DNP3 */
  readonly functions?: readonly number[];
  /** actions of OCPP, for example `BootNotification` */
  readonly actions?: readonly string[];
  /** connectors of a charging station; 0: the station itself */
  readonly connectors?: readonly number[];
  /** resources of IEEE 2030.5 by name, `DERControlList`, or by path, `/derp/1/derc` */
  readonly resources?: readonly string[];
}
type TargetName = keyof KnownTarget;

/** DNP3 responses are selected by the function of their request. */
const responseCode = 129;

/** The target of a fault whose kind takes points, registers or functions. */
export type MapTarget = Pick<KnownTarget, 'points' | 'registers' | 'functions'>;
export type MapTargetName = keyof MapTarget;

/** Targets that select Modbus requests: by function, or by the registers and points that a request touches. */
export const wireTargets = ['functions', 'registers', 'points'] as const satisfies readonly MapTargetName[];
/** Targets that select the registers and points of a write or read. */
export const mapTargets = ['registers', 'points'] as const satisfies readonly MapTargetName[];

/** The target of a fault, checked by the rows below. */
export function targetOf(target: FaultTarget): KnownTarget {
  return target;
}

/** The target of a fault whose kind takes points, registers or functions. */
export function mapTargetOf(target: FaultTarget): MapTarget {
  return target;
}

/** A member of the flat form of a fault that belongs to a target. */
export interface TargetMember {
  /** its name in published schemas */
  readonly id: string;
  /** in requests and files */
  readonly schema: z.ZodType;
  /** in replies, without null */
  readonly shown: z.ZodType;
  /** description in replies */
  readonly words: string;
  /** name of the member that it requires */
  readonly needs?: string;
}

type FlatMembers = Readonly<Record<string, unknown>>;

/** One target in the flat form and in replies. */
export interface TargetRow {
  readonly target: TargetName;
  /** protocols whose kinds have it */
  readonly protocols: readonly FaultProtocol[];
  /** optional members of the flat form */
  readonly members: Readonly<Record<string, TargetMember>>;
  /** true: replies always have its members, null without a restriction; false: only if the fault has them */
  readonly always: boolean;
  /** The value of the target. undefined: no restriction. */
  readonly read: (flat: FlatMembers) => unknown;
  /** Its members in a reply. @param value result of `read` */
  readonly show: (value: unknown) => FlatMembers;
  /** Converts a pointer into the value to the flat form: `/count` to `/registers`. */
  readonly place: (within: string) => string;
  /** Issues of a value that do not depend on a device, by pointers into the value. */
  readonly issues?: (value: unknown) => readonly Issue[];
}

interface ListRow extends Pick<TargetRow, 'protocols' | 'always'> {
  readonly target: Exclude<TargetName, 'registers'>;
  readonly member: string;
  /** schema of one entry */
  readonly entry: z.ZodType;
  /** maximum of entries */
  readonly max: number;
  readonly id: string;
  readonly description: string;
  readonly words: string;
  /** A single entry without a list is valid; the message for anything else. Absent: always a list. */
  readonly single?: string;
}

/** A target that is a list in requests and replies. */
function listRow({ target, member, entry, max, id, description, words, single, ...row }: ListRow): TargetRow {
  const list = z.array(entry).min(1).max(max);
  const schema = single === undefined ? list : z.union([entry, list], { error: single });
  return {
    ...row,
    target,
    members: { [member]: { id, schema: schema.meta({ description }), shown: z.array(shownEntry(entry)), words } },
    read: ({ [member]: value }) => (value === undefined || Array.isArray(value) ? value : [value]),
    show: (value) => ({ [member]: value === undefined ? null : [...(value as readonly unknown[])] }),
    place: (within) => `/${member}${single === undefined ? within : ''}`,
  };
}

/** The schema of an entry in replies: its type without its range. */
function shownEntry(entry: z.ZodType): z.ZodType {
  return entry instanceof z.ZodNumber ? z.int() : z.string();
}

/** Number of registers that Modbus addresses. */
const registerSpace = 0x1_0000;

type Registers = NonNullable<KnownTarget['registers']>;

const registersRow: TargetRow = {
  target: 'registers',
  protocols: ['modbus'],
  always: true,
  members: {
    address: {
      id: 'FaultAddress',
      schema: registerAddress.meta({ description: 'First register, PDU address; default any.' }),
      shown: z.int(),
      words: 'First register, PDU address; null: any.',
    },
    registers: {
      id: 'FaultRegisters',
      schema: z
        .int()
        .min(1)
        .max(registerSpace)
        .meta({ description: 'Number of registers from `address` on; default 1.' }),
      shown: z.int(),
      words: 'Number of registers; null: any.',
      needs: 'address',
    },
  },
  read: ({ address, registers }) => (address === undefined ? undefined : { address, count: registers ?? 1 }),
  show(value) {
    const registers = value as Registers | undefined;
    return { address: registers?.address ?? null, registers: registers?.count ?? null };
  },
  place: (within) => (within === '/count' ? '/registers' : '/address'),
  issues(value) {
    const { address, count } = value as Registers;
    const detail = `must be at most ${registerSpace - address} from address ${address} on`;
    return address + count <= registerSpace ? [] : [{ name: '/count', detail }];
  },
};

/** All targets; a new one is a new row. */
export const targetRows: readonly TargetRow[] = [
  listRow({
    target: 'points',
    protocols: ['modbus', 'device'],
    always: true,
    member: 'points',
    entry: pointName,
    max: 1000,
    id: 'FaultPoints',
    description: 'Points, for example `704.WMaxLimPct`, groups, `705.Crv[1]`, or whole models, `704`; default all.',
    words: 'Points and models; null: any.',
  }),
  registersRow,
  listRow({
    target: 'functions',
    protocols: ['modbus'],
    always: true,
    member: 'function',
    entry: z.int().min(1).max(127),
    max: 127,
    single: 'must be a function code from 1 to 127, or a list of them',
    id: 'FaultFunction',
    description: 'Modbus function code, or several; default any.',
    words: 'Modbus function codes; null: any.',
  }),
  listRow({
    target: 'functions',
    protocols: ['dnp3'],
    always: true,
    member: 'function',
    entry: z
      .int()
      .min(1)
      .max(255)
      .refine((code) => code !== responseCode, { error: 'must be the code of a request, or 130' }),
    max: 254,
    single: 'must be a function code from 1 to 255 other than 129, or a list of them',
    id: 'FaultDnp3Function',
    description: 'DNP3 function code of the request, or several; 130: unsolicited responses. Default any.',
    words: 'DNP3 function codes; null: any.',
  }),
  listRow({
    target: 'actions',
    protocols: ['ocpp'],
    always: false,
    member: 'action',
    entry: z.string().regex(/^[A-Z][A-Za-z0-9]{0,63}$/),
    max: 100,
    single: 'must be an action such as BootNotification, or a list of them',
    id: 'FaultAction',
    description: 'OCPP action, for example `BootNotification`, or several; default any.',
    words: 'OCPP actions; absent: any.',
  }),
  listRow({
    target: 'connectors',
    protocols: ['ocpp'],
    always: false,
    member: 'connector',
    entry: z.int().min(0).max(1000),
    max: 100,
    single: 'must be the number of a connector, or a list of them',
    id: 'FaultConnector',
    description: 'Connector from 1 on, or several; 0 is the charging station itself. Default any.',
    words: 'Connectors, 0: the charging station itself; absent: any.',
  }),
  listRow({
    target: 'resources',
    protocols: ['csip'],
    always: false,
    member: 'resource',
    entry: z.string().regex(/^(?:[A-Z][A-Za-z0-9]{0,63}|\/[!-~]{0,499})$/),
    max: 100,
    single: 'must be a resource such as DERControlList or a path such as /derp/1/derc, or a list of them',
    id: 'FaultResource',
    description:
      'Resource of IEEE 2030.5 by name, for example `DERControlList`, or by path, `/derp/1/derc`, or several; default any.',
    words: 'Resources of IEEE 2030.5 by name or path; absent: any.',
  }),
];

/** The row of a target for a protocol. undefined: the protocol does not have it. */
export function targetRow(protocol: FaultProtocol, target: string): TargetRow | undefined {
  return targetRows.find((row) => row.target === target && row.protocols.includes(protocol));
}

/** A target in replies: the members of every fault, and those of this one. */
export function shownTarget(protocol: FaultProtocol, target: FaultTarget): FlatMembers {
  const unrestricted = targetRows.filter(({ always }) => always).map(({ show }) => show(undefined));
  const restricted = Object.entries(target).map(([name, value]) =>
    value === undefined ? undefined : targetRow(protocol, name)?.show(value),
  );
  return Object.assign({}, ...unrestricted, ...restricted) as FlatMembers;
}

/** Converts a pointer into a target (`/registers/count`) to the flat form (`/registers`). */
export function flatTargetPointer(pointer: string): string {
  const [, name = '', within = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? [];
  // rows of one target have the same members
  return targetRows.find(({ target }) => target === name)?.place(within) ?? pointer;
}

/** Issues of a target that do not depend on a device, by pointers into the request. */
export function targetIssues(protocol: FaultProtocol, target: FaultTarget): Issue[] {
  return Object.entries(target).flatMap(([name, value]) =>
    (value === undefined ? [] : (targetRow(protocol, name)?.issues?.(value) ?? [])).map((issue) => ({
      ...issue,
      name: `/target/${name}${issue.name}`,
    })),
  );
}

interface Row<P> extends FaultKind<P> {
  readonly targets: readonly TargetName[];
}

/** A row of the catalogue; its schema determines the type of the parameters. */
export function faultKind<P>(row: Row<P>): FaultKind<P> {
  return { ...row, checkTarget: (target) => targetIssues(row.protocol, target) };
}

export const noParameters = z.strictObject({});

/** True if the write is executed although the answer reports a failure. */
export const carriedOut = z
  .boolean()
  .default(false)
  .meta({ description: 'True: a write is carried out nevertheless; default false.' });
