/** Types of fault injection shared by all protocols: kind, target and duration; and the checks that need no device. */
import type { z } from 'zod';
import { noSuchDevice, SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import { factsOf, pointerIssues, withInput } from '../zod-issues.ts';

/** Names of the parts that apply faults: a protocol on its wire, or the device behind all protocols. */
export const faultProtocols = ['device', 'modbus', 'csip', 'ocpp', 'dnp3'] as const;
export type FaultProtocol = (typeof faultProtocols)[number];

/** Point of action of a fault: registers after a write, physics, values read, or the transport of messages. */
export const faultLayers = ['acceptance', 'effect', 'reading', 'transport'] as const;
export type FaultLayer = (typeof faultLayers)[number];

/**
 * A condition on one point of the device: the fault acts only while it holds. False for a point that is not
 * implemented.
 */
export interface FaultCondition {
  /** `701.W` */
  readonly point: string;
  /** in the unit of the point */
  readonly below?: number;
  readonly above?: number;
  /** symbol of an enumeration, or a number */
  readonly equals?: string | number;
}

/**
 * Restricts a fault beyond its device, in the terms of its protocol; an absent member is no restriction. The
 * catalogue has the members and their types, and which of them a kind accepts.
 */
export type FaultTarget = Readonly<Record<string, unknown>>;

/**
 * Stands for the meter of the connection point in place of a device index. "Every device" does not include the meter.
 */
export const meterIndex = -1;

export interface FaultRequest {
  readonly protocol: FaultProtocol;
  readonly kind: string;
  /** null: every device, or those of `group`; `meterIndex`: the meter */
  readonly deviceIndex?: number | null;
  /** without `deviceIndex`: indexes of the only devices concerned; absent: every device */
  readonly group?: readonly number[];
  readonly target?: FaultTarget;
  /** input of the kind's own schema */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly when?: FaultCondition;
  /** strikes after which it ends; absent: no limit */
  readonly count?: number;
  /** seconds after which it ends (of simulated time; in layer `transport` of wall time); absent: no limit */
  readonly durationS?: number;
  /** probability of a strike at each occasion, 0..1; default 1 */
  readonly probability?: number;
  /** strikes only at every n-th occasion of a device; default 1 */
  readonly every?: number;
  /** seed of its random numbers; default from the seed of the process and the id of the fault */
  readonly seed?: number;
}

/** One row of the fault catalogue: name and parameters of a fault. The protocol or device implements its effect. */
export interface FaultKind<P = unknown> {
  readonly protocol: FaultProtocol;
  /** snake_case, unique within the protocol */
  readonly kind: string;
  readonly layer: FaultLayer;
  /** one sentence: the effect seen by a master */
  readonly summary: string;
  /** members of a target that it accepts */
  readonly targets: readonly string[];
  /** Issues of a target that do not depend on a device, named by pointers into the request; absent: no check. */
  readonly checkTarget?: (target: FaultTarget) => readonly Issue[];
  /** maximum number of copies of the register map that the fault keeps for each device; default 0 */
  readonly keptMaps?: number;
  /** strict object; its output is `parameters` of the fault */
  readonly parameters: z.ZodObject & z.ZodType<P>;
}

/** A fault about to be injected; its shape has been checked. */
export interface ProposedFault {
  readonly kind: FaultKind;
  readonly request: FaultRequest;
  /** output of the kind's schema */
  readonly parameters: unknown;
}

/**
 * Checks that need a device: unknown point names, values that do not fit. Called for devices that the fault concerns.
 * @throws SimError MAP_*, COMMAND_* with issues named by pointers into the request: `/target/points/0`, `/when/point`,
 *   `/parameters/value`
 */
export type FaultCheck = (fault: ProposedFault, deviceIndex: number) => void;

const noMeter = 'The connection point has no meter; the settings meter_unit and meter_port give it one.';

/** Issues of target and parameters, named by pointers into the request. */
export function kindIssues(kind: FaultKind, { target = {}, parameters = {} }: FaultRequest): Issue[] {
  const issues: Issue[] = Object.keys(target)
    .filter((name) => target[name] !== undefined && !kind.targets.includes(name))
    .map((name) => ({ name: `/target/${name}`, detail: `${kind.kind} has no such target`, allowed: kind.targets }));
  issues.push(...(kind.checkTarget?.(target) ?? []));
  const parsed = kind.parameters.safeParse(parameters, withInput);
  if (parsed.success) return issues;
  const facts = factsOf(kind.parameters);
  const wrong = parsed.error.issues.flatMap((issue) => pointerIssues(issue, `a parameter of ${kind.kind}`, facts));
  return [...issues, ...wrong.map((issue) => ({ ...issue, name: `/parameters${issue.name}` }))];
}

/** Issues of the numbers that every kind accepts. */
export function numberIssues({ count, durationS, probability, every, seed }: FaultRequest): Issue[] {
  const issues: Issue[] = [];
  const expect = (isValid: boolean, name: string, detail: string) => {
    if (!isValid) issues.push({ name: `/${name}`, detail });
  };
  expect(count === undefined || (Number.isInteger(count) && count >= 1), 'count', 'must be a whole number from 1 on');
  expect(
    durationS === undefined || (durationS > 0 && durationS <= 1e9),
    'duration_s',
    'must be above 0 and at most 1e9',
  );
  expect(
    probability === undefined || (probability > 0 && probability <= 1),
    'probability',
    'must be above 0 and at most 1',
  );
  expect(every === undefined || (Number.isInteger(every) && every >= 1), 'every', 'must be a whole number from 1 on');
  expect(
    seed === undefined || (Number.isInteger(seed) && seed >= 0 && seed <= 0xffff_ffff),
    'seed',
    'must be a whole number from 0 to 4294967295',
  );
  return issues;
}

/** The fault of a request without `kindIssues`. */
export function proposed(kind: FaultKind, request: FaultRequest): ProposedFault {
  return { kind, request, parameters: kind.parameters.parse(request.parameters ?? {}) };
}

/**
 * Indexes of the devices that a request concerns, or that of the meter.
 * @throws SimError UNKNOWN_DEVICE
 */
export function concernedBy(
  { deviceIndex = null, group }: FaultRequest,
  indexes: readonly number[],
  hasMeter: boolean,
): readonly number[] {
  if (deviceIndex === null) return group ?? indexes;
  if (deviceIndex === meterIndex && hasMeter) return [meterIndex];
  if (deviceIndex === meterIndex) throw new SimError('UNKNOWN_DEVICE', noMeter);
  if (!indexes.includes(deviceIndex)) throw new SimError('UNKNOWN_DEVICE', noSuchDevice(deviceIndex, indexes));
  return [deviceIndex];
}
