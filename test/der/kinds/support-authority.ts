/** A station of 5 s start delay under the central authority of the test double. */
import { CentralAuthority } from '../../support/evse-authority.ts';
import type { AuthorityOptions } from '../../support/evse-authority.ts';
import { KindRig } from './support.ts';

export const on = { connectorId: 1 } as const;
const quick = { startDelayMinS: 5, startDelayMaxS: 5 };

export interface StationOptions extends AuthorityOptions {
  readonly profile?: string;
  readonly autoAuthorize?: boolean;
}

export function stationOf({ profile = 'EVSE-AC-22kW-1port', autoAuthorize = false, ...options }: StationOptions = {}) {
  const rig = new KindRig({ args: ['--evse_profile', profile], evse: { ...quick, autoAuthorize } });
  return { rig, central: new CentralAuthority(rig.device, options) };
}
