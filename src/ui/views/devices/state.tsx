/** The state of a device in the words of its kind. */
import { Chip } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { useLocalDevices } from '../../store/attention';
import type { DeviceEntry } from '../../store/site';
import { toneOf } from './condition';

type Condition = Pick<DeviceEntry, 'kind_state' | 'limited_by'>;

/** A device at work that a limit holds is limited too: `charging, limited`. */
export function stateOf({ kind_state: word, limited_by: limit }: Condition): { word: string; tone: Tone } {
  const tone = toneOf({ state: word, limitedBy: limit });
  return { word: tone === toneOf({ state: word, limitedBy: null }) ? word : `${word}, limited`, tone };
}

/** A chip while the device is under local control, which refuses remote writes. */
export function LocalChip({ device }: { readonly device: number }) {
  return useLocalDevices().includes(device) ? <Chip tone="warn">local control</Chip> : null;
}

export function KindState({ device }: { readonly device: DeviceEntry }) {
  const { word, tone } = stateOf(device);
  return (
    <span class="row" data-test="device-state">
      <Chip tone={tone}>{word}</Chip>
      <LocalChip device={device.device_index} />
    </span>
  );
}
