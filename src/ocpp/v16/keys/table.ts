/** The standard configuration keys of OCPP 1.6 (chapter 9) and of the security white paper: one row each. */
import { maxHeartbeatIntervalS } from '../../provisioning/registration.ts';
import { isSupplied } from '../meter-values.ts';

/** Kinds of values of configuration keys: how a text of the central system is checked and written. */
type KeyKind =
  | { readonly type: 'boolean' }
  /** whole numbers, both ends included */
  | { readonly type: 'integer'; readonly from: number; readonly to: number }
  | { readonly type: 'text'; readonly maxLength: number }
  /** comma-separated; `max` members */
  | { readonly type: 'list'; readonly max: number; readonly allows: (member: string) => boolean }
  /** hexadecimal text of 16 to 20 octets */
  | { readonly type: 'octets' };

const boolean: KeyKind = { type: 'boolean' };
const octets: KeyKind = { type: 'octets' };
const maxInteger = 2 ** 31 - 1;

function integer(from = 0, to = maxInteger): KeyKind {
  return { type: 'integer', from, to };
}

function text(maxLength: number): KeyKind {
  return { type: 'text', maxLength };
}

function list(max: number, allows: (member: string) => boolean): KeyKind {
  return { type: 'list', max, allows };
}

/** True for the phase rotation of a connector, for example `2.RST`. */
function isPhaseRotation(member: string): boolean {
  return /^\d{1,5}\.(NotApplicable|Unknown|RST|RTS|SRT|STR|TRS|TSR)$/.test(member);
}

export function members(value: string): readonly string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function normalInteger(value: string, from: number, to: number): string | null {
  if (!/^[+-]?\d{1,10}$/.test(value)) return null;
  const number = Number(value);
  return number >= from && number <= to ? String(number + 0) : null;
}

function normalList(value: string, kind: Extract<KeyKind, { type: 'list' }>): string | null {
  if (value.trim() !== '' && value.split(',').some((each) => each.trim() === '')) return null;
  const list = members(value);
  return list.length <= kind.max && new Set(list).size === list.length && list.every(kind.allows)
    ? list.join(',')
    : null;
}

/** The value as stored: `TRUE` as `true`, lists without spaces. null: not a value of this kind */
export function normalValue(kind: KeyKind, text: string): string | null {
  const value = text.trim();
  switch (kind.type) {
    case 'boolean': {
      const lower = value.toLowerCase();
      return lower === 'true' || lower === 'false' ? lower : null;
    }
    case 'integer':
      return normalInteger(value, kind.from, kind.to);
    case 'text':
      return text.length <= kind.maxLength ? text : null;
    case 'list':
      return normalList(value, kind);
    case 'octets':
      return /^(?:[0-9a-fA-F]{2}){16,20}$/.test(value) ? value : null;
  }
}

/** Access of the central system. `W`: never shown. */
type KeyAccess = 'R' | 'RW' | 'W';

const featureProfiles = [
  'Core',
  'FirmwareManagement',
  'LocalAuthListManagement',
  'Reservation',
  'SmartCharging',
  'RemoteTrigger',
] as const;
type FeatureProfile = (typeof featureProfiles)[number];

/** Facts of the station on which the defaults depend. */
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
  /** its effect, for users; `stored`: no effect that is visible from outside */
  readonly effect: string;
}

