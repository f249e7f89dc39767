/** The indexes of the devices of a process, and the device from which its ports count. */
import type { ConfigFile } from './files.ts';
import type { Values } from '../settings/settings.ts';

/**
 * Index of the device that has the first port, the first unit id and the first link address. The ports of a shard begin
 * at its own first device: those of an index beyond 57,000 would not exist.
 */
export const countsFromOf = ({ port_base: base, fleet, first_device: first }: Values): number =>
  (base ?? (fleet === null ? 'fleet' : 'shard')) === 'shard' ? first : 0;

/** The values with the first device of the ordinal of a shard, where they have one. */
export function withOrdinal(values: Values, file: Pick<ConfigFile, 'devices'> | null): Values {
  const { shard_ordinal: ordinal, fleet_room: room, N: repeated } = values;
  if (ordinal === null) return values;
  const listed = file?.devices?.reduce((sum, entry) => sum + (entry?.count ?? 1), 0);
  return { ...values, first_device: ordinal * (room ?? listed ?? repeated) };
}
