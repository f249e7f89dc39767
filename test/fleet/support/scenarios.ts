/** The scenarios of a gateway in a test, whose requests go through its router once that is there. */
import { fleetBook } from '../../../src/app/scenarios/fleet.ts';
import { defaultApiLimits } from '../../../src/api/http/context.ts';
import type { Perform } from '../../../src/api/http/perform.ts';
import type { WallClock } from '../../../src/core/time/clock.ts';
import type { Later } from '../../../src/core/time/timers.ts';
import type { FleetLeadOptions } from '../../../src/fleet/gateway/lead.ts';
import { createGatewayPerform } from '../../../src/fleet/gateway/perform.ts';
import type { ShardRouter } from '../../../src/fleet/gateway/router.ts';
import { configOf } from '../../support/configured.ts';

export function scenariosOf(clocks: { readonly wall: WallClock; readonly later: Later }) {
  const held: { perform: Perform | null } = { perform: null };
  const perform: Perform = (request) => held.perform?.(request) ?? Promise.reject(new Error('there is no router yet'));
  const scenarios: FleetLeadOptions['scenarios'] = (ground) =>
    fleetBook(ground, { config: configOf(), ...clocks, version: '1.2.3', buildId: 'build' });
  const own = () => {
    throw new Error('the gateway answers nothing itself here');
  };
  const through = (router: Pick<ShardRouter, 'answer'>) => {
    held.perform = createGatewayPerform({ router, own, limits: defaultApiLimits });
  };
  return { perform, scenarios, through };
}
