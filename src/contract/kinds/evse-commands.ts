/** Commands of an EVSE. Powers in W at the meter. */
import type { EvPatch } from './evse.ts';

/** One member of the union per kind. */
type Operation<Kind extends string, More = unknown> = Kind extends string
  ? { readonly kind: Kind; readonly connectorId: number } & More
  : never;

/**
 * Limits of a charging profile, each in watts or in amperes per phase; where both are given the lower one applies. Null
 * or absent: no such limit. Amperes stay amperes: the power follows voltage and phases in use. Amperes
 * of the station hold on each phase of the supply, for all connectors together; where the station may use one phase of
 * three, for the sum of the phases.
 */
export interface EvseProfileLimit {
  readonly limitW: number | null;
  readonly limitA: number | null;
  /** maximum power out of the vehicle, at least 0; 0: no discharge */
  readonly dischargeLimitW?: number | null | undefined;
  readonly dischargeLimitA?: number | null | undefined;
  /**
   * power of the connector, + into the vehicle, as far as vehicle and other limits permit; below 0 the vehicle
   * discharges. It replaces a discharge by command. In watts or in amperes, and for a connector only.
   */
  readonly setpointW?: number | null | undefined;
  readonly setpointA?: number | null | undefined;
  /** phases of an AC connector that may be used; DC ignores them */
  readonly phases?: 1 | 3 | null | undefined;
}

/** Behaviour of a station; every member has a value. */
export interface EvseBehaviour {
  /** an authorisation without a vehicle ends after this time, s */
  readonly connectionTimeoutS: number;
  /** a vehicle that is plugged in without an authorisation counts as finished after this time, s; null: never */
  readonly authorizationTimeoutS: number | null;
  /** a session ends when the cable is taken out of the vehicle; false: the session waits for a cable */
  readonly endOnEvDisconnect: boolean;
  /** ending a session this way also unlocks a loose cable at the station */
  readonly unlockOnEvDisconnect: boolean;
  /** plugging in authorises; with a central authority it presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

/** Operations at a connector; null ends a limit, a discharge, a reservation. */
export type EvseConnectorCommand =
  | Operation<'evse.clear_fault' | 'evse.lock' | 'evse.unlock'>
  /** Unplugs by side; absent: the side that can be unplugged, both unless a session locks the cable. */
  | Operation<'evse.unplug', { readonly evSide?: boolean | undefined; readonly evseSide?: boolean | undefined }>
  | Operation<
      'evse.plug',
      {
        readonly ev?: EvPatch | undefined;
        readonly evSide?: boolean | undefined;
        readonly evseSide?: boolean | undefined;
      }
    >
  /**
   * Authorises; with a central authority only its own adapter (source `ocpp`) can, and any other writer presents a
   * token.
   */
  | Operation<'evse.authorize', { readonly idToken: string; readonly remoteStartId?: number | undefined }>
  | Operation<
      'evse.start',
      {
        readonly idToken?: string | undefined;
        /** false: starts without authorisation and only stores the token */
        readonly authorize?: boolean | undefined;
        readonly remoteStartId?: number | undefined;
      }
    >
  | Operation<'evse.stop', { readonly reason?: string | undefined; readonly idToken?: string | undefined }>
  | Operation<'evse.suspend' | 'evse.resume', { readonly by: 'ev' | 'evse' }>
  | Operation<'evse.limit' | 'evse.discharge', { readonly powerW: number | null }>
  /**
   * energy into the vehicle from now on, in this session, after which the station stops delivering; 0: at once. The
   * limit ends with the session
   */
  | Operation<'evse.energy_limit', { readonly energyWh: number | null }>
  | Operation<'evse.availability', { readonly operative: boolean }>
  | Operation<
      'evse.fault',
      { readonly errorCode: string; readonly info?: string | undefined; readonly vendorErrorCode?: string | undefined }
    >
  | Operation<'evse.ev', { readonly ev: EvPatch }>
  | Operation<'evse.meter', { readonly energyWh: number }>
  | Operation<
      'evse.reserve',
      {
        readonly reservation: {
          readonly reservationId: number;
          readonly idToken: string;
          readonly expiresInS: number | null;
        } | null;
      }
    >
  /** connector 0: the whole station. Members left out: no limit. */
  | Operation<'evse.profile_limit', EvseProfileLimit>;

/** Operations of a whole station. */
export type EvseStationCommand =
  /** lasts until the next such command, also over a reset of the device */
  | { readonly kind: 'evse.authority'; readonly central: boolean }
  /**
   * Starts a generator in place of the present one; `null`, or a reset of the device, only ends the present one. Its
   * vehicles leave, or stay like those of a user.
   */
  | {
      readonly kind: 'evse.generator';
      readonly generator: {
        readonly seed: number;
        /** number of the random stream: the index of the device, so that stations with the same seed differ */
        readonly stream: number;
        /** arrivals at each connector, above 0 up to 60 */
        readonly ratePerHour: number;
        readonly idToken: string;
      } | null;
      /** vehicles of the generator that ends; default `leave` */
      readonly vehicles?: 'leave' | 'stay' | undefined;
    }
  /** members left out stay as they are, null returns to the profile; lasts over a reset of the device */
  | ({ readonly kind: 'evse.behaviour' } & {
      readonly [K in keyof EvseBehaviour]?: EvseBehaviour[K] | null | undefined;
    });

export type EvseCommand = EvseConnectorCommand | EvseStationCommand;

/** Names in `controls.overrides` of the values that each command sets. */
export const evseOverrides = {
  'evse.plug': ['evse_cable'],
  'evse.unplug': ['evse_cable'],
  'evse.authorize': ['evse_authorization'],
  'evse.start': ['evse_session'],
  'evse.stop': ['evse_session'],
  'evse.suspend': ['evse_suspension'],
  'evse.resume': ['evse_suspension'],
  'evse.limit': ['evse_limit'],
  'evse.discharge': ['evse_discharge'],
  // reaching the limit suspends the session by the station
  'evse.energy_limit': ['evse_suspension'],
  'evse.availability': ['evse_availability'],
  'evse.fault': ['evse_fault'],
  'evse.clear_fault': ['evse_fault'],
  'evse.ev': ['evse_vehicle'],
  'evse.meter': ['evse_meter'],
  'evse.lock': ['evse_lock'],
  'evse.unlock': ['evse_lock'],
  'evse.reserve': ['evse_reservation'],
  'evse.profile_limit': ['evse_profile_limit'],
  'evse.authority': ['evse_authority'],
  'evse.behaviour': ['evse_behaviour'],
  'evse.generator': [],
} as const satisfies Record<EvseCommand['kind'], readonly string[]>;
