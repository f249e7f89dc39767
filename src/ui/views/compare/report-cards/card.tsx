/** The report card of the peer that needs a look most, in short. */
import { Empty, Panel } from '../../../kit/panel';
import { useLive } from '../../../store/live';
import { get } from '../../../api/call';
import { href } from '../../../store/route';
import { sequenceHref } from '../messages';
import { FindingSequence, lastPlaceOf } from './finding-messages';
import { Figures, lastingId, paceMs, peersCall, severityTones, Verdict } from './parts';
import type { Finding, PeerEntry } from './parts';

/** Findings of the short card. */
const maxFindings = 5;

const order: readonly PeerEntry['verdict'][] = ['violations', 'risks', 'remarks', 'inconclusive', 'clean'];

/** The peer with the worst verdict. */
export function useWorstPeer() {
  const peers = useLive(peersCall, paceMs).data;
  const worst = [...(peers?.peers ?? [])].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))[0];
  const id = worst === undefined ? null : lastingId(worst);
  const report = useLive(id === null ? null : get('findings/peers/{id}', { params: { id } }), paceMs).data;
  return { peers, report };
}

export function WorstCard() {
  const { peers, report } = useWorstPeer();
  if (report === undefined)
    return (
      <Panel title="Report cards" tools={<a href={href('compare/report-cards')}>All peers</a>}>
        <Empty>
          {peers?.enabled === false
            ? 'Peers are not judged: start with --findings yes.'
            : 'No peer has sent a valid request yet.'}
        </Empty>
      </Panel>
    );
  const address = `compare/report-cards/${lastingId(report)}`;
  return (
    <Panel
      title={`Report card: ${report.name}`}
      tools={
        <>
          <Verdict peer={report} />
          <a href={href(address)}>Report</a>
          {(peers?.peers.length ?? 0) > 1 && <a href={href('compare/report-cards')}>All {peers?.peers.length} peers</a>}
        </>
      }
    >
      <Figures peer={report} />
      <ul class="finding-list">
        {report.broken.slice(0, maxFindings).map((row) => (
          <FindingLine key={row.rule} row={row} address={address} />
        ))}
      </ul>
      {report.broken.length > maxFindings && (
        <a href={href(address)}>{report.broken.length - maxFindings} more findings</a>
      )}
    </Panel>
  );
}

function FindingLine({ row, address }: { readonly row: Finding; readonly address: string }) {
  const place = lastPlaceOf(row);
  const at = place === null || place.protocol === 'modbus' ? null : href(address, { finding: row.rule });
  return (
    <li>
      <span class={`mark ${severityTones[row.severity] === 'muted' ? 'off' : severityTones[row.severity]}`} />
      <strong>{row.title}</strong>
      <span class="muted">{row.count}×</span>
      <small>
        {row.severity}, {row.clause}. {place !== null && <a href={at ?? sequenceHref(place)}>Messages</a>}
      </small>
    </li>
  );
}

/** The messages of the worst finding that has some. */
export function WorstSequence() {
  const { report } = useWorstPeer();
  for (const row of report?.broken ?? []) {
    const place = lastPlaceOf(row);
    if (place !== null && place.protocol !== 'modbus') return <FindingSequence row={row} place={place} />;
  }
  return null;
}
