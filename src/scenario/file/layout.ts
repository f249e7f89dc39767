/** Checks the devices, points, values and names of a scenario against its simulator. */
import { positionOf } from '../../contract/snapshot.ts';
import { noSuchDevice } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Device } from '../../contract/device.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import type { Layout as MapLayout, PointSlot } from '../../sunspec/map/layout.ts';
import type {
  Action,
  Comparison,
  Condition,
  MessageProtocol,
  MessageTest,
  Scenario,
  ScenarioRequest,
  Signal,
  Step,
  Subject,
  ValueTest,
  Place,
} from '../model.ts';
import { allExpectations, allSteps, placeText } from '../model.ts';

type Problems = readonly string[];

/** Valid names that do not depend on the devices. */
export interface KnownNames {
  readonly alarmCodes: readonly string[];
  /** ids of rules for peers */
  readonly findingRules: readonly string[];
  /** members of a message in `GET <protocol>/messages` */
  readonly messageMembers: Readonly<Record<MessageProtocol, readonly string[]>>;
}

/** A device with the points of its map. */
export interface LaidOutDevice extends Pick<Device, 'index' | 'assetType'> {
  readonly bank: { readonly layout: Pick<MapLayout, 'slots' | 'named'> };
}

/** The devices for which a scenario is checked, with their newest snapshots. */
export interface LaidOutPlant {
  readonly devices: readonly LaidOutDevice[];
  readonly latest: { readonly published: readonly { readonly snapshot: Snapshot }[] };
}

/** The simulator for which a scenario is checked. */
interface Surroundings {
  readonly plant: LaidOutPlant;
  /** true if the simulator has a client of IEEE 2030.5 */
  readonly hasCsip: boolean;
  readonly names: KnownNames;
}

const membersOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
const modelOf = (point: string) => point.slice(0, point.indexOf('.'));
const nameOf = (point: string) => point.slice(point.indexOf('.') + 1);

/** @param model its id, or its name where the map has several */
function pointNames({ bank }: LaidOutDevice, model: number | string): readonly string[] {
  return bank.layout.slots.filter(({ modelName }) => modelName === String(model)).map(({ path }) => path);
}

/** The reason why a device lacks a point. @param name null: any point of the model */
function absence(device: LaidOutDevice, model: number | string, name: string | null): Problems {
  if (name !== null && device.bank.layout.named(`${model}.${name}`)) return [];
  const names = pointNames(device, model);
  if (names.length === 0) return [`device ${device.index} has no model ${model}`];
  if (name === null) return [];
  const near = didYouMean(name, names).replace('did you mean ', `did you mean ${model}.`);
  return [`device ${device.index} has no point ${model}.${name}${near}`];
}

const orders = ['above', 'below', 'atLeast', 'atMost', 'between'] as const;

/** The reasons why a point can never meet a comparison. */
function valueProblems({ def }: PointSlot, point: string, comparison: Comparison): Problems {
  const values = [comparison.equals, comparison.not].filter((value) => value !== undefined && value !== null);
  const isOrdered = orders.some((order) => comparison[order] !== undefined);
  const { symbols = {}, type } = def;
  const names = Object.keys(symbols);
  if (type.startsWith('enum')) {
    if (isOrdered || comparison.tolerance !== undefined) return [`${point} is an enumeration; allowed: equals, not`];
    return values.flatMap((value) =>
      typeof value === 'number' || names.includes(String(value))
        ? []
        : [
            `${point} cannot be ${JSON.stringify(value)}${didYouMean(String(value), names)}; allowed: ${names.join(', ')}`,
          ],
    );
  }
  if (type === 'string') return isOrdered ? [`${point} is a text; allowed: equals, not`] : [];
  return values
    .filter((value) => typeof value !== 'number')
    .map((value) => `${point} is a number and cannot be ${JSON.stringify(value)}`);
}

/** The reason why the snapshot of a device never has a member. */
function snapshotProblems(plant: LaidOutPlant, device: number, member: string): Problems {
  const { published } = plant.latest;
  let at: unknown = published[positionOf(published, device)]?.snapshot;
  for (const step of member.split('.')) {
    // a member that is null now may have members later
    if (typeof at !== 'object' || at === null) return [];
    if (!Object.hasOwn(at, step)) {
      const names = Object.keys(at);
      return [`the snapshot has no member ${member}${didYouMean(step, names)}; known: ${names.join(', ')}`];
    }
    at = (at as Readonly<Record<string, unknown>>)[step];
  }
  return [];
}

