/**
 * Parts common to all modes: support, enabling within a time window, changes for a time (both in simulated time), and
 * settings that are idle while the mode is off.
 */
import { gradientRange, slopeState } from '../../../contract/device.ts';
import type { Gradient } from '../../../contract/device.ts';
import type { Origin } from '../../../core/origin.ts';
import type { SettingWrite, DevicePort } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { bindings, computed, merged, settingOutput, success, timerOrigin, attempted, statusOf } from '../bind.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import type { CommandState } from '../../../core/command-hold.ts';
import { addSeconds } from '../../../core/time/clock.ts';
import type { RandomStream } from '../../../core/random.ts';

interface Delayed {
  /** true if a command waits */
  readonly isWaiting: boolean;
  /**
   * Does something after a random part of the window, once for each command; a newer command that is taken replaces it.
   * @returns the status of what is done at once, or success for what waits
   */
  run(windowS: number, act: () => ControlStatus): ControlStatus;
  cancel(): void;
}

/** The delays of one output. They end with the outstation, and at a reset of the device. */
export function delayed({ port, random, log, settings, onClose }: PartContext, name: PointName): Delayed {
  let stream: RandomStream | undefined;
  let end: (() => void) | null = null;
  const cancel = () => {
    end?.();
    end = null;
  };
  settings.onReset(cancel);
  onClose(cancel);
  return {
    get isWaiting() {
      return end !== null;
    },
    run(windowS, act) {
      stream ??= random(`window ${name}`);
      const delayS = windowS > 0 ? stream.next() * windowS : 0;
      if (delayS === 0) {
        const status = act();
        if (status === success) cancel();
        return status;
      }
      cancel();
      end = port.at(addSeconds(port.now, delayS), () => {
        end = null;
        const status = attempted(act);
        if (status !== success) log.warning(`${name}: refused with status ${status} at the end of its time window`);
      });
      return success;
    },
    cancel,
  };
}

interface TimedChange<Value> {
  /**
   * Changes the state.
   * @param afterS seconds until the former state is restored; 0: never
   * @throws SimError as the state; then nothing has changed
   */
  change(value: Value, by: Origin, afterS: number): void;
  /** Restores the former state now. */
  goBack(): void;
  /** The change stays. */
  forget(): void;
}

interface TimedChangeOptions {
  /** asked when the time is over */
  readonly mayGoBack?: () => boolean;
  /** true if what was there before comes back with the end of the outstation; default: the change stays */
  readonly endsAtClose?: boolean;
}

/** A state that an output changes for a time. What another writer has made of it since is left alone. */
export function timedChange<Value>(
  context: PartContext,
  name: string,
  state: CommandState<Value>,
  { mayGoBack = () => true, endsAtClose = false }: TimedChangeOptions = {},
): TimedChange<Value> {
  const { port, settings, onClose } = context;
  let taken: { readonly former: Value; readonly mark: unknown; readonly end: () => void } | null = null;
  const forget = () => {
    taken?.end();
    taken = null;
  };
  const goBack = () => {
    const change = taken !== null && taken.mark === state.mark() ? taken : null;
    forget();
    if (change && mayGoBack()) orLog(context, name, () => state.write(change.former, timerOrigin));
  };
  settings.onReset(forget);
  onClose(endsAtClose ? goBack : forget);
  return {
    change(value, by, afterS) {
      // a repeated change keeps the original former state
      const former = taken !== null && taken.mark === state.mark() ? taken.former : state.read();
      state.write(value, by);
      forget();
      if (afterS <= 0 || former === value) return;
      taken = { former, mark: state.mark(), end: port.at(addSeconds(port.now, afterS), goBack) };
    },
    goBack,
    forget,
  };
}

/** Runs an act and logs its refusal. */
export function orLog({ log }: Pick<PartContext, 'log'>, name: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`${name}: what its timer does was refused with status ${statusOf(error)}`);
  }
}

/** Offsets from the enabling output to the inputs of support and of state. */
const supportsOffset = 19;

interface Mode {
  /** index of the enabling output */
  readonly enable: number;
  readonly isSupported: boolean;
  readonly isEnabled: () => boolean;
  /** the points that switch it; a status refuses. Moves nothing */
  readonly writes: (on: boolean) => readonly SettingWrite[] | ControlStatus;
  /** called when the points have been written; a status other than success is the answer of the switch */
  readonly switched?: (on: boolean, by: Origin) => ControlStatus | undefined;
  /** its delays; absent: it has those of its enabling output */
  readonly wait?: Delayed;
  /** output of the priority; 0 alone is supported */
  readonly priority?: PointName;
  /** output of the time window in which the mode is enabled */
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
  const inputs = [
    [supports, computed(() => mode.isSupported, '702.CtrlModes')] as const,
    ...(mode.isSupported ? (mode.inputs ?? []) : []),
  ];
  const isIdle = () => !mode.isEnabled();
  const settings = [mode.priority, mode.window]
    .filter((name) => name !== undefined)
    .map((name) => [name, settingOutput(context, name, 0, { isIdle })] as const);
  return bindings(inputs, [
    [`BO${mode.enable}`, enabling(context, mode)],
    ...(mode.isSupported ? [...settings, ...(mode.outputs ?? [])] : []),
  ]);
}

