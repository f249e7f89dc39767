/** Makes the EndDevices of a connection: device under control, schedule, responses and reports. */
import type { KeepPart } from '../contract/adapter-parts.ts';
import type { CsipSettings } from '../contract/csip-settings.ts';
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import { SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { fullJitter } from '../core/net/back-off.ts';
import { createRandom } from '../core/random.ts';
import { slotName } from '../core/store.ts';
import type { Store } from '../core/store.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { LoopShare } from '../core/turns.ts';
import type { Member } from './client.ts';
import { AddressBook } from './addresses.ts';
import { createControlTarget } from './control/control-bridge.ts';
import type { GroupTarget } from './control/control-bridge.ts';
import { Submissions } from './submissions.ts';
import { EndDevice } from './end-device.ts';
import type { KnownControl } from './events/model.ts';
import { ResponseQueue, ResponseSender } from './events/responses.ts';
import { LogEventIds } from './report/log-event-ids.ts';
import type { DeviceReports } from './report/model.ts';
import { createDeviceReports } from './report/report-bridge.ts';
import { Reporter } from './report/reporter.ts';
import { createTogether } from './report/together.ts';
import { sfdiOf } from '../contract/csip-identity.ts';
import { managedLfdi, penDigits } from './transport/certificates.ts';
import { retryWaits } from './transport/exchange.ts';
import type { CertificateFacts, SepExchange } from './transport/exchange.ts';

/** Parts that all clients of the process share. */
export interface MemberParts {
  readonly settings: CsipSettings;
  /** as they are now: they can be changed while the process runs */
  readonly inForce: {
    readonly revision: CsipSettings['revision'];
    readonly postRateS: number | null;
    readonly sendsAlarms: boolean;
    readonly lfdis: ReadonlyMap<number, string>;
    readonly nmis: readonly string[];
  };
  readonly plant: Plant;
  readonly seed: number;
  readonly clock: WallClock;
  readonly later: Later;
  readonly store: Store;
  /** absent: registers and controls end with the process */
  readonly keepPart?: KeepPart;
  readonly log: Logger;
  /** called within each change of the states of events */
  readonly eventsChanged: (endDevice: EndDevice, changed: readonly KnownControl[]) => void;
  /** of the turns of the event loop, for all clients together; absent: each has one of its own */
  readonly share?: LoopShare;
}

export interface MemberOptions {
  readonly certificate: CertificateFacts;
  /** at least one; for a site all its present devices */
  readonly devices: readonly Device[];
  readonly exchange: SepExchange;
  readonly remoteClock: RemoteClock;
  /** called when a known resource is gone: the walk looks for it again */
  readonly onLost: () => void;
}

/** A member with the full interface of its submissions. */
export interface FullMember extends Member {
  readonly submissions: Submissions;
  /** Applies the controls in force to the present devices after a change. */
  regroup(): void;
}

export function membersOf({
  client,
}: {
  readonly client: { readonly members: readonly Member[] };
}): readonly FullMember[] {
  return client.members as readonly FullMember[];
}

/** LFDI and SFDI of the EndDevice of a device: behind an aggregator its own, otherwise those of the certificate. */
export function identityOf(
  { settings: { identity, pen }, inForce: { lfdis } }: Pick<MemberParts, 'settings' | 'inForce'>,
  { lfdi, sfdi }: Pick<CertificateFacts, 'lfdi' | 'sfdi'>,
  device: Pick<Device, 'index'>,
): { readonly lfdi: string; readonly sfdi: number } {
  if (identity !== 'aggregator') return { lfdi, sfdi };
  const managed = lfdis.get(device.index) ?? managedLfdi(lfdi, `device ${device.index}`, pen);
  return { lfdi: managed, sfdi: sfdiOf(managed) };
}

/** The places of devices in a DERList: a device keeps its place while others join and leave. */
class Places {
  readonly #placeOf = new Map<number, number>();

  /** Gives each new device the lowest free place. */
  follow(devices: readonly Device[]): void {
    for (const index of this.#placeOf.keys())
      if (!devices.some((device) => device.index === index)) this.#placeOf.delete(index);
    for (const { index } of devices) {
      if (this.#placeOf.has(index)) continue;
      const taken = new Set(this.#placeOf.values());
      let place = 0;
      while (taken.has(place)) place += 1;
      this.#placeOf.set(index, place);
    }
  }

  of(devices: readonly Device[]): readonly number[] {
    return devices.map(({ index }) => this.#placeOf.get(index) ?? 0);
  }

  /** entries that the list needs */
  get count(): number {
    return Math.max(0, ...this.#placeOf.values()) + 1;
  }
}

export async function makeMember(parts: MemberParts, options: MemberOptions): Promise<FullMember> {
  const { settings, inForce, plant, seed, clock, later, store, log, keepPart } = parts;
  const { certificate, devices, exchange, remoteClock } = options;
  const { revision } = inForce;
  const first = firstOf(devices);
  const { lfdi, sfdi } = identityOf(parts, certificate, first);
  const isSite = settings.identity === 'site';
  const { aus, supersededResponse } = settings;
  const jitter = createRandom(seed, 'csip', lfdi, 'responses');
  const queue = await ResponseQueue.open({
    slot: store.slot(slotName('csip', lfdi, 'responses')),
    log,
    wall: clock,
    backOff: fullJitter(retryWaits, jitter),
  });
  const control = createControlTarget({
    devices: [...devices],
    plant,
    siteOwner: `csip:${lfdi}`,
    revision,
    log,
    ...(keepPart && {
      keep: (part) =>
        keepPart(
          slotName('csip', lfdi, 'controls'),
          part,
          devices.map(({ index }) => index),
        ),
    }),
  });
  const deviceIndex = isSite ? null : first.index;
  const responses = new ResponseSender({ queue, exchange, lfdi, deviceIndex, later, log });
  const reports = new DeviceReportBook(parts, control, lfdi);
  const deviceCategory = () => devices.reduce((bits, device) => bits | reports.of(device).deviceCategory, 0);
  const endDevice = new EndDevice({
    lfdi,
    deviceIndices: () => devices.map(({ index }) => index),
    target: control,
    remoteClock,
    wall: clock,
    log,
    slot: store.slot(slotName('csip', lfdi, 'events')),
    schedule: {
      pick: (mrid, purpose) => createRandom(seed, 'csip', lfdi, mrid, purpose).next(),
      supersededResponse,
      revision,
    },
    deviceCategory,
    owe: (owed) => responses.owe(owed),
    queue: responses,
    eventsChanged: parts.eventsChanged,
    ...(parts.share && { share: parts.share }),
  });
  const places = new Places();
  places.follow(devices);
  const logEventIds = await LogEventIds.open(store.slot(slotName('csip', lfdi, 'log-events')), log);
  const mirrors = await AddressBook.open(store.slot(slotName('csip', lfdi, 'mirrors')), log);
  const makeReporter = () => reporterOf(parts, options, { reports, lfdi, logEventIds, mirrors });
  const submissions = new Submissions({ responses, makeReporter, places: () => places.of(devices) });
  return {
    target: {
      lfdi,
      sfdi,
      deviceIndex,
      pin: first.csip?.pin ?? null,
      get deviceCategory() {
        return deviceCategory();
      },
      // in CSIP-AUS a site has one DER, which stands for all devices
      derCount: () => (aus === null ? places.count : 1),
    },
    endDevice,
    submissions,
    regroup: () => {
      places.follow(devices);
      control.regroup(devices);
      submissions.regroup();
    },
  };
}

function firstOf(devices: readonly Device[]): Device {
  const [first] = devices;
  if (first === undefined) throw new SimError('INTERNAL', 'an EndDevice needs a device');
  return first;
}

/** The reports of the devices of an EndDevice; the start times of states survive a change of the group. */
class DeviceReportBook {
  readonly #reports = new Map<Device, DeviceReports>();
  readonly #parts: MemberParts;
  readonly #control: GroupTarget;
  readonly #lfdi: string;

  constructor(parts: MemberParts, control: GroupTarget, lfdi: string) {
    this.#parts = parts;
    this.#control = control;
    this.#lfdi = lfdi;
  }

  of(device: Device): DeviceReports {
    const existing = this.#reports.get(device);
    if (existing !== undefined) return existing;
    const { settings, inForce } = this.#parts;
    const { aus, pen, notifications } = settings;
    const reports = createDeviceReports(device, this.#control.supportedBy(device), {
      revision: inForce.revision,
      csipAus: aus,
      lfdi: this.#lfdi,
      pen,
      subscribes: notifications.subscribe,
      gradW: () => this.#control.gradW(device.index),
    });
    this.#reports.set(device, reports);
    return reports;
  }
}

function reporterOf(
  { settings, inForce, plant, seed, clock, later, log }: MemberParts,
  { devices, exchange, remoteClock, onLost }: MemberOptions,
  {
    reports: book,
    lfdi,
    logEventIds,
    mirrors,
  }: {
    readonly reports: DeviceReportBook;
    readonly lfdi: string;
    readonly logEventIds: LogEventIds;
    readonly mirrors: AddressBook;
  },
): Reporter {
  const first = firstOf(devices);
  const reports = devices.map((device) => book.of(device));
  const reportsState = (index: number) => !plant.silentDevices.has(index);
  const reporter = new Reporter({
    exchange,
    wall: clock,
    later,
    jitter: createRandom(seed, 'csip', lfdi, 'reports'),
    logEventIds,
    mirrors,
    log,
    onLost,
    clock: remoteClock,
    plant,
    reports,
    together: settings.identity === 'site' ? createTogether(book.of(first), reports, reportsState) : null,
    lfdi,
    wholeMinutes: settings.aus !== null,
    penDigits: penDigits(settings.pen, settings.aus === null ? 'number' : 'decimal'),
    nmi: nmiOf(inForce.nmis, plant, first),
    postRateS: inForce.postRateS,
    readings: settings.readings,
  });
  reporter.sendsAlarms = inForce.sendsAlarms;
  return reporter;
}

/** The NMI of a device, else of the list: a single one applies to all devices, several to one device each, in order. */
export function nmiOf(
  nmis: readonly string[],
  plant: Pick<Plant, 'devices'>,
  { index, csip }: Pick<Device, 'csip' | 'index'>,
): string | null {
  if (csip?.nmi !== undefined) return csip.nmi;
  if (nmis.length <= 1) return nmis[0] ?? null;
  return nmis[plant.devices.findIndex((device) => device.index === index)] ?? null;
}
