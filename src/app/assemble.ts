/** The parts of a simulator, room by room: each function makes the parts that later ones stand on. */
import type { AppConfig } from '../config/settings/app-config.ts';
import { Captures } from '../capture/book.ts';
import { CaptureKeeping } from './capture-keeping.ts';
import type { RunReport } from '../contract/scenarios.ts';
import { pemIo } from '../contract/certificate-choice.ts';
import { createChargePointIds } from '../contract/charge-point-ids.ts';
import { keptParts } from '../core/kept.ts';
import { CommAlarms } from '../core/comm-alarms.ts';
import { errorText } from '../core/errors.ts';
import { EventLoopWatch } from '../core/event-loop.ts';
import type { FindingRegistry } from '../core/findings/registry.ts';
import { judgeWriters } from '../evidence/findings/writers.ts';
import { Timeline } from '../core/timeline/timeline.ts';
import { TimelineFeed } from './timeline/feed.ts';
import { LoopShare } from '../core/turns.ts';
import { tellCapture } from './timeline/registries.ts';
import { commonRules } from '../finding-rules/common.ts';
import type { LogBook, Logger } from '../core/log/log.ts';
import { buildId, packageVersion } from '../core/package-files.ts';
import type { WallClock } from '../core/time/clock.ts';
import { fileIo } from '../core/tls/watch.ts';
import { ClockWatch } from '../core/time/clock-watch.ts';
import { callLater } from '../core/time/timers.ts';
import type { Later } from '../core/time/timers.ts';
import { WireLog } from '../core/wire/wire-log.ts';
import { composeAdapters } from './adapters/all.ts';
import { FleetAdapter } from './adapters/fleet.ts';
import { apiVersion } from '../api/http/context.ts';
import type { Adapter } from '../core/adapter.ts';
import type { Plant } from '../contract/plant.ts';
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
import { createFindings, findingsBlock, isInLog } from './findings.ts';
import { labConfigOf } from './lab-config.ts';
import { createLabControl } from './lab-control.ts';
import { keepHistory } from './history-keeping.ts';
import { createHttp, csipLines, pageExposure } from './http.ts';
import type { Http } from './http.ts';
import { exposureWarnings } from './adapters/seats.ts';
import { LogKeeping, logSlot } from './log-keeping.ts';
import { SettingsInForce } from './settings.ts';
import type { BesideApp } from './scenarios/beside.ts';
import { composeScenarios } from './scenarios/kept.ts';
import type { Build } from './scenarios/simulator.ts';
import { certificatesSlot, KeptCertificates } from '../pki/store.ts';
import { ScenarioShelf } from './scenarios/shelf.ts';
import { InjectedFaults } from './injected-faults.ts';
import { SlotOwners } from './slot-owners.ts';
import { createStateControl } from './state-control.ts';
import { keepPlant } from './keep-plant.ts';
import { changedDevices, restoreEarly } from './keeping.ts';
import { alarmOfState } from './state-alarm.ts';
import type { Contents } from '../state/contents.ts';
import { changesSlot, settingsSlot } from '../state/slots.ts';
import type { State } from './state.ts';
import type { AppOptions, Parts } from './start-stop.ts';
import { createConfiguredRecorder } from './recorder.ts';
import type { CsipClient } from '../contract/csip-client.ts';
import type { Kept } from '../core/kept.ts';
import type { AdapterSeats } from './adapters/seats.ts';

type Keep = (part: string, kept: Kept) => void;

/** Parts of a simulator that outlive an attempt to build the others. */
export interface Ground {
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
  /** Builds a simulator with a state, and drops it. @throws SimError CONFIG_INVALID */
  readonly tryToBuild: (config: AppConfig, contents: Contents) => void;
  /** builds a simulator for a scenario that does not fit this one */
  readonly buildBeside: Build<BesideApp>;
}

/** @throws UnfitState */
export function assemble(ground: Ground, unfit: ReadonlySet<string>): Parts {
  const lab = createLab(ground, unfit);
  const lines = createLines(ground, lab);
  return createInterfaces(ground, lab, lines);
}

function keptCertificates({ state, wall, log }: Ground): KeptCertificates {
  return new KeptCertificates({
    slot: state.store.slot(certificatesSlot),
    earlier: state.values(certificatesSlot),
    nowMs: () => wall.nowMs(),
    log,
  });
}

type Lab = ReturnType<typeof createLab>;

