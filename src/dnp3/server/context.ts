/** Context shared by the listeners of all outstations, and the identities of masters. */
import { X509Certificate } from 'node:crypto';
import type { Dnp3AllowedPeer } from '../../contract/dnp3-settings.ts';
import type { AdapterError } from '../../core/adapter.ts';
import type { Logger } from '../../core/log/log.ts';
import type { PeerLimitedLog } from '../../core/log/limited-log.ts';
import type { KeptPorts } from '../../core/net/kept-ports.ts';
import type { Sweeper } from '../../core/net/sweeper.ts';
import type { TlsGate } from '../../core/tls/gate.ts';
import type { LoopQueue } from '../../core/turns.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { WireDirection } from '../../core/wire/wire-log.ts';
import type { Dnp3Judges } from '../findings/judges.ts';
import type { AssociationPort } from '../stack/outstation/types.ts';

/** The certificate of a master. */
export interface PeerIdentity {
  /** as RFC 4514 writes it: `CN=scada-1,O=Utility` */
  readonly subject: string;
  readonly commonName: string;
  /** SHA-256, lower-case hexadecimal digits */
  readonly fingerprint: string;
}

export interface ServerCounters {
  connections: number;
  refusedConnections: number;
  handshakeFailures: number;
  framesIn: number;
  framesOut: number;
  badFrames: number;
  /** the last bad frame; null: none yet */
  lastError: AdapterError | null;
  /** wall time of the last valid frame, ms; null: none yet */
  lastFrameMs: number | null;
}

export const serverLimits = {
  connections: 16,
  /** unfinished TLS handshakes */
  handshakes: 16,
  handshakeTimeoutMs: 10_000,
  /** silence after which the link status is requested */
  keepAliveMs: 60_000,
  /** time for the link status, and for the first frame of a master on a new connection */
  answerMs: 10_000,
  /** octets that wait to be sent */
  unsentBytes: 256 * 1024,
  /** pairs of addresses on one connection: masters times devices */
  pairs: 16_384,
} as const;
type ServerLimits = { readonly [name in keyof typeof serverLimits]: number };

export interface FragmentReport {
  readonly direction: WireDirection;
  readonly peer: string;
  readonly deviceIndex: number | null;
  readonly outstation: number;
  readonly master: number;
  readonly octets: Buffer;
}

export interface ServerContext {
  readonly clock: WallClock;
  readonly logger: Logger;
  /** lines that peers can cause at will */
  readonly log: PeerLimitedLog;
  readonly sweeper: Sweeper;
  /** binds the ports of listeners that fail again */
  readonly ports: KeptPorts;
  /** limits the time of all connections together in each turn of the event loop */
  readonly turns: LoopQueue;
  readonly counters: ServerCounters;
  readonly limits: ServerLimits;
  /** null: without TLS */
  readonly tls: { readonly gate: TlsGate<PeerIdentity>; readonly allowed: readonly Dnp3AllowedPeer[] | null } | null;
  /** judges of masters; absent: nobody is judged */
  readonly judges?: Dnp3Judges;
  /** true while there is an observer of fragments; `onFragment` is called only then */
  readonly wantsFragments: () => boolean;
  readonly onFragment: (report: FragmentReport) => void;
}

/** An outstation behind a listener. */
export interface ServedOutstation {
  readonly address: number;
  readonly deviceIndex: number;
  /** null: no master of this address is served */
  associationOf(master: number): AssociationPort | null;
  /** masters that may wait for an unsolicited response before their first frame */
  readonly listeningMasters: readonly number[];
  /** true: the device is off, and nothing is received or sent */
  readonly isSilent: boolean;
}

/** Outstations of one listener by address. */
export interface Routes {
  outstation(address: number): ServedOutstation | undefined;
  all(): Iterable<ServedOutstation>;
}

/** True if a certificate may act as a master. */
export function allows(allowed: readonly Dnp3AllowedPeer[] | null, identity: PeerIdentity): boolean {
  return allowed === null || allowed.some((peer) => fits(peer, identity));
}

/** True if a certificate may use a link address. */
export function mayUse(allowed: readonly Dnp3AllowedPeer[] | null, identity: PeerIdentity, master: number): boolean {
  if (allowed === null) return true;
  const peerEntries = allowed.filter((peer) => fits(peer, identity));
  return peerEntries.some(({ masterAddress }) => masterAddress === null || masterAddress === master);
}

function fits({ kind, value }: Dnp3AllowedPeer, { subject, commonName, fingerprint }: PeerIdentity): boolean {
  return kind === 'fingerprint' ? value === fingerprint : value === subject || value === commonName;
}

/** The identity of a master by its certificate. @param certificate DER; an unreadable one gives empty members */
export function identityOf(certificate: Buffer): PeerIdentity {
  try {
    const { subject, fingerprint256 } = new X509Certificate(certificate);
    const parts = subject.split('\n');
    return {
      // Node lists the attributes from the root on, RFC 4514 in reverse
      subject: parts.toReversed().join(','),
      commonName: parts.find((part) => part.startsWith('CN='))?.slice(3) ?? '',
      fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
    };
  } catch {
    return { subject: '', commonName: '', fingerprint: '' };
  }
}
