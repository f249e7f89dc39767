/** A TLS server that plays the other end of a client: a head-end of IEEE 2030.5, or a central system of OCPP. */
import { once } from 'node:events';
import { createServer } from 'node:tls';
import type { Server, TlsOptions, TLSSocket } from 'node:tls';
import { listen } from '../../src/core/net/listen.ts';
import { createAuthority, issue } from './pki.ts';
import type { Authority, Identity } from './pki.ts';

/** Chain of a head-end: root, intermediate, and what servers and devices present. */
export interface HeadEndPki {
  readonly root: Authority;
  readonly intermediate: Authority;
  /** leaf and intermediate */
  readonly server: Identity;
  readonly bare: Identity;
  readonly expired: Identity;
  readonly elsewhere: Identity;
  readonly selfSigned: Identity;
  /** under another root */
  readonly foreign: Identity;
  /** leaf and intermediate of a device */
  readonly device: Identity;
  readonly foreignDevice: Identity;
}

async function createHeadEndPki(): Promise<HeadEndPki> {
  const root = await createAuthority('Head-end root');
  const intermediate = await createAuthority('Head-end intermediate', root);
  const foreignRoot = await createAuthority('Another root');
  const chained = ({ cert, key }: Identity): Identity => ({ cert: cert + intermediate.cert, key });
  const server = { purpose: 'server' } as const;
  const bare = await issue(intermediate, 'server', { ...server, bothWays: true });
  const { cert, key } = await createAuthority('self-signed server');
  return {
    root,
    intermediate,
    bare,
    server: chained(bare),
    expired: chained(await issue(intermediate, 'expired', { ...server, validDays: [-20, -10] })),
    elsewhere: chained(await issue(intermediate, 'elsewhere', { ...server, hosts: ['utility.example'] })),
    selfSigned: { cert, key },
    foreign: await issue(foreignRoot, 'foreign', server),
    device: chained(await issue(intermediate, 'device', { purpose: 'client', bothWays: true })),
    foreignDevice: await issue(foreignRoot, 'foreign device', { purpose: 'client' }),
  };
}

let made: Promise<HeadEndPki> | undefined;

/** The certificates that tests of one process share; they are made once. */
export function headEndPki(): Promise<HeadEndPki> {
  made ??= createHeadEndPki();
  return made;
}

/** Listens on loopback and answers nothing; tells the sessions that it has. */
export class HeadEnd {
  readonly port: number;
  readonly sessions: TLSSocket[] = [];
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => undefined);
      this.sessions.push(socket);
    });
    server.on('tlsClientError', () => undefined);
  }

  static async open(identity: Identity, options: TlsOptions = {}): Promise<HeadEnd> {
    const server = createServer({ ...identity, ...options });
    return new HeadEnd(server, (await listen(server, '127.0.0.1', 0)).port);
  }

  /** The session of the client that has just connected. */
  async session(): Promise<TLSSocket> {
    while (this.sessions.length === 0) await once(this.#server, 'secureConnection');
    return this.sessions.at(-1)!;
  }

  close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}