/** Clock, settings and plant, with the state of an earlier process. @throws UnfitState */
function createLab(ground: Ground, unfit: ReadonlySet<string>) {
  const { config, options, wall, logBook, log, state } = ground;
  const { joined = null } = options;
  const { seed } = config;
  const origin = { version: packageVersion(), buildId: buildId(), seed };
  const clock = createClock(config, wall, joined);
  restoreEarly('clock', clock.kept(), state, unfit);
  logBook.follow(clock);
  const seriesOf = deviceSeriesReader(config);
  const faults = createFaultRegistry({ wall, sim: () => clock.sim(), seed, log, plant: () => plant });
  const commAlarms = new CommAlarms(() => wall.nowMs());
  const timeline = new Timeline({
    wall,
    sim: () => clock.acting(),
    onFailure: (error) => {
      log.error(`a listener of the timeline failed: ${errorText(error)}`);
    },
  });
  const devices = placedDevices(config, changedDevices(state), seriesOf, log);
  const certificates = keptCertificates(ground);
  const settings = new SettingsInForce(config, {
    log,
    certificates,
    later: ground.later,
    withoutRequests: ground.options.withoutRequests ?? null,
  });
  settings.follow(['log_level', 'log_format'], ({ log: printing }) => {
    logBook.print(printing);
  });
  const keptSettings = settings.kept();
  restoreEarly('settings', keptSettings, state, unfit);
  const plant = createConfiguredPlant(config, {
    devices,
    clock,
    joined,
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
  const keep: Keep = keeping ? keeping.add.bind(keeping) : () => undefined;
  keep('settings', { ...keptSettings, restore: () => undefined });
  keep('log', logBook.kept());
  keep('timeline', timeline.kept());
  const chargePointId = createChargePointIds(plant, config.chargePointId, keep);
  return {
    origin,
    clock,
    seriesOf,
    faults,
    commAlarms,
    timeline,
    devices,
    certificates,
    settings,
    plant,
    injected,
    trouble,
    /** Devices that requests add and change are kept with their configurations from here on. */
    keepChanged(later: DeviceChanges) {
      changes = later;
    },
    keeping,
    keep,
    chargePointId,
  };
}

type Lines = ReturnType<typeof createLines>;

/** Adapters, and the devices that join and leave them. */
function createLines(ground: Ground, lab: Lab) {
  const { config, wall, later, logBook, log, state } = ground;
  const { plant, faults, injected, settings, keep, keeping, chargePointId, clock, commAlarms, timeline, devices } = lab;
  const wireLog = new WireLog({ clock: wall, sim: () => clock.sim(), log });
  const eventLoop = new EventLoopWatch({ log });
  const findings = createFindings(
    {
      wall,
      sim: () => clock.sim(),
      later,
      log: logBook.logger('Findings'),
      faults,
      isRealTime: () => !clock.paused && clock.rate === 1,
      hasStalled: () => eventLoop.hasStalled,
      isOn: () => settings.config.findings.enabled,
      isKept: (message) => isInLog(wireLog, message),
    },
    config.findings.block,
  );
  judgeWriters({ plant, findings, rules: findings.rules('common', commonRules), wall });
  plant.onDevices(({ removed }) => {
    if (removed !== null) findings.deviceRemoved(removed.index);
  });
  const shared = {
    plant,
    faults,
    findings,
    clock: wall,
    later,
    logBook,
    chargePointId,
    keep,
    ...(keeping && { keeping, keepPart: keeping.keepPart }),
  };
  const { seats, ...interfaces } = composeAdapters({
    ...shared,
    inForce: () => settings.config,
    clientPty: config.clientPty,
    isKept: config.stateDir !== null,
    seed: config.seed,
    commAlarms,
    store: state.store,
    pem: pemIo(fileIo, lab.certificates),
    wireLog,
    faults: { registry: faults, holds: conditionCheck(plant) },
    remoteClock: createRemoteClocks(config, { clock, plant, wall, later, log }),
  });
  followPollRate(settings, interfaces.csipClient, log);
  const csip = interfaces.csipClient;
  const feed = new TimelineFeed(timeline, {
    plant,
    faults,
    findings,
    commAlarms,
    logBook,
    wireLog,
    csip,
    eventLoop,
    wall,
  });
  const changed = new Set(devices.flatMap(({ index, isChanged }) => (isChanged ? index : [])));
  injectConfigured(faults, config, { plant, adapters: seats.adapters, changed }, log, injected);
  const owners = new SlotOwners({ files: state.files, plant, chargePointId, csip: interfaces.csipClient, log });
  const changes = createChanges(ground, lab, seats, owners);
  lab.keepChanged(changes);
  keep('changes', changes.kept());
  const [formerChanges] = keeping ? [] : state.values(changesSlot);
  if (formerChanges !== undefined) changes.kept().restore(formerChanges);
  return { shared, wireLog, eventLoop, feed, seats, interfaces, owners, changes };
}

/** The client of IEEE 2030.5 follows its live setting. */
function followPollRate(settings: SettingsInForce, client: CsipClient, log: Logger): void {
  settings.follow(['csip_poll_rate_s'], ({ csip }, by) => {
    if (csip === null) return;
    // null: the rate of the settings, also in place of one that a request to csip/config has set
    const apply = async () => client.configure({ pollRateS: null }, null, by);
    apply().catch((error: unknown) => {
      log.warning(`csip_poll_rate_s is not applied: ${errorText(error)}`);
    });
  });
}

function createChanges(
  { config, wall, state, log }: Ground,
  { plant, devices, faults, settings, seriesOf, chargePointId }: Lab,
  { adapters }: AdapterSeats,
  owners: SlotOwners,
): DeviceChanges {
  const entries = configuredEntries(config.settings.file);
  return new DeviceChanges({
    plant,
    servers: () => adapters.filter(isDeviceServer),
    faults: joiningFaults(faults, wall),
    deviceOf: config.deviceOf,
    configured: (index) => configuredDevice(config, entries, index),
    places: () => settings.config,
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
}

/** Captures of disturbances, as many as the settings say. @param run scenario under way; null: none */
function createCaptures(
  { wall, log, state }: Ground,
  { plant, settings, timeline, keeping }: Lab,
  run: () => RunReport | null,
): Captures {
  const share = new LoopShare();
  const kept = keeping && new CaptureKeeping({ state, plant, log, share });
  const capacityAtStart = settings.config.captures;
  const captures = new Captures({
    plant,
    nowMs: () => wall.nowMs(),
    run,
    // a process without captures leaves kept ones for a later one
    ...(kept && capacityAtStart > 0 && { earlier: kept.earlier() }),
    ...(kept && { keep: kept.keep.bind(kept) }),
    onEnd(capture) {
      const failed = (error: unknown) => {
        log.error(`capture ${capture.id} has no report: ${errorText(error)}`);
      };
      void share
        .runInParts(capture.reporting())
        .then((report) => {
          tellCapture(timeline, capture, report);
        })
        .catch(failed);
    },
  });
  captures.capacity = capacityAtStart;
  settings.follow(['captures'], ({ captures: capacity }) => {
    captures.capacity = capacity;
  });
  return captures;
}

/** Follows the settings with the page of the CSIP client, with the lines of a start. @throws SimError LISTEN_FAILED */
async function moveCsipPage(api: Http['api'], { csip }: AppConfig, log: Logger): Promise<void> {
  const address = csip?.website ?? null;
  await api.moveCsipPage(address);
  if (address === null) return;
  for (const line of exposureWarnings([pageExposure(address)])) log.warning(line);
  for (const line of csipLines(api)) log.info(line.replace(/ +/g, ' '));
}

/** The settings in which all shards agree, as texts by the name of the setting. */
function fleetSettings(config: AppConfig): Readonly<Record<string, string>> {
  return {
    seed: String(config.seed),
    tick: String(config.tickS),
    device_spread_pct: String(config.deviceSpreadPct),
    remote_clock: config.remoteClock,
    irradiance_source: config.irradianceSource,
    clouds: config.clouds,
    timezone: config.clock.timezone,
  };
}

/** Ports of the first and the last device over each protocol, between which those of the others are. */
function portsOf(
  adapters: readonly Adapter[],
  { devices }: Pick<Plant, 'devices'>,
): Readonly<Record<string, readonly number[]>> {
  const entries = adapters.map((adapter) => {
    const endpoints = [devices[0], devices.at(-1)].map((device) => device && adapter.endpointOf?.(device.index));
    return [adapter.comm, endpoints.flatMap((at) => (at && 'port' in at ? at.port : []))] as const;
  });
  return Object.fromEntries(entries.filter(([, ports]) => ports.length > 0));
}

/** The membership of this process in its fleet; null: it is in none. */
function shardOf(
  { config, options, wall, later, logBook, log }: Ground,
  { plant, origin }: Lab,
  { api }: Http,
  adapters: readonly Adapter[],
) {
  if (config.fleet === null) return null;
  const { joined } = options;
  return new FleetAdapter({
    settings: config.fleet,
    plant,
    joined: joined ?? null,
    logBook,
    log,
    clock: wall,
    later,
    performBytes: (request) => api.performBytes(request),
    traits: { version: origin.version, apiVersion, settings: fleetSettings(config) },
    http() {
      const address = api.server.address();
      return typeof address === 'object' && address !== null ? { host: config.web.host, port: address.port } : null;
    },
    ports: () => portsOf(adapters, plant),
    lost: () => options.onLeaseLost?.(),
  });
}

/** REST, scenarios and recorder, with all parts for the start. */
function createInterfaces(
  ground: Ground,
  lab: Lab,
  { shared, wireLog, eventLoop, feed, seats, interfaces, owners, changes }: Lines,
): Parts {
  const { config, options, wall, later, logBook, log, state } = ground;
  const { origin, plant, faults, settings, keeping, timeline } = lab;
  const { adapters } = seats;
  const inForce = () => settings.config;
  const scenarios = composeScenarios({
    plant,
    wall,
    later,
    wireLog,
    csip: interfaces.csipClient,
    findings: shared.findings,
    timeline,
    origin,
    config,
    shelf: keeping && new ScenarioShelf(state),
    build: ground.buildBeside,
  });
  const info = { ...origin, startedAtMs: wall.nowMs() };
  const around = {
    ...info,
    findings: shared.findings,
    faults,
    nowMs: () => wall.nowMs(),
    dateMs: plant.dateMs.bind(plant),
  };
  const captures = createCaptures(ground, lab, () => scenarios.kept.running);
  const recorder = createConfiguredRecorder({ wireLog, findings: shared.findings, plant, wall, info, adapters });
  let shard: FleetAdapter | null = null;
  const http = createHttp(
    config,
    inForce,
    {
      ...shared,
      ...interfaces,
      ...controlsOf(ground, lab, shared.findings, owners, changes),
      adapters,
      info,
      recorder,
      captures,
      eventLoop,
      timeline,
      watched: () => feed.watched,
      clockOwner: scenarios.clock,
      scenarios: scenarios.kept,
      ...(config.fleet !== null && { fleet: { gateway: () => shard?.gateway ?? null } }),
    },
    options.checkReplies ?? false,
  );
  // REST shows the stream as one of the adapters
  seats.add({ name: null, make: () => http.telemetry });
  const member = (shard = shardOf(ground, lab, http, adapters));
  if (member !== null) seats.add({ name: null, make: () => member });
  scenarios.api.set(http.api);
  settings.restartWith((names, how) =>
    // between changes of the devices, which the adapters follow
    changes.inTurn(async () => {
      const failures = new Map(await seats.restart(names, how));
      feed.followCsip();
      options.onAdapters?.();
      const isPageNamed = names.includes('csip') || names.includes('csip-website');
      if (isPageNamed && (failures.size === 0 || how.goesOn))
        await moveCsipPage(http.api, inForce(), log).catch((error: unknown) => failures.set('csip-website', error));
      if (failures.size === 0) seats.settle();
      return failures;
    }),
  );
  return {
    plant,
    faults,
    findings: shared.findings,
    async endedFindings(scenario) {
      const { endedFindings } = await import('./finding-reports.ts');
      return endedFindings({ ...around, ...(scenario !== undefined && { scenario }) }, plant, config.findings);
    },
    http,
    adapters,
    startAdapters: (leavesOff) => seats.start(leavesOff),
    isLoadedLab: config !== ground.start,
    changes,
    settings,
    ticker:
      member === null
        ? tickerOf(config, plant, wall)
        : {
            start: () => {
              member.startTicks();
            },
            stop: () => member.stopTicks(),
          },
    eventLoop,
    feed,
    clockWatch: new ClockWatch({ wall, log }),
    logBook,
    log,
    recorder,
    scenarios,
    state,
    owners,
    keeping,
    logKeeping: keeping && new LogKeeping({ logBook, store: state.store, values: () => state.values(logSlot), plant }),
    historyKeeping: keepHistory(config, { state, keeping, log, wall, inForce }),
  };
}

/** Controls of the simulator as a whole, for REST. */
function controlsOf(ground: Ground, lab: Lab, findings: FindingRegistry, owners: SlotOwners, changes: DeviceChanges) {
  const { start, config, options, wall, log, state, tryToBuild } = ground;
  const { origin, plant, settings, certificates, keeping, trouble, chargePointId } = lab;
  const running = { config, plant, changes, settings, chargePointId };
  return {
    addDevice: changes.add.bind(changes),
    changeDevice: changes.change.bind(changes),
    removeDevice: changes.remove.bind(changes),
    requestStop(reason: string, delayS: number) {
      log.info(`stopping in ${delayS} s: ${reason}`);
      callLater(delayS * 1000, () => options.onStopRequest?.(reason));
    },
    state: createStateControl({
      state,
      owners,
      wall,
      log,
      trouble,
      version: origin.version,
      onRestart: options.onRestartRequest,
      ...(keeping && { commit: () => keeping.commit(null), betweenTicks: plant.betweenTicks.bind(plant) }),
    }),
    settings,
    lab: createLabControl({
      start,
      valueOf: (key) => settings.valueOf(key),
      current: () => labConfigOf({ ...running, findings: findingsBlock(findings) }),
      state,
      get unkept(): Contents {
        const parts = { [settingsSlot]: settings.kept(), [changesSlot]: changes.kept() };
        return new Map(
          keeping ? [] : Object.entries(parts).map(([slot, kept]) => [slot, [JSON.stringify(kept.save())]]),
        );
      },
      log,
      tryToBuild,
      isEnding: () => settings.isEnding,
      onRestart: options.onRestartRequest,
    }),
    certificates,
  };
}
