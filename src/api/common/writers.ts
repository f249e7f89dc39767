/** Writers of values: the source, its peer and the instant, as members of replies. */
import { memo } from '../../core/lazy.ts';
import { overrideNames } from '../../contract/device.ts';
import { z } from '../description/zod.ts';
import { isoTime, sourceSchema } from './schemas.ts';
import { isLater } from '../../core/origin.ts';
import type { Provenance } from '../../core/origin.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Device, OverrideName } from '../../contract/device.ts';
import { nested } from './members.ts';

export const sourceDetailSchema = z
  .string()
  .nullable()
  .openapi({ description: 'Peer as `address:port`, mRID or control id; null if the source has none.' });

/** Instants are kept as `SimTime`, which setting the clock does not change, and shown as dates of the current clock. */
export const asSetNow = 'Setting the simulated clock shifts this time as well, so that the elapsed time stays right.';

const members = {
  source: sourceSchema,
  source_detail: sourceDetailSchema,
  changed_at: isoTime.openapi({ description: `Simulated time of the write. ${asSetNow}` }),
};

/** Last writer of something that has no register. */
export const writerSchema = z
  .strictObject(members)
  .openapi('Writer', { description: 'The last writer, and when it wrote.' });

export const overrideSchema = memo(() =>
  z
    .strictObject({
      name: z.enum(overrideNames).openapi({
        description:
          'The value that was set. `battery_mode`: mode, power and duration together; `evse_cable`: set by plugging in or ' +
          'unplugging.',
      }),
      connector_id: z.int().min(0).nullable().openapi({
        description:
          'Connector of a charging station, 0 for the whole station; null if it does not concern a connector.',
      }),
      ...members,
    })
    .openapi('Override'),
);

export const lastWriteSchema = z
  .strictObject({
    name: z.string().openapi({
      description:
        'The first point of the write, for example `704.WMaxLimPct`, or the name of the state that a command set, as in ' +
        '`overrides` of `controls`.',
      example: '704.WMaxLimPctEna',
    }),
    ...members,
  })
  .openapi('LastWrite', { description: 'The newest write of registers and commands.' });

type LastWriteReply = z.output<typeof lastWriteSchema>;
type WriterReply = z.output<typeof writerSchema>;
type OverrideReply = z.output<ReturnType<typeof overrideSchema>>;

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

/** The last writer, for tables of members whose context has the plant. */
export const writer = nested<Provenance, WriterReply, { readonly plant: Dates }>({
  schema: () => writerSchema,
  reply: (by, { plant }) => membersOf(plant, by),
});

/** False for start values and for vehicles of a table of visits (`default`, `profile`), which are no writes of a run. */
export function isShownWriter({ source }: Provenance): boolean {
  return source !== 'default' && source !== 'profile';
}

/**
 * The newest write among registers and commands, a reset included; null if there was none since the start. Of two in
 * the same millisecond of a paused clock the command is shown.
 */
export function lastWriteReply(plant: Dates, { bank, overrides }: Device): LastWriteReply | null {
  const register = bank.lastWrite !== null && isShownWriter(bank.lastWrite.by) ? bank.lastWrite : null;
  const command = overrides.find(isShownWriter);
  if (register !== null && (command === undefined || isLater(register.by, command)))
    return { name: pointName(register.slot), ...membersOf(plant, register.by) };
  return command === undefined ? null : { name: command.name, ...membersOf(plant, command) };
}

/** The last writer of each override, newest first. */
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
