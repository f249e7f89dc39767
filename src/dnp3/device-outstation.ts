/** The outstation of one device: its points, its stack, its status and its device profile. */
import type { Device } from '../contract/device.ts';
import type { Dnp3IinName, Dnp3MasterStatus, Dnp3OutstationStatus } from '../contract/dnp3.ts';
import { dnp3IinNames } from '../contract/dnp3.ts';
import type { Dnp3Settings } from '../contract/dnp3-settings.ts';
import type { Keeping } from '../contract/keeping.ts';
import type { Plant } from '../contract/plant.ts';
import type { RandomStream } from '../core/random.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import { attributesOf, createDevicePort, onModeChange } from './bridge.ts';
import type { DeviceDisturber } from './faults/disturber.ts';
import type { OutstationFacts } from './findings/dialogue.ts';
import { outputRanges } from './findings/outputs.ts';
import { keptOffset, MasterClock } from './clock.ts';
import { keepNothing } from './memory/memory.ts';
import type { OutstationMemory } from './memory/memory.ts';
import { keptPoints } from './memory/points.ts';
import { deviceProfileXml } from './profile/device-profile.ts';
import { OutstationPoints } from './profile/outstation-points.ts';
import type { ControlReport } from './profile/outstation-points.ts';
import { profileParts } from './profile/parts.ts';
import type { OutstationEnd, PointRow } from './profile/types.ts';
import type { ServedOutstation } from './server/context.ts';
import type { Dnp3Listener } from './server/listener.ts';
import { functionCodes } from './stack/application/types.ts';
import { Outstation } from './stack/outstation/outstation.ts';
import { pointKinds } from './stack/points.ts';
import type { Association } from './stack/outstation/association.ts';
import { defaultLimits } from './stack/outstation/types.ts';
import type { DeviceAttribute, MasterObserver } from './stack/outstation/types.ts';

export interface DeviceOutstationOptions {
  readonly device: Device;
  readonly plant: Plant;
  readonly settings: Dnp3Settings;
  readonly address: number;
  readonly rows: readonly PointRow[];
  readonly disturber: DeviceDisturber;
  readonly remoteClock: () => RemoteClock;
  readonly wall: WallClock;
  readonly later: Later;
  readonly random: (purpose: string) => RandomStream;
  readonly log: { info(message: string): void; warning(message: string): void; debug(message: string): void };
  readonly onControl: (report: ControlReport) => void;
  /** Called when a master has written the time. @param offsetS seconds by which the master is ahead */
  readonly onTime: (master: number, offsetS: number) => void;
  /** Makes the observer of one master; absent: nobody observes. */
  readonly observerOf?: (facts: OutstationFacts) => MasterObserver;
  /** memory that survives the process; null: none */
  readonly memory: OutstationMemory | null;
  /** absent: the registers do not survive the process */
  readonly keeping?: Keeping;
}

/** Functions that write registers. */
const registerFunctions: ReadonlySet<number> = new Set([
  functionCodes.operate,
  functionCodes.directOperate,
  functionCodes.directOperateNr,
]);

/** Names of the bits of IIN that are set, lowest bit first. */
export function iinNames(bits: number): readonly Dnp3IinName[] {
  return dnp3IinNames.filter((_, bit) => (bits & (1 << bit)) !== 0);
}

export class DeviceOutstation implements ServedOutstation {
  readonly address: number;
  readonly deviceIndex: number;
  readonly points: OutstationPoints;
  readonly stack: Outstation;
  readonly device: Device;
  readonly attributes: readonly DeviceAttribute[];
  readonly #options: DeviceOutstationOptions;
  readonly #clocks = new Map<number, MasterClock>();
  /** clock of the last time write, of whichever master */
  readonly #lastWritten: RemoteClock;
  /** shared by the observers of all masters; null: there is none yet */
  #facts: OutstationFacts | null = null;
  #endModeChanges: (() => void) | null = null;

