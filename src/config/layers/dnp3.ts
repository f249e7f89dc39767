/** The outstations of DNP3, from the values in force. */
import { dnp3AllowedPeer } from '../../contract/dnp3-settings.ts';
import type { Dnp3Settings, Dnp3TlsSettings } from '../../contract/dnp3-settings.ts';
import type { Values } from '../settings/settings.ts';

function tlsOf(v: Values): Dnp3TlsSettings | null {
  const { dnp3_cert: cert, dnp3_key: key, dnp3_root_cert: rootCert, dnp3_allowed_peers: peers } = v;
  if (!v.dnp3_enc || cert === null || key === null || rootCert === null) return null;
  const allowedPeers = peers?.map(dnp3AllowedPeer).filter((peer) => peer !== null) ?? null;
  return { cert, key, rootCert, allowedPeers };
}

/** Null: it is off. Call it only when nothing is wrong. */
export function dnp3Of(v: Values): Dnp3Settings | null {
  if (!v.dnp3_enable) return null;
  return {
    host: v.dnp3_host,
    port: v.dnp3_port,
    sharedPort: v.dnp3_shared_port,
    outstationAddress: v.dnp3_outstation_addr,
    masterAddresses: v.dnp3_remote_addr,
    profile: v.dnp3_profile,
    pointsFile: v.dnp3_points,
    unsolicited: v.dnp3_unsolicited,
    tls: tlsOf(v),
  };
}

/** Log lines about risks of the settings. */
export function dnp3Notices(v: Values): readonly string[] {
  if (!v.dnp3_enable || !v.dnp3_enc || v.dnp3_allowed_peers !== null) return [];
  return ['dnp3_enc is yes without dnp3_allowed_peers: every certificate of dnp3_root_cert may act as any master'];
}
