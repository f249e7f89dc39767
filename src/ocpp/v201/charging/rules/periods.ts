/** Rules for the periods of a charging schedule. */
import { isCarriedOut, modePowers, refusedModes, takesModes } from '../../v2x/modes.ts';
import type { PeriodPower } from '../../v2x/modes.ts';
import { broken, firstIssue, unable } from './issue.ts';
import type { Check, Issue, RuleFacts, SentMode, SentPeriod, SentProfile, SentSchedule } from './issue.ts';

type PeriodCheck = Check<[period: SentPeriod, schedule: SentSchedule, profile: SentProfile, facts: RuleFacts]>;

const modeOf = ({ operationMode = 'ChargingOnly' }: SentPeriod): SentMode => operationMode;

/** Members that ask for something that the station has no physics for. */
const withoutEffect = [
  'limit_L2',
  'limit_L3',
  'dischargeLimit_L2',
  'dischargeLimit_L3',
  'setpoint_L2',
  'setpoint_L3',
  'setpointReactive',
  'setpointReactive_L2',
  'setpointReactive_L3',
] as const satisfies readonly (keyof SentPeriod)[];

const unsupported: PeriodCheck = (period) => {
  const name = withoutEffect.find((each) => period[each] !== undefined);
  if (name?.includes('Reactive')) return unable('UnsupportedParam', `${name}: the station sets no reactive power here`);
  if (name !== undefined) return unable('UnsupportedParam', `${name}: all phases have one limit`);
  if (period.preconditioningRequest === true)
    return unable('UnsupportedParam', 'preconditioningRequest: the vehicles know no preconditioning');
  return period.evseSleep === true
    ? broken('K01.FR.126', 'InvalidSchedule', 'evseSleep: SupportsEvseSleep is false')
    : null;
};

/** K01.FR.19, K01.FR.20, K01.FR.44, K01.FR.45 */
const phases: PeriodCheck = ({ numberPhases, phaseToUse }, _schedule, _profile, { evses, version }) => {
  if (numberPhases === undefined && phaseToUse === undefined) return null;
  if (evses.every(({ type }) => type === 'dc')) {
    const reason = version === 'ocpp2.1' ? 'NoPhaseForDC' : 'InvalidSchedule';
    return broken('K01.FR.44', reason, 'numberPhases and phaseToUse are none of DC');
  }
  if (phaseToUse !== undefined)
    return numberPhases === 1
      ? broken('K01.FR.20', 'InvalidSchedule', 'phaseToUse: ACPhaseSwitchingSupported is false')
      : broken('K01.FR.19', 'InvalidSchedule', 'phaseToUse needs numberPhases 1');
  const supplied = Math.max(...evses.map((evse) => evse.phases));
  return numberPhases !== undefined && numberPhases >= 1 && numberPhases <= supplied
    ? null
    : broken('K01.FR.45', 'InvalidSchedule', `numberPhases ${numberPhases} must be 1 to ${supplied}`);
};

const limits: PeriodCheck = ({ limit = 0, dischargeLimit = 0 }) => {
  if (limit < 0) return broken('K01', 'InvalidSchedule', `the limit ${limit} is negative`);
  return dischargeLimit > 0
    ? broken('Q01', 'InvalidSchedule', `the dischargeLimit ${dischargeLimit} is positive`)
    : null;
};

const mode: PeriodCheck = (period, _schedule, { chargingProfilePurpose: purpose }, { evses }) => {
  const name = modeOf(period);
  if (name === 'ChargingOnly') return null;
  if (!takesModes(purpose)) {
    const rule = purpose === 'PriorityCharging' ? 'K01.FR.71' : 'K01';
    return broken(rule, 'InvalidSchedule', `a ${purpose} has no operationMode ${name}`);
  }
  if (!isCarriedOut(name)) return unable('InvalidSchedule', `operationMode ${name}: ${refusedModes[name]}`);
  return evses.every(({ modes }) => modes.includes(name))
    ? null
    : unable('InvalidSchedule', `operationMode ${name} is not in SupportedOperationModes, or V2XChargingCtrlr is off`);
};

const powers: PeriodCheck = (period, _schedule, { chargingProfilePurpose: purpose }) => {
  const name = modeOf(period);
  if (!isCarriedOut(name)) return null;
  const { required, optional } = modePowers[name];
  const given = (['limit', 'dischargeLimit', 'setpoint'] as const).filter((each) => period[each] !== undefined);
  const missing = required.find((each) => !given.includes(each));
  if (missing !== undefined) return broken('Q01', 'InvalidSchedule', `operationMode ${name} needs a ${missing}`);
  // the grid connection of the station may be kept from giving power whatever its EVSEs do
  const isOfGrid = (each: PeriodPower) => purpose === 'ChargingStationMaxProfile' && each === 'dischargeLimit';
  const extra = given.find((each) => !required.includes(each) && !optional.includes(each) && !isOfGrid(each));
  return extra === undefined ? null : broken('Q01', 'InvalidSchedule', `operationMode ${name} has no ${extra}`);
};

const setpoint: PeriodCheck = ({ setpoint: value, limit = Infinity, dischargeLimit = -Infinity }) =>
  value === undefined || (value >= dischargeLimit && value <= limit)
    ? null
    : broken('Q01', 'InvalidSchedule', `the setpoint ${value} is outside of ${dischargeLimit} to ${limit}`);

/** Q08.FR.02, Q08.FR.05 */
const localFrequency: PeriodCheck = (period, { chargingRateUnit }) => {
  const { v2xBaseline, v2xFreqWattCurve = [], v2xSignalWattCurve = [] } = period;
  if (modeOf(period) !== 'LocalFrequency') return null;
  if (chargingRateUnit === 'A') return broken('Q08.FR.05', 'UnsupportedRateUnit', 'LocalFrequency needs the unit W');
  if (v2xBaseline === undefined || v2xFreqWattCurve.length < 2)
    return broken(
      'Q08.FR.02',
      'NoFreqWattCurve',
      'LocalFrequency needs v2xBaseline and two points of v2xFreqWattCurve',
    );
  const ascends = (values: readonly number[]) => values.every((each, i) => i === 0 || each > (values[i - 1] ?? 0));
  return ascends(v2xFreqWattCurve.map((each) => each.frequency)) &&
    ascends(v2xSignalWattCurve.map((each) => each.signal))
    ? null
    : broken('Q08', 'InvalidSchedule', 'the points of a curve must ascend');
};

const checks: readonly PeriodCheck[] = [unsupported, phases, limits, mode, powers, setpoint, localFrequency];

/** K01.FR.31, K01.FR.35 */
function brokenOrder(periods: readonly SentPeriod[]): Issue | null {
  const first = periods[0]?.startPeriod;
  if (first !== 0) return broken('K01.FR.31', 'InvalidSchedule', `the first startPeriod must be 0, not ${first}`);
  const early = periods.find(({ startPeriod }, i) => i > 0 && startPeriod <= (periods[i - 1]?.startPeriod ?? 0));
  return early === undefined
    ? null
    : broken('K01.FR.35', 'InvalidSchedule', `startPeriod ${early.startPeriod} must be later than the one before`);
}

/** The first rule that a period of a schedule breaks. */
export function periodIssue(schedule: SentSchedule, profile: SentProfile, facts: RuleFacts): Issue | null {
  for (const period of schedule.chargingSchedulePeriod) {
    const issue = firstIssue(checks, period, schedule, profile, facts);
    if (issue !== null) return { ...issue, text: `period at ${period.startPeriod} s: ${issue.text}` };
  }
  return brokenOrder(schedule.chargingSchedulePeriod);
}
