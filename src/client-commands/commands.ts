/** Every command that asks a running simulator, by its name in the table of commands. */
import type { ClientCommand } from './call.ts';
import { fault } from './faults.ts';
import { findings } from './findings.ts';
import { grid, weather } from './surroundings.ts';
import { devices, health, why } from './look.ts';
import { get, limit, set } from './points.ts';
import { charge, pause, plug, unplug } from './stations.ts';
import { time } from './time.ts';
import { wait, watch } from './waiting.ts';

export const clientCommands: Readonly<Record<string, ClientCommand>> = {
  devices,
  get,
  why,
  findings,
  wait,
  watch,
  health,
  set,
  limit,
  grid,
  weather,
  plug,
  unplug,
  charge,
  pause,
  fault,
  time,
};
