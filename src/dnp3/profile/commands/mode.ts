/**
 * Parts common to all modes: support, enabling within a time window, changes for a limited time (both in simulated
 * time), and settings that are idle while the mode is off.
 */
import { gradientRange, slopeState } from '../../../contract/device.ts';
import type { Gradient } from '../../../contract/device.ts';
import { keptRecord } from '../../../core/kept.ts';
import { plainOrigin } from '../../../core/origin.ts';
import type { Origin } from '../../../core/origin.ts';
import type { SettingWrite, DevicePort } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import {
  attempted,
  bindings,
  computed,
  markText,
  merged,
  settingOutput,
  statusOf,
  success,
  timerOrigin,
} from '../bind.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from '../types.ts';
import type { CommandState } from '../../../core/command-hold.ts';
import { addSeconds } from '../../../core/time/clock.ts';
import type { SimTime } from '../../../core/time/clock.ts';
import type { RandomStream } from '../../../core/random.ts';

/** A command for an output. */
interface Order {
  readonly value: number | boolean;
  readonly by: Origin;
}

interface Delayed {
  /** true while a command waits */
  readonly isWaiting: boolean;
  /** Sets the function that carries commands out. */
  carriesOut(act: (order: Order) => ControlStatus): void;
  /**
   * Carries a command out after a random part of the window; a newer one that is accepted replaces a waiting one.
   * @returns the status of the command if it is carried out at once, else success
   */
  run(windowS: number, order: Order): ControlStatus;
  cancel(): void;
}

/** A change that is to come at a simulated instant. */
interface Due<What> {
  readonly what: What;
  readonly at: SimTime;
  readonly cancel: () => void;
}

/** Calls `act` at an instant that may have passed while the process was down. */
function atOrSoon(port: DevicePort, at: SimTime, act: () => void): () => void {
  return port.at(at > port.now ? at : port.now, act);
}

/** The delays of one output. They end with the outstation, and at a reset of the device. */
export function delayed({ port, random, log, settings, onClose, keep }: PartContext, name: PointName): Delayed {
  let stream: RandomStream | undefined;
  let waiting: Due<Order> | null = null;
  let carryOut: (order: Order) => ControlStatus = () => success;
  const streamOfWindow = () => (stream ??= random(`window ${name}`));
  const wait = (what: Order, at: SimTime) => {
    const act = () => {
      waiting = null;
      changed();
      const status = attempted(() => carryOut(what));
      if (status !== success) log.warning(`${name}: refused with status ${status} at the end of its time window`);
    };
    waiting = { what, at, cancel: atOrSoon(port, at, act) };
  };
  const cancel = () => {
    if (waiting === null) return;
    waiting.cancel();
    waiting = null;
    changed();
  };
  const kept = keptRecord(
    () => ({
      waiting: waiting && { value: waiting.what.value, by: plainOrigin(waiting.what.by), at: waiting.at },
      stream: stream?.kept().save() ?? null,
    }),
    (values) => {
      if (values.stream !== null) streamOfWindow().kept().restore(values.stream);
      if (values.waiting !== null) wait(values.waiting, values.waiting.at);
    },
  );
  const changed = keep(`window ${name}`, kept);
  settings.onReset(cancel);
  onClose(() => waiting?.cancel());
  return {
    get isWaiting() {
      return waiting !== null;
    },
    carriesOut(act) {
      carryOut = act;
    },
    run(windowS, order) {
      const delayS = windowS > 0 ? streamOfWindow().next() * windowS : 0;
      if (delayS === 0) {
        const status = carryOut(order);
        if (status === success) cancel();
        return status;
      }
      cancel();
      wait(order, addSeconds(port.now, delayS));
      changed();
      return success;
    },
    cancel,
  };
}

interface TimedChange<Value> {
  /**
   * Changes the state.
   * @param afterS seconds until the former state is restored; 0: never
   * @throws SimError as `CommandState.write`; then nothing has changed
   */
  change(value: Value, by: Origin, afterS: number): void;
  /** Restores the former state now. */
  goBack(): void;
  /** Drops the former state: the change stays. */
  forget(): void;
}

interface TimedChangeOptions {
  /** name of its kept state; default: the name of the change */
  readonly key?: string;
  /** checked before the former state is restored; false: the change stays */
  readonly mayGoBack?: () => boolean;
  /** true: the former state is restored when the outstation ends; default: the change stays */
  readonly endsAtClose?: boolean;
}

/** A state that an output changes for a limited time; a later change by another writer stays. */
export function timedChange<Value>(
  context: PartContext,
  name: string,
  state: CommandState<Value>,
  { key = name, mayGoBack = () => true, endsAtClose = false }: TimedChangeOptions = {},
): TimedChange<Value> {
  const { port, settings, onClose, keep } = context;
  let pending: Due<{ readonly former: Value; readonly mark: unknown }> | null = null;
  const forget = () => {
    if (pending === null) return;
    pending.cancel();
    pending = null;
    changed();
  };
  const goBack = () => {
    const change = pending !== null && pending.what.mark === state.mark() ? pending.what : null;
    forget();
    if (change && mayGoBack()) orLog(context, name, () => state.write(change.former, timerOrigin));
  };
  const begin = (former: Value, at: SimTime) => {
    pending = { what: { former, mark: state.mark() }, at, cancel: atOrSoon(port, at, goBack) };
  };
  const kept = keptRecord(
    () => ({
      pending: pending && { former: pending.what.former, mark: markText(pending.what.mark), at: pending.at },
    }),
    (values) => {
      // another writer may have changed the state while the process was down
      if (values.pending?.mark === markText(state.mark())) begin(values.pending.former, values.pending.at);
    },
  );
  const changed = keep(`former state of ${key}`, kept);
  settings.onReset(forget);
  onClose((end) => {
    if (end !== 'gone') pending?.cancel();
    else if (endsAtClose) goBack();
    else forget();
  });
  return {
    change(value, by, afterS) {
      // a repeated change keeps the original former state
      const former = pending !== null && pending.what.mark === state.mark() ? pending.what.former : state.read();
      state.write(value, by);
      forget();
      if (afterS <= 0 || former === value) return;
      begin(former, addSeconds(port.now, afterS));
      changed();
    },
    goBack,
    forget,
  };
}

