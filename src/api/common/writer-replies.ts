import type { Provenance } from '../../core/origin.ts';
import type { OverrideName } from '../../contract/overrides.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import type { OverrideReply, WriterReply } from './writer-schemas.ts';

type Dates = Pick<Plant, 'dateMs'>;

/** The date follows a setting of the clock, like every instant of the simulation: how long ago stays true. */
function membersOf(plant: Dates, { source, peer, at }: Provenance): WriterReply {
  return { source, source_detail: peer ?? null, changed_at: new Date(plant.dateMs(at)).toISOString() };
}

/** Who wrote; null where nobody has since the start. */
export function writerReply(plant: Dates, writer: Provenance | null | undefined): WriterReply | null {
  return writer ? membersOf(plant, writer) : null;
}

/** All last writers of what has no register, newest first. */
export function overridesReply(plant: Dates, { overrides }: Device): OverrideReply[] {
  return overrides.map((override) => ({
    name: override.name,
    connector_id: override.connectorId,
    ...membersOf(plant, override),
  }));
}

/** The last writer of one thing; null where nobody has set it since the start. */
export function overrideWriter(
  plant: Dates,
  device: Device,
  name: OverrideName,
  connectorId: number | null = null,
): WriterReply | null {
  return writerReply(
    plant,
    device.overrides.find((each) => each.name === name && each.connectorId === connectorId),
  );
}
