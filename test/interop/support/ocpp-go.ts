/** The central system of ocpp-go. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CentralOptions } from './ocpp-central.ts';
import { LinePeer } from './peers.ts';

const sources = fileURLToPath(new URL('../go', import.meta.url));
const everywhere = 'fmt.Sprintf(":%v", port)';

/** The program, built from the exact version of the package; `remove` deletes it. */
export interface GoCentral {
  start(port: number, options?: CentralOptions): LinePeer;
  remove(): void;
}

/**
 * The package listens on all addresses. The build uses a copy of it that listens on loopback alone.
 * @throws Error when the package has changed, or cannot be downloaded
 */
export function buildGoCentral(): GoCentral {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-ocpp-go-'));
  const go = (...args: readonly string[]) =>
    execFileSync('go', args, { cwd: directory, stdio: 'pipe', env: { ...process.env, GOFLAGS: '' } });
  cpSync(sources, directory, { recursive: true });
  go('mod', 'vendor');
  const file = join(directory, 'vendor/github.com/lorenzodonini/ocpp-go/ws/websocket.go');
  const text = readFileSync(file, 'utf8');
  if (!text.includes(everywhere)) throw new Error('ocpp-go listens in another way');
  writeFileSync(file, text.replace(everywhere, everywhere.replace(':', '127.0.0.1:')));
  // the next build, in another directory, finds its packages in the cache
  go('build', '-mod=vendor', '-trimpath', '-o', 'central', '.');
  return {
    start: (port, options = {}) =>
      new LinePeer('ocpp-go', join(directory, 'central'), [String(port), JSON.stringify(options)]),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
