import type { Route } from './http/route.ts';
import { answersRoutes } from './answers/routes.ts';
import { batteryRoutes } from './battery/routes.ts';
import { csipRoutes } from './csip-client/routes.ts';
import { commandRoutes } from './commands/routes.ts';
import { consistencyRoutes } from './consistency/routes.ts';
import { controlsRoutes } from './controls/routes.ts';
import { deviceRoutes } from './devices/routes.ts';
import { evseRoutes } from './evse/routes.ts';
import { faultRoutes } from './faults/routes.ts';
import { fuelCellRoutes } from './fuelcell/routes.ts';
import { gridSupportRoutes } from './grid-support/routes.ts';
import { regionRoutes } from './grid-support/region-routes.ts';
import { storedSetRoutes } from './grid-support/set-routes.ts';
import { gridTraceRoutes } from './grid-support/trace-routes.ts';
import { historyRoutes } from './history/routes.ts';
import { holdRoutes } from './holds/routes.ts';
import { hybridRoutes } from './hybrid/routes.ts';
import { lifecycleRoutes } from './lifecycle/routes.ts';
import { logRoutes } from './logs/routes.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { modbusRoutes } from './modbus/routes.ts';
import { nameplateRoutes } from './nameplate/routes.ts';
import { ocppRoutes } from './charge-points/routes.ts';
import { dnp3Routes } from './outstations/routes.ts';
import { recorderRoutes } from './recorder/routes.ts';
import { registerRoutes } from './registers/routes.ts';
import { scenarioRoutes } from './scenarios/routes.ts';
import { shadingRoutes } from './shading/routes.ts';
import { streamRoutes } from './stream/routes.ts';
import { siteRoutes } from './site/routes.ts';
import { sunspecClientRoutes } from './sunspec-client/routes.ts';
import { surroundingsRoutes } from './surroundings/routes.ts';
import { timeRoutes } from './time/routes.ts';
import { windRoutes } from './wind/routes.ts';

/** Every operation of the interface: the source of routing, validation and description. */
export const allRoutes: readonly Route[] = [
  ...lifecycleRoutes,
  ...deviceRoutes,
  ...scenarioRoutes,
  ...historyRoutes,
  ...logRoutes,
  ...metricsRoutes,
  ...commandRoutes,
  ...consistencyRoutes,
  ...answersRoutes,
  ...controlsRoutes,
  ...holdRoutes,
  ...surroundingsRoutes,
  ...siteRoutes,
  ...shadingRoutes,
  ...timeRoutes,
  ...gridSupportRoutes,
  ...gridTraceRoutes,
  ...regionRoutes,
  ...storedSetRoutes,
  ...nameplateRoutes,
  ...registerRoutes,
  ...modbusRoutes,
  ...streamRoutes,
  ...recorderRoutes,
  ...faultRoutes,
  ...batteryRoutes,
  ...windRoutes,
  ...fuelCellRoutes,
  ...hybridRoutes,
  ...evseRoutes,
  ...ocppRoutes,
  ...dnp3Routes,
  ...sunspecClientRoutes,
  ...csipRoutes,
];
