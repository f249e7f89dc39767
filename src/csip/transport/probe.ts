/** A request over plain HTTP to find out if a server redirects to TLS. */
import { request } from 'node:http';
import { SimError } from '../../core/errors.ts';
import { socketErrorText } from '../../core/net/connect.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { guardedLookup, isRefusedTarget, openLookup, refusedTargetText } from '../../core/net/outbound.ts';
import type { NameSources } from '../../core/net/outbound.ts';
import type { CsipHttpProbe } from '../../contract/csip-reports.ts';

export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  /** includes the query */
  readonly path: string;
  /** true if host and port come from flags */
  readonly anywhere: boolean;
  /** default 10 s */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;

/**
 * Sends a GET and returns status and `Location`, without following it.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT
 */
export function httpProbe(
  { host, port, path, anywhere, timeoutMs = defaultTimeoutMs }: ProbeTarget,
  names?: NameSources,
): Promise<CsipHttpProbe> {
  const url = `http://${hostAndPort(host, port)}${path}`;
  if (!anywhere && isRefusedTarget(host))
    return Promise.reject(new SimError('PEER_ERROR', `${host} ${refusedTargetText}`));
  const ending = new AbortController();
  const lookup = (anywhere ? openLookup : guardedLookup)(ending.signal, names);
  return new Promise<CsipHttpProbe>((resolve, reject) => {
    const asked = request({ host, port, path, lookup, agent: false, headers: { accept: 'application/sep+xml' } });
    const limit = setTimeout(() => {
      fail(new SimError('PEER_TIMEOUT', `${url} did not answer within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const end = () => {
      clearTimeout(limit);
      ending.abort();
      asked.destroy();
    };
    const fail = (error: SimError) => {
      end();
      reject(error);
    };
    asked.on('error', (error: NodeJS.ErrnoException) => {
      const notHttp = error.code?.startsWith('HPE_') === true;
      fail(new SimError('PEER_ERROR', `${url}: ${notHttp ? 'its answer is not HTTP' : socketErrorText(error)}`));
    });
    asked.once('response', ({ statusCode = 0, headers }) => {
      end();
      resolve({ url, status: statusCode, location: headers.location ?? null });
    });
    asked.end();
  });
}
