import { get } from '../../api/call';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';

interface Peer {
  readonly protocol: string;
  readonly peer: string;
  readonly what: string;
  readonly since: string | null;
}

const columns: readonly Column<Peer>[] = [
  { title: 'Protocol', cell: ({ protocol }) => protocol, value: ({ protocol }) => protocol },
  { title: 'Peer', cell: ({ peer }) => peer, value: ({ peer }) => peer },
  { title: 'Of', cell: ({ what }) => what, value: ({ what }) => what },
  { title: 'Since', cell: ({ since }) => (since === null ? dash : wallTime(since)), value: ({ since }) => since },
];

function usePeers(enabled: (protocol: string) => boolean): readonly Peer[] {
  const modbus = useLive(get('modbus')).data;
  const stream = useLive(get('stream/clients')).data;
  const csip = useLive(enabled('csip') ? get('csip/status') : null).data;
  const ocpp = useLive(enabled('ocpp') ? get('ocpp') : null).data;
  const dnp3 = useLive(enabled('dnp3') ? get('dnp3') : null).data;
  const masters = (modbus?.interfaces ?? []).flatMap(({ comm, listeners }) =>
    listeners.flatMap(({ device_index, clients }) =>
      clients.map(({ peer, connected_at }) => ({
        protocol: comm === 'modbus_tcp' ? 'Modbus TCP' : 'Modbus',
        peer,
        what: device_index === null ? 'all devices' : `device ${device_index}`,
        since: connected_at,
      })),
    ),
  );
  const stations = (ocpp?.charge_points ?? []).flatMap((station) =>
    station === null
      ? []
      : [
          {
            protocol: 'OCPP',
            peer: station.url ?? dash,
            what: `${station.id}, ${words(station.connection_state)}`,
            since: null,
          },
        ],
  );
  const others: readonly Peer[] = [
    ...(csip?.enabled === true
      ? [
          {
            protocol: 'CSIP',
            peer: csip.server === null ? dash : `${csip.server.host}:${csip.server.port}`,
            what: csip.state,
            since: csip.connection.last_contact,
          },
        ]
      : []),
    ...(dnp3?.masters ?? []).map(({ address, peer }) => ({
      protocol: 'DNP3',
      peer: `${peer} (${address})`,
      what: `device ${dnp3?.device_index}`,
      since: null,
    })),
    ...(stream?.clients ?? []).map(({ peer, device_index, connected_at }) => ({
      protocol: 'Telemetry (WebSocket)',
      peer,
      what: `open dashboard or script, ${device_index === null ? 'all devices' : `device ${device_index}`}`,
      since: connected_at,
    })),
  ];
  return [...masters, ...stations, ...others];
}

/** Connected systems of every protocol; this page is one of those on the WebSocket. */
export function Peers({ enabled }: { readonly enabled: (protocol: string) => boolean }) {
  const rows = usePeers(enabled);
  return (
    <Panel title={`Connected (${rows.length})`} flush>
      <Table
        name="Connected peers"
        columns={columns}
        rows={rows}
        keyOf={({ protocol, peer, what }) => `${protocol} ${peer} ${what}`}
        height={rows.length > 8 ? 260 : undefined}
        empty="Nothing is connected."
      />
    </Panel>
  );
}
