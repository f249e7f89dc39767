/** TLS around a raw master, and certificate files that are not on a disk. */
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { TlsPolicy } from '../../src/core/tls/material.ts';
import type { Logger } from '../../src/core/log/log.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import type { TlsFiles, TlsFilesOptions, TlsIo } from '../../src/core/tls/watch.ts';
import type { RoleFinding } from '../../src/sunspec/modbus/access/certificate-role.ts';
import { modbusTlsFiles } from '../../src/app/adapters/modbus.ts';
import { RawClient } from './modbus-client.ts';
import type { Identity, TestPki } from './pki.ts';

/** Files in memory; each `set` also changes the time stamp, as on a disk. */
export class MemoryFiles implements TlsIo {
  readonly #files = new Map<string, { readonly text: string; readonly stamp: number }>();
  readonly open = new Set<string>();
  #stamp = 0;

  set(path: string, text: string): void {
    this.#stamp += 1;
    this.#files.set(path, { text, stamp: this.#stamp });
  }

  delete(path: string): void {
    this.#files.delete(path);
  }

  readText = (path: string): string => {
    const file = this.#files.get(path);
    if (file === undefined) throw Object.assign(new Error('missing'), { code: 'ENOENT' });
    return file.text;
  };

  stampOf = (path: string): string | null => this.#files.get(path)?.stamp.toString() ?? null;

  readableByAll = (path: string): boolean => this.open.has(path);
}

export const tlsPaths = { cert: '/pki/server.pem', key: '/pki/server.key', rootCert: '/pki/ca.pem' };

/** The files of the server of a PKI. */
export function serverFiles({ server, ca }: TestPki): MemoryFiles {
  const files = new MemoryFiles();
  files.set(tlsPaths.cert, server.cert);
  files.set(tlsPaths.key, server.key);
  files.set(tlsPaths.rootCert, ca.cert);
  return files;
}

export interface TestTlsOptions
  extends Partial<TlsPolicy>,
    Partial<Pick<TlsFilesOptions<RoleFinding>, 'clock' | 'every'>> {
  readonly logger?: Logger;
}

/** TLS of a server over files in memory. */
export function tlsOver(
  files: MemoryFiles,
  { ciphers = null, minVersion = '1.2', clock = systemClock, logger = silentLogger, ...rest }: TestTlsOptions = {},
): TlsFiles<RoleFinding> {
  return modbusTlsFiles({ settings: { files: tlsPaths, ciphers, minVersion }, io: files, clock, logger, ...rest });
}

/** A PKI whose CA is trusted. */
interface Trusted {
  readonly ca: Pick<Identity, 'cert'>;
}

/** A TLS connection that trusts the CA of a PKI. With TLS 1.3 the server may refuse it only after it is established. */
export async function connectTls(
  port: number,
  { ca }: Trusted,
  identity: Identity | undefined,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: ca.cert, ...identity, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** A raw master inside TLS. */
export async function openTls(
  port: number,
  trusted: Trusted,
  identity: Identity | undefined,
  options: ConnectionOptions = {},
): Promise<RawClient> {
  return RawClient.over(await connectTls(port, trusted, identity, options));
}
