import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceFlags } from '../../support/process.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));

/** Runs `derbench pki` and returns its output. @throws Error with its exit code as `status` */
export const runPki = (...words: readonly string[]): string =>
  execFileSync(process.execPath, [...sourceFlags, program, 'pki', ...words], { encoding: 'utf8', stdio: 'pipe' });

/** Makes certificates of Modbus over TLS. @param hosts of the server, besides localhost */
export const makePki = (directory: string, hosts: readonly string[] = []): string =>
  runPki(directory, '--modbus', ...hosts.map((host) => `--host=${host}`));

/** Certificates in a directory of their own. */
export class PkiOnDisk {
  readonly directory = mkdtempSync(join(tmpdir(), 'derbench-pki-'));
  /** output of the command */
  readonly output = makePki(this.directory);

  path(name: string): string {
    return join(this.directory, name);
  }

  get flags(): readonly string[] {
    return ['-e', 'yes', '-mbc', this.path('server.pem'), '-mbk', this.path('server.key'), '-mbr', this.path('ca.pem')];
  }

  /** CA, certificate and key of a client. */
  client(name: string): readonly [string, string, string] {
    return [this.path('ca.pem'), this.path(`${name}.pem`), this.path(`${name}.key`)];
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
