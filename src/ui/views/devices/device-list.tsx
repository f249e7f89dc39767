import { Chip, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { words } from '../../look/format';
import { useFigures } from '../../store/figures';
import { param } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { figuresOf } from '../../store/stream';
import { conditionOf } from './condition';
import { DeviceTable } from './device-table';
import { DeviceFilter } from './map/device-map';
import { filtered } from './map/filter';

type Status = DeviceEntry['status'];

const tones: Readonly<Record<Status['inverter_state'], Tone>> = {
  off: 'off',
  sleeping: 'off',
  standby: 'off',
  starting: 'warn',
  shutting_down: 'warn',
  running: 'good',
  throttled: 'warn',
  fault: 'bad',
};

/** State of a device as a coloured word. */
export function StateChip({ status }: { readonly status: Status }) {
  return <Chip tone={tones[status.inverter_state]}>{words(status.inverter_state)}</Chip>;
}

const rowPx = 29;
const headPx = 40;

/** Every device of a small site with its newest figures. */
export function DeviceList({ devices }: { readonly devices: readonly DeviceEntry[] }) {
  useFigures();
  const all = devices.map((device) => conditionOf(device, figuresOf(device.device_index)));
  const hits = filtered(all, param('filter') ?? '');
  return (
    <Panel
      title={`Devices (${hits.length}${hits.length === all.length ? '' : ` of ${all.length}`})`}
      wide
      flush
      tools={<DeviceFilter first={hits[0]?.device.device_index} />}
    >
      {devices.length === 0 ? (
        <p class="empty">No device: add one under "Simulator" in the menu of the name.</p>
      ) : (
        <DeviceTable conditions={hits} count={all.length} heightPx={headPx + hits.length * rowPx} />
      )}
    </Panel>
  );
}
