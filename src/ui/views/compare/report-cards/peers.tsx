/** The other side of each protocol: which checks it broke, which it kept, and which never came up. */
import { del } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { Empty, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';
import { href, param, route, setParam } from '../../../store/route';
import { DeleteWaiver, lastingId, paceMs, peersCall, protocolNames, Verdict, waiversCall } from './parts';
import type { PeerEntry } from './parts';
import { PeerReport } from './report';

type Peers = ReplyOf<'findings/peers'>;
type Waiver = ReplyOf<'findings/waivers'>['waivers'][number];

const valuesOf = (peer: PeerEntry, of: (identity: PeerEntry['identities'][number]) => readonly string[]) =>
  [...new Set(peer.identities.flatMap(of))].join(', ');
const protocolsOf = (peer: PeerEntry) => valuesOf(peer, ({ protocol }) => [protocolNames[protocol] ?? protocol]);
const addressesOf = (peer: PeerEntry) => valuesOf(peer, ({ address }) => [address]);
const facetsOf = (peer: PeerEntry) =>
  valuesOf(peer, ({ facets }) => facets.map(({ name, values }) => `${name} ${values.join(', ')}`));
const connectionsOf = ({ identities }: PeerEntry) =>
  identities.reduce((sum, { open_connections: open }) => sum + open, 0);

/** A column of a text that a peer determines. */
const textColumn = (title: string, textOf: (peer: PeerEntry) => string): Column<PeerEntry> => ({
  title,
  cell: (peer) => <span class="of-peer">{textOf(peer) || dash}</span>,
  value: textOf,
});

const columns: readonly Column<PeerEntry>[] = [
  {
    title: 'Peer',
    cell: (peer) => (
      <a class="of-peer" href={href(`compare/report-cards/${lastingId(peer)}`)}>
        {peer.name}
      </a>
    ),
    value: ({ name }) => name,
  },
  { title: 'Verdict', cell: (peer) => <Verdict peer={peer} />, value: ({ verdict }) => verdict },
  { title: 'Violations', numeric: true, value: ({ summary }) => summary.violation.broken },
  { title: 'Risks', numeric: true, value: ({ summary }) => summary.risk.broken },
  { title: 'Remarks', numeric: true, value: ({ summary }) => summary.remark.broken },
  {
    title: 'Came up',
    numeric: true,
    cell: ({ coverage: { exercised, observable } }) => `${exercised} of ${observable}`,
    value: ({ coverage }) => coverage.exercised,
  },
  { title: 'Protocols', value: protocolsOf },
  textColumn('Address', addressesOf),
  { title: 'Open', numeric: true, value: connectionsOf },
  textColumn('Properties', facetsOf),
];

export function PeersView() {
  const [, , id] = route.value.path;
  return id === undefined ? <PeerList /> : <PeerReport key={id} id={id} />;
}

function PeerList() {
  const { data, problem } = useLive(peersCall, paceMs);
  const protocol = param('peers-of');
  const shown = data?.peers.filter(
    (peer) => protocol === null || peer.identities.some((each) => each.protocol === protocol),
  );
  return (
    <>
      <Refused problem={problem} />
      {data?.enabled === false && <Empty>Peers are not judged: start with --findings yes.</Empty>}
      {data?.enabled && (
        <Panel
          title="Peers"
          flush
          tools={
            data.peers.length > 0 && (
              <>
                <ProtocolFilter />
                <Action call={del('findings')} confirm="Forget the findings on all peers? Names and waivers stay.">
                  Clear all
                </Action>
              </>
            )
          }
        >
          <Table
            name="Peers"
            columns={columns}
            rows={shown ?? []}
            keyOf={({ id }) => id}
            empty={data.peers.length > 0 ? 'No peer of this protocol.' : <NoPeer />}
          />
          <Others peers={data} />
        </Panel>
      )}
      <Waivers />
    </>
  );
}

function ProtocolFilter() {
  return (
    <select
      aria-label="Protocol of the peers"
      value={param('peers-of') ?? ''}
      onChange={(event) => setParam('peers-of', event.currentTarget.value)}
    >
      <option value="">all protocols</option>
      {['modbus', 'csip', 'ocpp', 'dnp3'].map((name) => (
        <option key={name} value={name}>
          {protocolNames[name]}
        </option>
      ))}
    </select>
  );
}

const NoPeer = () => (
  <>
    No peer has sent a valid request yet. Connect your Modbus or DNP3 master to an address under{' '}
    <a href={href('protocols/modbus')}>Modbus</a> or <a href={href('protocols/dnp3')}>DNP3</a>, or enter the address of
    your head-end under <a href={href('protocols/csip')}>CSIP</a>, of your central system under{' '}
    <a href={href('protocols/ocpp')}>OCPP</a>.
  </>
);

/** Number of addresses and peers that have no report. */
function Others({ peers: { strangers, forgotten } }: { readonly peers: Peers }) {
  if (strangers + forgotten === 0) return null;
  const parts = [
    ...(strangers > 0 ? [`addresses that have sent no valid request: ${strangers}`] : []),
    ...(forgotten > 0 ? [`peers that gave their place to others: ${forgotten}`] : []),
  ];
  return <p class="muted above-list">Without a report: {parts.join('; ')}.</p>;
}

/** All waivers, also those of rules that no peer breaks. */
function Waivers() {
  const waivers = useLive(waiversCall, paceMs).data?.waivers ?? [];
  const peers = useLive(peersCall, paceMs).data?.peers ?? [];
  if (waivers.length === 0) return null;
  const whose = ({ peer }: Waiver) =>
    peer === null
      ? 'all peers'
      : (peers.find(({ identities }) => identities.some(({ id }) => id === peer))?.name ?? peer);
  return (
    <Panel title="Waivers" flush>
      <Table
        name="Waivers"
        columns={[
          { title: 'Rule', cell: ({ rule }) => <code>{rule}</code>, value: ({ rule }) => rule },
          { title: 'Peer', cell: (waiver) => <span class="of-peer">{whose(waiver)}</span>, value: whose },
          {
            title: 'Reason',
            cell: ({ reason }) => <span class="of-peer">{reason}</span>,
            value: ({ reason }) => reason,
          },
          { title: 'Until', cell: ({ until }) => wallDate(until), value: ({ until }) => until },
          { title: 'End', cell: ({ id }) => <DeleteWaiver id={id} /> },
        ]}
        rows={waivers}
        keyOf={({ id }) => id}
      />
    </Panel>
  );
}
