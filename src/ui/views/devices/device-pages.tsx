/** The devices of a fleet that one answer does not hold, page by page. */
import { useState } from 'preact/hooks';
import { get } from '../../api/call';
import { submitting } from '../../kit/form';
import { Empty, Panel } from '../../kit/panel';
import { ViewHead } from '../../kit/tabs';
import { useFigures } from '../../store/figures';
import { useLive } from '../../store/live';
import { href, param, setParam } from '../../store/route';
import { figuresOf } from '../../store/stream';
import { conditionOf } from './condition';
import { ColumnMenu } from './device-columns';
import { DeviceTable } from './device-table';

const pageSize = 200;

/** Shows the page that begins with an index. */
function showFrom(index: number): void {
  setParam('after', index > 0 ? index - 1 : null);
}

function FromIndex() {
  const [text, setText] = useState('');
  return (
    <form class="row" onSubmit={submitting(() => showFrom(Number(text)))}>
      <input
        type="search"
        inputMode="numeric"
        name="from-index"
        aria-label="From device"
        placeholder="From device"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button disabled={!/^\d{1,9}$/.test(text)}>Show</button>
    </form>
  );
}

export function DevicePages() {
  useFigures();
  const after = Number(param('after') ?? -1);
  const query = after >= 0 ? { limit: pageSize, after } : { limit: pageSize };
  const { data, problem } = useLive(get('overview', { query }), 'state');
  const devices = data?.devices ?? [];
  const last = devices.at(-1)?.device_index;
  const conditions = devices.map((device) => conditionOf(device, figuresOf(device.device_index)));
  return (
    <>
      <ViewHead title="Devices">
        <a href={href('fleet')}>Map of all devices</a>
      </ViewHead>
      <Panel
        title={`${devices.length} of ${data?.devices_total ?? 0} devices`}
        wide
        flush
        tools={
          <>
            <FromIndex />
            <ColumnMenu isFleet />
            <button type="button" disabled={after < 0} onClick={() => showFrom(0)}>
              First
            </button>
            <button
              type="button"
              disabled={data?.devices_truncated !== true || last === undefined}
              onClick={() => showFrom((last ?? 0) + 1)}
            >
              Next
            </button>
          </>
        }
      >
        {problem !== null && <Empty>{problem.message}</Empty>}
        {problem === null && data !== undefined && devices.length === 0 && <Empty>No device behind {after}.</Empty>}
        {devices.length > 0 && (
          <DeviceTable conditions={conditions} count={data?.devices_total ?? devices.length} heightPx={620} />
        )}
      </Panel>
    </>
  );
}
