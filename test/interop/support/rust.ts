/** SunSpec clients of two Rust crates. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LinePeer } from './peers.ts';

const sources = fileURLToPath(new URL('../rust', import.meta.url));
/** Kept between runs, as the other peers are. */
const target = fileURLToPath(new URL('../../../.venv/rust', import.meta.url));

export const rustClients = ['sunspec', 'sunspec_rs'] as const;
export type RustClient = (typeof rustClients)[number];

export interface RustClients {
  start(client: RustClient, modbusPort: number, unit?: number): LinePeer;
}

interface Metadata {
  readonly packages: readonly { readonly name: string; readonly manifest_path: string }[];
}

/**
 * Builds both programs from the exact versions of Cargo.lock; takes minutes the first time.
 * @throws Error when the crates cannot be downloaded or built
 */
export function buildRustClients(): RustClients {
  const cargo = (...args: readonly string[]) =>
    execFileSync('cargo', [...args], {
      cwd: sources,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CARGO_TARGET_DIR: target },
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
  cargo('build', '--locked');
  const { packages } = JSON.parse(cargo('metadata', '--locked', '--format-version', '1')) as Metadata;
  const crate = packages.find(({ name }) => name === 'sunspec_rs');
  if (!crate) throw new Error('cargo does not know where sunspec_rs is');
  // sunspec_rs reads its model definitions from the folder in which it runs
  const definitions = dirname(crate.manifest_path);
  return {
    start: (client, modbusPort, unit = 1) =>
      new LinePeer(client, join(target, 'debug', client), [
        '127.0.0.1',
        String(modbusPort),
        String(unit),
        ...(client === 'sunspec_rs' ? [definitions] : []),
      ]),
  };
}
