/** Composition root: builds the parts of a simulator. */
import type { AppConfig } from '../config/settings/app-config.ts';
import { pemIo } from '../contract/certificate-choice.ts';
import { createChargePointIds } from '../contract/charge-point-ids.ts';
import { keptParts } from '../core/kept.ts';
import { CommAlarms } from '../core/comm-alarms.ts';
import { errorText } from '../core/errors.ts';
import { EventLoopWatch } from '../core/event-loop.ts';
import { createLogBook, filteredLogger } from '../core/log/log.ts';
import type { LogBook, Logger } from '../core/log/log.ts';
import { buildId, packageVersion } from '../core/package-files.ts';
import { systemClock } from '../core/time/clock.ts';
import type { WallClock } from '../core/time/clock.ts';
import { fileIo } from '../core/tls/watch.ts';
import { ClockWatch } from '../core/time/clock-watch.ts';
import { callLater } from '../core/time/timers.ts';
import type { Later } from '../core/time/timers.ts';
import { WireLog } from '../core/wire/wire-log.ts';
import { composeAdapters } from './adapters/all.ts';
import { configuredDevice, DeviceChanges, isDeviceServer } from './devices/changes.ts';
import {
  createClock,
  createConfiguredPlant,
  createRemoteClocks,
  tickerOf,
  deviceSeriesReader,
} from './devices/plant.ts';
import { conditionCheck, createFaultRegistry, followPlant, injectConfigured, joiningFaults } from './faults.ts';
import { configuredEntries } from '../config/profile/devices.ts';
import { placedDevices } from './devices/placed.ts';
import { labConfigOf } from './lab-config.ts';
import { createLabControl, loadedLab } from './lab-control.ts';
import { keepHistory } from './history-keeping.ts';
import { createHttp, csipLines, pageExposure } from './http.ts';
import type { Http } from './http.ts';
import { exposureWarnings } from './adapters/seats.ts';
import { LogKeeping, logSlot } from './log-keeping.ts';
import { SettingsInForce } from './settings.ts';
import { composeScenarios } from './scenarios/kept.ts';
import { certificatesSlot, KeptCertificates } from '../pki/store.ts';
import { ScenarioShelf } from './scenarios/shelf.ts';
import { App } from './start-stop.ts';
import { InjectedFaults } from './injected-faults.ts';
import { SlotOwners } from './slot-owners.ts';
import { createStateControl } from './state-control.ts';
import { keepPlant } from './keep-plant.ts';
import { allDevices, changedDevices, restoreClock, UnfitState } from './keeping.ts';
import { alarmOfState } from './state-alarm.ts';
import { folderState, memoryState } from './state.ts';
import { createMemoryStore } from '../core/store.ts';
import type { Contents } from '../state/contents.ts';
import { changesSlot } from '../state/slots.ts';
import type { State } from './state.ts';
import type { AppOptions, Parts } from './start-stop.ts';
import type { Plant } from '../contract/plant.ts';
import type { Recorder } from '../contract/recorder.ts';
import type { Adapter } from '../core/adapter.ts';
import { createRecorder } from '../recorder/recorder.ts';

/** Parts for the recorder of a simulator, and the data for the header of a recording. */
interface RecorderSetup {
  readonly wireLog: WireLog;
  readonly plant: Plant;
  readonly wall: WallClock;
  readonly info: { readonly version: string; readonly buildId: string; readonly startedAtMs: number };
  readonly adapters: readonly Adapter[];
}

export function createConfiguredRecorder({ wireLog, plant, wall, info, adapters }: RecorderSetup): Recorder {
  return createRecorder({
    wireLog,
    clock: wall,
    sim: () => plant.time.sim,
    dateMs: (sim) => plant.dateMs(sim),
    process: () => ({
      version: info.version,
      buildId: info.buildId,
      startedAtMs: info.startedAtMs,
      clock: { mode: plant.time.mode, rate: plant.time.rate, timezone: plant.time.timezone },
      devices: plant.devices.map(({ index, name, deviceType, assetType }) => ({
        index,
        name,
        type: deviceType,
        kind: assetType,
        endpoints: adapters.flatMap((adapter) => adapter.endpointOf?.(index) ?? []),
      })),
    }),
  });
}

/**
 * Builds a simulator; nothing is bound yet.
 * @throws SimError CONFIG_INVALID for profiles, series, a proxy map or certificates that do not fit, and for faults
 * that fit no device
 */
export function createApp(config: AppConfig, options: AppOptions = {}): App {
  const ground = layGround(config, options);
  return new App(ground.config, build(ground));
}

/** Builds a simulator that nothing starts. @throws SimError CONFIG_INVALID */
function tryToBuild(config: AppConfig, contents: Contents): void {
  const logBook = createLogBook({ write: () => undefined });
  void createApp(config, { logBook, store: createMemoryStore({}, contents) }).stop();
}

