/** The client py20305 as it is installed for a site: a process with a configuration file, certificates and one device. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HeadEndPki } from '../../support/head-end.ts';
import { python } from './peers.ts';

export interface ForeignClientOptions {
  readonly pki: HeadEndPki;
  readonly serverUrl: string;
  readonly lfdi: string;
  readonly modbusPort: number;
}

export class ForeignClient {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #exited: Promise<unknown>;
  output = '';

  constructor({ pki, serverUrl, lfdi, modbusPort }: ForeignClientOptions) {
    this.#directory = mkdtempSync(join(tmpdir(), 'derbench-py20305-'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(this.#directory, name), text, { mode: 0o600 });
      return name;
    };
    const config = file(
      'client.json',
      JSON.stringify({
        server: { url: serverUrl, server_2018_compat: true },
        tls: {
          client_cert: file('device.pem', pki.device.cert),
          client_key: file('device.key', pki.device.key),
          ca_cert: file('root.pem', pki.root.cert),
        },
        devices: [{ type: 'sunspec', lfdi, host: '127.0.0.1', port: modbusPort, der_type: 4, scan_retries: 1 }],
        telemetry: { post_rate_seconds: 1 },
        history: { enabled: false },
        connection: { initial_delay_seconds: 0.2 },
      }),
    );
    this.#child = spawn(python, ['-B', '-m', 'py20305', '--config', config], {
      cwd: this.#directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer) => {
      this.output += chunk.toString();
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.#exited = once(this.#child, 'close');
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const tooLong = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await this.#exited;
    clearTimeout(tooLong);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
