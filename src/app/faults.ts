/** The fault registry of a running simulator: the whole catalogue, with the checks that need devices. */
import type { AppConfig, DeviceConfig } from '../config/settings/app-config.ts';
import type { DeviceProfile } from '../config/profile/device-profile.ts';
import type { FaultGroup } from '../config/profile/fault-list.ts';
import { keyPath } from '../config/issues/issues.ts';
import type { Adapter } from '../core/adapter.ts';
import { FaultRegistry } from '../core/faults/registry.ts';
import type { FaultRegistryOptions, FaultSet, FaultSource } from '../core/faults/registry.ts';
import { meterIndex } from '../core/faults/kinds.ts';
import type { FaultCheck, FaultKind, FaultRequest } from '../core/faults/kinds.ts';
import { noSuchDevice, SimError } from '../core/errors.ts';
import type { Origin } from '../core/origin.ts';
import type { Issue } from '../core/errors.ts';
import { LimitedLog } from '../core/log/limited-log.ts';
import { silentLogger } from '../core/log/log.ts';
import type { Logger } from '../core/log/log.ts';
import { simTimeFromMs } from '../core/time/clock.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { Device } from '../contract/device.ts';
import type { Plant } from '../contract/plant.ts';
import { effectCheck } from '../der/faults/follow.ts';
import { faultKinds, protocolFaults, switchedOff } from '../fault-kinds/protocols.ts';
import { deviceEffectFaults } from '../fault-kinds/device-effect.ts';
import { modbusAcceptanceFaults, modbusReadingFaults, modbusStructureFaults } from '../fault-kinds/modbus-map.ts';
import { faultRequest, flatPointer } from '../fault-kinds/request.ts';
import { exceptionFault } from '../fault-kinds/modbus-transport.ts';
import { checkAcceptance } from '../sunspec/faults/acceptance.ts';
import { conditionIssue, holds, checkTarget } from '../sunspec/faults/targets.ts';
import { checkReading } from '../sunspec/faults/reading-check.ts';
import type { Layout } from '../sunspec/map/layout.ts';
import { InjectedFaults } from './injected-faults.ts';

/** The devices whose layouts the checks read. */
type CheckedPlant = Pick<Plant, 'devices' | 'device' | 'meter'>;

export interface FaultSetup extends Pick<FaultRegistryOptions, 'wall' | 'sim' | 'seed' | 'later'> {
  readonly log: Logger;
  /** called when the first fault is injected, not earlier */
  readonly plant: () => CheckedPlant;
}

/** A master may request registers that no map has; these faults strike such requests as well. */
const strikesRequests = (kind: FaultKind) => kind.layer === 'transport' || kind.kind === exceptionFault.kind;

/** The map of a device, or of the meter. */
function layoutOf(plant: CheckedPlant, index: number): Layout {
  const { layout } = index === meterIndex && plant.meter ? plant.meter.bank : plant.device(index).bank;
  return layout;
}

/** Refuses faults without effect on the meter, which accepts no writes, has no functions, and serves Modbus only. */
function checkMeter({ protocol, kind }: FaultKind): void {
  if (protocol === 'modbus' && !modbusAcceptanceFaults.some((row) => row.kind === kind)) return;
  const allowed = 'exception, and faults of Modbus in the layers reading and transport';
  const detail = `the meter has no fault ${kind} of ${protocol}; allowed: ${allowed}`;
  throw new SimError('COMMAND_BAD_VALUE', 'the fault does not act on the meter', [{ name: '/device', detail }]);
}

/** Checks that points and registers of a fault exist, and that its condition is possible. */
function mapCheck(plant: () => CheckedPlant): FaultCheck {
  return ({ kind, request: { target = {}, when } }, deviceIndex) => {
    if (deviceIndex === meterIndex) checkMeter(kind);
    const layout = layoutOf(plant(), deviceIndex);
    const { registers, ...points } = target;
    checkTarget(layout, strikesRequests(kind) || registers === undefined ? points : target);
    const issue = when && conditionIssue(layout, when);
    if (issue)
      throw new SimError('COMMAND_BAD_VALUE', 'the fault has a condition that the device cannot meet', [issue]);
  };
}

/** A registry with every kind of fault. `followPlant` ends its faults by simulated time and with their devices. */
export function createFaultRegistry({ log, plant, ...options }: FaultSetup): FaultRegistry {
  const registry = new FaultRegistry({
    ...options,
    deviceIndexes: () => plant().devices.map(({ index }) => index),
    // the checks below, and the checks of effects, depend on the layout only
    shapeOf: (index) => layoutOf(plant(), index),
    hasMeter: () => plant().meter !== null,
    log: new LimitedLog(log, options.wall, 'faults'),
  });
  registry.define(faultKinds, mapCheck(plant));
  registry.define(modbusAcceptanceFaults, (fault, deviceIndex) => {
    checkAcceptance(fault, layoutOf(plant(), deviceIndex));
  });
  registry.define([...modbusReadingFaults, ...modbusStructureFaults], (fault, deviceIndex) => {
    checkReading(fault, layoutOf(plant(), deviceIndex));
  });
  return registry;
}

