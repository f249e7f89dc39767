import { freePorts, untilModbus, within } from './net.ts';
import { mainPath, startServer } from './processes.ts';
import type { Server } from './processes.ts';

export interface Simulator extends Server {
  /** Modbus port of device 0; the others follow */
  readonly port: number;
  readonly healthUrl: string;
  /** monotonic time of this process just before the spawn */
  readonly spawnedMs: number;
}

export const startLimitS = 60;

/**
 * Starts the compiled simulator as its users do. It does not wait until it answers.
 * @param flags that make so many devices
 * @param main of the build; default: this one
 */
export async function spawnSimulator(
  devices: number,
  flags: readonly string[] = ['-N', String(devices)],
  main = mainPath,
): Promise<Simulator> {
  const port = await freePorts(devices);
  const webPort = await freePorts();
  const spawnedMs = performance.now();
  const server = startServer(process.execPath, [
    main,
    ...flags,
    '--mb_port',
    String(port),
    '--website_port',
    String(webPort),
  ]);
  return { ...server, port, healthUrl: `http://127.0.0.1:${webPort}/api/sim/health`, spawnedMs };
}

/** Starts the simulator and waits until its last device answers. */
export async function startSimulator(devices: number, flags?: readonly string[], main?: string): Promise<Simulator> {
  const simulator = await spawnSimulator(devices, flags, main);
  await within(startLimitS, untilModbus(simulator.port + devices - 1, 'SunS'), simulator.failed);
  return simulator;
}
