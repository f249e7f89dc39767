import type { ReplyOf } from '../../../api/call';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { capitalized, dash, fixed, wallTime, words } from '../../../look/format';
import { useOverview } from '../../../store/site';

type Interface = ReplyOf<'modbus'>['interfaces'][number];
type Listener = Interface['listeners'][number];

const names: Readonly<Record<string, string>> = {
  modbus_tcp: 'Modbus TCP',
  modbus_rtu: 'Modbus RTU',
  modbus_proxy: 'Proxy',
};

/** Addresses, counters and connected masters of one interface. */
export function InterfacePanel({ face }: { readonly face: Interface }) {
  const devices = useOverview()?.devices ?? [];
  const servedBy = ({ meter, device_index: index }: Listener) => {
    if (meter) return 'site meter';
    if (index === null) return 'all devices';
    return `${index} ${devices.find(({ device_index }) => device_index === index)?.name ?? ''}`;
  };
  const title = names[face.comm] ?? face.comm;
  const masters = face.listeners.flatMap((listener) => listener.clients.map((client) => ({ listener, client })));
  const works = face.state === 'listening' || face.state === 'connected';
  return (
    <>
      <Panel title={title} tools={<Chip tone={works ? 'good' : 'bad'}>{words(face.state)}</Chip>}>
        <div class="stack">
          <Facts
            rows={Object.entries(face.counters).map(([name, count]) => [capitalized(words(name)), count] as const)}
          />
          <Table
            name={`Listeners of ${title}`}
            columns={[
              {
                title: 'Address',
                value: ({ endpoint, accepting }) => (accepting === false ? `${endpoint ?? dash} (closed)` : endpoint),
              },
              { title: 'Transport', cell: ({ transport }) => words(transport), value: ({ transport }) => transport },
              { title: 'Serves', cell: servedBy, value: servedBy },
              { title: 'Masters', numeric: true, value: ({ clients }) => clients.length },
            ]}
            rows={face.listeners}
            keyOf={({ endpoint, device_index }) => `${endpoint} ${device_index}`}
            height={240}
          />
        </div>
      </Panel>
      <Panel title={`Masters at ${title}`} flush>
        {face.comm === 'modbus_rtu' ? (
          <Empty>A serial line has no connections.</Empty>
        ) : (
          <Table
            name={`Masters at ${title}`}
            columns={[
              { title: 'Peer', value: ({ client }) => client.peer },
              { title: 'At', value: ({ listener }) => servedBy(listener) },
              { title: 'Role', value: ({ client }) => client.role },
              {
                title: 'Since',
                cell: ({ client }) => wallTime(client.connected_at),
                value: ({ client }) => client.connected_at,
              },
              {
                title: 'Idle, s',
                numeric: true,
                cell: ({ client }) => fixed(client.idle_s, 0),
                value: ({ client }) => client.idle_s,
              },
              { title: 'Requests', numeric: true, value: ({ client }) => client.requests },
            ]}
            rows={masters}
            keyOf={({ client }) => client.peer}
            empty={`No master is connected. Connect one to ${face.listeners[0]?.endpoint ?? 'the listener'}.`}
            height={240}
          />
        )}
      </Panel>
    </>
  );
}