/** Ends expired faults at each tick, and the faults of a device when it is removed. */
export function followPlant(registry: FaultRegistry, plant: Plant): void {
  plant.onTick(() => {
    registry.expire();
  });
  plant.onDevices(({ removed }) => {
    if (removed !== null) registry.deviceRemoved(removed.index);
  });
}

/** Checks conditions of faults by the registers of their devices; for a removed device no condition holds. */
export function conditionCheck(plant: Pick<Plant, 'devices'>): FaultSource['holds'] {
  return (fault, deviceIndex) => {
    const bank = plant.devices.find(({ index }) => index === deviceIndex)?.bank;
    return bank !== undefined && holds(bank, fault.facts.when);
  };
}

/** An issue of a request, named by its place in the configuration. */
function configIssue({ name, detail, ...more }: Issue, places: readonly string[]): Issue {
  const [, number, rest = ''] = /^\/(\d+)(.*)$/s.exec(flatPointer(name)) ?? [];
  const where = number === undefined ? undefined : places[Number(number)];
  if (where === undefined) return { name, detail, ...more };
  const steps = rest
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  return { name: steps.length === 0 ? where : `${where}.${keyPath(steps)}`, detail, ...more };
}

const unfit = (issues: readonly Issue[]) =>
  new SimError('CONFIG_INVALID', 'The faults of the configuration do not fit its devices:', issues);

/** The settings of faults. */
type FaultConfig = Pick<AppConfig, 'faults' | 'devices' | 'firstDevice'>;

/** The parts that configured faults act on. */
interface Struck {
  readonly plant: Plant;
  /** devices of the configuration with another entry: its faults do not act on them; default: none */
  readonly changed?: ReadonlySet<number>;
  /** enabled adapters only */
  readonly adapters: readonly Pick<Adapter, 'comm'>[];
}

/** Warns once for each protocol that has faults in force, but no enabled adapter. */
function warnOfSwitchedOff({ active }: FaultRegistry, adapters: Struck['adapters'], log: Logger): void {
  for (const protocol of new Set(active.map((fault) => fault.protocol))) {
    const off = switchedOff(protocolFaults, protocol, adapters);
    if (off === null) continue;
    log.warning(`the configuration has faults of ${off.name}, but ${off.name} is switched off: they have no effect`);
  }
}

/** Indexes of the devices of the configuration; clients may have removed some, in an earlier process. */
const configuredIndexes = ({ devices, firstDevice }: FaultConfig) => devices.map((_device, at) => firstDevice + at);

/** Issues for faults of the configuration that name a device that does not exist. */
function unknownDevices(config: FaultConfig, plant: Plant): Issue[] {
  const indexes = [...new Set([...configuredIndexes(config), ...plant.devices.map(({ index }) => index)])];
  return config.faults.flatMap(({ faults, places }) =>
    faults.flatMap(({ device }, at): Issue[] =>
      typeof device !== 'number' || indexes.includes(device)
        ? []
        : [{ name: `${places[at] ?? 'faults'}.device`, detail: noSuchDevice(device, indexes) }],
    ),
  );
}

/** The origin of faults that act from the start; a reset of their device does not end them. */
const configured: Origin = { source: 'profile' };

/** Faults of one origin, with the place of each in the configuration. */
interface PlacedSet extends FaultSet {
  readonly places: readonly string[];
}

function setOf({ profile, faults, places }: FaultGroup, device: number | null = null): PlacedSet {
  return { profile, requests: faults.map((flat) => faultRequest(flat, device)), places };
}

type ProfiledDevice = Pick<DeviceConfig, 'profile' | 'profileName'>;

/**
 * The faults that a device profile gives its devices. Each is one fault for all these devices and counts once against
 * the limit of active faults.
 * @param indexes of the devices; for a single device a fault names that device, like a fault of a device entry
 */
function setsOfProfile({ profile, profileName }: ProfiledDevice, indexes: readonly number[]): PlacedSet[] {
  const [first, ...others] = indexes;
  return profile.faults.map((group) => {
    const set = setOf(group, others.length === 0 ? first : null);
    return {
      ...set,
      ...(others.length > 0 && { requests: set.requests.map((request) => ({ ...request, group: indexes })) }),
      deviceProfile: profileName ?? profile.name ?? 'inline',
    };
  });
}

function profileSets({ devices, firstDevice }: FaultConfig): PlacedSet[] {
  const owners = new Map<DeviceProfile, { readonly device: ProfiledDevice; readonly indexes: number[] }>();
  devices.forEach((device, at) => {
    if (device.profile.faults.length === 0) return;
    const owner = owners.get(device.profile) ?? { device, indexes: [] };
    owner.indexes.push(firstDevice + at);
    owners.set(device.profile, owner);
  });
  return [...owners.values()].flatMap(({ device, indexes }) => setsOfProfile(device, indexes));
}

