/** Which disturbances begin a capture, and their titles. */
import type { CallBody, CaptureTrigger } from '../contract/captures.ts';
import type { GridChange, GridEventKind, GridPatch, GridState } from '../contract/environment.ts';
import type { Disturbance } from '../contract/plant.ts';
import { plainOrigin } from '../core/origin.ts';
import { capitalized, plain, spanText } from './words.ts';

/** Changes of the grid that are no disturbance: per unit, and Hz. */
const leastPu = 0.02;
const leastHz = 0.2;
/** Rounding of differences. */
const slack = 1e-9;

/** Where a patch leads, at the end of its ramp. */
function targetOf({ patch, after }: { readonly patch: GridPatch; readonly after: GridState }) {
  const all = patch.voltagePu;
  return {
    pu: [
      patch.voltageAPu ?? all ?? after.voltageAPu,
      patch.voltageBPu ?? all ?? after.voltageBPu,
      patch.voltageCPu ?? all ?? after.voltageCPu,
    ],
    hz: patch.frequencyHz ?? after.frequencyHz,
  };
}

function isLarge({ before, after, command }: GridChange): boolean {
  if (after.outage !== before.outage || after.island !== before.island) return true;
  const { pu, hz } = targetOf({ patch: command.kind === 'set' ? command.patch : {}, after });
  const beforePu = [before.voltageAPu, before.voltageBPu, before.voltageCPu];
  return (
    pu.some((value, phase) => Math.abs(value - (beforePu[phase] ?? value)) > leastPu + slack) ||
    Math.abs(hz - before.frequencyHz) > leastHz + slack
  );
}

/** True for a change of the grid that begins a capture; steps of scenarios do whatever their size. */
export function isDisturbance(change: GridChange): boolean {
  return change.command.kind === 'event' || change.by.source === 'scenario' || isLarge(change);
}

/** Time until the grid is back, or at its new values, s. */
export function lastingS({ after }: GridChange): number {
  return Math.max(after.rampRemainingS, after.durationRemainingS ?? 0, after.event?.remainingS ?? 0);
}

const eventTitles: Readonly<Record<string, string>> = {
  lvrt_cat_2: 'Low-voltage ride-through, category II',
  lvrt_cat_3: 'Low-voltage ride-through, category III',
  hvrt_cat_2: 'High-voltage ride-through, category II',
  hvrt_cat_3: 'High-voltage ride-through, category III',
  lfrt: 'Low-frequency ride-through',
  hfrt: 'High-frequency ride-through',
  rocof_cat_1: 'Frequency ramp, category I',
  rocof_cat_2: 'Frequency ramp, category II',
  rocof_cat_3: 'Frequency ramp, category III',
};

const puNames = ['residual_pu', 'level_pu', 'to_pu'] as const;

const puText = (value: number) => `${plain(100 * value, 1)} %`;
const hzText = (value: number) => `${plain(value, 2)} Hz`;

function eventTitle(name: string, args: Readonly<Record<string, number | string>>): string {
  const title = eventTitles[name] ?? capitalized(name.replaceAll('_', ' '));
  for (const parameter of puNames) {
    const value = args[parameter];
    if (typeof value === 'number') return `${title} to ${puText(value)}`;
  }
  return typeof args.to_hz === 'number' ? `${title} to ${hzText(args.to_hz)}` : title;
}

function patchTitle(patch: GridPatch): string {
  const volts = [patch.voltagePu, patch.voltageAPu, patch.voltageBPu, patch.voltageCPu].filter(
    (value) => value !== undefined,
  );
  const parts = [
    ...(patch.outage === undefined ? [] : [patch.outage ? 'outage' : 'end of the outage']),
    ...(patch.island === undefined ? [] : [patch.island ? 'island' : 'end of the island']),
    ...(volts.length === 0 ? [] : [`voltage to ${[...new Set(volts.map(puText))].join(', ')}`]),
    ...(patch.frequencyHz === undefined ? [] : [`frequency to ${hzText(patch.frequencyHz)}`]),
    ...(patch.phaseAngleDeg === undefined ? [] : [`phase angle to ${plain(patch.phaseAngleDeg, 1)}°`]),
    ...(patch.source === 'csv' ? ['grid profile'] : []),
  ];
  return capitalized(parts.length === 0 ? 'change of the grid' : parts.join(', '));
}

/** Members of a request from those of its camel-case form. */
const snakeCased = (of: object) =>
  Object.fromEntries(
    Object.entries(of).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  ) as CallBody;

/** @param tS instant in the seconds of the capture @param kinds events with the defaults of their arguments */
export function gridTrigger(change: GridChange, tS: number, kinds: readonly GridEventKind[]): CaptureTrigger {
  const { command, deviceIndex } = change;
  const query = deviceIndex === null ? '' : `?device=${deviceIndex}`;
  const span = lastingS(change);
  const lasting = span === 0 ? '' : ` for ${spanText(span)}`;
  const common = { tS, deviceIndex, by: plainOrigin(change.by) };
  const eventPath = `/controls/grid/event${query}`;
  if (command.kind === 'set')
    return {
      ...common,
      kind: 'grid_change',
      title: `${patchTitle(command.patch)}${lasting}`,
      call: { path: `/controls/grid${query}`, body: snakeCased(command.patch) },
    };
  if (command.kind === 'end')
    return {
      ...common,
      kind: 'grid_event',
      title: 'End of the event',
      call: { path: eventPath, body: { event: null } },
    };
  const { name, args } = command;
  const parameters = kinds.find((kind) => kind.name === name)?.parameters ?? [];
  const defaults = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.default]));
  return {
    ...common,
    kind: 'grid_event',
    title: `${eventTitle(name, { ...defaults, ...args })}${lasting}`,
    call: { path: eventPath, body: { event: name, ...(Object.keys(args).length > 0 && { parameters: args }) } },
  };
}

/** A disturbance at a device. @param name of the device */
export function deviceTrigger(
  { kind, deviceIndex, alarm }: Exclude<Disturbance, { readonly kind: 'grid' }>,
  tS: number,
  name: string,
): CaptureTrigger {
  const title = {
    threshold: `Trip threshold exceeded at ${name}`,
    trip: `Trip of ${name}`,
    alarm: `Alarm ${alarm ?? ''} of ${name}`,
  }[kind];
  return { kind, tS, title, deviceIndex, by: null, call: null };
}
