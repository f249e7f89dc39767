/** Faults of the wire, and of reads of parts of numbers, at the registers of a proxy map. */
import { memoPerLayoutAndKey } from '../../map/layout.ts';
import type { FaultRegistry } from '../../../core/faults/registry.ts';
import { strictPointsFault } from '../../../fault-kinds/modbus-map.ts';
import { mapTargetOf } from '../../../fault-kinds/rows.ts';
import type { PointBank } from '../../map/bank.ts';
import { pointName } from '../../map/view.ts';
import { holds, slotsNamed } from '../../faults/targets.ts';
import { createDisturber } from '../faults/disturber.ts';
import type { SilentDevices, Span } from '../faults/disturber.ts';
import type { Disturber } from '../server/context.ts';
import type { ProxyMap, ProxyRegister } from './schema.ts';
import { registersOf } from './wire-form.ts';

/** Fault injection of a proxy. */
export interface ProxyFaults {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  readonly silent: SilentDevices;
  /** monotonic time, real ms */
  readonly monotonicMs: () => number;
}

interface Devices {
  readonly indexes: () => readonly number[];
  readonly bankOf: (deviceIndex: number) => PointBank | undefined;
}

/** Names of the points that a register shows or sets. */
function pointsOf({ point, sum = [], commands = {}, also = {} }: ProxyRegister): readonly string[] {
  const set = [also, ...Object.values(commands)].flatMap((assignments) => Object.keys(assignments));
  return [...(point === undefined ? [] : [point]), ...sum, ...set];
}

const spansOf = memoPerLayoutAndKey(
  (layout, { registers }: ProxyMap) =>
    (names: readonly string[]): readonly Span[] => {
      const points = new Set(names.flatMap((name) => slotsNamed(layout, name)).map(pointName));
      return registers
        .filter((register) => pointsOf(register).some((point) => points.has(point)))
        .map((register) => ({ address: register.address, count: registersOf(register) }));
    },
);

/** A disturber for the port of a proxy: a point stands for the registers of the map that show or set it. */
export function createProxyDisturber(
  map: ProxyMap,
  { registry, silent, monotonicMs }: ProxyFaults,
  { indexes, bankOf }: Devices,
): Disturber {
  return createDisturber({
    registry,
    silent,
    monotonicMs,
    deviceIndexes: indexes,
    holds(fault, deviceIndex) {
      const bank = bankOf(deviceIndex);
      return bank !== undefined && holds(bank, fault.facts.when);
    },
    spans(points, deviceIndex) {
      const bank = bankOf(deviceIndex);
      return bank === undefined ? [] : spansOf(bank.layout, map)(points);
    },
  });
}

/** True if a fault refuses a read of a part of this register; counts an occasion of the fault. */
export function refusesPart(
  map: ProxyMap,
  { active }: Pick<FaultRegistry, 'active'>,
  deviceIndex: number,
  bank: PointBank,
  address: number,
): boolean {
  const aims = (points: readonly string[] | undefined) =>
    points === undefined || spansOf(bank.layout, map)(points).some((span) => span.address === address);
  return active.some(
    (fault) =>
      fault.isOf(strictPointsFault) &&
      fault.concerns(deviceIndex) &&
      aims(mapTargetOf(fault.facts.target).points) &&
      holds(bank, fault.facts.when) &&
      fault.strikes(deviceIndex),
  );
}
