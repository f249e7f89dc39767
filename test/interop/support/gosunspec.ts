/** gosunspec, the SunSpec library of evcc and mbmd. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LinePeer } from './peers.ts';

const sources = fileURLToPath(new URL('../go-sunspec', import.meta.url));

/** The program, built from the exact versions of go.mod; `remove` deletes it. */
export interface GoSunSpec {
  start(modbusPort: number, unit?: number): LinePeer;
  remove(): void;
}

/** @throws Error when the modules cannot be downloaded or built */
export function buildGoSunSpec(): GoSunSpec {
  const directory = mkdtempSync(join(tmpdir(), 'derbench-gosunspec-'));
  const program = join(directory, 'master');
  execFileSync('go', ['build', '-trimpath', '-o', program, '.'], {
    cwd: sources,
    stdio: 'pipe',
    env: { ...process.env, GOFLAGS: '-mod=readonly' },
  });
  return {
    start: (modbusPort, unit = 1) => new LinePeer('gosunspec', program, [`127.0.0.1:${modbusPort}`, String(unit)]),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
