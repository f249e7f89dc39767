/** The fault registry of a running simulator: the whole catalogue, and what devices say against a fault. */
import type { AppConfig, FaultGroup } from './config/settings/app-config.ts';
import { keyPath } from './config/issues/issues.ts';
import { FaultRegistry } from './core/faults/registry.ts';
import type { FaultRegistryOptions, FaultSet } from './core/faults/registry.ts';
import type { FaultCheck, FaultKind } from './core/faults/kinds.ts';
import { noSuchDevice, SimError } from './core/errors.ts';
import type { Issue } from './core/errors.ts';
import { LimitedLog } from './core/log/limited-log.ts';
import type { Logger } from './core/log/log.ts';
import type { Plant } from './contract/plant.ts';
import { faultKinds } from './fault-kinds/all.ts';
import { modbusAcceptanceFaults } from './fault-kinds/modbus-acceptance.ts';
import { modbusReadingFaults } from './fault-kinds/modbus-reading.ts';
import { modbusStructureFaults } from './fault-kinds/modbus-structure.ts';
import { faultRequest, flatPointer } from './fault-kinds/request.ts';
import { exceptionFault } from './fault-kinds/modbus-transport.ts';
import { checkAcceptance } from './sunspec/faults/acceptance.ts';
import { conditionIssue } from './sunspec/faults/condition.ts';
import { checkReading } from './sunspec/faults/reading-check.ts';
import { checkTarget } from './sunspec/faults/targets.ts';

export interface FaultSetup extends Pick<FaultRegistryOptions, 'wall' | 'sim' | 'seed' | 'later'> {
  readonly log: Logger;
  /** called when the first fault is asked for, not before */
  readonly plant: () => Plant;
}

/** A master may ask for registers that no map has, and these faults strike such requests as well. */
const strikesRequests = (kind: FaultKind) => kind.layer === 'transport' || kind.kind === exceptionFault.kind;

/** Points and registers that a fault names must be there. */
function mapCheck(plant: () => Plant): FaultCheck {
  return ({ kind, request: { target = {}, when } }, deviceIndex) => {
    const { layout } = plant().device(deviceIndex).bank;
    const { registers, ...points } = target;
    checkTarget(layout, strikesRequests(kind) || registers === undefined ? points : target);
    const wrong = when && conditionIssue(layout, when);
    if (wrong)
      throw new SimError('COMMAND_BAD_VALUE', 'the fault has a condition that the device cannot meet', [wrong]);
  };
}

/** A registry that knows every kind. Its ends by simulated time and with the devices come when `followPlant` is called. */
export function createFaultRegistry({ log, plant, ...options }: FaultSetup): FaultRegistry {
  const registry = new FaultRegistry({
    ...options,
    deviceIndexes: () => plant().devices.map(({ index }) => index),
    // the checks below, and those of the effects, look at nothing else of a device
    shapeOf: (index) => plant().device(index).bank.layout,
    log: new LimitedLog(log, options.wall, 'faults'),
  });
  registry.define(faultKinds, mapCheck(plant));
  registry.define(modbusAcceptanceFaults, (fault, deviceIndex) => {
    checkAcceptance(fault, plant().device(deviceIndex).bank.layout);
  });
  registry.define([...modbusReadingFaults, ...modbusStructureFaults], (fault, deviceIndex) => {
    checkReading(fault, plant().device(deviceIndex).bank.layout);
  });
  return registry;
}

/** Ends faults with each tick, and with the device that they are meant for. */
export function followPlant(registry: FaultRegistry, plant: Plant): void {
  plant.onTick(() => {
    registry.expire();
  });
  plant.onDevices(({ removed }) => {
    if (removed !== null) registry.deviceRemoved(removed.index);
  });
}

/** What the registry says of a request, at the place where the configuration has it. */
function configFault({ name, detail, ...more }: Issue, places: readonly string[]): Issue {
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

/** What the configuration says of faults, and of those who carry them out. */
type FaultConfig = Pick<AppConfig, 'faults' | 'devices' | 'modbus' | 'rtu'>;

/** Devices that a fault of the configuration names and that are not there. */
function unknownDevices(groups: readonly FaultGroup[], plant: Plant): Issue[] {
  const indexes = plant.devices.map(({ index }) => index);
  return groups.flatMap(({ faults, places }) =>
    faults.flatMap(({ device }, at): Issue[] =>
      typeof device !== 'number' || indexes.includes(device)
        ? []
        : [{ name: `${places[at] ?? 'faults'}.device`, detail: noSuchDevice(device, indexes) }],
    ),
  );
}

/**
 * Puts in the faults that the configuration asks for, all or none.
 * @throws SimError CONFIG_INVALID for those that fit no device
 */
export function injectConfigured(
  registry: FaultRegistry,
  { faults, devices, modbus, rtu }: FaultConfig,
  plant: Plant,
  log: Logger,
): void {
  const setOf = ({ profile, faults: flats }: FaultGroup, device: number | null): FaultSet => ({
    profile,
    requests: flats.map((flat) => faultRequest(flat, device)),
  });
  const groups = [
    ...faults.map((group) => ({ group, device: null })),
    ...devices.flatMap((device, at) =>
      device.faults.map((group) => ({ group, device: plant.devices[at]?.index ?? null })),
    ),
  ];
  const unknown = unknownDevices(faults, plant);
  if (unknown.length > 0) throw unfit(unknown);
  try {
    registry.injectSets(
      groups.map(({ group, device }) => setOf(group, device)),
      { source: 'profile' },
    );
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    const places = groups.flatMap(({ group }) => group.places);
    const found =
      error.issues.length > 0
        ? error.issues.map((issue) => configFault(issue, places))
        : [{ name: 'faults', detail: error.message }];
    throw unfit(found);
  }
  if (modbus.enabled || rtu !== null || registry.active.every(({ protocol }) => protocol !== 'modbus')) return;
  log.warning('the configuration has faults of Modbus, but Modbus is switched off: nobody carries them out');
}
