/** Service state of a device: as text, and for `controls.service`. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Device } from '../../contract/device.ts';
import { alarmKinds, tripTexts } from './alarms.ts';
import type { AlarmCode } from './alarms.ts';
import type { Inverter } from '../inverter/inverter.ts';

/** Alarms of the source that explain the output of a device in service, by falling severity. */
const sourceReasons: readonly AlarmCode[] = [
  'over_temp',
  'under_temp',
  'over_volt',
  'under_volt',
  'dc_disconnect',
  'ground_fault',
  'connector_fault',
  'h2_tank_low',
  'soc_low',
  'soc_high',
];

/** True if the settings allow a device out of service to return by itself. */
function mayReturn({ settings: { enterService, operator } }: Inverter): boolean {
  return enterService.permit && operator !== 'ENTER_STANDBY';
}

/** Reason of a present stop, trip or derating. @param fault true: the model has failed @param alarms active ones */
export function statusMessage(inverter: Inverter, fault: boolean, alarms: readonly AlarmCode[]): string | null {
  if (fault) return alarmKinds.hw_test_failure.text;
  const { enterService, operator } = inverter.settings;
  const notPermitted = enterService.permit ? 'standby by operator' : 'service not permitted';
  switch (inverter.phase) {
    case 'in_service':
      if (inverter.ceasedBy !== null) return 'momentary cessation';
      return inverter.apparentPowerLimited
        ? 'derated: the apparent power or current limit holds active power back'
        : sourceReason(alarms);
    case 'ramping':
      return 'ramping up after entering service';
    case 'waiting':
      if (!mayReturn(inverter)) return notPermitted;
      return inverter.enterDelayRuns ? 'waiting for the enter-service delay' : 'waiting for the grid';
    case 'ceased':
      return notPermitted;
    case 'shutting_down':
    case 'off':
      return operator === 'STOP' ? 'stopped by operator' : 'switch open';
    case 'tripped':
      return inverter.lastTrip ? tripTexts[inverter.lastTrip] : 'tripped';
  }
}

function sourceReason(alarms: readonly AlarmCode[]): string | null {
  if (alarms.length === 0) return null;
  const code = sourceReasons.find((reason) => alarms.includes(reason));
  return code === undefined ? null : alarmKinds[code].text;
}

export function enterServiceState(inverter: Inverter, instant: SimTime): Device['enterService'] {
  const { phase } = inverter;
  const delayRemainingS = inverter.enterDelayRemainingS(instant);
  if (phase === 'in_service' || phase === 'ramping') return { state: 'in_service', delayRemainingS };
  const returns = (phase === 'waiting' || phase === 'tripped') && mayReturn(inverter);
  return { state: returns ? 'waiting' : 'out_of_service', delayRemainingS };
}
