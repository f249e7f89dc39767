/** State of a device without a register that controls of IEEE 2030.5 set. */
import type { CommandState } from '../../core/command-hold.ts';
import type { Device, OverrideName } from '../../contract/device.ts';
import type { HybridPolicy } from '../../contract/kinds/hybrid.ts';

/** The last writer of an override, as an object of its own per command. */
const writerOf = (device: Device, override: OverrideName) => device.overrides.find(({ name }) => name === override);

/** Position of the disconnect switch. */
export function switchState(device: Device): CommandState<boolean> {
  return {
    read: () => device.switchClosed,
    write: (closed, by) => {
      device.command({ kind: 'switch', closed }, by);
    },
    mark: () => writerOf(device, 'switch'),
  };
}

/** Battery power of a hybrid, W; null: as its policy says. */
export function storageState(device: Device): CommandState<StoragePin> {
  const read = (): StoragePin => {
    const { detail } = device;
    return detail.kind === 'hybrid-dc' ? { policy: detail.policy, powerW: detail.manualBatteryW } : null;
  };
  return {
    read,
    write: (pin, by) => {
      if (pin === null) return;
      if (read()?.policy !== pin.policy) device.command({ kind: 'hybrid.policy', policy: pin.policy }, by);
      if (pin.policy === 'manual') device.command({ kind: 'hybrid.battery', powerW: pin.powerW }, by);
    },
    mark: () => {
      const pin = read();
      return `${String(pin?.policy)} ${String(pin?.powerW)}`;
    },
    equal: (a, b) => a?.policy === b?.policy && a?.powerW === b?.powerW,
  };
}

/** Policy and pinned battery power of a hybrid; null: the device is not a hybrid. */
export type StoragePin = {
  readonly policy: HybridPolicy;
  readonly powerW: number | null;
} | null;
