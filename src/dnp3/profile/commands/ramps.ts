/**
 * Ramp times: a command reaches its aim within the time of its output. Meanwhile the gradient of the device is the one that
 * brings it there; then the gradient is again what it was. Curves, droop and power factor have no such time: the first
 * two follow their response times, and the aim of the last moves with active power.
 */
import { gradientRange, slopeState } from '../../../contract/device.ts';
import type { Gradient } from '../../../contract/device.ts';
import type { CommandState } from '../../../core/command-hold.ts';
import type { Origin } from '../../../core/origin.ts';
import type { DevicePort } from '../../device-port.ts';
import { settingOutput, success } from '../bind.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { OutputTarget, PartContext, PointName } from '../types.ts';
import { timedChange } from './delayed.ts';
import type { TimedChange } from './delayed.ts';

/** Percent of the power that a gradient is of. */
export interface Way {
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
