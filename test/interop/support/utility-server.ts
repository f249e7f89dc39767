/** The utility server of other people, with certificates of a test hierarchy for it and for one device. */
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lfdiOf } from '../../csip/head-end/head-end.ts';
import { headEndPki } from '../../support/head-end.ts';
import { freePorts } from '../../support/ports.ts';
import { PythonPeer } from './peers.ts';

export class UtilityServer {
  readonly peer: PythonPeer;
  /** of the device */
  readonly lfdi: string;
  /** of a simulator whose device is registered here */
  readonly flags: readonly string[];
  readonly #directory: string;

  private constructor(peer: PythonPeer, lfdi: string, flags: readonly string[], directory: string) {
    this.peer = peer;
    this.lfdi = lfdi;
    this.flags = flags;
    this.#directory = directory;
  }

  static async open(): Promise<UtilityServer> {
    const pki = await headEndPki();
    const directory = mkdtempSync(join(tmpdir(), 'derbench-gridappsd-'));
    const port = await freePorts(1);
    const file = (name: string, text: string): string => {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    // where the server keeps certificates; it would make its own in place of those that are missing
    mkdirSync(join(directory, 'tls', 'combined'), { recursive: true });
    file('openssl.cnf', '');
    const root = file('tls/certs/ca.crt', pki.root.cert);
    file('tls/private/ca.pem', pki.root.key);
    file(`tls/certs/127.0.0.1:${port}.crt`, pki.server.cert);
    file(`tls/private/127.0.0.1:${port}.pem`, pki.server.key);
    const cert = file('tls/certs/device.crt', pki.device.cert);
    const key = file('tls/private/device.pem', pki.device.key);
    const peer = new PythonPeer('utility_server', port, directory);
    await peer.ask('ready');
    const lfdi = lfdiOf(new X509Certificate(pki.device.cert).raw);
    const flags = [
      ...['--csip_server_port', String(port), '--csip_pin', '111115'],
      ...['--csip_cert', cert, '--csip_key', key, '--csip_root_cert', root],
    ];
    return new UtilityServer(peer, lfdi, flags, directory);
  }

  async close(): Promise<void> {
    await this.peer.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
