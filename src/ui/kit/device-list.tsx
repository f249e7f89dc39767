/** A choice of several devices with a search. */
import { useState } from 'preact/hooks';
import { useOverview } from '../store/site';
import { deviceLabel } from './choices';
import { KindIcon } from './kind-icons';

/** Number of devices from which a search pays. */
const searchFrom = 8;

interface DeviceListProps {
  readonly chosen: readonly number[];
  /** largest number of devices that can be chosen */
  readonly max?: number;
  /** @param chosen indexes, ascending */
  readonly onChoice: (chosen: readonly number[]) => void;
}

/** Devices as check boxes; chosen ones stay in the list while others are searched. */
export function DeviceList({ chosen, max = Infinity, onChoice }: DeviceListProps) {
  const devices = useOverview()?.devices ?? [];
  const [text, setText] = useState('');
  const isMatch = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase());
  const matching = devices.filter((device) => chosen.includes(device.device_index) || isMatch(deviceLabel(device)));
  const toggle = (index: number) => {
    const next = chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen, index];
    onChoice(next.sort((a, b) => a - b));
  };
  return (
    <div class="stack">
      {devices.length >= searchFrom && (
        <input
          type="search"
          placeholder="Search devices"
          aria-label="Search devices"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <div class="device-choice" role="group" aria-label="Devices">
        {matching.map((device) => (
          <label key={device.device_index} class="field check">
            <input
              type="checkbox"
              checked={chosen.includes(device.device_index)}
              disabled={!chosen.includes(device.device_index) && chosen.length >= max}
              onChange={() => toggle(device.device_index)}
            />
            <KindIcon of={device.asset_type} />
            {deviceLabel(device)}
          </label>
        ))}
        {matching.length === 0 && <span class="muted">Nothing found for "{text}".</span>}
      </div>
    </div>
  );
}
