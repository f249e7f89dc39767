/** A name server on loopback, and lookups that ask it. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import type { NameSources } from '../../src/core/net/outbound.ts';

export interface NameServer {
  readonly address: string;
  /** names asked for, A and AAAA */
  readonly questions: string[];
  /** Resolves with the next question. */
  asked(): Promise<void>;
  close(): void;
}

/** What a server answers: addresses (IPv4), null for "no such name"; undefined: nothing at all. */
export type Answers = (name: string) => readonly string[] | null | undefined;

function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 5 };
}

/** RFC 1035 4.1: the question again, and records that point at its name. */
function reply(query: Buffer, end: number, addresses: readonly string[] | null): Buffer {
  const isA = query.readUInt16BE(end - 4) === 1;
  const records = isA ? (addresses ?? []) : [];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(addresses === null ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([
    header,
    query.subarray(12, end),
    ...records.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
    ),
  ]);
}

export async function startNameServer(answers: Answers = () => undefined): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, end } = nameIn(query);
    questions.push(name);
    const addresses = answers(name);
    if (addresses !== undefined) socket.send(reply(query, end, addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    asked: async () => {
      await once(socket, 'message');
    },
    close: () => socket.close(),
  };
}

/** Lookups with this hosts file, which ask this server, and the system after it. */
export function namesOf(server: NameServer, hosts = '', system: NameSources['system'] = () => Promise.resolve([])) {
  return {
    hosts: () => Promise.resolve(hosts),
    resolver: () => {
      const resolver = new Resolver();
      resolver.setServers([server.address]);
      return resolver;
    },
    system,
  } satisfies NameSources;
}
