/** State of a charging station, apart from its connectors, and of its session generator. */
import type { EvseBehaviour } from '../../../contract/kinds/evse-commands.ts';
import type { EvseCause } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseExternalLimit, EvseParameters } from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';
import type { RandomStream } from '../../../core/random.ts';
import { createConnector } from './connector.ts';
import type { Connector } from './connector.ts';
import type { SessionListener, StationOutside, TransitionListener, Phases } from '../source.ts';
import { openLimit } from './profile-limit.ts';
import type { ProfileLimit } from './profile-limit.ts';
import type { SessionLog } from './sessions.ts';

/** Origin and cause of the present change. */
interface Trigger {
  readonly by: Origin;
  readonly cause: EvseCause;
}

export interface Station {
  readonly p: EvseParameters;
  readonly connectors: readonly Connector[];
  readonly random: RandomStream;
  readonly log: SessionLog;
  readonly listeners: Set<TransitionListener>;
  /** called when a session begins or ends, also without listeners; null: no observer */
  onSession: SessionListener | null;
  /** simulated seconds since the source was created */
  nowS: number;
  /** voltage of the supply in the last sub-step, line to neutral, V */
  readonly phaseLnV: [number, number, number];
  /**
   * reactive power by watt of the chargers on each phase, a magnitude, while a function of reactive power decides for
   * the station; null: their power factors decide
   */
  varPerW: Phases | null;
  /** sign of the reactive power in `varPerW`: 1 injected, -1 absorbed */
  varSign: 1 | -1;
  /** reactive power used for ampere limits (var, magnitude); lags the actual value by a few sub-steps */
  limitVar: number;
  /** charging profile of the whole station */
  profile: ProfileLimit;
  central: boolean;
  behaviour: EvseBehaviour;
  trigger: Trigger;
  /** null: no generated vehicles */
  generator: Generator | null;
  outside: StationOutside;
  /** the limit from outside last reported to listeners */
  reportedLimit: EvseExternalLimit | null;
}

/** Origin of what the station does by itself. */
export const byItself: Origin = { source: 'default' };

/** Runs `action`, whose changes have this origin and cause. */
export function withTrigger(station: Station, trigger: Trigger, action: () => void): void {
  const before = station.trigger;
  station.trigger = trigger;
  try {
    action();
  } finally {
    station.trigger = before;
  }
}

/** Behaviour of the station by its profile. */
export function profileBehaviour({ autoAuthorize, connectionTimeoutS }: EvseParameters): EvseBehaviour {
  return {
    connectionTimeoutS,
    authorizationTimeoutS: null,
    endOnEvDisconnect: true,
    unlockOnEvDisconnect: true,
    autoAuthorize,
  };
}

/** A station of the same state without listeners, whose limits, plan and vehicles change by themselves. */
export function stationCopy(station: Station): Station {
  return {
    ...station,
    connectors: station.connectors.map((c) => ({ ...c, vehicle: c.vehicle && { ...c.vehicle } })),
    phaseLnV: [...station.phaseLnV],
    listeners: new Set(),
    onSession: null,
  };
}

export function createStation(p: EvseParameters, random: RandomStream, central = false): Station {
  return {
    p,
    random,
    connectors: p.connectors.map((connector) =>
      createConnector(connector, p.vehicles.find((v) => v.connectorId === connector.connectorId)?.ev ?? p.ev),
    ),
    log: { records: [], count: 0 },
    listeners: new Set(),
    onSession: null,
    nowS: 0,
    phaseLnV: [0, 0, 0],
    varPerW: null,
    varSign: -1,
    limitVar: 0,
    profile: openLimit,
    central,
    behaviour: profileBehaviour(p),
    generator: null,
    trigger: { by: byItself, cause: 'vehicle' },
    outside: { supplyPhases: 3, down: false, siteHolds: false, limit: null },
    reportedLimit: null,
  };
}

/** Generated vehicles at one connector. */
export interface Line {
  readonly c: Connector;
  readonly random: RandomStream;
  /** simulated seconds */
  arrivalDueS: number;
  departureDueS: number;
  /** id of the generated vehicle that is plugged in; null: none */
  vehicleId: string | null;
  /** number of generated vehicles */
  count: number;
}

export interface Generator {
  readonly seed: number;
  readonly ratePerHour: number;
  readonly idToken: string;
  readonly by: Origin;
  readonly startedAtS: number;
  readonly lines: readonly Line[];
  arrivals: number;
  turnedAway: number;
  departures: number;
}
