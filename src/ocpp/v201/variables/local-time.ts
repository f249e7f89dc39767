/** Local time of the place of the station: ClockCtrlr.TimeOffset, where the station has one. */
import type { Variables } from './model.ts';

const form = /^([+-])(\d\d):(\d\d)$/;
/** The zones of the world, minutes from UTC. */
const range = { min: -12 * 60, max: 14 * 60 } as const;

/** `+01:00` as minutes from UTC; null: it is none. */
export function offsetMinutes(text: string): number | null {
  const [, sign, hours, minutes] = form.exec(text) ?? [];
  if (hours === undefined || Number(minutes) >= 60) return null;
  const total = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return total >= range.min && total <= range.max ? total : null;
}

/** Local time minus UTC, ms; 0 where the station has no offset. */
export function localOffsetMs(variables: Pick<Variables, 'has' | 'text'>): number {
  if (!variables.has('ClockCtrlr', 'TimeOffset')) return 0;
  return (offsetMinutes(variables.text('ClockCtrlr', 'TimeOffset')) ?? 0) * 60_000;
}
