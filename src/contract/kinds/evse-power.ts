/** The limit that holds a charging connector, derived from its state. */
import type { ConnectorLimit } from '../limit-chain.ts';
import type { EvseConnectorDetail, EvseDetail } from './evse.ts';

/** Powers nearer than this count as equal, W: vehicles follow their limit in steps. */
const toleranceW = 1;

export type IdleReason = 'no_vehicle' | 'error' | 'full' | 'unauthorised' | 'starting' | 'ended';

/** True if the vehicle may take power, apart from its limits. */
function isAdmitted({ ev, authorised, errorCode, phase }: EvseConnectorDetail): boolean {
  return ev !== null && authorised && errorCode === 'NoError' && phase !== 'starting' && phase !== 'finishing';
}

/** Why a connector has no power that a limit could hold; null: it may have power. */
export function idleReason(connector: EvseConnectorDetail): IdleReason | null {
  const { ev, authorised, errorCode, phase, wantedW } = connector;
  if (ev === null) return 'no_vehicle';
  if (errorCode !== 'NoError') return 'error';
  if (ev.socPct >= ev.targetSocPct && wantedW === 0) return 'full';
  if (!authorised) return 'unauthorised';
  if (isAdmitted(connector)) return null;
  return phase === 'starting' ? 'starting' : 'ended';
}

/** The limit that sets the power of a connector; null: none, the vehicle has all that it asks for, or no power. */
export function limitHolding(connector: EvseConnectorDetail): ConnectorLimit | null {
  if (idleReason(connector) !== null) return null;
  const { limitSource, limitW, wantedW, powerW, phase } = connector;
  const [asked, flowing] = [Math.abs(wantedW), Math.abs(powerW)];
  const isHeld = limitSource !== 'none' && (limitW < asked - toleranceW || phase === 'suspended_ev');
  const boundW = isHeld ? limitW : asked;
  if (Math.abs(flowing - boundW) > toleranceW) return 'ramp';
  return isHeld ? limitSource : null;
}

/** Power of a connector without the limit that holds it, a magnitude, W. */
export function freePowerW({ wantedW, powerW }: EvseConnectorDetail, limit: ConnectorLimit | null): number {
  return limit === null ? Math.abs(powerW) : Math.max(Math.abs(wantedW), Math.abs(powerW));
}

/** Power that the vehicles ask for within the limits of their connectors, with the consumption of the station, W. */
export function askedPowerW({ connectors, standbyW, maxPowerW }: EvseDetail): number {
  const asked = connectors
    .filter(isAdmitted)
    .map(({ wantedW, possibleW, profileLimitW, localLimitW }) =>
      Math.max(0, Math.min(wantedW, possibleW, profileLimitW ?? Infinity, localLimitW ?? Infinity)),
    );
  return Math.min(
    maxPowerW,
    asked.reduce((sum, watts) => sum + watts, standbyW),
  );
}