/** A request without the devices that clients have removed or changed in an earlier process; null: none is left. */
function withoutRemoved(
  request: FaultRequest,
  { plant, changed }: Pick<Struck, 'changed' | 'plant'>,
): FaultRequest | null {
  const { deviceIndex = null, group } = request;
  const isPresent = (index: number) =>
    changed?.has(index) !== true && plant.devices.some((device) => device.index === index);
  if (deviceIndex !== null && deviceIndex !== meterIndex) return isPresent(deviceIndex) ? request : null;
  if (group === undefined) return request;
  const present = group.filter(isPresent);
  return present.length === 0 ? null : { ...request, group: present };
}

/** A fault of the configuration that is to be injected. */
interface FreshFault {
  readonly set: PlacedSet;
  /** as the configuration has it */
  readonly configured: FaultRequest;
  readonly request: FaultRequest;
  readonly place: string;
}

/** The faults of sets that no earlier process has injected. @param fresh their requests, by set */
function freshFaults(
  sets: readonly PlacedSet[],
  fresh: readonly (readonly FaultRequest[])[],
  struck: Struck,
): readonly FreshFault[] {
  return sets.flatMap((set, at) =>
    (fresh[at] ?? []).flatMap((configured): FreshFault[] => {
      const request = withoutRemoved(configured, struck);
      const place = set.places[set.requests.indexOf(configured)] ?? 'faults';
      return request === null ? [] : [{ set, configured, request, place }];
    }),
  );
}

/**
 * Injects the faults of the configuration, all or none: those that no earlier process has injected. Faults of an earlier
 * process that the configuration has no more end.
 * @param injected restored after the registry
 * @throws SimError CONFIG_INVALID for faults that fit no device or name one that does not exist, and above the limits
 *   of the registry
 */
export function injectConfigured(
  registry: FaultRegistry,
  config: FaultConfig,
  struck: Struck,
  log: Logger,
  injected = new InjectedFaults(),
): void {
  const { plant, adapters } = struck;
  const { faults, devices, firstDevice } = config;
  const sets = [
    ...profileSets(config),
    ...faults.map((group) => setOf(group)),
    ...devices.flatMap((device, at) => device.faults.map((group) => setOf(group, firstDevice + at))),
  ];
  const unknown = unknownDevices(config, plant);
  if (unknown.length > 0) throw unfit(unknown);
  const { fresh, over } = injected.compare(sets);
  for (const id of over) registry.clear({ id });
  const added = freshFaults(sets, fresh, struck);
  try {
    const begun = registry.injectSets(
      added.map(({ set, request }) => ({ ...set, requests: [request] })),
      configured,
    );
    begun.forEach(({ facts: { id } }, i) => {
      const { set, configured: request } = added[i] ?? {};
      if (set && request) injected.add(request, set, id);
    });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    const places = added.map(({ place }) => place);
    const issues =
      error.issues.length > 0
        ? error.issues.map((issue) => configIssue(issue, places))
        : [{ name: 'faults', detail: error.message }];
    throw unfit(issues);
  }
  warnOfSwitchedOff(registry, adapters, log);
}

/** The faults of the profile of a device that joins a running simulator. */
export interface JoiningFaults {
  /**
   * Checks the faults before the device is visible.
   * @throws SimError CONFIG_INVALID for faults that do not fit the device, named from the root of the profile
   */
  check(device: Device, config: DeviceConfig): void;
  /** Injects the faults. @throws SimError COMMAND_CONFLICT above a limit of the registry */
  begin(device: Device, config: DeviceConfig): void;
}

/** A registry of one device, for checks before the device joins. */
function registryOf(device: Device, wall: WallClock): FaultRegistry {
  const registry = createFaultRegistry({
    wall,
    sim: () => simTimeFromMs(0),
    seed: 0,
    log: silentLogger,
    plant: () => ({ devices: [device], device: () => device, meter: null }),
  });
  registry.define(
    deviceEffectFaults,
    effectCheck(() => device.bank.layout),
  );
  return registry;
}

export function joiningFaults(registry: FaultRegistry, wall: WallClock): JoiningFaults {
  return {
    check(device, config) {
      const sets = setsOfProfile(config, [device.index]);
      if (sets.length === 0) return;
      const trial = registryOf(device, wall);
      try {
        trial.injectSets(sets, configured);
      } catch (error) {
        if (!(error instanceof SimError) || error.issues.length === 0) throw error;
        const places = sets.flatMap((set) => set.places);
        const issues = error.issues.map((issue) => configIssue(issue, places));
        throw new SimError(
          'CONFIG_INVALID',
          'The faults of the profile do not fit the device:',
          issues.map((issue) => ({ ...issue, name: issue.name.replace(/^profile: /, '') })),
        );
      } finally {
        trial.close();
      }
    },
    begin(device, config) {
      registry.injectSets(setsOfProfile(config, [device.index]), configured);
    },
  };
}
