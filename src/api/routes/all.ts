import type { Route } from '../route.ts';
import { batteryRoutes } from './battery.ts';
import { commandRoutes } from './commands.ts';
import { controlsRoutes } from './controls.ts';
import { deviceRoutes } from './devices.ts';
import { evseRoutes } from './evse.ts';
import { faultRoutes } from './faults.ts';
import { fuelCellRoutes } from './fuelcell.ts';
import { gridSupportRoutes } from './grid-support.ts';
import { gridTraceRoutes } from './grid-trace.ts';
import { historyRoutes } from './history.ts';
import { hybridRoutes } from './hybrid.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { localControlRoutes } from './local-control.ts';
import { logRoutes } from './logs.ts';
import { metricsRoutes } from './metrics.ts';
import { modbusRoutes } from './modbus.ts';
import { nameplateRoutes } from './nameplate.ts';
import { registerRoutes } from './registers.ts';
import { shadingRoutes } from './shading.ts';
import { siteRoutes } from './site.ts';
import { sunspecClientRoutes } from './sunspec-client.ts';
import { surroundingsRoutes } from './surroundings.ts';
import { timeRoutes } from './time.ts';
import { windRoutes } from './wind.ts';

/** Every operation of the interface: the source of routing, validation and description. */
export const allRoutes: readonly Route[] = [
  ...lifecycleRoutes,
  ...deviceRoutes,
  ...historyRoutes,
  ...logRoutes,
  ...metricsRoutes,
  ...commandRoutes,
  ...controlsRoutes,
  ...localControlRoutes,
  ...surroundingsRoutes,
  ...siteRoutes,
  ...shadingRoutes,
  ...timeRoutes,
  ...gridSupportRoutes,
  ...gridTraceRoutes,
  ...nameplateRoutes,
  ...registerRoutes,
  ...modbusRoutes,
  ...faultRoutes,
  ...batteryRoutes,
  ...windRoutes,
  ...fuelCellRoutes,
  ...hybridRoutes,
  ...evseRoutes,
  ...sunspecClientRoutes,
];