  constructor(options: DeviceOutstationOptions) {
    this.#options = options;
    const { device, plant, settings, address, rows, disturber, wall, later, random, log, onControl } = options;
    const { observerOf } = options;
    this.device = device;
    this.attributes = attributesOf(device);
    this.address = address;
    this.deviceIndex = device.index;
    const port = createDevicePort(device, plant);
    this.#lastWritten = options.remoteClock();
    const { memory } = options;
    const keep = memory?.keep ?? keepNothing;
    const clockChanged = keep(
      'clock',
      keptOffset(this.#lastWritten, () => wall.monotonicMs()),
    );
    this.points = new OutstationPoints({
      port,
      profile: settings.profile,
      rows,
      parts: profileParts,
      clock: this.#lastWritten,
      random,
      log,
      onControl,
      keep,
    });
    const { database } = this.points;
    database.onSettings(keep('points', keptPoints(database)));
    this.stack = new Outstation(
      {
        database,
        controls: this.points.controls,
        conditions: {
          localControl: () => device.localControl,
          trouble: () => device.alarms.some(({ severity }) => severity === 'error'),
        },
        disturber,
        clock: { monotonicMs: () => wall.monotonicMs(), stamp: () => port.now },
        later,
        limits: defaultLimits,
        attributes: this.attributes,
        unsolicited: settings.unsolicited,
        masterClock: (master) => {
          const clock = new MasterClock({
            clock: options.remoteClock(),
            monotonicMs: () => wall.monotonicMs(),
            isLost: () => disturber.isTimeLost(),
            written: (offsetS, ms, monotonicMs) => {
              this.#lastWritten.sync(ms, monotonicMs);
              clockChanged();
              masterClockChanged();
              memory?.timeChanged();
              options.onTime(master, offsetS);
            },
          });
          const masterClockChanged = keep(`clock ${master}`, clock.kept());
          this.#clocks.set(master, clock);
          return clock;
        },
        ...(observerOf && { observerOf: () => observerOf((this.#facts ??= this.#makeFacts())) }),
        restartDelayMs: 0,
        ...(memory && { durable: (functionCode: number) => this.#durable(memory, functionCode) }),
        log,
      },
      settings.masterAddresses,
    );
    memory?.keepEvents(this.stack, database);
  }

  /** Continues the state of an earlier process; to be called before the first connection. */
  async restore(): Promise<void> {
    const { memory } = this.#options;
    if (memory === null) return;
    await memory.restore();
    this.points.restored();
  }

  get isSilent(): boolean {
    return this.#options.plant.silentDevices.has(this.deviceIndex);
  }

  get listeningMasters(): readonly number[] {
    const { unsolicited, masterAddresses } = this.#options.settings;
    return unsolicited ? masterAddresses : [];
  }

  associationOf(master: number): Association | null {
    return this.stack.association(master);
  }

  /** Without memory nothing continues its state. An outstation that was replaced can be gone later. */
  close(end: OutstationEnd = 'gone'): void {
    const { memory } = this.#options;
    this.stack.close();
    this.#endModeChanges?.();
    this.points.close(memory === null ? 'gone' : end);
    if (end === 'gone') memory?.clear();
    else memory?.close();
    for (const clock of this.#clocks.values()) clock.close();
    this.#lastWritten.clear();
  }

  status(listener: Dnp3Listener | undefined, endpoint: string): Dnp3OutstationStatus {
    return {
      deviceIndex: this.deviceIndex,
      endpoint,
      address: this.address,
      profile: this.#options.settings.profile,
      listening: listener !== undefined && listener.port !== 0,
      connections: listener?.connections.length ?? 0,
      masters: this.stack.associations.map((association) => this.#masterStatus(association, listener)),
      points: this.points.counts,
      eventCapacity: defaultLimits.eventsPerKind,
    };
  }

  /** The device profile document. @param port TCP port of the listener */
  deviceProfile(port: number): string {
    const { settings, wall } = this.#options;
    const { host, masterAddresses, unsolicited, tls } = settings;
    const views = this.points.views({ coverage: 'served' });
    const limits = new Map(views.map(({ type, index, min, max }) => [`${type}${index}`, { min, max }]));
    const text = (variation: number, otherwise: string) =>
      String(this.attributes.find((each) => each.variation === variation)?.value ?? otherwise);
    return deviceProfileXml({
      vendor: text(252, 'derbench'),
      product: text(250, this.device.name),
      softwareVersion: text(242, 'unknown'),
      date: new Date(wall.nowMs()).toISOString().slice(0, 10),
      host,
      port,
      address: this.address,
      masterAddresses,
      unsolicited,
      isTls: tls !== null,
      isKept: this.#options.memory !== null,
      limits: defaultLimits,
      points: this.points.bindings
        .filter(({ bound }) => bound !== null)
        .map(({ row }) => {
          const { min, max } = limits.get(`${row.type}${row.index}`) ?? { min: null, max: null };
          return { ...row, ...(min !== null && { min }), ...(max !== null && { max }) };
        }),
    });
  }

  #makeFacts(): OutstationFacts {
    const { settings, rows } = this.#options;
    const { database } = this.points;
    return {
      deviceIndex: this.deviceIndex,
      address: this.address,
      hasUnsolicited: settings.unsolicited,
      isWallTime: this.#lastWritten.simOf(0) === null,
      selectTimeoutMs: defaultLimits.selectTimeoutMs,
      staticPoints: () => pointKinds.reduce((sum, kind) => sum + database.listOfClass0(kind).specs.length, 0),
      rangeOf: outputRanges(rows),
      hasBuiltInMap: settings.pointsFile === null,
      outputOf: (kind, index) => {
        const point = database.point(kind === 'binary' ? 'binaryOutput' : 'analogOutput', index);
        return typeof point?.state.value === 'number' ? point.state.value : undefined;
      },
      onModeChange: (listener) => {
        this.#endModeChanges?.();
        this.#endModeChanges = onModeChange(this.device, listener);
      },
    };
  }

  #durable(memory: OutstationMemory, functionCode: number): Promise<void> | null {
    const { keeping } = this.#options;
    memory.flush();
    if (keeping !== undefined && registerFunctions.has(functionCode)) memory.follow(keeping.commit(this.deviceIndex));
    return memory.durable();
  }

  #masterStatus(association: Association, listener: Dnp3Listener | undefined): Dnp3MasterStatus {
    const { masterAddress, session, events, unsolicited, lastRequestMs } = association;
    const { wall } = this.#options;
    const waiting = events.waiting();
    const connection = listener?.connections.find(
      ({ peer }) => session !== null && session.peer === `${masterAddress}@${peer}`,
    );
    return {
      address: masterAddress,
      connected: session !== null,
      peer: session === null ? null : session.peer.slice(session.peer.indexOf('@') + 1),
      certificate: connection?.identity?.subject ?? null,
      connectedSinceMs: connection?.connectedAtMs ?? null,
      lastRequestMs: lastRequestMs === null ? null : wall.nowMs() - (wall.monotonicMs() - lastRequestMs),
      iin: iinNames(association.indications),
      events: { class1: waiting[1], class2: waiting[2], class3: waiting[3] },
      overflow: events.isOverflown,
      unsolicited: {
        configured: unsolicited.isConfigured,
        nullConfirmed: unsolicited.nullConfirmed,
        classes: unsolicited.classes,
      },
      selectPending: association.selectPending,
      clockOffsetS: this.#clocks.get(masterAddress)?.offsetS ?? null,
    };
  }
}
