/** When a monitor of a value triggers (N07): pure functions of the monitor, what it has told, and the value now. */
import type { EventTriggerEnum, MonitorEnum } from '../messages.ts';

/** What a monitor remembers between two looks at its value. */
export interface MonitorState {
  /** of a threshold: its event is out, and that it has cleared is not */
  readonly exceeded: boolean;
  /** of a difference: the value last told, or the one when the monitor was set; null: none yet */
  readonly reference: string | null;
}

export const freshState: MonitorState = { exceeded: false, reference: null };

export interface Reading {
  readonly value: string;
  /** what the value should be; null: it has no target */
  readonly target: number | null;
}

export interface Judgement {
  readonly state: MonitorState;
  /** null: there is nothing to tell */
  readonly event: { readonly trigger: EventTriggerEnum; readonly cleared?: true } | null;
}

export interface JudgedMonitor {
  readonly type: MonitorEnum;
  readonly value: number;
  /** false: any change of the variable counts (N07.FR.19) */
  readonly numeric: boolean;
}

/** A number that a variable shows; null: it shows none. */
export function numberOf(text: string): number | null {
  const number = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

/** A value that has passed a threshold clears only behind a band, so that one which plays around it is told once. */
function threshold(
  { value: limit }: JudgedMonitor,
  above: 1 | -1,
  number: number,
  state: MonitorState,
  hysteresisPct: number,
): Judgement {
  const beyond = (number - limit) * above;
  if (!state.exceeded)
    return beyond > 0
      ? { state: { ...state, exceeded: true }, event: { trigger: 'Alerting' } }
      : { state, event: null };
  return beyond <= (-Math.abs(limit) * hysteresisPct) / 100
    ? { state: { ...state, exceeded: false }, event: { trigger: 'Alerting', cleared: true } }
    : { state, event: null };
}

/** Decimals that differ by 0.1 differ by a little more or less as binary numbers. */
const roundingError = 1e-9;

function difference(text: string, number: number | null, by: number | null, state: MonitorState): Judgement {
  const told: Judgement = { state: { ...state, reference: text }, event: { trigger: 'Delta' } };
  if (state.reference === null) return { ...told, event: null };
  if (by === null) return text === state.reference ? { state, event: null } : told;
  const reference = numberOf(state.reference);
  if (number === null || reference === null) return { ...told, event: null };
  return Math.abs(number - reference) > by + roundingError ? told : { state, event: null };
}

/** The distance to the target counts as a difference does; it begins at 0. `TargetDeltaRelative`: by parts of the target. */
function targetDifference(monitor: JudgedMonitor, number: number, target: number, state: MonitorState): Judgement {
  const by = monitor.type === 'TargetDelta' ? monitor.value : monitor.value * Math.abs(target);
  const distance = number - target;
  return difference(String(distance), distance, by, { ...state, reference: state.reference ?? '0' });
}

/** @param hysteresisPct width of the band behind a threshold, as a percentage of it */
export function judge(
  monitor: JudgedMonitor,
  { value, target }: Reading,
  state: MonitorState,
  hysteresisPct: number,
): Judgement {
  const number = numberOf(value);
  const nothing: Judgement = { state, event: null };
  switch (monitor.type) {
    case 'UpperThreshold':
      return number === null ? nothing : threshold(monitor, 1, number, state, hysteresisPct);
    case 'LowerThreshold':
      return number === null ? nothing : threshold(monitor, -1, number, state, hysteresisPct);
    case 'Delta':
      if (!monitor.numeric) return difference(value, null, null, state);
      return number === null ? nothing : difference(value, number, monitor.value, state);
    case 'TargetDelta':
    case 'TargetDeltaRelative':
      return number === null || target === null ? nothing : targetDifference(monitor, number, target, state);
    case 'Periodic':
    case 'PeriodicClockAligned':
      return nothing;
  }
}
