import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../../scripts/make-test-pki.sh', import.meta.url));

/** Runs the script of the documentation and returns its output. @param hosts of the server, besides localhost */
export const makePki = (directory: string, hosts: readonly string[] = []): string =>
  execFileSync('sh', [script, directory, ...hosts], { encoding: 'utf8' });

/** Certificates in a directory of their own. */
export class PkiOnDisk {
  readonly directory = mkdtempSync(join(tmpdir(), 'derbench-pki-'));
  /** output of the script */
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
