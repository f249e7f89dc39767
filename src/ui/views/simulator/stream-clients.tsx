/** Readers of the telemetry stream, and how far each is behind. */
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Chip, Empty, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, duration, wallDate } from '../../look/format';
import { useLive } from '../../store/live';

type Client = ReplyOf<'stream/clients'>['clients'][number];

const paceMs = 2000;
const tableHeightPx = 300;

/** Age of a pong that no client of good health has, s: pings go out every 30 s. */
const silentS = 60;

/** How far a client is behind: messages that wait for it, or its silence. */
function Lag({ client: { waiting, pong_age_s: ageS } }: { readonly client: Client }) {
  if (ageS !== null && ageS > silentS) return <Chip tone="bad">silent for {duration(Math.round(ageS))}</Chip>;
  if (waiting > 0) return <Chip tone="warn">{waiting === 1 ? '1 message' : `${waiting} messages`} behind</Chip>;
  return <Chip tone="good">keeps up</Chip>;
}

function readsText({ device_index: device, form, max_rate: rate }: Client): string {
  const devices = device === null ? 'all devices' : `device ${device}`;
  const columns = form === 'fleet' ? ', in columns' : '';
  return `${devices}${columns}${rate === null ? '' : `, ${rate} per second at most`}`;
}

export function StreamClients() {
  const { data, problem } = useLive(get('stream/clients'), paceMs);
  if (data === undefined) return problem === null ? null : <Empty>{problem.message}</Empty>;
  const { clients, count, max_clients: max, sent, dropped } = data;
  return (
    <Panel
      title={`Readers of the stream (${count})`}
      flush
      tools={
        <span class="muted">
          {sent} messages sent, {dropped} dropped; at most {max} readers
        </span>
      }
    >
      <Table<Client>
        name="Readers of the stream"
        rows={clients}
        keyOf={({ id }) => id}
        height={tableHeightPx}
        empty="Nobody reads ws/telemetry."
        columns={[
          { title: 'Reader', value: ({ peer }) => peer },
          { title: 'Reads', value: readsText },
          { title: 'Since', cell: ({ connected_at: at }) => wallDate(at), value: ({ connected_at: at }) => at },
          { title: 'Lag', cell: (client) => <Lag client={client} />, value: ({ waiting }) => waiting },
          { title: 'Sent', numeric: true, value: ({ sent: number }) => number },
          {
            title: 'Dropped',
            numeric: true,
            cell: ({ dropped: number }) => (number > 0 ? <Chip tone="warn">{number}</Chip> : '0'),
            value: ({ dropped: number }) => number,
          },
          {
            title: 'Waiting, octets',
            numeric: true,
            value: ({ waiting_bytes: waiting, unsent_bytes: unsent }) => waiting + unsent,
          },
          {
            title: 'Last pong',
            numeric: true,
            cell: ({ pong_age_s: ageS }) => (ageS === null ? dash : `${duration(Math.round(ageS))} ago`),
            value: ({ pong_age_s: ageS }) => ageS,
          },
        ]}
      />
    </Panel>
  );
}
