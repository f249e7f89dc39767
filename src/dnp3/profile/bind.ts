/** Functions that make bindings, shared by the parts of the profile. */
import type { BatteryDetail } from '../../contract/kinds/battery.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { PointPath } from '../../sunspec/map/point-path.ts';
import type { DevicePort, PointWrite, SettingWrite } from '../device-port.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { ControlStatus } from '../stack/outstation/types.ts';
import type { InputSource, OutputTarget, PartContext, PointBindings, PointName } from './types.ts';
import { SimError } from '../../core/errors.ts';

export const { success } = controlStatus;

/** `bound` of state without a register. */
export const stateWithoutRegister = 'simulator';

export interface InputOptions extends Pick<InputSource, 'measured' | 'live' | 'deadband' | 'isIdle'> {
  /** engineering value per value of the register; default 1 */
  readonly factor?: number;
}

/** `bound` of a register with a factor. */
function boundTo(point: PointPath, factor: number): string {
  if (factor === 1) return point;
  return factor === -1 ? `-${point}` : `${factor} x ${point}`;
}

/** `port.number` of a point that is read in every tick. */
export function numberReader(port: DevicePort, point: PointPath): () => number | null {
  const read = port.reader(point);
  return () => {
    const value = read();
    return typeof value === 'number' ? value : null;
  };
}

/** An input that shows a number of the map; null: the device does not have it. */
export function pointInput(
  port: DevicePort,
  point: PointPath,
  { factor = 1, ...more }: InputOptions = {},
): InputSource | null {
  if (!port.has(point)) return null;
  // a reader costs memory: settings are read after commits alone, and have none
  const number = more.measured === true || more.live === true ? numberReader(port, point) : () => port.number(point);
  return {
    read() {
      const value = number();
      return value === null ? null : value * factor;
    },
    bound: boundTo(point, factor),
    ...more,
  };
}

/** An input whose value is computed. */
export function computed(read: InputSource['read'], bound: string, more: InputOptions = {}): InputSource {
  return { read, bound, ...more };
}

/**
 * Shows the written value of an output while the register holds its rounding, because a register may be coarser than
 * the unit of the profile. After any other write, also of the same value, the value of the register is shown.
 * @param toRegister converts a value of the output to a value of the register
 */
export function asWritten(
  port: DevicePort,
  point: PointPath,
  target: OutputTarget,
  toRegister: (value: number) => number,
): OutputTarget {
  let written: { readonly value: number; readonly mark: Provenance | undefined } | null = null;
  // a little more than half a step: halves of decimal fractions are not exact
  const isRounding = (value: number) =>
    Math.abs((port.number(point) ?? NaN) - toRegister(value)) <= 0.500001 * port.step(point);
  return {
    ...target,
    read() {
      const isInForce = written !== null && port.writer(point) === written.mark && isRounding(written.value);
      return isInForce && written !== null ? written.value : target.read();
    },
    operate(value, by) {
      const status = target.operate(value, by);
      if (status === success && typeof value === 'number') written = { value, mark: port.writer(point) };
      return status;
    },
    kept: () =>
      keptRecord(
        () => ({ written: written === null ? null : { value: written.value, mark: markText(written.mark) } }),
        (kept) => {
          const mark = port.writer(point);
          written = kept.written?.mark === markText(mark) ? { value: kept.written.value, mark } : null;
        },
      ),
  };
}

/** The last writer of a state as text, which is the same after a restart. */
export function markText(mark: unknown): string {
  return mark === undefined ? 'none' : JSON.stringify(mark, ['name', 'source', 'peer', 'at', 'wallMs']);
}

interface RegisterOutput {
  readonly point: PointPath;
  /** engineering value of the output per value of the register; default 1 */
  readonly factor?: number;
  /** other writes of the same commit */
  readonly also?: (value: number) => readonly PointWrite[];
  readonly isIdle?: () => boolean;
  /** engineering value while the register is not in use, null if there is none; undefined: the register is in use */
  readonly elsewhere?: () => number | null | undefined;
}

/** An output that is a register; null: the device does not have it. */
export function registerOutput(
  port: DevicePort,
  { point, factor = 1, also, isIdle, elsewhere }: RegisterOutput,
): OutputTarget | null {
  if (!port.has(point)) return null;
  const writes = (value: number | boolean) => [
    { point, value: Number(value) / factor },
    ...(also?.(Number(value)) ?? []),
  ];
  const register = writing(port, {
    read() {
      const value = port.number(point);
      return value === null ? null : value * factor;
    },
    writes,
    bound: boundTo(point, factor),
    ...(isIdle && { isIdle }),
  });
  const output = asWritten(port, point, register, (value) => value / factor);
  return {
    ...output,
    ...(elsewhere && {
      read() {
        const value = elsewhere();
        return value === undefined ? output.read() : value;
      },
    }),
    range() {
      const range = port.range(point);
      if (range === null) return null;
      const [min, max] = range.map((bound) => (bound === null ? null : bound * factor));
      return factor < 0 ? [max ?? null, min ?? null] : [min ?? null, max ?? null];
    },
  };
}

