/** Whether a monitor can be set as the central system asks (N04, N11). */
import type { SetMonitoringData, SetMonitoringResult, SetMonitoringStatusEnum } from '../messages.ts';
import type { Found, VariableStore } from '../variables/model.ts';
import { hasTarget } from './measured.ts';
import { isNumeric, isSame, isWriteOnly, periodicTypes } from './model.ts';
import type { Monitor } from './model.ts';
import { duplicateOf, maxCustomMonitors } from './monitors.ts';
import type { Monitors } from './monitors.ts';

export interface RuleDeps {
  readonly variables: Pick<VariableStore, 'lookUp' | 'accepted' | 'has' | 'integer'>;
  readonly monitors: Pick<Monitors, 'all' | 'byId' | 'customCount'>;
}

/** A monitor that passes every rule; with the id of the one in whose place it comes. */
export type Wanted = Omit<Monitor, 'id' | 'kind'> & { readonly id?: number };

export interface Refusal {
  readonly status: Exclude<SetMonitoringStatusEnum, 'Accepted'>;
  readonly statusInfo?: NonNullable<SetMonitoringResult['statusInfo']>;
}

/** shorter intervals would make one message after another, s */
export const minIntervalS = 1;
/** a year: longer ones have no instant that a timer needs to wait for, s */
const maxIntervalS = 31_536_000;

const rejected = (reasonCode: string, additionalInfo: string): Refusal => ({
  status: 'Rejected',
  statusInfo: { reasonCode, additionalInfo },
});

function unsupportedType({ type }: SetMonitoringData, found: Found): string | null {
  if (found.entry.row.monitored !== true) return 'the variable cannot be monitored';
  if (type === 'Delta' || periodicTypes.has(type)) return null;
  if (!isNumeric(found) || isWriteOnly(found)) return 'the variable shows no number';
  const needsTarget = type === 'TargetDelta' || type === 'TargetDeltaRelative';
  return needsTarget && !hasTarget(found) ? 'the variable has no target' : null;
}

/** Whether a threshold lies where the variable can be (N04.FR.06). */
function isInRange({ value }: SetMonitoringData, found: Found, variables: RuleDeps['variables']): boolean {
  const wholes = found.entry.row.type === 'integer' ? [Math.floor(value), Math.ceil(value)] : [value];
  return wholes.every((each) => variables.accepted(found, each.toFixed(6).replace(/\.?0+$/, '')) !== null);
}

function valueIssue(given: SetMonitoringData, found: Found, variables: RuleDeps['variables']): Refusal | null {
  const { type, value } = given;
  if (periodicTypes.has(type)) {
    if (value < minIntervalS) return rejected('ValueTooLow', `the shortest interval is ${minIntervalS} s`);
    return value > maxIntervalS ? rejected('ValueTooHigh', `the longest interval is ${maxIntervalS} s`) : null;
  }
  if (type === 'UpperThreshold' || type === 'LowerThreshold')
    return isInRange(given, found, variables) ? null : rejected('ValueOutOfRange', 'the variable does not reach it');
  return value < 0 ? rejected('ValuePositiveOnly', 'a difference is not negative') : null;
}

/** Whether the id names a monitor in whose place another can come (N04.FR.12 to FR.18). */
function idIssue({ id }: SetMonitoringData, found: Found, { monitors }: RuleDeps): Refusal | null {
  if (id === undefined)
    return monitors.customCount < maxCustomMonitors
      ? null
      : rejected('TooManyElements', `the station keeps at most ${maxCustomMonitors} monitors`);
  const known = monitors.byId(id);
  if (known === undefined) return rejected('NotFound', `there is no monitor ${id}`);
  if (known.kind === 'HardWiredMonitor') return rejected('ReadOnly', `monitor ${id} is hard-wired`);
  return isSame(known.found, found) ? null : rejected('InvalidValue', `monitor ${id} is one of another variable`);
}

function streamIssue(given: SetMonitoringData, { monitors, variables }: RuleDeps): Refusal | null {
  if (given.periodicEventStream === undefined) return null;
  if (!periodicTypes.has(given.type)) return rejected('UnsupportedParam', 'only a periodic monitor has a stream');
  if (!variables.has('MonitoringCtrlr', 'MaxPeriodicEventStreams'))
    return rejected('UnsupportedParam', 'the station has no streams');
  const max = variables.integer('MonitoringCtrlr', 'MaxPeriodicEventStreams');
  const others = monitors.all.filter(({ id, stream }) => stream !== null && id !== given.id).length;
  return others < max ? null : rejected('TooManyElements', `the station opens at most ${max} streams`);
}

function streamOf({ periodicEventStream }: SetMonitoringData): Monitor['stream'] {
  if (periodicEventStream === undefined) return null;
  const { interval, values } = periodicEventStream;
  return { ...(interval !== undefined && { interval }), ...(values !== undefined && { values }) };
}

/** Checks an element of SetVariableMonitoring whole. */
export function checked(given: SetMonitoringData, deps: RuleDeps): Wanted | Refusal {
  const { type, value, severity, id, transaction = false } = given;
  const found = deps.variables.lookUp(given);
  if (typeof found === 'string') return { status: found };
  const unsupported = unsupportedType(given, found);
  if (unsupported !== null)
    return {
      status: 'UnsupportedMonitorType',
      statusInfo: { reasonCode: 'UnsupportedParam', additionalInfo: unsupported },
    };
  if (severity > 9) return rejected('ValueTooHigh', 'the least severe is 9');
  const issue = valueIssue(given, found, deps.variables) ?? idIssue(given, found, deps) ?? streamIssue(given, deps);
  if (issue !== null) return issue;
  const wanted: Wanted = {
    found,
    type,
    value,
    severity,
    transaction,
    stream: streamOf(given),
    ...(id !== undefined && { id }),
  };
  const duplicate = duplicateOf(deps.monitors, wanted);
  return duplicate === undefined
    ? wanted
    : {
        status: 'Duplicate',
        statusInfo: {
          reasonCode: 'InvalidValue',
          additionalInfo: `monitor ${duplicate.id} has this type and severity`,
        },
      };
}