/** Runs `act` and logs its refusal. */
export function orLog({ log }: Pick<PartContext, 'log'>, name: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`${name}: an automatic change was refused with status ${statusOf(error)}`);
  }
}

/** Offset from the index of the enabling output to the input that shows support. */
const supportsOffset = 19;

interface Mode {
  /** index of the enabling output */
  readonly enable: number;
  readonly isSupported: boolean;
  readonly isEnabled: () => boolean;
  /** writes that switch the mode, or a status that refuses; changes nothing */
  readonly writes: (on: boolean) => readonly SettingWrite[] | ControlStatus;
  /** called after the writes; a status other than success is the answer of the switch */
  readonly switched?: (on: boolean, by: Origin) => ControlStatus | undefined;
  /** delays of the enabling output; absent: they are created */
  readonly wait?: Delayed;
  /** output of the priority, whose range is 0 alone: priorities of modes have no effect */
  readonly priority?: PointName;
  /** output of the time window for enabling, s */
  readonly window?: PointName;
  readonly bound: string;
  readonly inputs?: readonly (readonly [PointName, InputSource | null])[];
  readonly outputs?: readonly (readonly [PointName, OutputTarget | null])[];
}

/** The switch of a mode; that of an unsupported mode refuses. */
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
  wait.carriesOut(({ value: on, by }) => {
    // checked again: the time window may have passed since
    const writes = mode.writes(on === true);
    if (typeof writes === 'number') return writes;
    port.write(writes, by);
    context.changed();
    return mode.switched?.(on === true, by) ?? success;
  });
  return {
    read: () => mode.isSupported && mode.isEnabled(),
    check,
    operate(on, by) {
      if (!mode.isSupported) return controlStatus.notSupported;
      const windowS = on === true && mode.window !== undefined ? settings.number(mode.window) : 0;
      // a command without delay is checked by its own write
      const status = windowS > 0 ? check(on, by) : success;
      if (status !== success) return status;
      return wait.run(windowS, { value: on, by });
    },
    bound: mode.bound,
  };
}

/** The points of a mode; an unsupported mode has only its switch and the input of support. */
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

/** Enabling outputs of the modes that no device of the simulator has: their switches refuse. */
const unsupportedModes = [14, 15, 19, 20, 21, 22, 23, 24, 26, 31, 32];

/** The part of these modes. */
export function unsupportedPart(context: PartContext): PointBindings {
  const none = { isSupported: false, isEnabled: () => false, writes: () => [], bound: 'no function' };
  return merged(unsupportedModes.map((enable) => modePoints(context, { enable, ...none })));
}

/** A change in percent of the reference of a gradient. */
interface PowerChange {
  readonly fromPct: number;
  readonly toPct: number;
}

const clampedRate = (pctPerS: number) => Math.min(gradientRange.max, Math.max(gradientRange.min, pctPerS));

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
 * Ramp times: a command reaches its target within the time of its output, by a gradient of the device that is set for
 * this time; then the former gradient is restored. Curves and droop have response times instead, and the target of a
 * power factor moves with active power.
 */
export class Ramps {
  readonly #context: PartContext;
  /** outputs share the two slopes of the device: a newer ramp replaces one under way */
  readonly #slopes: Readonly<Record<keyof Gradient, TimedChange<number | null>>>;

  constructor(context: PartContext) {
    this.#context = context;
    const slope = (name: keyof Gradient) =>
      timedChange(context, 'ramp', slopeOf(context.port, name), { key: `ramp ${name}`, endsAtClose: true });
    this.#slopes = { wPctPerS: slope('wPctPerS'), varPctPerS: slope('varPctPerS') };
  }

  /** The output of a ramp time, s; null: the device has no such ramp. 0: the ramp of the registers. */
  output(name: PointName, slope: keyof Gradient, isIdle?: () => boolean): OutputTarget | null {
    if (!this.#context.port.has(slope === 'wPctPerS' ? '704.WRmp' : '704.VarRmp')) return null;
    const setting = settingOutput(this.#context, name, 0, isIdle ? { isIdle } : {});
    return { ...setting, bound: `gradient of the device (${slope === 'wPctPerS' ? 'active' : 'reactive'} power)` };
  }

  /** Sets the gradient for a command that begins. @param name output of its ramp time */
  begin(name: PointName, slope: keyof Gradient, { fromPct, toPct }: PowerChange, by: Origin): void {
    const seconds = this.#context.settings.number(name);
    const pct = Math.abs(toPct - fromPct);
    if (seconds > 0 && pct > 0) this.#slopes[slope].change(clampedRate(pct / seconds), by, seconds);
  }

  /** Ends all ramps, so that they do not slow later changes. */
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

/** A ramp rate. The device has a single one, up and down, for generation and charging: 704.WRmp or the gradient. */
export function rampRate(port: DevicePort, isIdle: () => boolean): OutputTarget | null {
  if (!port.has('704.WRmp')) return null;
  return {
    read: () => port.device.gradient.w.pctPerS,
    // the device may still refuse `operate`: a command has no dry run
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
