import { get } from '../../../api/call';
import { Empty, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { CopyButton } from '../../../kit/copies';
import { useLive } from '../../../store/live';
import { href } from '../../../store/route';
import { useOverview } from '../../../store/site';
import { Connected, CopyFacts } from '../connect-values';

/** First register of the models, as a master addresses it. */
const baseAddress = 40_000;

/** The values that a master needs, to copy. */
export function ConnectModbusMaster() {
  const devices = useOverview()?.devices.filter(({ modbus }) => modbus !== null) ?? [];
  const { data } = useLive(get('modbus'), 2000);
  const clients = (data?.interfaces ?? []).flatMap(({ listeners }) => listeners.flatMap((each) => each.clients));
  if (data?.enabled === false) return <Empty>Modbus is off: switch it on first.</Empty>;
  return (
    <Panel title="Connect my master" wide>
      <ol class="steps">
        <li>
          <h3>Addresses</h3>
          <Table
            name="Addresses of the devices"
            columns={[
              { title: 'Device', value: ({ device_index: index, name }) => `${index} ${name}` },
              {
                title: 'Address',
                cell: ({ modbus }) => (
                  <span class="row">
                    <code>{`${modbus?.host}:${modbus?.port}`}</code>
                    <CopyButton text={`${modbus?.host}:${modbus?.port}`} name="Address" />
                  </span>
                ),
                value: ({ modbus }) => `${modbus?.host}:${modbus?.port}`,
              },
              { title: 'Unit', numeric: true, value: ({ modbus }) => modbus?.unit_id },
              { title: 'TLS', value: ({ modbus }) => (modbus?.tls ? 'yes' : 'no') },
            ]}
            rows={devices}
            keyOf={({ device_index }) => device_index}
            height={devices.length > 12 ? 360 : undefined}
            empty="No device is served over Modbus."
          />
        </li>
        <li>
          <h3>Registers</h3>
          <p>SunSpec models, found from their marker with functions 3 and 16.</p>
          <CopyFacts rows={[['Base address', String(baseAddress)]]} />
          <p class="muted">
            Ports, TLS and framing are in the <a href={href('protocols/modbus/settings')}>settings</a>.
          </p>
        </li>
        <li>
          <h3>Connection</h3>
          <Connected names={clients.map(({ peer }) => peer)} />
        </li>
      </ol>
    </Panel>
  );
}
