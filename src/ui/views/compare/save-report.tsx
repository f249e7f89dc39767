import { Menu } from '../../kit/menu';
import { useLive } from '../../store/live';
import { documentHref, documentName, lastingId, paceMs, peersCall } from './report-cards/parts';

/** Documents of the findings on each peer. */
export function SaveReport() {
  const peers = useLive(peersCall, paceMs).data?.peers ?? [];
  return (
    <Menu label="Save report" face="Save report">
      {(close) =>
        peers.length === 0 ? (
          <p class="muted">No peer has been judged yet: connect a master, a head-end or a central system.</p>
        ) : (
          <ul class="documents">
            {peers.map((peer) => (
              <li key={peer.id}>
                <strong class="of-peer">{peer.name}</strong>
                <span class="row">
                  {(['html', 'junit'] as const).map((format) => (
                    <a
                      key={format}
                      class="button"
                      href={documentHref(lastingId(peer), format)}
                      download={documentName(peer, format)}
                      onClick={close}
                    >
                      {format === 'html' ? 'HTML' : 'JUnit'}
                    </a>
                  ))}
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Menu>
  );
}
