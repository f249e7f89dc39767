/** Synthetic TCP connections and their Ethernet frames, in which capture tools can read the exchanged octets. */
import { Buffer } from 'node:buffer';
import { isIPv6 } from 'node:net';

/** One end of a connection. */
export interface End {
  /** IPv4 or IPv6 address; both ends have the same version */
  readonly address: string;
  readonly port: number;
}

const tcpFlag = { fin: 0x01, syn: 0x02, rst: 0x04, psh: 0x08, ack: 0x10 } as const;

interface Segment {
  readonly from: End;
  readonly to: End;
  readonly seq: number;
  readonly ack: number;
  readonly flags: number;
  readonly data: Buffer;
}

const etherType = { ipv4: 0x0800, ipv6: 0x86dd } as const;
const tcp = 6;
const ethernetOctets = 14;
const ipv4Octets = 20;
const ipv6Octets = 40;
const tcpOctets = 20;
const hopLimit = 64;
const window = 0xffff;
/** locally administered address */
const macOf = (last: number) => [0x02, 0, 0, 0, 0, last];

function ipv4Bytes(text: string): Buffer {
  return Buffer.from(text.split('.').map(Number));
}

function ipv6Bytes(text: string): Buffer {
  const [address = ''] = text.split('%');
  const parts = address.split('::').map((part) => (part === '' ? [] : part.split(':').flatMap(groupsOf)));
  const [head = [], tail] = parts;
  const gap = tail === undefined ? [] : new Array<number>(8 - head.length - tail.length).fill(0);
  const bytes = Buffer.alloc(16);
  [...head, ...gap, ...(tail ?? [])].forEach((group, i) => bytes.writeUInt16BE(group, 2 * i));
  return bytes;
}

/** The 16-bit groups of a part of an IPv6 address, whose last one may be an IPv4 address. */
function groupsOf(part: string): number[] {
  if (!part.includes('.')) return [Number.parseInt(part, 16)];
  const bytes = ipv4Bytes(part);
  return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)];
}

const addressBytes = (address: string) => (isIPv6(address) ? ipv6Bytes(address) : ipv4Bytes(address));

/** The Internet checksum (RFC 1071). */
function checksum(...parts: readonly Buffer[]): number {
  let sum = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 2)
      sum += at + 1 < part.length ? part.readUInt16BE(at) : (part[at] ?? 0) << 8;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

/** The part of the IP header that the checksum of TCP includes (RFC 9293 3.1, RFC 8200 8.1). */
function pseudoHeader(source: Buffer, destination: Buffer, length: number): Buffer {
  const isIpv4 = source.length === 4;
  const rest = Buffer.alloc(isIpv4 ? 4 : 8);
  if (isIpv4) {
    rest[1] = tcp;
    rest.writeUInt16BE(length, 2);
  } else {
    rest.writeUInt32BE(length, 0);
    rest[7] = tcp;
  }
  return Buffer.concat([source, destination, rest]);
}

function tcpPart({ from, to, seq, ack, flags, data }: Segment, source: Buffer, destination: Buffer): Buffer {
  const header = Buffer.alloc(tcpOctets);
  header.writeUInt16BE(from.port, 0);
  header.writeUInt16BE(to.port, 2);
  header.writeUInt32BE(seq >>> 0, 4);
  header.writeUInt32BE(ack >>> 0, 8);
  header[12] = (tcpOctets / 4) << 4;
  header[13] = flags;
  header.writeUInt16BE(window, 14);
  const pseudo = pseudoHeader(source, destination, tcpOctets + data.length);
  header.writeUInt16BE(checksum(pseudo, header, data), 16);
  return Buffer.concat([header, data]);
}

function ipv4Header(source: Buffer, destination: Buffer, length: number, id: number): Buffer {
  const header = Buffer.alloc(ipv4Octets);
  header[0] = 0x45;
  header.writeUInt16BE(ipv4Octets + length, 2);
  header.writeUInt16BE(id & 0xffff, 4);
  // do not fragment
  header[6] = 0x40;
  header[8] = hopLimit;
  header[9] = tcp;
  source.copy(header, 12);
  destination.copy(header, 16);
  header.writeUInt16BE(checksum(header), 10);
  return header;
}

function ipv6Header(source: Buffer, destination: Buffer, length: number): Buffer {
  const header = Buffer.alloc(ipv6Octets);
  header[0] = 0x60;
  header.writeUInt16BE(length, 4);
  header[6] = tcp;
  header[7] = hopLimit;
  source.copy(header, 8);
  destination.copy(header, 24);
  return header;
}

/**
 * One frame with correct lengths and checksums.
 * @param toServer selects the hardware addresses
 * @param id of the IPv4 packet
 */
function frameOf(segment: Segment, toServer: boolean, id: number): Buffer {
  const source = addressBytes(segment.from.address);
  const destination = addressBytes(segment.to.address);
  const part = tcpPart(segment, source, destination);
  const isIpv4 = source.length === 4;
  const ip = isIpv4 ? ipv4Header(source, destination, part.length, id) : ipv6Header(source, destination, part.length);
  const ethernet = Buffer.alloc(ethernetOctets);
  const [server, client] = [macOf(1), macOf(2)];
  ethernet.set(toServer ? [...server, ...client] : [...client, ...server], 0);
  ethernet.writeUInt16BE(isIpv4 ? etherType.ipv4 : etherType.ipv6, 12);
  return Buffer.concat([ethernet, ip, part]);
}

const { syn, ack, psh } = tcpFlag;
const noData = Buffer.alloc(0);
/** Maximum octets of one segment: with headers a packet must stay below 64 KiB. */
const maxData = 32 * 1024;

/** First sequence number, easy to read. */
const firstSeq = 1000;

export class SyntheticConnection {
  readonly #client: End;
  readonly #server: End;
  /** next sequence numbers */
  #clientSeq = firstSeq;
  #serverSeq = firstSeq;
  #opened = false;
  #packets = 0;

  constructor(client: End, server: End) {
    this.#client = client;
    this.#server = server;
  }

  /** The frames for these octets; the first call adds those of the handshake. */
  carry(data: Buffer, toServer: boolean): readonly Buffer[] {
    const frames = this.#opened ? [] : this.#open();
    for (let at = 0; at < data.length; at += maxData)
      frames.push(this.#frame(psh | ack, data.subarray(at, at + maxData), toServer));
    return frames;
  }

  #open(): Buffer[] {
    this.#opened = true;
    const frames = [this.#frame(syn, noData, true), this.#frame(syn | ack, noData, false)];
    return [...frames, this.#frame(ack, noData, true)];
  }

  #frame(flags: number, data: Buffer, toServer: boolean): Buffer {
    const [from, to] = toServer ? [this.#client, this.#server] : [this.#server, this.#client];
    const [seq, other] = toServer ? [this.#clientSeq, this.#serverSeq] : [this.#serverSeq, this.#clientSeq];
    this.#packets += 1;
    const segment = { from, to, seq, ack: flags & ack ? other : 0, flags, data };
    const next = seq + data.length + (flags & syn ? 1 : 0);
    if (toServer) this.#clientSeq = next;
    else this.#serverSeq = next;
    return frameOf(segment, toServer, this.#packets);
  }
}
