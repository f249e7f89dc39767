/** Times and writers in the sentences of `controls/why`. */
import { isShownWriter } from '../common/writers.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Provenance, Source } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { zoneOffsetMs } from '../../core/time/zone.ts';

const writerNames: Readonly<Record<Source, string>> = {
  default: 'default',
  profile: 'profile',
  rest: 'REST',
  dashboard: 'dashboard',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP central system',
  dnp3: 'DNP3',
  scenario: 'scenario',
  reversion: 'reversion',
  fault: 'fault',
};

/** Sources whose peer is only a port of this machine. */
const withoutPeer: ReadonlySet<Source> = new Set(['rest', 'dashboard', 'ocpp', 'reversion', 'fault']);

/** `27 min`, `4:36`, `40 s`. */
export function spanText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole >= 600) return `${Math.round(whole / 60)} min`;
  if (whole < 60) return `${whole} s`;
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

type Clock = Pick<Plant, 'dateMs' | 'time'>;

/** `12:04:07` in the zone of the clock. @param digits of the time, 12 with milliseconds */
export function timeText(clock: Clock, at: SimTime, digits = 8): string {
  const ms = clock.dateMs(at);
  return new Date(ms + zoneOffsetMs(clock.time.timezone, ms)).toISOString().slice(11, 11 + digits);
}

/** The writer as it is shown; null: a value of the start. */
export function shownWriter(by: Provenance | null | undefined): Provenance | null {
  return by && isShownWriter(by) ? by : null;
}

/** `written by Modbus 10.0.0.21:1502 at 11:58:02`, behind a comma; empty without a writer. */
export function byText(plant: Clock, verb: string, by: Provenance | null): string {
  if (by === null) return '';
  const peer = by.peer === undefined || withoutPeer.has(by.source) ? '' : ` ${by.peer}`;
  return `, ${verb} by ${writerNames[by.source]}${peer} at ${timeText(plant, by.at)}`;
}

/** `Volt-watt is off` of `volt-watt is off`. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