/** Parts of a simulator that outlive an attempt to build the others. */
interface Ground {
  /** configuration of the start */
  readonly start: AppConfig;
  /** configuration of the lab that a request has loaded, or of the start */
  readonly config: AppConfig;
  readonly options: AppOptions;
  readonly wall: WallClock;
  readonly later: Later;
  readonly logBook: LogBook;
  readonly log: Logger;
  readonly state: State;
}

/** Beyond so many devices whose kept state does not fit, all start anew. */
const maxUnfit = 8;

function keptCertificates(state: State, wall: WallClock, log: Logger): KeptCertificates {
  return new KeptCertificates({
    slot: state.store.slot(certificatesSlot),
    earlier: state.values(certificatesSlot),
    nowMs: () => wall.nowMs(),
    log,
  });
}

function layGround(start: AppConfig, options: AppOptions): Ground {
  const { wall = systemClock, later = callLater } = options;
  const logBook = options.logBook ?? createLogBook({ ...start.log, clock: wall });
  const log = logBook.logger('Lab');
  const state =
    start.stateDir === null
      ? memoryState(options.store)
      : folderState(start.stateDir, {
          log,
          wall,
          later,
          ...(options.openStateFolder && { openFolder: options.openStateFolder }),
        });
  const config = loadedLab(start, state, log);
  if (config !== start) logBook.print(config.log);
  return { start, config, options, wall, later, logBook, log, state };
}

/** Follows the settings with the page of the CSIP client, with the lines of a start. @throws SimError LISTEN_FAILED */
async function moveCsipPage(api: Http['api'], { csip }: AppConfig, log: Logger): Promise<void> {
  const address = csip?.website ?? null;
  await api.moveCsipPage(address);
  if (address === null) return;
  for (const line of exposureWarnings([pageExposure(address)])) log.warning(line);
  for (const line of csipLines(api)) log.info(line.replace(/ +/g, ' '));
}

/** Builds the parts; where a part of the kept state does not fit, anew without it. */
function build(ground: Ground): Parts {
  const { log, state } = ground;
  const written = new Set<string>();
  let isBuilt = false;
  // further attempts do not repeat the lines of the first one
  const onceLog = filteredLogger(
    log,
    (message, device) => isBuilt || written.size < written.add(`${device} ${message}`).size,
  );
  const unfit = new Set<string>();
  for (;;) {
    try {
      const parts = assemble({ ...ground, log: onceLog }, unfit);
      isBuilt = true;
      written.clear();
      return parts;
    } catch (error) {
      if (!(error instanceof UnfitState) || unfit.has(error.part)) {
        void state.close();
        throw error;
      }
      error.report(onceLog);
      unfit.add(error.part);
      if (unfit.size > maxUnfit) unfit.add(allDevices);
    }
  }
}

