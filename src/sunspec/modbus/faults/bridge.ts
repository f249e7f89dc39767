/** Transport faults over the register maps of the devices. */
import { meterIndex } from '../../../core/faults/kinds.ts';
import type { FaultRegistry } from '../../../core/faults/registry.ts';
import { holds, slotsNamed } from '../../faults/targets.ts';
import type { FaultyMaps } from '../../faults/faulty-map.ts';
import type { PointBank } from '../../map/bank.ts';
import { memoPerLayoutAndKey } from '../../map/layout.ts';
import type { Disturber } from '../server/context.ts';
import { createDisturber } from './disturber.ts';
import type { SilentDevices, Span } from './disturber.ts';

export interface BankDisturberOptions {
  /** monotonic time, real ms */
  readonly monotonicMs: () => number;
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** maps with structure faults, which move points; absent: no point moves */
  readonly maps?: Pick<FaultyMaps, 'mapRanges'>;
  /** devices that never answer, with or without faults */
  readonly silent?: SilentDevices;
  readonly devices: () => readonly { readonly index: number; readonly bank: PointBank }[];
  /** the meter of the connection point; absent or null: no meter */
  readonly meter?: { readonly bank: PointBank } | null;
}

const spansOf = memoPerLayoutAndKey((layout, points: readonly string[]): readonly Span[] =>
  points.flatMap((name) => slotsNamed(layout, name)).map(({ address, def }) => ({ address, count: def.size })),
);

/** A disturber that reads conditions and points in the banks of the devices, at addresses moved by structure faults. */
export function createBankDisturber({
  registry,
  monotonicMs,
  maps,
  silent,
  devices,
  meter,
}: BankDisturberOptions): Disturber {
  const bankOf = (deviceIndex: number) =>
    (deviceIndex === meterIndex ? meter : devices().find(({ index }) => index === deviceIndex))?.bank;
  return createDisturber({
    registry,
    monotonicMs,
    ...(silent && { silent }),
    ...(maps && { mapRanges: (deviceIndex, requested) => maps.mapRanges(deviceIndex, requested) }),
    deviceIndexes: () => devices().map(({ index }) => index),
    holds(fault, deviceIndex) {
      const bank = bankOf(deviceIndex);
      return bank !== undefined && holds(bank, fault.facts.when);
    },
    spans(points, deviceIndex) {
      const layout = bankOf(deviceIndex)?.layout;
      return layout === undefined ? [] : spansOf(layout, points);
    },
  });
}
