/**
 * States of a firmware update (OCPP 1.6 4.5 and 5.19; white paper and 2.x, L01). One table serves all kinds: an
 * unsigned update of 1.6 reports a subset in FirmwareStatusNotification, every other update all of them, in
 * SignedFirmwareStatusNotification of 1.6 and FirmwareStatusNotification of 2.x.
 */

/** FirmwareStatusNotification of 1.6 */
type PlainFirmwareStatus =
  | 'Downloaded'
  | 'DownloadFailed'
  | 'Downloading'
  | 'Idle'
  | 'InstallationFailed'
  | 'Installing'
  | 'Installed';

/** SignedFirmwareStatusNotification of 1.6, FirmwareStatusNotification of 2.x */
export type FullFirmwareStatus =
  | PlainFirmwareStatus
  | 'DownloadScheduled'
  | 'DownloadPaused'
  | 'InstallRebooting'
  | 'InstallScheduled'
  | 'InstallVerificationFailed'
  | 'InvalidSignature'
  | 'SignatureVerified';

export const firmwarePhases = [
  'idle',
  'download_scheduled',
  'downloading',
  'download_paused',
  'downloaded',
  'verified',
  'install_scheduled',
  'installing',
  'rebooting',
] as const;
export type FirmwarePhase = (typeof firmwarePhases)[number];

export const firmwareEvents = [
  'schedule_download',
  'download',
  'pause',
  'download_failed',
  'downloaded',
  'verified',
  'bad_signature',
  'schedule_install',
  'install',
  'damaged',
  'install_failed',
  'reboot',
  'installed',
  'cancel',
] as const;
export type FirmwareEvent = (typeof firmwareEvents)[number];

export interface FirmwareStep {
  readonly from: FirmwarePhase;
  readonly event: FirmwareEvent;
  readonly to: FirmwarePhase;
  /** null: nothing is reported */
  readonly plain: PlainFirmwareStatus | null;
  readonly full: FullFirmwareStatus | null;
}

const step = (
  from: FirmwarePhase,
  event: FirmwareEvent,
  to: FirmwarePhase,
  plain: PlainFirmwareStatus | null,
  full: FullFirmwareStatus | null,
): FirmwareStep => ({ from, event, to, plain, full });

export const firmwareSteps: readonly FirmwareStep[] = [
  step('idle', 'schedule_download', 'download_scheduled', null, 'DownloadScheduled'),
  step('idle', 'download', 'downloading', 'Downloading', 'Downloading'),
  step('download_scheduled', 'download', 'downloading', 'Downloading', 'Downloading'),
  step('downloading', 'pause', 'download_paused', null, 'DownloadPaused'),
  step('download_paused', 'download', 'downloading', null, 'Downloading'),
  step('downloading', 'download_failed', 'idle', 'DownloadFailed', 'DownloadFailed'),
  step('downloading', 'downloaded', 'downloaded', 'Downloaded', 'Downloaded'),
  // an unsigned update has nothing to verify, but passes through the same phase
  step('downloaded', 'verified', 'verified', null, 'SignatureVerified'),
  step('downloaded', 'bad_signature', 'idle', 'InstallationFailed', 'InvalidSignature'),
  step('verified', 'damaged', 'idle', 'InstallationFailed', 'InstallVerificationFailed'),
  step('verified', 'schedule_install', 'install_scheduled', null, 'InstallScheduled'),
  step('verified', 'install', 'installing', 'Installing', 'Installing'),
  step('install_scheduled', 'install', 'installing', 'Installing', 'Installing'),
  step('installing', 'install_failed', 'idle', 'InstallationFailed', 'InstallationFailed'),
  // an error of the station itself
  step('downloaded', 'install_failed', 'idle', 'InstallationFailed', 'InstallationFailed'),
  step('verified', 'install_failed', 'idle', 'InstallationFailed', 'InstallationFailed'),
  step('install_scheduled', 'install_failed', 'idle', 'InstallationFailed', 'InstallationFailed'),
  step('installing', 'reboot', 'rebooting', null, 'InstallRebooting'),
  step('rebooting', 'installed', 'idle', 'Installed', 'Installed'),
  // AcceptedCanceled reports the end of a signed update; an unsigned update reports a failure
  step('download_scheduled', 'cancel', 'idle', null, null),
  step('downloading', 'cancel', 'idle', 'DownloadFailed', null),
  step('download_paused', 'cancel', 'idle', 'DownloadFailed', null),
  step('downloaded', 'cancel', 'idle', 'InstallationFailed', null),
  step('verified', 'cancel', 'idle', 'InstallationFailed', null),
  step('install_scheduled', 'cancel', 'idle', 'InstallationFailed', null),
];

/** Status of a triggered report in each phase: the last step that each kind reports. */
const statuses: Readonly<
  Record<FirmwarePhase, { readonly plain: PlainFirmwareStatus; readonly full: FullFirmwareStatus }>
> = {
  idle: { plain: 'Idle', full: 'Idle' },
  download_scheduled: { plain: 'Idle', full: 'DownloadScheduled' },
  downloading: { plain: 'Downloading', full: 'Downloading' },
  download_paused: { plain: 'Downloading', full: 'DownloadPaused' },
  downloaded: { plain: 'Downloaded', full: 'Downloaded' },
  verified: { plain: 'Downloaded', full: 'SignatureVerified' },
  install_scheduled: { plain: 'Downloaded', full: 'InstallScheduled' },
  installing: { plain: 'Installing', full: 'Installing' },
  rebooting: { plain: 'Installing', full: 'InstallRebooting' },
};

export const plainFirmwareStatus = (phase: FirmwarePhase): PlainFirmwareStatus => statuses[phase].plain;
export const fullFirmwareStatus = (phase: FirmwarePhase): FullFirmwareStatus => statuses[phase].full;

const byKey: ReadonlyMap<string, FirmwareStep> = new Map(firmwareSteps.map((row) => [`${row.from} ${row.event}`, row]));

/** null: the event has no effect in this phase */
export function firmwareStep(from: FirmwarePhase, event: FirmwareEvent): FirmwareStep | null {
  return byKey.get(`${from} ${event}`) ?? null;
}
