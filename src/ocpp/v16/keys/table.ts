/** The standard configuration keys of OCPP 1.6 (chapter 9) and of the security white paper: one row each. */
import { isSupplied } from '../meter-values/measurands.ts';
import { boolean, integer, isPhaseRotation, list, octets, text } from './kinds.ts';
import type { KeyKind } from './kinds.ts';

/** Of the central system. `W`: never shown. */
export type KeyAccess = 'R' | 'RW' | 'W';

export const featureProfiles = [
  'Core',
  'FirmwareManagement',
  'LocalAuthListManagement',
  'Reservation',
  'SmartCharging',
  'RemoteTrigger',
] as const;
export type FeatureProfile = (typeof featureProfiles)[number];

/** What the defaults depend on. */
export interface KeyFacts {
  readonly connectorIds: readonly number[];
  readonly securityProfile: 0 | 1 | 2 | 3;
  /** at least one connector has three phases */
  readonly threePhase: boolean;
  /** schemes of URLs for firmware and logs, in capitals */
  readonly fileTransferProtocols: readonly string[];
}

export interface KeyRow {
  readonly name: string;
  readonly access: KeyAccess;
  readonly kind: KeyKind;
  readonly initial: string | ((facts: KeyFacts) => string);
  /** a change takes effect with the next restart of the station */
  readonly reboot: boolean;
  readonly profile: FeatureProfile | 'Security';
  /** the part that applies it, and how; `stored`: the standard gives it no effect that can be seen from outside */
  readonly effect: string;
}

/** What the length keys and the limits of messages say; the parts keep to the same numbers. */
export const keyLimits = {
  getConfigurationKeys: 100,
  measurands: 20,
  localListEntries: 10_000,
  sendLocalListEntries: 1_000,
  profileStackLevel: 99,
  schedulePeriods: 1_000,
  profilesInstalled: 100,
  certificateChainBytes: 10_000,
  certificates: 20,
} as const;

type Initial = KeyRow['initial'];
type Columns = readonly [string, KeyAccess, KeyKind, Initial, string, 'reboot'?];

const rows = (profile: KeyRow['profile'], table: readonly Columns[]): readonly KeyRow[] =>
  table.map(([name, access, kind, initial, effect, reboot]) => ({
    name,
    access,
    kind,
    initial,
    reboot: reboot === 'reboot',
    profile,
    effect,
  }));

const measurands = list(keyLimits.measurands, isSupplied);
const phaseRotation = list(10_000, isPhaseRotation);
const maxMeasurands = String(keyLimits.measurands);
const rotations = ({ connectorIds }: KeyFacts): string => [0, ...connectorIds].map((id) => `${id}.RST`).join(',');

const core = rows('Core', [
  ['AllowOfflineTxForUnknownId', 'RW', boolean, 'false', 'authorization: an unknown token may charge while offline'],
  ['AuthorizationCacheEnabled', 'RW', boolean, 'true', 'authorization: answers are remembered and used'],
  ['AuthorizeRemoteTxRequests', 'RW', boolean, 'false', 'remote: Authorize before a remote start'],
  ['BlinkRepeat', 'RW', integer(0, 1_000), '0', 'stored: lighting is not simulated'],
  ['ClockAlignedDataInterval', 'RW', integer(0, 86_400), '0', 'meter values: clock-aligned samples, s; 0: none'],
  ['ConnectionTimeOut', 'RW', integer(1, 86_400), '60', 'behaviour: connectionTimeoutS and authorizationTimeoutS'],
  [
    'ConnectorPhaseRotation',
    'RW',
    phaseRotation,
    rotations,
    'stored: tells the central system the wiring; phases of meter values are those of the grid',
    'reboot',
  ],
  [
    'ConnectorPhaseRotationMaxLength',
    'R',
    integer(),
    ({ connectorIds }) => String(connectorIds.length + 1),
    'keys: members of ConnectorPhaseRotation',
  ],
  [
    'GetConfigurationMaxKeys',
    'R',
    integer(),
    String(keyLimits.getConfigurationKeys),
    'keys: a GetConfiguration with more keys is refused',
  ],
  [
    'HeartbeatInterval',
    'RW',
    integer(0, 604_800),
    '300',
    'registration: heartbeat without other traffic, s; 0: own choice',
  ],
  ['LightIntensity', 'RW', integer(0, 100), '100', 'stored: lighting is not simulated'],
  ['LocalAuthorizeOffline', 'RW', boolean, 'true', 'authorization: cache and local list decide while offline'],
  ['LocalPreAuthorize', 'RW', boolean, 'false', 'authorization: cache and local list decide without waiting'],
  ['MaxEnergyOnInvalidId', 'RW', integer(), '0', 'transactions: energy after a refused token, Wh'],
  [
    'MeterValuesAlignedData',
    'RW',
    measurands,
    'Energy.Active.Import.Register',
    'meter values: measurands of clock-aligned samples',
  ],
  ['MeterValuesAlignedDataMaxLength', 'R', integer(), maxMeasurands, 'keys: members of MeterValuesAlignedData'],
  [
    'MeterValuesSampledData',
    'RW',
    measurands,
    'Energy.Active.Import.Register,Power.Active.Import,Power.Offered,Current.Import,Voltage,SoC',
    'meter values: measurands of periodic samples',
  ],
  ['MeterValuesSampledDataMaxLength', 'R', integer(), maxMeasurands, 'keys: members of MeterValuesSampledData'],
  ['MeterValueSampleInterval', 'RW', integer(0, 86_400), '60', 'meter values: periodic samples, s; 0: none'],
  ['MinimumStatusDuration', 'RW', integer(0, 86_400), '0', 'status: shorter states are not reported, s'],
  ['NumberOfConnectors', 'R', integer(), ({ connectorIds }) => String(connectorIds.length), 'the device'],
  ['ResetRetries', 'RW', integer(0, 100), '3', 'reset: attempts to end transactions before a soft reset goes on'],
  ['StopTransactionOnEVSideDisconnect', 'RW', boolean, 'true', 'behaviour: evse.behaviour endOnEvDisconnect'],
  [
    'StopTransactionOnInvalidId',
    'RW',
    boolean,
    'true',
    'transactions: a refused token ends it, or suspends the energy',
  ],
  ['StopTxnAlignedData', 'RW', measurands, '', 'meter values: clock-aligned samples in StopTransaction'],
  ['StopTxnAlignedDataMaxLength', 'R', integer(), maxMeasurands, 'keys: members of StopTxnAlignedData'],
  ['StopTxnSampledData', 'RW', measurands, '', 'meter values: samples of begin and end in StopTransaction'],
  ['StopTxnSampledDataMaxLength', 'R', integer(), maxMeasurands, 'keys: members of StopTxnSampledData'],
  ['SupportedFeatureProfiles', 'R', text(500), featureProfiles.join(','), 'handlers of the stack'],
  ['SupportedFeatureProfilesMaxLength', 'R', integer(), String(featureProfiles.length), 'handlers of the stack'],
  ['TransactionMessageAttempts', 'RW', integer(1, 1_000), '3', 'queue: transmissions of a transaction message'],
  ['TransactionMessageRetryInterval', 'RW', integer(0, 86_400), '60', 'queue: wait times transmissions so far, s'],
  ['UnlockConnectorOnEVSideDisconnect', 'RW', boolean, 'true', 'behaviour: evse.behaviour unlockOnEvDisconnect'],
  ['WebSocketPingInterval', 'RW', integer(0, 86_400), '60', 'connection: pings of the station, s; 0: none'],
]);

