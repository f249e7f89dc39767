/** Controls of IEEE 2030.5 on devices of a plant, without a client. */
import { isDeepStrictEqual } from 'node:util';
import { createControlTarget } from '../../src/csip/control/control-bridge.ts';
import { modesIn } from '../../src/csip/control/modes.ts';
import type {
  ControlInForce,
  ControlOutcome,
  ControlTarget,
  ModeName,
  ResolvedControl,
} from '../../src/csip/control/model.ts';
import type { Received, Revision } from '../../src/csip/xml/schema.ts';
import type { DERCurve } from '../../src/csip/xml/documents.ts';
import type { Device } from '../../src/contract/device.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import type { Bank } from '../../src/sunspec/map/bank.ts';
import type { Layout, PointSlot } from '../../src/sunspec/map/layout.ts';
import { pointValue } from '../../src/sunspec/map/bank.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';

export type Base = ResolvedControl['base'];

export function target(plant: SimPlant, index = 0, revision: Revision = '2018'): ControlTarget {
  const device = plant.device(index);
  return createControlTarget({ devices: [device], plant, siteOwner: `csip:${index}`, revision, log: silentLogger });
}

/** @param indexes default: all devices */
export function groupTarget(plant: SimPlant, indexes = plant.devices.map(({ index }) => index)): ControlTarget {
  const devices = indexes.map((index) => plant.device(index));
  return createControlTarget({ devices, plant, siteOwner: 'csip:group', revision: '2018', log: silentLogger });
}

/** A curve under the reference of its mode. */
export function curve(
  curveType: number,
  points: readonly (readonly [x: number, y: number])[],
  more: Partial<DERCurve> = {},
): Received<DERCurve> {
  const CurveData = points.map(([x, y]) => ({ xvalue: Math.round(x * 100), yvalue: Math.round(y * 100) }));
  return { curveType, xMultiplier: -2, yMultiplier: -2, yRefType: 1, CurveData, ...more };
}

/** @param curves by href */
export function control(base: Base, curves: Readonly<Record<string, Received<DERCurve> | null>> = {}): ResolvedControl {
  return { base, curves: new Map(Object.entries(curves)) };
}

/** @param rank `event PRIMACY CREATION` */
export function event(
  id: string,
  of: ResolvedControl,
  modes: readonly ModeName[] = modesIn(of.base),
  rank = 'event 1 0',
): ControlInForce {
  return { id, origin: 'event', rank, modes, control: of };
}

export function standard(of: ResolvedControl, modes: readonly ModeName[] = modesIn(of.base)): ControlInForce {
  return { id: 'default P', origin: 'default', rank: 'default 1', modes, control: of };
}

/** Applies controls and gives the outcome of each in order. */
export function apply(to: ControlTarget, ...inForce: readonly ControlInForce[]): readonly ControlOutcome[] {
  const outcomes = to.apply(inForce);
  return inForce.map(({ id }) => {
    const outcome = outcomes.get(id);
    if (!outcome) throw new Error(`no outcome of ${id}`);
    return outcome;
  });
}

/** A point as `704.WMaxLimPct`. */
export function point({ bank }: Device, name: string): AnyPointValue {
  const dot = name.indexOf('.');
  return pointValue(bank, Number(name.slice(0, dot)), name.slice(dot + 1));
}

export function points(device: Device, ...names: readonly string[]): readonly AnyPointValue[] {
  return names.map((name) => point(device, name));
}

interface Place {
  readonly slot: PointSlot;
  /** as `704.WMaxLimPct` */
  readonly name: string;
  /** byte offset in the image, and that of the end */
  readonly from: number;
  readonly to: number;
}

/** Value and writer of a point, which nobody changes. */
type Entry = readonly [value: AnyPointValue, source: string | null, peer: string | null];

/** The RW points of a layout with their latest state: states of equal registers share what is decoded. */
interface Settings {
  readonly places: readonly Place[];
  image: Buffer;
  entries: Readonly<Record<string, Entry>>;
}

const settingsOf = new WeakMap<Layout, Settings>();

function createSettings(layout: Layout): Settings {
  const places = layout.slots
    .filter(({ def, implemented }) => def.access === 'RW' && implemented)
    .map((slot) => {
      const from = (slot.address - layout.base) * 2;
      return { slot, name: `${slot.modelId}.${slot.path}`, from, to: from + slot.def.size * 2 };
    });
  return { places, image: layout.blank(), entries: {} };
}

function isSame(a: Buffer, b: Buffer, { from, to }: Place): boolean {
  for (let at = from; at < to; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

/** The values and writers of the RW points, by name; the same object as before while none has changed. */
function pointsOf(bank: Bank): Readonly<Record<string, Entry>> {
  const settings = settingsOf.get(bank.layout) ?? createSettings(bank.layout);
  settingsOf.set(bank.layout, settings);
  const image = bank.image();
  const changed: [name: string, entry: Entry][] = [];
  for (const place of settings.places) {
    const { slot, name } = place;
    // an adoption request is a command: its writer stays
    const { source = null, peer = null } = (slot.def.effect === 'latch' ? null : bank.provenance(slot)) ?? {};
    const last = settings.entries[name];
    if (last?.[1] === source && last[2] === peer && isSame(image, settings.image, place)) continue;
    changed.push([name, [bank.value(slot), source, peer]]);
  }
  if (changed.length > 0) {
    settings.image = Buffer.from(image);
    settings.entries = { ...settings.entries, ...Object.fromEntries(changed) };
  }
  return settings.entries;
}

/** All that controls change, by name. */
export interface ControlState {
  /** RW points with their writers */
  readonly points: Readonly<Record<string, readonly unknown[]>>;
  /** switch, slopes, hybrid dispatch, limits */
  readonly others: Readonly<Record<string, unknown>>;
}

export function stateOf(plant: SimPlant, index = 0): ControlState {
  const { bank, detail, gradient, switchClosed } = plant.device(index);
  const others = {
    gradient,
    switchClosed,
    hybrid: detail.kind === 'hybrid-dc' ? [detail.policy, detail.manualBatteryW] : null,
    limits: plant.siteScopes.flatMap(({ devices, owners }) =>
      owners.map(({ owner, limitsW }) => [devices, owner, limitsW]),
    ),
  };
  return { points: pointsOf(bank), others };
}

type Differences = Readonly<Record<string, readonly [before: unknown, after: unknown]>>;

function differencesIn(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Differences {
  if (before === after) return {};
  return Object.fromEntries(
    Object.keys(before).flatMap((name) =>
      isDeepStrictEqual(before[name], after[name]) ? [] : [[name, [before[name], after[name]] as const]],
    ),
  );
}

/** The differences between two states, by name. */
export function differences(before: ControlState, after: ControlState): Differences {
  return { ...differencesIn(before.points, after.points), ...differencesIn(before.others, after.others) };
}