/** Values of the keys for lengths and limits. */
const keyLimits = {
  getConfigurationKeys: 100,
  measurands: 20,
  localListEntries: 10_000,
  sendLocalListEntries: 1_000,
  profileStackLevel: 99,
  schedulePeriods: 300,
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
  ['AllowOfflineTxForUnknownId', 'RW', boolean, 'false', 'an unknown tag may charge while offline'],
  ['AuthorizationCacheEnabled', 'RW', boolean, 'true', 'answers about tags are remembered and used'],
  ['AuthorizeRemoteTxRequests', 'RW', boolean, 'false', 'Authorize before a remote start'],
  ['BlinkRepeat', 'RW', integer(0, 1_000), '0', 'stored: lighting is not simulated'],
  ['ClockAlignedDataInterval', 'RW', integer(0, 86_400), '0', 'interval of clock-aligned MeterValues, s; 0: none'],
  [
    'ConnectionTimeOut',
    'RW',
    integer(1, 86_400),
    '60',
    'time from the tag to the cable, or from the cable to the tag, s',
  ],
  [
    'ConnectorPhaseRotation',
    'RW',
    phaseRotation,
    rotations,
    'stored: describes the wiring to the central system; phases of MeterValues are those of the grid',
    'reboot',
  ],
  [
    'ConnectorPhaseRotationMaxLength',
    'R',
    integer(),
    ({ connectorIds }) => String(connectorIds.length + 1),
    'bounds ConnectorPhaseRotation',
  ],
  [
    'GetConfigurationMaxKeys',
    'R',
    integer(),
    String(keyLimits.getConfigurationKeys),
    'a GetConfiguration with more keys is refused',
  ],
  [
    'HeartbeatInterval',
    'RW',
    integer(0, maxHeartbeatIntervalS),
    '300',
    'Heartbeat after a time without other traffic, s; 0: 300 s. BootNotification sets it',
  ],
  ['LightIntensity', 'RW', integer(0, 100), '100', 'stored: lighting is not simulated'],
  ['LocalAuthorizeOffline', 'RW', boolean, 'true', 'cache and local list decide while offline'],
  ['LocalPreAuthorize', 'RW', boolean, 'false', 'cache and local list accept a tag without a question'],
  ['MaxEnergyOnInvalidId', 'RW', integer(), '0', 'energy that still flows after a refused tag, Wh'],
  [
    'MeterValuesAlignedData',
    'RW',
    measurands,
    'Energy.Active.Import.Register',
    'measurands of clock-aligned MeterValues',
  ],
  ['MeterValuesAlignedDataMaxLength', 'R', integer(), maxMeasurands, 'bounds MeterValuesAlignedData'],
  [
    'MeterValuesSampledData',
    'RW',
    measurands,
    'Energy.Active.Import.Register,Power.Active.Import,Power.Offered,Current.Import,Voltage,SoC',
    'measurands of periodic MeterValues',
  ],
  ['MeterValuesSampledDataMaxLength', 'R', integer(), maxMeasurands, 'bounds MeterValuesSampledData'],
  ['MeterValueSampleInterval', 'RW', integer(0, 86_400), '60', 'interval of MeterValues in a transaction, s; 0: none'],
  ['MinimumStatusDuration', 'RW', integer(0, 86_400), '0', 'shorter states are not reported, s'],
  ['NumberOfConnectors', 'R', integer(), ({ connectorIds }) => String(connectorIds.length), 'connectors of the device'],
  ['ResetRetries', 'RW', integer(0, 100), '3', 'further attempts to end transactions before a Reset continues'],
  [
    'StopTransactionOnEVSideDisconnect',
    'RW',
    boolean,
    'true',
    'false: a cable taken out of the vehicle only suspends the transaction',
  ],
  [
    'StopTransactionOnInvalidId',
    'RW',
    boolean,
    'true',
    'a refused tag ends the transaction; false: suspends its energy',
  ],
  ['StopTxnAlignedData', 'RW', measurands, '', 'clock-aligned samples in StopTransaction'],
  ['StopTxnAlignedDataMaxLength', 'R', integer(), maxMeasurands, 'bounds StopTxnAlignedData'],
  ['StopTxnSampledData', 'RW', measurands, '', 'samples of begin, interval and end in StopTransaction'],
  ['StopTxnSampledDataMaxLength', 'R', integer(), maxMeasurands, 'bounds StopTxnSampledData'],
  ['SupportedFeatureProfiles', 'R', text(500), featureProfiles.join(','), 'profiles whose messages are answered'],
  [
    'SupportedFeatureProfilesMaxLength',
    'R',
    integer(),
    String(featureProfiles.length),
    'bounds SupportedFeatureProfiles',
  ],
  ['TransactionMessageAttempts', 'RW', integer(1, 1_000), '3', 'transmissions of a transaction message'],
  [
    'TransactionMessageRetryInterval',
    'RW',
    integer(0, 86_400),
    '60',
    'wait before the next transmission, times the transmissions so far, s',
  ],
  [
    'UnlockConnectorOnEVSideDisconnect',
    'RW',
    boolean,
    'true',
    'false: a cable taken out of the vehicle stays locked at the station',
  ],
  ['WebSocketPingInterval', 'RW', integer(0, 86_400), '60', 'interval of pings, s; 0: none'],
]);

const localList = rows('LocalAuthListManagement', [
  ['LocalAuthListEnabled', 'RW', boolean, 'true', 'false: the local list is ignored, and its version is -1'],
  ['LocalAuthListMaxLength', 'R', integer(), String(keyLimits.localListEntries), 'entries of the local list'],
  ['SendLocalListMaxLength', 'R', integer(), String(keyLimits.sendLocalListEntries), 'entries of one SendLocalList'],
]);

const reservation = rows('Reservation', [
  ['ReserveConnectorZeroSupported', 'R', boolean, 'true', 'ReserveNow of connector 0 keeps one connector free'],
]);

const smartCharging = rows('SmartCharging', [
  ['ChargeProfileMaxStackLevel', 'R', integer(), String(keyLimits.profileStackLevel), 'highest stackLevel'],
  ['ChargingScheduleAllowedChargingRateUnit', 'R', text(500), 'Current,Power', 'units of charging profiles'],
  ['ChargingScheduleMaxPeriods', 'R', integer(), String(keyLimits.schedulePeriods), 'periods of a schedule'],
  [
    'ConnectorSwitch3to1PhaseSupported',
    'R',
    boolean,
    ({ threePhase }) => String(threePhase),
    'numberPhases 1 uses one phase',
  ],
  ['MaxChargingProfilesInstalled', 'R', integer(), String(keyLimits.profilesInstalled), 'profiles installed at a time'],
]);

const firmware = rows('FirmwareManagement', [
  [
    'SupportedFileTransferProtocols',
    'R',
    text(500),
    ({ fileTransferProtocols }) => fileTransferProtocols.join(','),
    'schemes of the URLs of firmware and logs',
  ],
]);

const security = rows('Security', [
  ['AdditionalRootCertificateCheck', 'R', boolean, 'false', 'several roots may be installed'],
  ['AuthorizationKey', 'W', octets, '', 'octets of basic authentication, in force with a new connection'],
  [
    'CertificateSignedMaxChainSize',
    'R',
    integer(),
    String(keyLimits.certificateChainBytes),
    'a longer chain is rejected, octets',
  ],
  ['CertificateStoreMaxLength', 'R', integer(), String(keyLimits.certificates), 'roots installed at a time'],
  ['CpoName', 'RW', text(500), '', 'organisation in SignCertificate; empty: no certificate is requested'],
  [
    'SecurityProfile',
    'RW',
    integer(1, 3),
    ({ securityProfile }) => String(securityProfile),
    'a higher security profile, in force with a new connection',
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
