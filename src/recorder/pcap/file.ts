/**
 * A recording as a capture file (pcap, link type Ethernet). Frames, local addresses, server ports and TCP handshakes
 * are synthetic; octets, addresses of peers and times are recorded. TLS appears in clear.
 */
import { Buffer } from 'node:buffer';
import { isIP, isIPv6 } from 'node:net';
import type { ModbusFacts } from '../../core/wire/modbus.ts';
import type { Recorded } from '../entries.ts';
import { LinkFrames } from '../link-frames.ts';
import { SyntheticConnection } from './frames.ts';
import type { End } from './frames.ts';

/** Ports at which dissectors expect the protocols. */
const ports = { modbus: 502, dnp3: 20_000 } as const;
/** Local addresses towards peers on other machines: addresses for documentation (RFC 5737, RFC 3849). */
const localAddress = { ipv4: '192.0.2.1', ipv6: '2001:db8::1' } as const;
const loopback = { ipv4: '127.0.0.1', ipv6: '::1' } as const;
/** for a server known only by name */
const unknownAddress = '192.0.2.2';
/** ports of the built-in master, whose real ones are unknown */
const firstLocalPort = 49_152;
const localPorts = 16_384;

/** approximate octets of one piece; each takes a turn of the event loop */
const pieceOctets = 16 * 1024;

const fileHeader = Buffer.alloc(24);
fileHeader.writeUInt32LE(0xa1b2c3d4, 0);
fileHeader.writeUInt16LE(2, 4);
fileHeader.writeUInt16LE(4, 6);
fileHeader.writeUInt32LE(0x40000, 16);
fileHeader.writeUInt32LE(1, 20);

function record(frame: Buffer, wallMs: number): Buffer {
  const header = Buffer.alloc(16);
  const ms = Math.floor(wallMs);
  header.writeUInt32LE(Math.floor(ms / 1000) >>> 0, 0);
  header.writeUInt32LE((ms % 1000) * 1000, 4);
  header.writeUInt32LE(frame.length, 8);
  header.writeUInt32LE(frame.length, 12);
  return Buffer.concat([header, frame]);
}

/** Parses `address:port`; a name becomes the unknown address. */
function endOf(peer: string): End {
  const cut = peer.lastIndexOf(':');
  const host = peer.slice(0, cut).replace(/^\[|\]$/g, '');
  return { address: isIP(host) ? host : unknownAddress, port: Number(peer.slice(cut + 1)) & 0xffff };
}

/** The local address for a connection with a peer. */
function localAddressFor({ address }: End): string {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const isHere = address === '::1' || address.startsWith('127.');
  return (isHere ? loopback : localAddress)[family];
}

/** The payload of a message and its connection. */
interface Carried {
  readonly octets: Buffer;
  /** peer of its connection: `address:port` */
  readonly peer: string;
  /** true: the built-in master sends requests to the peer; false: the peer sends requests to the simulator */
  readonly peerServes: boolean;
}

function carriedByModbus({ entry }: Recorded): Carried | null {
  const { exchange } = entry.facts as ModbusFacts;
  if (exchange.framing !== 'mbap' || entry.raw.length === 0) return null;
  return { octets: entry.raw, peer: entry.peer, peerServes: exchange.comm === 'sunspec_client' };
}

/** @param links by connection */
function carriedByDnp3({ entry }: Recorded, links: Map<string, LinkFrames>): Carried {
  const { outstation, master } = entry.facts as { readonly outstation: number; readonly master: number };
  const peer = entry.peer.slice(entry.peer.indexOf('@') + 1);
  const fromMaster = entry.direction === 'in';
  const [source, destination] = fromMaster ? [master, outstation] : [outstation, master];
  let frames = links.get(peer);
  if (frames === undefined) links.set(peer, (frames = new LinkFrames()));
  return { octets: frames.of(entry.raw, { source, destination, fromMaster }), peer, peerServes: false };
}

/** The connections of a file, by protocol and peer. */
class Connections {
  readonly #connections = new Map<string, SyntheticConnection>();

  of(protocol: keyof typeof ports, { peer, peerServes }: Carried): SyntheticConnection {
    const key = `${protocol} ${peer}`;
    let connection = this.#connections.get(key);
    if (connection === undefined) this.#connections.set(key, (connection = this.#create(protocol, peer, peerServes)));
    return connection;
  }

  #create(protocol: keyof typeof ports, peer: string, peerServes: boolean): SyntheticConnection {
    const there = endOf(peer);
    const here = { address: localAddressFor(there), port: ports[protocol] };
    if (!peerServes) return new SyntheticConnection(there, here);
    const master = { ...here, port: firstLocalPort + (this.#connections.size % localPorts) };
    return new SyntheticConnection(master, { ...there, port: ports[protocol] });
  }
}

/** The file in pieces, without truncated messages and those of other protocols or serial lines. */
export function* packetFile(entries: Iterable<Recorded>): Generator<Buffer> {
  let held: Buffer[] = [fileHeader];
  let octets = 0;
  for (const records of recordsOf(entries)) {
    held.push(...records);
    octets += records.reduce((sum, { length }) => sum + length, 0);
    if (octets < pieceOctets) continue;
    yield Buffer.concat(held);
    held = [];
    octets = 0;
  }
  if (held.length > 0) yield Buffer.concat(held);
}

function* recordsOf(entries: Iterable<Recorded>): Generator<readonly Buffer[]> {
  const connections = new Connections();
  const links = new Map<string, LinkFrames>();
  for (const recorded of entries) {
    const { channel, entry } = recorded;
    const { protocol } = channel;
    if (entry.rawLength > entry.raw.length || (protocol !== 'modbus' && protocol !== 'dnp3')) continue;
    const carried = protocol === 'modbus' ? carriedByModbus(recorded) : carriedByDnp3(recorded, links);
    if (carried === null) continue;
    const toServer = (entry.direction === 'in') !== carried.peerServes;
    const frames = connections.of(protocol, carried).carry(carried.octets, toServer);
    yield frames.map((frame) => record(frame, entry.wallMs));
  }
}
