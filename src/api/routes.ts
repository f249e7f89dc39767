import type { Route } from './http/route.ts';
import { answersRoutes } from './answers.ts';
import { batteryRoutes } from './battery.ts';
import { captureRoutes } from './captures/routes.ts';
import { csipRoutes } from './csip-client/routes.ts';
import { certificateRoutes } from './certificates.ts';
import { commandRoutes } from './commands.ts';
import { consistencyRoutes } from './consistency.ts';
import { controlsRoutes } from './controls.ts';
import { deviceRoutes } from './devices.ts';
import { energyRoutes } from './energy.ts';
import { evidenceRoutes } from './evidence.ts';
import { exchangeRoutes } from './exchange/routes.ts';
import { evseRoutes } from './evse/routes.ts';
import { faultRoutes } from './faults/routes.ts';
import { exerciseRoutes } from './findings/exercise.ts';
import { findingRoutes } from './findings/routes.ts';
import { fuelCellRoutes } from './fuelcell.ts';
import { fleetRoutes } from './fleet/routes.ts';
import { gridSupportRoutes } from './grid-support/routes.ts';
import { regionRoutes } from './grid-support/regions.ts';
import { storedSetRoutes } from './grid-support/sets.ts';
import { gridTraceRoutes } from './grid-support/trace.ts';
import { historyRoutes } from './history/routes.ts';
import { holdRoutes } from './holds/routes.ts';
import { hybridRoutes } from './hybrid.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { logRoutes } from './logs.ts';
import { metricsRoutes } from './metrics/metrics.ts';
import { modbusRoutes } from './modbus.ts';
import { nameplateRoutes } from './nameplate.ts';
import { ocppRoutes } from './charge-points/routes.ts';
import { dnp3Routes } from './outstations.ts';
import { protocolRoutes } from './protocols.ts';
import { recorderRoutes } from './recorder.ts';
import { registerRoutes } from './registers.ts';
import { scenarioRoutes } from './scenarios/routes.ts';
import { scenarioRunRoutes } from './scenarios/runs.ts';
import { labConfigRoutes } from './lab-config.ts';
import { settingsRoutes } from './settings.ts';
import { shadingRoutes } from './shading.ts';
import { stateRoutes } from './state.ts';
import { streamRoutes } from './stream.ts';
import { siteRoutes } from './site.ts';
import { sunspecClientRoutes } from './sunspec-client/routes.ts';
import { surroundingsRoutes } from './surroundings.ts';
import { attentionRoutes } from './attention/routes.ts';
import { timelineRoutes } from './timeline/routes.ts';
import { timeRoutes } from './time.ts';
import { whyRoutes } from './why/routes.ts';
import { windRoutes } from './wind.ts';

/** Every operation of the interface: the source of routing, validation and description. */
export const allRoutes: readonly Route[] = [
  ...lifecycleRoutes,
  ...deviceRoutes,
  ...fleetRoutes,
  ...scenarioRunRoutes,
  ...scenarioRoutes,
  ...stateRoutes,
  ...certificateRoutes,
  ...settingsRoutes,
  ...protocolRoutes,
  ...labConfigRoutes,
  ...historyRoutes,
  ...logRoutes,
  ...timelineRoutes,
  ...attentionRoutes,
  ...metricsRoutes,
  ...commandRoutes,
  ...consistencyRoutes,
  ...evidenceRoutes,
  ...answersRoutes,
  ...findingRoutes,
  ...exerciseRoutes,
  ...controlsRoutes,
  ...whyRoutes,
  ...holdRoutes,
  ...surroundingsRoutes,
  ...siteRoutes,
  ...energyRoutes,
  ...shadingRoutes,
  ...exchangeRoutes,
  ...timeRoutes,
  ...gridSupportRoutes,
  ...gridTraceRoutes,
  ...regionRoutes,
  ...captureRoutes,
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
