/**
 * NotifyDERAlarm: a function of grid support forces the station off its charging profile or its nominal rate (R05). The
 * message is sent at the begin, and with `alarmEnded` at the end. If another control takes over, its alarm is sent, and
 * the end of the first alarm is not (FR.03, FR.04).
 */
import type { FunctionName } from '../../../sunspec/map/grid-support/functions.ts';
import type { TripName } from '../../../sunspec/map/grid-support/functions.ts';
import type { DerCondition } from '../../station/port.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import type { DERControlEnum, GridEventFaultEnum } from '../messages.ts';

export interface DerAlarm {
  readonly controlType: DERControlEnum;
  /** null: caused by no fault of the grid, or by one without a name in the standard */
  readonly fault: GridEventFaultEnum | null;
}

export interface AlarmEvent extends DerAlarm {
  readonly at: SimTime;
  readonly ended: boolean;
}

export interface AlarmContext {
  /** types of the central system's controls that are in force */
  readonly running: ReadonlySet<DERControlEnum>;
}

const tripAlarms: Readonly<Record<TripName, DerAlarm>> = {
  lv_trip: { controlType: 'LVMustTrip', fault: 'UnderVoltage' },
  hv_trip: { controlType: 'HVMustTrip', fault: 'OverVoltage' },
  lf_trip: { controlType: 'LFMustTrip', fault: 'UnderFrequency' },
  hf_trip: { controlType: 'HFMustTrip', fault: 'OverFrequency' },
};

/** Types by the function that decides reactive power. */
const reactiveTypes: Readonly<Partial<Record<FunctionName, DERControlEnum>>> = {
  volt_var: 'VoltVar',
  watt_var: 'WattVar',
  pf_inject: 'FixedPFInject',
  pf_absorb: 'FixedPFAbsorb',
  constant_var: 'FixedVar',
};

function voltageFault({ lowestVoltagePct, highestVoltagePct }: DerCondition): GridEventFaultEnum | null {
  const [under, over] = [100 - lowestVoltagePct, highestVoltagePct - 100];
  if (Math.max(under, over) <= 0) return null;
  return under > over ? 'UnderVoltage' : 'OverVoltage';
}

function frequencyFault({ frequencyHz, nominalHz, withinDroopBand }: DerCondition): GridEventFaultEnum | null {
  if (withinDroopBand) return null;
  return frequencyHz > nominalHz ? 'OverFrequency' : 'UnderFrequency';
}

function reactiveType({ reactive }: DerCondition): DERControlEnum | null {
  return Object.entries(reactiveTypes).find(([name]) => name === reactive)?.[1] ?? null;
}

/** The type of control that limits active power while the station is in service. */
function limitingType(condition: DerCondition, present: DerAlarm | null): DERControlEnum | null {
  switch (condition.active) {
    case 'max_power':
      return 'LimitMaxDischarge';
    case 'volt_watt':
      return 'VoltWatt';
    case 'freq_droop':
      return 'FreqDroop';
    case 'apparent_power':
      return reactiveType(condition);
    default:
      // a droop that asks for more than the maximum limits nothing, but its alarm continues
      return present?.controlType === 'FreqDroop' && !condition.withinDroopBand ? 'FreqDroop' : null;
  }
}

function inService(condition: DerCondition, present: DerAlarm | null, context: AlarmContext): DerAlarm | null {
  // reactive power alone raises no alarm, since no charging profile sets it
  const type = limitingType(condition, present);
  if (type === null || !context.running.has(type)) return null;
  const byFrequency = type === 'FreqDroop';
  const byVoltage = type === 'VoltWatt' || type === 'VoltVar';
  const fault = byFrequency ? frequencyFault(condition) : byVoltage ? voltageFault(condition) : null;
  // power returns slowly: the fault that is over is still the cause
  const before = present?.controlType === type ? present.fault : null;
  return { controlType: type, fault: fault ?? before };
}

/** The alarm that holds at present; null: none. Trips and cessation count regardless of who set their limits. */
function causeOf(condition: DerCondition, present: DerAlarm | null, context: AlarmContext): DerAlarm | null {
  switch (condition.service) {
    case 'tripped':
      return condition.trip && tripAlarms[condition.trip.name];
    case 'ceased': {
      const fault = voltageFault(condition);
      if (fault === null || frequencyFault(condition) !== null) return present;
      return { controlType: fault === 'UnderVoltage' ? 'LVMomCess' : 'HVMomCess', fault };
    }
    case 'limited':
      return context.running.has('EnterService') ? { controlType: 'EnterService', fault: null } : present;
    case 'in_service':
      return inService(condition, present, context);
    case 'out':
      return null;
  }
}

const isSame = (a: DerAlarm | null, b: DerAlarm | null) => a?.controlType === b?.controlType && a?.fault === b?.fault;

/** Follows the condition of a station. @param present the alarm that was sent and has not ended */
export function followAlarms(
  present: DerAlarm | null,
  condition: DerCondition,
  context: AlarmContext,
): { readonly present: DerAlarm | null; readonly events: readonly AlarmEvent[] } {
  const { trip, at } = condition;
  const events: AlarmEvent[] = [];
  let current = present;
  const tripped = trip && tripAlarms[trip.name];
  if (trip && tripped && !isSame(current, tripped)) {
    events.push({ ...tripped, at: trip.at, ended: false });
    current = tripped;
  }
  const cause = causeOf(condition, current, context);
  if (isSame(current, cause)) return { present: current, events };
  if (cause) events.push({ ...cause, at, ended: false });
  else if (current) events.push({ ...current, at, ended: true });
  return { present: cause, events };
}
