/**
 * States of a firmware update (OCPP 1.6 4.5 and 5.19; white paper L01). One table serves both kinds: an unsigned update
 * reports a subset in FirmwareStatusNotification, a signed one all in SignedFirmwareStatusNotification.
 */
import type { Requests } from '../parts.ts';

export type FirmwareStatus = Requests['FirmwareStatusNotification']['status'];
export type SignedFirmwareStatus = Requests['SignedFirmwareStatusNotification']['status'];

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
  readonly unsigned: FirmwareStatus | null;
  readonly signed: SignedFirmwareStatus | null;
}

const step = (
  from: FirmwarePhase,
  event: FirmwareEvent,
  to: FirmwarePhase,
  unsigned: FirmwareStatus | null,
  signed: SignedFirmwareStatus | null,
): FirmwareStep => ({ from, event, to, unsigned, signed });

export const firmwareSteps: readonly FirmwareStep[] = [
  step('idle', 'schedule_download', 'download_scheduled', null, 'DownloadScheduled'),
  step('idle', 'download', 'downloading', 'Downloading', 'Downloading'),
  step('download_scheduled', 'download', 'downloading', 'Downloading', 'Downloading'),
  step('downloading', 'pause', 'download_paused', null, 'DownloadPaused'),
  step('download_paused', 'download', 'downloading', null, 'Downloading'),
  step('downloading', 'download_failed', 'idle', 'DownloadFailed', 'DownloadFailed'),
  step('downloading', 'downloaded', 'downloaded', 'Downloaded', 'Downloaded'),
  // an unsigned update has nothing to verify, but takes the same way
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
  // the answer AcceptedCanceled tells the end of a signed update; of an unsigned one nothing would
  step('download_scheduled', 'cancel', 'idle', null, null),
  step('downloading', 'cancel', 'idle', 'DownloadFailed', null),
  step('download_paused', 'cancel', 'idle', 'DownloadFailed', null),
  step('downloaded', 'cancel', 'idle', 'InstallationFailed', null),
  step('verified', 'cancel', 'idle', 'InstallationFailed', null),
  step('install_scheduled', 'cancel', 'idle', 'InstallationFailed', null),
];

/** What a triggered report tells in each phase: the last step that each kind of update reports. */
const statuses: Readonly<
  Record<FirmwarePhase, { readonly unsigned: FirmwareStatus; readonly signed: SignedFirmwareStatus }>
> = {
  idle: { unsigned: 'Idle', signed: 'Idle' },
  download_scheduled: { unsigned: 'Idle', signed: 'DownloadScheduled' },
  downloading: { unsigned: 'Downloading', signed: 'Downloading' },
  download_paused: { unsigned: 'Downloading', signed: 'DownloadPaused' },
  downloaded: { unsigned: 'Downloaded', signed: 'Downloaded' },
  verified: { unsigned: 'Downloaded', signed: 'SignatureVerified' },
  install_scheduled: { unsigned: 'Downloaded', signed: 'InstallScheduled' },
  installing: { unsigned: 'Installing', signed: 'Installing' },
  rebooting: { unsigned: 'Installing', signed: 'InstallRebooting' },
};

export const firmwareStatus = (phase: FirmwarePhase): FirmwareStatus => statuses[phase].unsigned;
export const signedFirmwareStatus = (phase: FirmwarePhase): SignedFirmwareStatus => statuses[phase].signed;

const byKey: ReadonlyMap<string, FirmwareStep> = new Map(
  firmwareSteps.map((each) => [`${each.from} ${each.event}`, each]),
);

/** null: the event means nothing in this phase. */
export function firmwareStep(from: FirmwarePhase, event: FirmwareEvent): FirmwareStep | null {
  return byKey.get(`${from} ${event}`) ?? null;
}
