import { isLater } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { OverrideName, Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { nested } from './members.ts';
import { writerSchema } from './writer-schemas.ts';
import type { LastWriteReply, OverrideReply, WriterReply } from './writer-schemas.ts';

type Dates = Pick<Plant, 'dateMs'>;

/**
 * The date shifts with the simulated clock, like every instant of the simulation, so that the elapsed time stays
 * correct.
 */
function membersOf(plant: Dates, { source, peer, at }: Provenance): WriterReply {
  return { source, source_detail: peer ?? null, changed_at: new Date(plant.dateMs(at)).toISOString() };
}

/** The last writer; null if there was none since the start. */
export function writerReply(plant: Dates, writer: Provenance): WriterReply;
export function writerReply(plant: Dates, writer: Provenance | null | undefined): WriterReply | null;
export function writerReply(plant: Dates, writer: Provenance | null | undefined): WriterReply | null {
  return writer ? membersOf(plant, writer) : null;
}

/** The last writer, where the context of the table has the plant. */
export const writer = nested<Provenance, WriterReply, { readonly plant: Dates }>({
  schema: () => writerSchema,
  reply: (by, { plant }) => membersOf(plant, by),
});

/** Start values and vehicles of a table come from no client. */
export function isFromClient({ source }: Provenance): boolean {
  return source !== 'default' && source !== 'profile';
}

/**
 * The newest write among registers and commands; null if there was none since the start, or since a reset. Of two in
 * the same millisecond of a paused clock the command counts.
 */
export function lastWriteReply(plant: Dates, { bank, overrides }: Device): LastWriteReply | null {
  const register = bank.lastWrite !== null && isFromClient(bank.lastWrite.by) ? bank.lastWrite : null;
  const command = overrides.find(isFromClient);
  if (register !== null && (command === undefined || isLater(register.by, command)))
    return { name: pointName(register.slot), ...membersOf(plant, register.by) };
  return command === undefined ? null : { name: command.name, ...membersOf(plant, command) };
}

/** The last writers of everything without a register, newest first. */
export function overridesReply(plant: Dates, { overrides }: Device): OverrideReply[] {
  return overrides.map((override) => ({
    name: override.name,
    connector_id: override.connectorId,
    ...membersOf(plant, override),
  }));
}

/** The last write of one override; undefined if it was not set since the start. */
export function overrideOf(
  { overrides }: Device,
  name: OverrideName,
  connectorId: number | null = null,
): Provenance | undefined {
  return overrides.find((each) => each.name === name && each.connectorId === connectorId);
}

/** The last writer of one override; null if it was not set since the start. */
export function overrideWriter(
  plant: Dates,
  device: Device,
  name: OverrideName,
  connectorId: number | null = null,
): WriterReply | null {
  return writerReply(plant, overrideOf(device, name, connectorId));
}
