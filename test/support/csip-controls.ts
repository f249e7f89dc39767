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
import type { Received, Revision } from '../../src/csip/xml/document.ts';
import type { DERCurve } from '../../src/csip/xml/documents.ts';
import type { Device } from '../../src/contract/device.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { pointValue } from '../../src/sunspec/map/named-points.ts';
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

export function event(id: string, of: ResolvedControl, modes: readonly ModeName[] = modesIn(of.base)): ControlInForce {
  return { id, origin: 'event', modes, control: of };
}

export function standard(of: ResolvedControl, modes: readonly ModeName[] = modesIn(of.base)): ControlInForce {
  return { id: 'default P', origin: 'default', modes, control: of };
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

/** Everything that controls change, by name: RW points and their writers, switch, slopes, hybrid dispatch, limits. */
export function stateOf(plant: SimPlant, index = 0): Readonly<Record<string, unknown>> {
  const { bank, detail, gradient, switchClosed } = plant.device(index);
  const rw = bank.layout.slots.filter(({ def, implemented }) => def.access === 'RW' && implemented);
  return {
    ...Object.fromEntries(
      rw.map((slot) => {
        // an adoption request is a command: its writer stays
        const { source = null, peer = null } = (slot.def.effect === 'latch' ? null : bank.provenance(slot)) ?? {};
        return [`${slot.modelId}.${slot.path}`, [bank.value(slot), source, peer]];
      }),
    ),
    gradient,
    switchClosed,
    hybrid: detail.kind === 'hybrid-dc' ? [detail.policy, detail.manualBatteryW] : null,
    limits: plant.siteScopes.flatMap(({ devices, owners }) =>
      owners.map(({ owner, limitsW }) => [devices, owner, limitsW]),
    ),
  };
}

/** What differs between two states, by name. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Readonly<Record<string, readonly [before: unknown, after: unknown]>> {
  return Object.fromEntries(
    Object.keys(before).flatMap((name) =>
      isDeepStrictEqual(before[name], after[name]) ? [] : [[name, [before[name], after[name]] as const]],
    ),
  );
}
