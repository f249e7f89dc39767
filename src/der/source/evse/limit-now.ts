import type { EvseLimitSource } from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';
import { heldByStation, isUsedUp } from './connector.ts';
import type { Connector } from './connector.ts';
import { phaseTraits } from './phases.ts';
import { chargeCapW, setpointOf } from './profile-limit.ts';
import { chargeLevelW } from './reach.ts';
import { byItself } from './station.ts';
import type { Station } from './station.ts';

/** Limits nearer than this count as equal, W. */
const toleranceW = 1e-3;

export interface LimitNow {
  readonly limitW: number;
  readonly limitSource: EvseLimitSource;
}

function outsideSource({ outside }: Station): EvseLimitSource {
  return outside.siteHolds ? 'site' : 'der';
}

function dischargeSource(c: Connector): EvseLimitSource {
  return setpointOf(c.profile, 1) === null ? 'local' : 'charging_profile';
}

/** The limit of the connector now, W, and its source. */
export function limitNow(station: Station, c: Connector): LimitNow {
  if (c.vehicle === null || !phaseTraits[c.phase].powered || c.errorCode !== null) {
    // without a vehicle amperes have no power
    const profileW = chargeCapW({ ...c.profile, limitA: Infinity, setpointA: null }, 1);
    const limitW = Math.min(c.p.maxPowerW, c.localLimitW, profileW);
    return {
      limitW,
      limitSource: profileW <= limitW ? 'charging_profile' : c.localLimitW <= limitW ? 'local' : 'none',
    };
  }
  if (c.evHeldByCommand) return { limitW: 0, limitSource: 'ev' };
  if (heldByStation(c)) return { limitW: 0, limitSource: 'local' };
  if (c.heldByDer) return { limitW: Math.abs(c.powerW), limitSource: outsideSource(station) };
  if (c.dischargeW !== null) return dischargeLimitNow(c, c.dischargeW, c.vehicle.maxDischargeW);
  const curveW = chargeLevelW(c.vehicle, c.offerW);
  return curveW < c.offerW - toleranceW
    ? { limitW: curveW, limitSource: 'ev' }
    : { limitW: c.offerW, limitSource: c.capSource };
}

function dischargeLimitNow(c: Connector, dischargeW: number, vehicleW: number): LimitNow {
  const ownW = Math.min(c.p.maxDischargeW, vehicleW);
  if (dischargeW < Math.min(ownW, c.dischargeCapW)) return { limitW: dischargeW, limitSource: dischargeSource(c) };
  return c.dischargeCapW < ownW
    ? { limitW: c.dischargeCapW, limitSource: 'charging_profile' }
    : { limitW: ownW, limitSource: vehicleW < c.p.maxDischargeW ? 'ev' : 'hardware' };
}

/** The limit with which the station itself stops the energy. */
export function holdingLimit(station: Station, c: Connector): EvseLimitSource {
  if (isUsedUp(c)) return 'local';
  if (c.heldByDer) return outsideSource(station);
  if (c.dischargeW === null) return c.capSource;
  return c.dischargeCapW === 0 ? 'charging_profile' : dischargeSource(c);
}

/** Last writer of a limit at a connector. */
export function limitWriter({ outside, profile }: Station, c: Connector, source: EvseLimitSource): Origin {
  switch (source) {
    case 'charging_profile':
      return (c.offerW < c.capW ? profile.by : c.profile.by) ?? c.profile.by ?? profile.by ?? byItself;
    case 'local':
      if (isUsedUp(c)) return c.energyLimitBy ?? byItself;
      return (c.dischargeW === null ? c.localLimitBy : c.localDischargeBy) ?? byItself;
    case 'der':
    case 'site':
      return outside.limit?.writer ?? byItself;
    case 'none':
    case 'hardware':
    case 'sharing':
    case 'ev':
      return byItself;
  }
}
