import { Menu } from '../../kit/menu';
import { useLive } from '../../store/live';
import { get } from '../../api/call';
import { documentHref, documentName, endings, lastingId, paceMs, peersCall } from './report-cards/parts';

const evidenceHref = (format: 'html' | 'junit') => get('evidence', { query: { format } }).address;

interface DocumentsProps {
  readonly hrefOf: (format: 'html' | 'junit') => string;
  readonly nameOf: (format: 'html' | 'junit') => string;
  readonly onSave: () => void;
}

const Documents = ({ hrefOf, nameOf, onSave }: DocumentsProps) => (
  <div class="row">
    {(['html', 'junit'] as const).map((format) => (
      <a key={format} class="button" href={hrefOf(format)} download={nameOf(format)} onClick={onSave}>
        {format === 'html' ? 'HTML' : 'JUnit'}
      </a>
    ))}
  </div>
);

/** Documents about both sides, and of the findings on each peer. */
export function SaveReport() {
  const peers = useLive(peersCall, paceMs).data?.peers ?? [];
  return (
    <Menu label="Save report" face="Save report" primary>
      {(close) => (
        <div class="stack">
          <p>
            <strong>Everything</strong>
            <br />
            <small class="muted">Findings, answers, differences, refusals, changes</small>
          </p>
          <Documents hrefOf={evidenceHref} nameOf={(format) => `evidence.${endings[format]}`} onSave={close} />
          {peers.length === 0 && (
            <p class="muted">No peer has been judged yet: connect a master, a head-end or a central system.</p>
          )}
          <ul class="documents">
            {peers.map((peer) => (
              <li key={peer.id}>
                <strong class="of-peer">{peer.name}</strong>
                <Documents
                  hrefOf={(format) => documentHref(lastingId(peer), format)}
                  nameOf={(format) => documentName(peer, format)}
                  onSave={close}
                />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Menu>
  );
}