/** The devices at the start of a scenario; devices that it adds are unknown. */
class Layout {
  readonly #plant: LaidOutPlant;
  readonly #addsDevices: boolean;
  readonly #hasCsip: boolean;
  readonly #names: KnownNames;

  constructor({ plant, hasCsip, names }: Surroundings, addsDevices: boolean) {
    this.#plant = plant;
    this.#addsDevices = addsDevices;
    this.#hasCsip = hasCsip;
    this.#names = names;
  }

  #find(index: number): LaidOutDevice | undefined {
    return this.#plant.devices.find((device) => device.index === index);
  }

  device(index: number | null): Problems {
    if (index === null || this.#addsDevices || this.#find(index)) return [];
    const indexes = this.#plant.devices.map((device) => device.index);
    return [noSuchDevice(index, indexes)];
  }

  /** @param name null: any point of the model */
  point(index: number, model: number | string, name: string | null): Problems {
    const device = this.#find(index);
    return device === undefined ? this.device(index) : absence(device, model, name);
  }

  test({ signal, comparison, since }: ValueTest): Problems {
    const problems = this.signal(signal);
    if (signal.kind !== 'point' || problems.length > 0 || since !== null) return problems;
    const slot = this.#slot(signal);
    return slot === undefined ? [] : valueProblems(slot, signal.point, comparison);
  }

  #slot({ device, point }: Extract<Signal, { readonly kind: 'point' }>): PointSlot | undefined {
    return this.#find(device)?.bank.layout.named(point);
  }

  signal(signal: Signal): Problems {
    if (signal.kind === 'answer') return this.#devicesOf(signal.request);
    if (signal.kind === 'snapshot') {
      const problems = this.device(signal.device);
      return problems.length > 0 ? problems : snapshotProblems(this.#plant, signal.device, signal.member);
    }
    const { device, point } = signal;
    const problems = this.point(device, modelOf(point), nameOf(point));
    return problems.length > 0 || this.#slot(signal)?.implemented !== false
      ? problems
      : [`device ${device} does not implement ${point}, which never has a value`];
  }

  subject(subject: Subject): Problems {
    switch (subject.kind) {
      case 'value':
        return this.test(subject.test);
      case 'messages':
        return subject.tests.flatMap((test) => this.#message(test));
      case 'no_alarm':
        return [...this.device(subject.device), ...this.#alarms(subject.except)];
      case 'nothing_left': {
        const problems = this.device(subject.device);
        return problems.length > 0
          ? problems
          : subject.except.flatMap((point) => this.#anyPoint(subject.device, point));
      }
      case 'no_findings':
        return this.#rules(subject.except);
      case 'finding':
        return this.#rules([subject.rule]);
      case 'exercised':
        return this.#rules(subject.rules);
      default:
        return this.device(subject.device);
    }
  }

  #alarms(codes: readonly string[]): Problems {
    const { alarmCodes } = this.#names;
    const unknown = codes.filter((code) => !alarmCodes.includes(code));
    return unknown.map(
      (code) => `there is no alarm ${code}${didYouMean(code, alarmCodes)}; known: ${alarmCodes.join(', ')}`,
    );
  }

  #rules(ids: readonly string[]): Problems {
    const { findingRules } = this.#names;
    const unknown = ids.filter((id) => !findingRules.includes(id));
    return unknown.map((id) => `there is no rule ${id}${didYouMean(id, findingRules)}; GET findings/rules lists them`);
  }

  /** The reason why a device lacks a point. @param device null: why all devices lack the point */
  #pointOfAny(device: number | null, model: number | string, name: string | null): Problems {
    const indexes = device === null ? this.#plant.devices.map(({ index }) => index) : [device];
    let firstProblems: Problems = [];
    // in a fleet usually the first device has the point
    for (const index of indexes) {
      const problems = this.point(index, model, name);
      if (problems.length === 0) return [];
      if (firstProblems.length === 0) firstProblems = problems;
    }
    return firstProblems;
  }

  /** @param point includes the model */
  #anyPoint(device: number | null, point: string): Problems {
    return /^\d+(:\d+)?\../.test(point)
      ? this.#pointOfAny(device, modelOf(point), nameOf(point))
      : [`${JSON.stringify(point)} is not a model and a point, such as 704.WMaxLimPct`];
  }

  /** The reasons why no message meets a test: the client is off, or messages of the protocol lack a member. */
  #message({ protocol, match }: MessageTest): Problems {
    if (protocol === 'csip' && !this.#hasCsip)
      return ['compares messages of IEEE 2030.5, and the client is switched off (csip_client_enable)'];
    const members = this.#names.messageMembers[protocol];
    return Object.keys(match)
      .filter((name) => !members.includes(name))
      .map(
        (name) =>
          `messages of ${protocol} have no member ${name}${didYouMean(name, members)}; known: ${members.join(', ')}`,
      );
  }

  condition(condition: Condition): Problems {
    switch (condition.kind) {
      case 'value':
        return this.test(condition.test);
      case 'write': {
        const { device, model, point } = condition.test;
        return this.#pointOfAny(device, model, point);
      }
      case 'all':
      case 'any':
        return condition.conditions.flatMap((leaf) => this.condition(leaf));
      case 'csip_event':
        if (this.#hasCsip) return this.device(condition.test.device);
        return ['waits for an event of IEEE 2030.5, and the client is switched off (csip_client_enable)'];
      case 'message':
        return this.#message(condition.test);
    }
  }

  /** Checks the devices, points and values of a request; the operation checks the rest at run time. */
  action({ request }: Action): Problems {
    const { method, path, query, body } = request;
    const [, model] = /^\/registers\/(\d+)$/.exec(path) ?? [];
    if (method !== 'POST' || model === undefined) return this.#devicesOf(request);
    const { points } = membersOf(body) as { readonly points?: object };
    const index = Number(query?.['device'] ?? 0);
    return Object.entries(points ?? {}).flatMap(([name, value]) => this.#written(index, Number(model), name, value));
  }

  /** Finds unknown devices in a request. */
  #devicesOf({ path, query, body }: ScenarioRequest): Problems {
    const { device, inject } = membersOf(body);
    const faults = (Array.isArray(inject) ? inject : []) as readonly unknown[];
    const bodyDevices = [device, ...faults.map((fault) => membersOf(fault)['device'])];
    const indexes = [query?.['device'], ...bodyDevices].filter((index) => index !== undefined).map(Number);
    const isStation = /^\/evse\/[^/]+\/connectors\//.test(path);
    return isStation && !this.#addsDevices && this.#plant.devices.every(({ assetType }) => assetType !== 'evse')
      ? ['there is no charging station']
      : [...new Set(indexes)].filter(Number.isInteger).flatMap((index) => this.device(index));
  }

  /** The reason why a point refuses a value, as far as it is known before the run. */
  #written(index: number, model: number, name: string, value: unknown): Problems {
    const point = `${model}.${name}`;
    const problems = this.point(index, model, name);
    const slot = this.#slot({ kind: 'point', device: index, point });
    if (problems.length > 0 || slot === undefined) return problems;
    if (slot.def.access !== 'RW') return [`${point} of device ${index} is read only`];
    return typeof value === 'string' ? valueProblems(slot, point, { equals: value }) : [];
  }
}