/** @throws UnfitState */
function assemble(
  { start, config, options, wall, later, logBook, log, state }: Ground,
  unfit: ReadonlySet<string>,
): Parts {
  const { checkReplies = false } = options;
  const { seed, deviceOf } = config;
  const origin = { version: packageVersion(), buildId: buildId(), seed };
  const clock = createClock(config, wall);
  restoreClock(state, clock.kept(), unfit);
  logBook.follow(clock);
  const eventLoop = new EventLoopWatch({ log });
  const clockWatch = new ClockWatch({ wall, log });
  const seriesOf = deviceSeriesReader(config);
  const faults = createFaultRegistry({ wall, sim: () => clock.sim(), seed, log, plant: () => plant });
  const commAlarms = new CommAlarms(() => wall.nowMs());
  const devices = placedDevices(config, changedDevices(state), seriesOf, log);
  const certificates = keptCertificates(state, wall, log);
  const settings = new SettingsInForce(config, log, certificates);
  const plant = createConfiguredPlant(config, {
    devices,
    clock,
    wall,
    faults,
    commAlarms,
    logBook,
    version: origin.version,
    centralAuthority: () => settings.config.ocpp !== null,
  });
  followPlant(faults, plant);
  const injected = new InjectedFaults();
  const trouble = alarmOfState({ plant, commAlarms });
  state.onFailure(trouble.of('folder'));
  // devices join later
  let changes: DeviceChanges | null = null;
  const keeping = keepPlant(config, {
    plant,
    clock,
    state,
    log,
    wall,
    unfit,
    // one part: a fault that is injected and not marked so would be injected again
    faults: keptParts({ registry: faults.kept(), injected: injected.kept() }),
    devices,
    onRefusal: trouble.of('parts'),
    requested: (index) => changes?.requestedConfig(index),
  });
  const keep = keeping ? keeping.add.bind(keeping) : () => undefined;
  settings.follow(['log_level', 'log_format'], ({ log: printing }) => {
    logBook.print(printing);
  });
  const inForce = () => settings.config;
  keep('settings', settings.kept());
  keep('log', logBook.kept());
  const chargePointId = createChargePointIds(plant, config.chargePointId, keep);
  const shared = {
    plant,
    faults,
    clock: wall,
    later,
    logBook,
    chargePointId,
    keep,
    ...(keeping && { keeping, keepPart: keeping.keepPart }),
  };
  const wireLog = new WireLog({ clock: wall, sim: () => clock.sim(), log });
  const { seats, ...interfaces } = composeAdapters({
    ...shared,
    inForce,
    clientPty: config.clientPty,
    isKept: config.stateDir !== null,
    seed,
    commAlarms,
    store: state.store,
    pem: pemIo(fileIo, certificates),
    wireLog,
    faults: { registry: faults, holds: conditionCheck(plant) },
    remoteClock: createRemoteClocks(config, { clock, plant, wall, later, log }),
  });
  const { adapters } = seats;
  settings.follow(['csip_poll_rate_s'], ({ csip }, by) => {
    if (csip === null) return;
    // null: the rate of the settings, also in place of one that a request to csip/config has set
    const apply = async () => interfaces.csipClient.configure({ pollRateS: null }, null, by);
    apply().catch((error: unknown) => {
      log.warning(`csip_poll_rate_s is not applied: ${errorText(error)}`);
    });
  });
  const changed = new Set(devices.flatMap(({ index, isChanged }) => (isChanged ? index : [])));
  injectConfigured(faults, config, { plant, adapters, changed }, log, injected);
  const joining = { servers: () => adapters.filter(isDeviceServer), faults: joiningFaults(faults, wall) };
  const entries = configuredEntries(config.settings.file);
  changes = new DeviceChanges({
    plant,
    ...joining,
    deviceOf,
    configured: (index) => configuredDevice(config, entries, index),
    places: inForce,
    seriesOf,
    chargePointId,
    fromEarlier(index) {
      const device = devices.find((each) => each.index === index);
      return device?.hasJoined ? 'joined' : device?.isChanged ? 'changed' : null;
    },
    // in the turn in which its registers go: a device does not come back without them
    changed: (kept) => state.write(changesSlot, JSON.stringify(kept)),
    left: (index) => owners.forget(index),
    slots: {
      placesOf: (index) => owners.placesOf(index),
      forget(isGone) {
        state.forget(isGone);
        owners.save();
      },
    },
    log,
  });
  keep('changes', changes.kept());
  const inTurn = changes.inTurn.bind(changes);
  const running = { config, plant, changes, settings, chargePointId };
  const scenarios = composeScenarios({
    plant,
    wall,
    later,
    wireLog,
    csip: interfaces.csipClient,
    origin,
    config,
    shelf: keeping && new ScenarioShelf(state),
  });
  const info = { ...origin, startedAtMs: wall.nowMs() };
  const recorder = createConfiguredRecorder({ wireLog, plant, wall, info, adapters });
  const setup = {
    ...shared,
    ...interfaces,
    adapters,
    info,
    recorder,
    eventLoop,
    clockOwner: scenarios.clock,
    scenarios: scenarios.kept,
    addDevice: changes.add.bind(changes),
    changeDevice: changes.change.bind(changes),
    removeDevice: changes.remove.bind(changes),
    requestStop(reason: string, delayS: number) {
      log.info(`stopping in ${delayS} s: ${reason}`);
      callLater(delayS * 1000, () => options.onStopRequest?.(reason));
    },
  };
  const owners = new SlotOwners({ files: state.files, plant, chargePointId, csip: interfaces.csipClient, log });
  const stateControl = createStateControl({
    state,
    owners,
    wall,
    log,
    trouble,
    version: origin.version,
    onRestart: options.onRestartRequest,
    ...(keeping && { commit: () => keeping.commit(null), betweenTicks: plant.betweenTicks.bind(plant) }),
  });
  const http = createHttp(
    config,
    inForce,
    {
      ...setup,
      state: stateControl,
      settings,
      lab: createLabControl({
        start,
        inForce: () => inForce().settings.values,
        current: () => labConfigOf(running),
        state,
        log,
        tryToBuild,
        onRestart: options.onRestartRequest,
      }),
      certificates,
    },
    checkReplies,
  );
  // REST shows the stream as one of the adapters
  seats.add({ name: null, make: () => http.telemetry });
  scenarios.api.set(http.api);
  settings.restartWith(async (names) => {
    // between changes of the devices, which the adapters follow
    await inTurn(() => seats.restart(names));
    if (names.includes('csip') || names.includes('csip-website')) await moveCsipPage(http.api, inForce(), log);
  });
  const ticker = tickerOf(config, plant, wall);
  return {
    plant,
    faults,
    http,
    adapters,
    changes,
    settings,
    ticker,
    eventLoop,
    clockWatch,
    logBook,
    log,
    recorder,
    scenarios,
    state,
    owners,
    keeping,
    logKeeping:
      keeping &&
      new LogKeeping({
        logBook,
        store: state.store,
        values: () => state.values(logSlot),
        plant,
      }),
    historyKeeping: keepHistory(config, { state, keeping, log, wall, inForce }),
  };
}
