/** The slopes of commands of a device, as controls take them and give them back. */
import type { CommandState } from '../core/command-hold.ts';
import type { Device } from './device.ts';
import type { Gradient } from './gradient.ts';

/** One slope of commands, percent per second; null: the register decides. */
export function slopeState(
  device: Pick<Device, 'command' | 'gradient'>,
  name: keyof Gradient,
): CommandState<number | null> {
  const read = () => {
    const { pctPerS, source } = device.gradient[name === 'wPctPerS' ? 'w' : 'var'];
    return source === 'gradient' ? pctPerS : null;
  };
  return {
    read,
    write: (value, by) => {
      device.command({ kind: 'gradient', [name]: value }, by);
    },
    // both slopes have one writer: the value shows if this one is unchanged
    mark: read,
  };
}
