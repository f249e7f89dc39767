/** The simulator of a soak: devices of all kinds, every protocol on, one port for each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programCommand, startSimulator } from '../test/support/process.ts';
import type { Command, RunningSimulator } from '../test/support/process.ts';

/** In turn; the first four are enough for every protocol. */
const kinds = [
  'PV-3Phase',
  'Batt-3Phase',
  'EVSE 1.6',
  'EVSE 2.0.1',
  'Wind-T3-3Phase',
  'Fuelcell-3Phase',
  'HybridDC-3Phase',
  'Wind-T4-3Phase',
] as const;
type Kind = (typeof kinds)[number];

export interface FleetDevice {
  readonly index: number;
  readonly kind: Kind;
  /** identity of a charge point; null: it is none */
  readonly station: string | null;
}

export function fleetOf(count: number): readonly FleetDevice[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] ?? 'PV-3Phase';
    return { index, kind, station: kind.startsWith('EVSE') ? `CP-${index}` : null };
  });
}

export const devicesOf = (fleet: readonly FleetDevice[], kind: Kind) => fleet.filter((device) => device.kind === kind);

function entryOf({ kind, station }: FleetDevice): object {
  if (station === null) return { device_type: kind };
  const version = kind === 'EVSE 1.6' ? 'ocpp1.6j' : 'ocpp2.0.1j';
  return {
    device_type: 'EVSE',
    // sessions of a soak last seconds
    profile: { evse: { start_delay_min_s: 0.2, start_delay_max_s: 0.5 } },
    ocpp: { id: station, version },
  };
}

/** Servers that the simulator connects to. */
export interface RemotePeers {
  readonly csmsUrl: string;
  readonly headEndPort: number;
  /** folder with `root.pem`, and certificate and key of each device */
  readonly certificates: string;
}

export interface LifeOptions {
  readonly fleet: readonly FleetDevice[];
  readonly folder: string;
  /** null: nothing is kept over a restart */
  readonly stateFolder: string | null;
  readonly peers: RemotePeers;
  readonly tickS: number;
  readonly seed: number;
  /** simulated seconds per second; default 1 */
  readonly timeRate?: number;
  /** default: the sources */
  readonly command?: Command;
}

/** Link address of the DNP3 masters, beyond those of the outstations. */
export const masterAddress = 1000;

/** The build in `dist`. */
export const fromBuild: Command = [process.execPath, 'dist/main.js'];
/** The same with an inspector, which can collect garbage. */
export const inspectedBuild: Command = [process.execPath, '--inspect=127.0.0.1:0', 'dist/main.js'];

/** Starts a life of the simulator on free ports. @throws Error with its output when it does not become ready */
export function startLife(options: LifeOptions): Promise<RunningSimulator> {
  const { fleet, folder, stateFolder, peers, tickS, seed, timeRate = 1, command = programCommand } = options;
  const config = join(folder, 'soak.json');
  writeFileSync(config, JSON.stringify({ devices: fleet.map(entryOf) }));
  return startSimulator(
    [
      ...['--config', config, '--tick', String(tickS), '--seed', String(seed), '--log_level', 'warning'],
      ...['--time_rate', String(timeRate)],
      // full rings do not count as growth: 600 samples are a minute at ticks of 0.1 s
      ...['--history_samples', '600', '--mb_shared_port', 'yes'],
      ...['--dnp3_enable', 'yes', '--dnp3_port', '0', '--dnp3_shared_port', 'yes'],
      ...['--dnp3_remote_addr', String(masterAddress)],
      ...['--ocpp_enable', 'yes', '--ocpp_csms_url', peers.csmsUrl],
      ...['--csip_client_enable', 'yes', '--csip_website_port', '0', '--csip_server_port', String(peers.headEndPort)],
      ...['--csip_cert_dir', peers.certificates, '--csip_root_cert', join(peers.certificates, 'root.pem')],
      ...(stateFolder === null ? [] : ['--state_dir', stateFolder]),
    ],
    command,
  );
}