/** Modes of the profile without physics: switching them on is refused. */
const unsupportedModes = [14, 15, 19, 20, 21, 22, 23, 24, 26, 31, 32];

/** The part of the modes that no device of the simulator has. */
export function unsupportedPart(context: PartContext): PointBindings {
  const none = { isSupported: false, isEnabled: () => false, writes: () => [], bound: 'no function' };
  return merged(unsupportedModes.map((enable) => modePoints(context, { enable, ...none })));
}

/** Percent of the power that a gradient is of. */
interface Way {
  readonly fromPct: number;
  readonly toPct: number;
}

const within = (pctPerS: number) => Math.min(gradientRange.max, Math.max(gradientRange.min, pctPerS));

function slopeOf(port: DevicePort, name: keyof Gradient): CommandState<number | null> {
  return slopeState(
    {
      command: port.command,
      get gradient() {
        return port.device.gradient;
      },
    },
    name,
  );
}

/** Present active power, percent of 702.WMax. */
export function presentWPct(port: DevicePort): number {
  const maxW = port.number('702.WMax') ?? 0;
  return maxW > 0 ? (100 * (port.number('701.W') ?? 0)) / maxW : 0;
}

/** Reactive power as percent of the reference of its gradient: the larger of 702.VarMaxInj and VarMaxAbs. */
export function varPct(port: DevicePort, reactive: number): number {
  const max = Math.max(port.number('702.VarMaxInj') ?? 0, port.number('702.VarMaxAbs') ?? 0);
  return max > 0 ? (100 * reactive) / max : 0;
}

/**
 * Ramp times: a command reaches its aim within the time of its output. Meanwhile the gradient of the device is the one that
 * brings it there; then the gradient is again what it was. Curves, droop and power factor have no such time: the first
 * two follow their response times, and the aim of the last moves with active power.
 */
export class Ramps {
  readonly #context: PartContext;
  /** outputs share the two slopes of the device: a newer ramp takes the place of one that lasts */
  readonly #slopes: Readonly<Record<keyof Gradient, TimedChange<number | null>>>;

  constructor(context: PartContext) {
    this.#context = context;
    const slope = (name: keyof Gradient) =>
      timedChange(context, 'ramp', slopeOf(context.port, name), { endsAtClose: true });
    this.#slopes = { wPctPerS: slope('wPctPerS'), varPctPerS: slope('varPctPerS') };
  }

  /** The output of a ramp time, s; null: the device has no such ramp. 0: the ramp of the registers. */
  output(name: PointName, slope: keyof Gradient, isIdle?: () => boolean): OutputTarget | null {
    if (!this.#context.port.has(slope === 'wPctPerS' ? '704.WRmp' : '704.VarRmp')) return null;
    const setting = settingOutput(this.#context, name, 0, isIdle ? { isIdle } : {});
    return { ...setting, bound: `gradient of the device (${slope === 'wPctPerS' ? 'active' : 'reactive'} power)` };
  }

  /** A command has begun. @param name output of its ramp time */
  begin(name: PointName, slope: keyof Gradient, { fromPct, toPct }: Way, by: Origin): void {
    const seconds = this.#context.settings.number(name);
    const pct = Math.abs(toPct - fromPct);
    if (seconds > 0 && pct > 0) this.#slopes[slope].change(within(pct / seconds), by, seconds);
  }

  /** Ends a ramp, so that it does not slow later changes. */
  end(): void {
    for (const slope of Object.values(this.#slopes)) slope.goBack();
  }
}

/** An output whose change begins a ramp while its mode is enabled. */
export function ramped(target: OutputTarget | null, isEnabled: () => boolean, begin: (by: Origin) => void) {
  if (target === null) return null;
  const output: OutputTarget = {
    ...target,
    operate(value, by) {
      const status = target.operate(value, by);
      if (status === success && isEnabled()) begin(by);
      return status;
    },
  };
  return output;
}

/** Ramp rates, of which the device has one for both directions of change and of power: 704.WRmp or the gradient. */
export function rampRate(port: DevicePort, isIdle: () => boolean): OutputTarget | null {
  if (!port.has('704.WRmp')) return null;
  return {
    read: () => port.device.gradient.w.pctPerS,
    // refused within `operate` alone: a command has no dry run
    check: (value) =>
      Number(value) >= gradientRange.min && Number(value) <= gradientRange.max ? success : controlStatus.outOfRange,
    operate(value, by) {
      port.command({ kind: 'gradient', wPctPerS: Number(value) }, by);
      return success;
    },
    range: () => [gradientRange.min, gradientRange.max],
    live: true,
    isIdle,
    bound: 'gradient of the device (active power)',
  };
}