interface Placed {
  readonly place: Place;
  readonly problems: Problems;
}

function* placedProblems(scenario: Scenario, steps: readonly Step[], layout: Layout): Generator<Placed> {
  for (const { place, subject } of allExpectations(scenario)) yield { place, problems: layout.subject(subject) };
  for (const { place, trigger } of [...steps, ...scenario.rules])
    if (trigger.kind === 'when') yield { place, problems: layout.condition(trigger.condition) };
  for (const { actions } of steps)
    for (const action of actions)
      if (action.status === null || action.status < 400) yield { place: action.place, problems: layout.action(action) };
  for (const { place, signal } of scenario.plots) yield { place, problems: layout.signal(signal) };
}

/**
 * Issues of unknown devices, models, points and members, and of values that a point never has. A scenario that adds
 * devices may name devices in advance. Yields null after each part of the check, when other work may run.
 */
export function* layoutIssues(scenario: Scenario, surroundings: Surroundings): Generator<Issue | null, void> {
  const steps = allSteps(scenario);
  const addsDevices = steps.some(({ actions }) => actions.some(({ request }) => request.path === '/devices'));
  for (const { place, problems } of placedProblems(scenario, steps, new Layout(surroundings, addsDevices))) {
    for (const detail of problems) yield { name: placeText(place), detail };
    yield null;
  }
}