const localList = rows('LocalAuthListManagement', [
  ['LocalAuthListEnabled', 'RW', boolean, 'true', 'authorization: the local list is used'],
  ['LocalAuthListMaxLength', 'R', integer(), String(keyLimits.localListEntries), 'local list: entries'],
  [
    'SendLocalListMaxLength',
    'R',
    integer(),
    String(keyLimits.sendLocalListEntries),
    'local list: entries of a message',
  ],
]);

const reservation = rows('Reservation', [
  ['ReserveConnectorZeroSupported', 'R', boolean, 'true', 'reservations: connector 0'],
]);

const smartCharging = rows('SmartCharging', [
  ['ChargeProfileMaxStackLevel', 'R', integer(), String(keyLimits.profileStackLevel), 'smart charging: stackLevel'],
  ['ChargingScheduleAllowedChargingRateUnit', 'R', text(500), 'Current,Power', 'smart charging: both units'],
  ['ChargingScheduleMaxPeriods', 'R', integer(), String(keyLimits.schedulePeriods), 'smart charging: periods'],
  [
    'ConnectorSwitch3to1PhaseSupported',
    'R',
    boolean,
    ({ threePhase }) => String(threePhase),
    'smart charging: numberPhases 1 uses one phase',
  ],
  ['MaxChargingProfilesInstalled', 'R', integer(), String(keyLimits.profilesInstalled), 'smart charging: profiles'],
]);

const firmware = rows('FirmwareManagement', [
  [
    'SupportedFileTransferProtocols',
    'R',
    text(500),
    ({ fileTransferProtocols }) => fileTransferProtocols.join(','),
    'firmware and logs: schemes of their URLs',
  ],
]);

const security = rows('Security', [
  ['AdditionalRootCertificateCheck', 'R', boolean, 'false', 'certificates: one root at a time is not demanded'],
  ['AuthorizationKey', 'W', octets, '', 'connection: octets of basic authentication after a reconnect'],
  [
    'CertificateSignedMaxChainSize',
    'R',
    integer(),
    String(keyLimits.certificateChainBytes),
    'certificates: a longer chain is rejected',
  ],
  ['CertificateStoreMaxLength', 'R', integer(), String(keyLimits.certificates), 'certificates: roots installed'],
  ['CpoName', 'RW', text(500), '', 'certificates: organisation of the signing request and of a certificate signed'],
  [
    'SecurityProfile',
    'RW',
    integer(1, 3),
    ({ securityProfile }) => String(securityProfile),
    'connection: a higher profile after a reconnect; 0, without security, is none of the standard',
  ],
]);

/** Every key, in alphabetical order. */
export const keyTable: readonly KeyRow[] = [
  ...core,
  ...localList,
  ...reservation,
  ...smartCharging,
  ...firmware,
  ...security,
].sort((a, b) => (a.name < b.name ? -1 : 1));
