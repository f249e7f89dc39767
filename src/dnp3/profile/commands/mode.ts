/**
 * Parts common to all modes: support, enabling within a time window, and settings that are idle while the mode is off.
 */
import type { Origin } from '../../../core/origin.ts';
import type { Wanted } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { bindings, computed, merged, settingOutput, success } from '../bind.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import { delayed } from './delayed.ts';
import type { Delayed } from './delayed.ts';

/** Offsets from the enabling output to the inputs of support and of state. */
const supportsOffset = 19;

export interface Mode {
  /** index of the enabling output */
  readonly enable: number;
  readonly isSupported: boolean;
  readonly isEnabled: () => boolean;
  /** the points that switch it; a status refuses. Moves nothing */
  readonly writes: (on: boolean) => readonly Wanted[] | ControlStatus;
  /** called when the points have been written; a status other than success is the answer of the switch */
  readonly switched?: (on: boolean, by: Origin) => ControlStatus | undefined;
  /** its delays; absent: it has those of its enabling output */
  readonly wait?: Delayed;
  /** output of the priority, of which 0 alone is there; of the time window in which it is enabled */
  readonly priority?: PointName;
  readonly window?: PointName;
  readonly bound: string;
  readonly inputs?: readonly (readonly [PointName, InputSource | null])[];
  readonly outputs?: readonly (readonly [PointName, OutputTarget | null])[];
}

/** The switch of a mode. A mode without physics is refused. */
function enabling(context: PartContext, mode: Mode): OutputTarget {
  const { port, settings } = context;
  const wait = mode.wait ?? delayed(context, `BO${mode.enable}`);
  const check: OutputTarget['check'] = (on, by) => {
    if (!mode.isSupported) return controlStatus.notSupported;
    const writes = mode.writes(on === true);
    if (typeof writes === 'number') return writes;
    port.check(writes, by);
    return success;
  };
  const carryOut: OutputTarget['operate'] = (on, by) => {
    // looked at again: a window may lie between
    const writes = mode.writes(on === true);
    if (typeof writes === 'number') return writes;
    port.write(writes, by);
    context.changed();
    return mode.switched?.(on === true, by) ?? success;
  };
  return {
    read: () => mode.isSupported && mode.isEnabled(),
    check,
    operate(on, by) {
      if (!mode.isSupported) return controlStatus.notSupported;
      const windowS = on === true && mode.window !== undefined ? settings.number(mode.window) : 0;
      // a command without delay is checked by its own write
      const status = windowS > 0 ? check(on, by) : success;
      if (status !== success) return status;
      return wait.run(windowS, () => carryOut(on, by));
    },
    bound: mode.bound,
  };
}

/** The points of a mode; of an unsupported one only its switch and the input that says so. */
export function modePoints(context: PartContext, mode: Mode): PointBindings {
  const supports: PointName = `BI${mode.enable + supportsOffset}`;
  const shown = [
    [supports, computed(() => mode.isSupported, '702.CtrlModes')] as const,
    ...(mode.isSupported ? (mode.inputs ?? []) : []),
  ];
  const isIdle = () => !mode.isEnabled();
  const settings = [mode.priority, mode.window]
    .filter((name) => name !== undefined)
    .map((name) => [name, settingOutput(context, name, 0, { isIdle })] as const);
  return bindings(shown, [
    [`BO${mode.enable}`, enabling(context, mode)],
    ...(mode.isSupported ? [...settings, ...(mode.outputs ?? [])] : []),
  ]);
}

/** Modes of the profile without physics: their switch is there to be refused. */
const unsupportedModes = [14, 15, 19, 20, 21, 22, 23, 24, 26, 31, 32];

/** The part of the modes that no device of the simulator has. */
export function unsupportedPart(context: PartContext): PointBindings {
  const none = { isSupported: false, isEnabled: () => false, writes: () => [], bound: 'no function' };
  return merged(unsupportedModes.map((enable) => modePoints(context, { enable, ...none })));
}
