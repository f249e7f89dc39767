import { Panel } from '../../kit/panel';
import { rowPx } from '../../kit/table';
import { useFigures } from '../../store/figures';
import { param } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { figuresOf, isFleet } from '../../store/stream';
import { conditionOf } from './condition';
import { ColumnMenu } from './device-columns';
import { DeviceTable } from './device-table';
import { DeviceFilter } from './map/device-map';
import { filtered } from './map/filter';

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
      tools={
        <>
          <DeviceFilter first={hits[0]?.device.device_index} />
          <ColumnMenu isFleet={isFleet(all.length)} />
        </>
      }
    >
      {devices.length === 0 ? (
        <p class="empty">No device: add one under "Simulator" in the menu of the name.</p>
      ) : (
        <DeviceTable conditions={hits} count={all.length} heightPx={headPx + hits.length * (rowPx + 1)} />
      )}
    </Panel>
  );
}
