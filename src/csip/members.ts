/** Makes the EndDevices of a connection: device under control, schedule, responses and reports. */
import type { CsipSettings } from '../contract/csip-settings.ts';
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import type { Logger } from '../core/log/log.ts';
import { fullJitter } from '../core/net/back-off.ts';
import { createRandom } from '../core/random.ts';
import { slotName } from '../core/store.ts';
import type { Store } from '../core/store.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { Member } from './client.ts';
import { createControlTarget } from './control/control-bridge.ts';
import { Desk } from './desk.ts';
import { EndDevice } from './end-device.ts';
import { ResponseQueue } from './events/response-queue.ts';
import { LogEventIds } from './report/log-event-ids.ts';
import type { DeviceReports } from './report/model.ts';
import { createDeviceReports } from './report/report-bridge.ts';
import { Reporter } from './report/reporter.ts';
import { ResponseSender } from './response-sender.ts';
import { managedLfdi, sfdiOf } from './transport/identity.ts';
import { retryWaits } from './transport/retries.ts';
import type { CertificateFacts, SepExchange } from './transport/exchange.ts';

/** What all clients of the process work with. */
export interface MemberParts {
  readonly settings: CsipSettings;
  /** as they are now: they can be changed while the process runs */
  readonly inForce: {
    readonly revision: CsipSettings['revision'];
    readonly postRateS: number | null;
    readonly sendsAlarms: boolean;
  };
  readonly plant: Plant;
  readonly seed: number;
  readonly clock: WallClock;
  readonly later: Later;
  readonly store: Store;
  readonly log: Logger;
}

export interface MemberOptions {
  readonly certificate: CertificateFacts;
  readonly device: Device;
  readonly exchange: SepExchange;
  readonly remoteClock: RemoteClock;
  /** a resource that was there is not: the walk looks for it again */
  readonly onLost: () => void;
}

/** A member whose desk shows what was sent. */
export interface FullMember extends Member {
  readonly desk: Desk;
}

/** LFDI and SFDI of the EndDevice of a device. */
export function identityOf(
  { identity, pen }: Pick<CsipSettings, 'identity' | 'pen'>,
  { lfdi, sfdi }: CertificateFacts,
  device: Pick<Device, 'index'>,
): { readonly lfdi: string; readonly sfdi: number } {
  if (identity === 'per_device') return { lfdi, sfdi };
  const managed = managedLfdi(lfdi, `device ${device.index}`, pen);
  return { lfdi: managed, sfdi: sfdiOf(managed) };
}

export async function makeMember(parts: MemberParts, options: MemberOptions): Promise<FullMember> {
  const { settings, inForce, plant, seed, clock, later, store, log } = parts;
  const { certificate, device, exchange, remoteClock } = options;
  const { lfdi, sfdi } = identityOf(settings, certificate, device);
  const { revision } = inForce;
  const jitter = createRandom(seed, 'csip', lfdi, 'responses');
  const queue = await ResponseQueue.open({
    slot: store.slot(slotName('csip', lfdi, 'responses')),
    wall: clock,
    backOff: fullJitter(retryWaits, jitter),
  });
  const control = createControlTarget({ device, plant, siteOwner: `csip:${lfdi}`, revision, log });
  const { aus, pen, supersededResponse, notifications } = settings;
  const reports = createDeviceReports(device, control.supported, {
    revision,
    csipAus: aus,
    lfdi,
    pen,
    subscribes: notifications.subscribe,
    gradW: () => control.gradW(device.index),
  });
  const { deviceCategory } = reports;
  const deviceIndex = device.index;
  const responses = new ResponseSender({ queue, exchange, lfdi, deviceIndex, later, log });
  const endDevice = new EndDevice({
    lfdi,
    deviceIndices: [deviceIndex],
    target: control,
    remoteClock,
    wall: clock,
    log,
    slot: store.slot(slotName('csip', lfdi, 'events')),
    schedule: {
      deviceCategory,
      pick: (mrid, purpose) => createRandom(seed, 'csip', lfdi, mrid, purpose).next(),
      supersededResponse,
      revision,
    },
    owe: (owed) => responses.owe(owed),
  });
  const logEventIds = await LogEventIds.open(store.slot(slotName('csip', lfdi, 'log-events')), log);
  const makeReporter = () => reporterOf(parts, options, { reports, lfdi, logEventIds });
  const desk = new Desk({ responses, makeReporter });
  return { target: { lfdi, sfdi, deviceIndex, deviceCategory }, endDevice, desk };
}

function reporterOf(
  { settings, inForce, plant, seed, clock, later, log }: MemberParts,
  { device, exchange, remoteClock, onLost }: MemberOptions,
  {
    reports,
    lfdi,
    logEventIds,
  }: { readonly reports: DeviceReports; readonly lfdi: string; readonly logEventIds: LogEventIds },
): Reporter {
  const reporter = new Reporter({
    exchange,
    wall: clock,
    later,
    jitter: createRandom(seed, 'csip', lfdi, 'reports'),
    logEventIds,
    log,
    onLost,
    clock: remoteClock,
    plant,
    reports: [reports],
    lfdi,
    pen: settings.pen,
    nmi: nmiOf(settings, plant, device.index),
    postRateS: inForce.postRateS,
    readings: settings.readings,
  });
  reporter.sendsAlarms = inForce.sendsAlarms;
  return reporter;
}

/** One NMI is that of all devices; of several each device has its own, in their order. */
function nmiOf({ nmis }: CsipSettings, plant: Plant, index: number): string | null {
  if (nmis.length <= 1) return nmis[0] ?? null;
  return nmis[plant.devices.findIndex((device) => device.index === index)] ?? null;
}
