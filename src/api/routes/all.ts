import type { Route } from '../route.ts';
import { commandRoutes } from './commands.ts';
import { controlsRoutes } from './controls.ts';
import { gridSupportRoutes } from './grid-support.ts';
import { gridTraceRoutes } from './grid-trace.ts';
import { lifecycleRoutes } from './lifecycle.ts';
import { localControlRoutes } from './local-control.ts';
import { nameplateRoutes } from './nameplate.ts';
import { registerRoutes } from './registers.ts';
import { surroundingsRoutes } from './surroundings.ts';
import { timeRoutes } from './time.ts';

/** Every operation of the interface: the source of routing, validation and description. */
export const allRoutes: readonly Route[] = [
  ...lifecycleRoutes, ...commandRoutes, ...controlsRoutes, ...localControlRoutes, ...surroundingsRoutes, ...timeRoutes, ...gridSupportRoutes,
  ...gridTraceRoutes, ...nameplateRoutes, ...registerRoutes,
];
