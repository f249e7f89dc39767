/** Search for servers by DNS-SD over multicast DNS (IEEE 2030.5-2018 clause 7). */
import { createRequire } from 'node:module';
import type multicastDns from 'multicast-dns';
import type { CsipFoundServer } from '../../contract/csip-reports.ts';
import { errorText, SimError, checkDescriptorsToRequire } from '../../core/errors.ts';
import { lazily } from '../../core/lazy.ts';
import { callLater } from '../../core/time/timers.ts';
import type { Later } from '../../core/time/timers.ts';
import { Answers, service, subtype } from './answers.ts';

const require = createRequire(import.meta.url);

const library = lazily(() => require('multicast-dns') as typeof multicastDns, checkDescriptorsToRequire);

export interface DiscoveryOptions {
  /** default: 5000 */
  readonly timeoutMs?: number;
  /** maximum of service instances; default: 32 */
  readonly limit?: number;
  /** ends the search after this many servers; default: the search takes its whole time */
  readonly enough?: number;
  /** ends the search early with the servers so far */
  readonly signal?: AbortSignal;
  readonly later?: Later;
  /** default: every interface, port 5353 */
  readonly network?: { readonly interface: string; readonly port: number };
}

/** Packets of one search beyond this number are ignored. */
const maxPackets = 500;
/** Delays before questions are repeated (RFC 6762 5.2: the first after 1 s, then doubling). */
const repetitionsMs = [1000, 3000];

/**
 * Servers in the order of their first answer. Answers are not authenticated: only its certificate identifies a server,
 * and `permitted` is false where the outbound rules forbid a connection.
 * @throws SimError PEER_ERROR if this machine has no multicast DNS; SHORTAGE
 */
export async function discoverServers(options: DiscoveryOptions = {}): Promise<readonly CsipFoundServer[]> {
  const { timeoutMs = 5000, limit = 32, enough = Infinity, signal, later = callLater, network } = options;
  if (signal?.aborted === true) return [];
  const create = await library();
  const answers = new Answers(limit);
  // a socket bound to the address of an interface receives no multicast
  const mdns = create(network && { ...network, bind: '0.0.0.0' });
  const timers: (() => void)[] = [];
  const over = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown) => {
        reject(new SimError('PEER_ERROR', `multicast DNS is not possible: ${errorText(error)}`));
      };
      const sent = (error: unknown) => {
        if (error instanceof Error) fail(error);
      };
      const search = () => {
        mdns.query([...browse, ...answers.missing().map((question) => ({ ...question }))], sent);
      };
      let packets = 0;
      let joined = false;
      let warning: unknown = 'no interface has it';
      mdns.on('networkInterface', () => {
        joined = true;
      });
      mdns.on('warning', (error) => {
        if (!joined) warning = error;
      });
      mdns.on('error', fail);
      mdns.on('response', ({ answers: told, additionals }) => {
        if (++packets > maxPackets) return;
        const before = answers.missing().map(({ name, type }) => `${type} ${name}`);
        answers.add([...(told ?? []), ...(additionals ?? [])]);
        if (answers.servers().length >= enough) resolve();
        const more = answers.missing().filter(({ name, type }) => !before.includes(`${type} ${name}`));
        if (more.length > 0) mdns.query([...more], sent);
      });
      mdns.on('ready', () => {
        if (joined) search();
        else fail(warning);
      });
      signal?.addEventListener('abort', () => resolve(), { signal: over.signal });
      timers.push(
        ...repetitionsMs.filter((ms) => ms < timeoutMs).map((ms) => later(ms, search)),
        later(timeoutMs, resolve),
      );
    });
  } finally {
    over.abort();
    for (const cancel of timers) cancel();
    await new Promise<void>((resolve) => mdns.destroy(resolve));
  }
  return answers.servers();
}

const browse = [service, subtype].map((name) => ({ name, type: 'PTR' as const }));
