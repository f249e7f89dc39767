/** Devices with a grid or weather of their own, each with its way back. */
import type { ComponentChildren } from 'preact';
import type { Call } from '../../api/call';
import { deviceLabel } from '../../kit/choices';
import { InPlaceButton } from '../../kit/in-place';
import { Panel } from '../../kit/panel';
import { setParam } from '../../store/route';
import { useOverview } from '../../store/site';

/** Number of devices in the list: each may read its own state. */
const maxListed = 12;

interface DeviationsProps {
  /** title without the number of devices */
  readonly title: string;
  /** the common state, such as `common grid` */
  readonly common: string;
  readonly devices: readonly number[];
  /** ends the deviation of a device */
  readonly backCall: (device: number) => Call;
  readonly stateOf?: (device: number) => ComponentChildren;
}

export function Deviations({ title, common, devices, backCall, stateOf }: DeviationsProps) {
  const all = useOverview()?.devices ?? [];
  if (devices.length === 0) return null;
  const nameOf = (index: number) => {
    const device = all.find(({ device_index }) => device_index === index);
    return device ? deviceLabel(device) : `Device ${index}`;
  };
  const further = devices.length - maxListed;
  return (
    <Panel title={`${title} (${devices.length})`}>
      <p class="muted">A change for all devices ends these deviations, too.</p>
      <ul class="deviations">
        {devices.slice(0, maxListed).map((index) => (
          <li key={index}>
            <button type="button" class="quiet link" onClick={() => setParam('on', index)}>
              {nameOf(index)}
            </button>
            {stateOf?.(index)}
            <InPlaceButton text={`${nameOf(index)}: the ${common}`} calls={[backCall(index)]} undo={[]}>
              Back to the {common}
            </InPlaceButton>
          </li>
        ))}
      </ul>
      {further > 0 && <p class="muted">And {further} more: choose them under "Acts on".</p>}
    </Panel>
  );
}
