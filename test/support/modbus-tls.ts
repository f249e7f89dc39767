/** A Modbus listener behind TLS, with its log and clock, and masters for it. */
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Logger } from '../../src/core/log/log.ts';
import type { ModbusContext } from '../../src/sunspec/modbus/server/context.ts';
import { createModbusContext, createModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import type { ModbusContextOptions, ModbusTcpServer } from '../../src/sunspec/modbus/server/server.ts';
import { RawClient, readRequest } from './modbus-client.ts';
import { FakeWallClock, MemoryUnit } from './modbus-unit.ts';
import type { Identity, TestPki } from './pki.ts';
import { openTls, serverFiles, tlsOver } from './tls.ts';
import type { TestTlsOptions } from './tls.ts';

/** A read, and the answer of unit 1 of a rig. */
export const read100 = readRequest(1, 100, 1);
export const answer100 = '0001000000050103020064';

export interface TlsRig {
  readonly server: ModbusTcpServer;
  readonly context: ModbusContext;
  readonly clock: FakeWallClock;
  readonly unit: MemoryUnit;
  readonly port: number;
  /** lines of the log; the address of the peer is replaced by PEER */
  readonly lines: readonly string[];
}

/** Turns the event loop until a condition holds. */
export async function until(ready: () => boolean): Promise<void> {
  while (!ready())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

/** Lines of the log that are not for debugging. */
export const infos = ({ lines }: TlsRig) => lines.filter((line) => !line.startsWith('debug'));

/** Rigs and their masters, which end together. */
export class TlsRigs {
  readonly #pki: TestPki;
  readonly #rigs: TlsRig[] = [];
  readonly #clients: { destroy(): void }[] = [];

  constructor(pki: TestPki) {
    this.#pki = pki;
  }

  async rig(tls: TestTlsOptions = {}, options: ModbusContextOptions = {}): Promise<TlsRig> {
    const clock = new FakeWallClock();
    const unit = new MemoryUnit();
    const lines: string[] = [];
    const write = (level: string) => (message: string) => {
      lines.push(`${level} ${message.replace(/127\.0\.0\.1:\d+/, 'PEER')}`);
    };
    const logger: Logger = {
      debug: write('debug'),
      info: write('info'),
      warning: write('warning'),
      error: write('error'),
    };
    const context = createModbusContext({ clock, logger, tls: tlsOver(serverFiles(this.#pki), tls).gate, ...options });
    const server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      context,
      units: (unitId) => (unitId === 1 ? unit : undefined),
    });
    const made = { server, context, clock, unit, lines, port: await server.listen() };
    this.#rigs.push(made);
    return made;
  }

  /** A master in a session; without an identity that of the read-only role. */
  async open(
    { port }: TlsRig,
    identity: Identity | undefined = this.#pki.clients.ReadOnlySunSpec,
    options: ConnectionOptions = {},
  ): Promise<RawClient> {
    const client = await openTls(port, this.#pki, identity, options);
    this.own(client);
    return client;
  }

  /** A TLS connection whose handshake may be refused. */
  connect({ port }: TlsRig, identity: Identity | undefined, options: ConnectionOptions = {}): TLSSocket {
    const socket = connect({ port, host: '127.0.0.1', ca: this.#pki.ca.cert, ...identity, ...options });
    this.own(socket);
    return socket;
  }

  /** A connection in clear. */
  async openRaw({ port }: TlsRig): Promise<RawClient> {
    const client = await RawClient.open(port);
    this.own(client);
    return client;
  }

  /** Ends with the others. */
  own(client: { destroy(): void }): void {
    this.#clients.push(client);
  }

  async end(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.destroy();
    await Promise.all(this.#rigs.splice(0).map(({ server }) => server.close()));
  }
}
