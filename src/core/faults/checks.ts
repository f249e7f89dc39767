/** Checks of a fault request that need no device. */
import { noSuchDevice, SimError } from '../errors.ts';
import type { Issue } from '../errors.ts';
import { meterIndex } from './kinds.ts';
import type { FaultKind, FaultRequest, ProposedFault } from './kinds.ts';
import { factsOf } from '../zod-facts.ts';
import { pointerIssues, withInput } from '../zod-issues.ts';

const noMeter = 'The connection point has no meter; the settings meter_unit and meter_port give it one.';

/** Faults of target and parameters, by pointers into the request. */
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

/** Issues of the numbers that every kind takes. */
export function numberIssues({ count, durationS, probability, every, seed }: FaultRequest): Issue[] {
  const issues: Issue[] = [];
  const expect = (fine: boolean, name: string, detail: string) => {
    if (!fine) issues.push({ name: `/${name}`, detail });
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

/** The fault of a request for which `kindIssues` found no issue. */
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
