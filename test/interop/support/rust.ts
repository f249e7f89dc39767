/** SunSpec clients of two Rust crates. */
import { join } from 'node:path';
import { LinePeer, installedPath } from './peers.ts';

export const rustClients = ['sunspec', 'sunspec_rs'] as const;
export type RustClient = (typeof rustClients)[number];

/** A client at a port of this machine. */
export function startRustClient(client: RustClient, modbusPort: number, unit = 1): LinePeer {
  const folder = installedPath('rust');
  // sunspec_rs reads its model definitions from this folder
  const definitions = client === 'sunspec_rs' ? [join(folder, 'definitions')] : [];
  return new LinePeer(client, join(folder, client), ['127.0.0.1', String(modbusPort), String(unit), ...definitions]);
}
