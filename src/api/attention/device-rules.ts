/** Attention to devices: trips, faults and alarms, lost connections, local control. */
import type { Alarm, Device } from '../../contract/device.ts';
import { joined } from './items.ts';
import type { AttentionRule, DeviceCondition } from './items.ts';

const tripAlarms: Readonly<Record<string, readonly [code: string, cause: string]>> = {
  lv_trip: ['ac_under_volt', 'low voltage'],
  hv_trip: ['ac_over_volt', 'high voltage'],
  lf_trip: ['under_frequency', 'low frequency'],
  hf_trip: ['over_frequency', 'high frequency'],
  anti_islanding: ['grid_disconnect', 'an island'],
  rocof: ['grid_disconnect', 'the rate of change of frequency'],
  vector_shift: ['grid_disconnect', 'a vector shift'],
};

/** Cause of a trip from which the device has not returned; null: it has, or never tripped. */
function standingTrip({ trace: { transitions } }: Device): string | null {
  const to = transitions.at(-1)?.to;
  if (to !== 'tripped' && to !== 'waiting') return null;
  const last = transitions.findLast((each) => each.to === 'tripped' || each.to === 'in_service');
  return last?.to === 'tripped' ? (last.cause ?? 'fault') : null;
}

function tripOf(device: Device, cause: string, alarms: readonly Alarm[]): DeviceCondition {
  const [code, words] = tripAlarms[cause] ?? ['', 'a fault'];
  return {
    device,
    id: `trip/${cause}`,
    level: 'bad',
    title: `Tripped on ${words}`,
    text: `tripped on ${words} and not back yet`,
    sinceMs: alarms.find((alarm) => alarm.code === code)?.sinceMs ?? null,
  };
}

/** Alarms of communication that tell of a lost peer. */
const isLostPeer = ({ source, code }: Alarm) => source === 'comm' && /_(connection|master)_lost$/.test(code);

function conditionsOf(device: Device): readonly DeviceCondition[] {
  const { alarms } = device;
  const cause = standingTrip(device);
  const tripCode = cause === null ? null : tripAlarms[cause]?.[0];
  const trips = cause === null ? [] : [tripOf(device, cause, alarms)];
  const others = alarms.filter(({ code }) => code !== tripCode);
  return [
    ...trips,
    ...others
      .filter(({ severity }) => severity === 'error')
      .map(({ code, message, sinceMs }) => ({
        device,
        id: `alarm/${code}`,
        level: 'bad' as const,
        title: `Alarm ${code}`,
        text: message,
        sinceMs,
      })),
    ...others.filter(isLostPeer).map(({ code, message, sinceMs }) => ({
      device,
      id: `connection/${code}`,
      level: 'warn' as const,
      title: 'Connection lost',
      text: message,
      sinceMs,
    })),
  ];
}

export const deviceTroubles: AttentionRule = ({ plant }) => joined(plant.devices.flatMap(conditionsOf));

export const localControls: AttentionRule = ({ plant }) =>
  joined(
    plant.devices
      .filter(({ localControl }) => localControl)
      .map((device) => ({
        device,
        id: 'local_control',
        level: 'warn' as const,
        title: 'Local control',
        text: 'under local control, remote writes and commands are refused',
        sinceMs: device.overrides.find(({ name }) => name === 'local_control')?.wallMs ?? null,
      })),
  );