interface WritingOutput extends Pick<OutputTarget, 'read' | 'bound' | 'isIdle' | 'live'> {
  /** points to be written; a status refuses the value */
  readonly writes: (value: number | boolean) => readonly SettingWrite[] | ControlStatus;
}

/** An output that is carried out by one commit. */
export function writing(port: DevicePort, { writes, ...rest }: WritingOutput): OutputTarget {
  return {
    ...rest,
    check(value, by) {
      const settings = writes(value);
      if (typeof settings === 'number') return settings;
      port.check(settings, by);
      return success;
    },
    operate(value, by) {
      const settings = writes(value);
      if (typeof settings === 'number') return settings;
      port.write(settings, by);
      return success;
    },
  };
}

/** An output whose value is kept in `settings`: no register has it. */
export function settingOutput(
  { settings, changed }: Pick<PartContext, 'settings' | 'changed'>,
  name: PointName,
  start: number | boolean,
  {
    isIdle,
    allows = () => true,
  }: { readonly isIdle?: () => boolean; readonly allows?: (value: number) => boolean } = {},
): OutputTarget {
  settings.declare(name, start);
  const check = (value: number | boolean): ControlStatus =>
    allows(Number(value)) ? success : controlStatus.outOfRange;
  return {
    read: () => (typeof start === 'boolean' ? settings.flag(name) : settings.number(name)),
    check,
    operate(value) {
      const status = check(value);
      if (status === success) {
        settings.set(name, value);
        changed();
      }
      return status;
    },
    bound: stateWithoutRegister,
    ...(isIdle && { isIdle }),
  };
}

type Bound<T> = readonly (readonly [name: PointName, binding: T | null])[];

/** Bindings of a part, without points that the device lacks. */
export function bindings(inputs: Bound<InputSource>, outputs: Bound<OutputTarget> = []): PointBindings {
  const withoutNulls = <T>(rows: Bound<T>) =>
    new Map(rows.flatMap(([name, binding]) => (binding === null ? [] : [[name, binding] as const])));
  return { inputs: withoutNulls(inputs), outputs: withoutNulls(outputs) };
}

/** The points of several parts together. */
export function merged(parts: readonly PointBindings[]): PointBindings {
  return {
    inputs: new Map(parts.flatMap(({ inputs }) => [...inputs])),
    outputs: new Map(parts.flatMap(({ outputs }) => [...outputs])),
  };
}

/** The battery of a device, also behind a hybrid inverter; null: it has none. */
export function batteryOf({ device: { detail } }: DevicePort): BatteryDetail | null {
  if (detail.kind === 'hybrid-dc') return detail.battery;
  return detail.kind === 'battery' ? detail : null;
}

/** Levels between which normal dispatch keeps the charge of a battery, percent. */
export function reservesPct(port: DevicePort): readonly [min: number, max: number] {
  return [port.number('802.SoCRsvMin') ?? 0, port.number('802.SocRsvMax') ?? 100];
}

/** Writer of the changes that a timer of the outstation makes. */
export const timerOrigin: Origin = { source: 'dnp3', peer: 'timer' };

const statusOfCode: Readonly<Record<string, ControlStatus>> = {
  MAP_BAD_VALUE: controlStatus.outOfRange,
  COMMAND_BAD_VALUE: controlStatus.outOfRange,
  MAP_LOCAL_CONTROL: controlStatus.local,
  MAP_NOT_SUPPORTED: controlStatus.notSupported,
  MAP_NOT_IMPLEMENTED: controlStatus.notSupported,
  MAP_READ_ONLY: controlStatus.notSupported,
  COMMAND_NOT_APPLICABLE: controlStatus.notSupported,
  COMMAND_CONFLICT: controlStatus.hardwareError,
};

/** The status for an error of the map or of the device. */
export function statusOf(error: unknown): ControlStatus {
  return error instanceof SimError
    ? (statusOfCode[error.code] ?? controlStatus.hardwareError)
    : controlStatus.hardwareError;
}

/** Runs `act`; an error becomes its status. @param refused called with the error */
export function attempted(act: () => ControlStatus, refused?: (error: unknown) => void): ControlStatus {
  try {
    return act();
  } catch (error) {
    refused?.(error);
    return statusOf(error);
  }
}
