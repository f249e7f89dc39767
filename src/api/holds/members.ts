/** Holds of this interface: members of replies and requests. */
import type { Plant } from '../../contract/plant.ts';
import { memo } from '../../core/lazy.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import { flag, integer, list, member, members, text, time, word } from '../common/members.ts';
import { deviceIndex, deviceParam, isoMember } from '../common/schemas.ts';
import { writer } from '../common/writer-replies.ts';
import { z } from '../description/zod.ts';
import { gridSupportBodySchema } from '../grid-support/schemas.ts';
import { valueSchema, writtenSchema } from '../registers/members.ts';
import { listInPieces } from '../http/pieces.ts';
import { endReasons, holdLimits } from './book.ts';
import type { HoldEnd, HoldPointRecord, HoldRecord } from './book.ts';

interface Dates {
  readonly plant: Pick<Plant, 'dateMs' | 'time'>;
}

const point = members<HoldPointRecord>()('HoldPoint', () => ({
  name: text('Model and point, as `704.WMaxLimPct`.'),
  value: member(valueSchema)('Value of the hold as the register has it; an enumeration by its name.'),
  base: member(valueSchema)(
    'Value that the end restores: the one before the first hold of this interface over the point. ' +
      'An enumeration by its name; null: a point of a curve that was not in use.',
  ),
  overwritten: flag(
    'Whether the point has had another writer since (a master, a reversion, another protocol, a later hold): the end ' +
      'leaves it alone. False again when that was the hold of another protocol and has ended. After the end as it was then.',
  ),
  added: flag('Whether the hold itself has added the point: a reversion time, or the enable of a reactive function.'),
}));

const ended = (names: (end: HoldEnd) => readonly string[], description: string) =>
  list(text()).orNull(`${description} Null while the hold lasts.`, ({ end }: HoldRecord) => end && names(end));

export const hold = members<HoldRecord, Dates>()('Hold', () => ({
  id: text('Chosen by the client; unique among those of the device that last.'),
  device_index: member(() => deviceIndex)(),
  state: word(['active', 'waiting', 'ended'])(
    '`waiting`: its time is over while the device is off; it ends when the device is back.',
    ({ end, waiting }) => (end ? 'ended' : waiting ? 'waiting' : 'active'),
  ),
  points: list(point)('Those of the request first.'),
  begun_at: time('Simulated time.', ({ begunBy }, { plant }) => plant.dateMs(begunBy.at)),
  ends_at: time('Simulated time, exact between ticks.', ({ endsAt }, { plant }) => plant.dateMs(endsAt)),
  remaining_s: member(() => z.number().min(0)).orNull(
    'Simulated seconds; null after the end.',
    ({ end, endsAt }: HoldRecord, { plant }: Dates) =>
      end ? null : Math.max(0, secondsBetween(plant.time.sim, endsAt)),
  ),
  writer: writer('The request that began it. Its points have `id` as their writer.', ({ begunBy }) => begunBy),
  reason: word(endReasons).orNull(
    'Why it ended: by request, by its time, by a reset of the device (nothing is written then, all points have start ' +
      'values), or with its device. Null while it lasts.',
    ({ end }) => end?.reason,
  ),
  ended_at: time.orNull('Simulated time; null while it lasts.', ({ end }, { plant }) => end && plant.dateMs(end.at)),
  ended_by: writer.orNull('The request that ended it; null: none did.', ({ end }) => end?.by),
  restored: ended(({ restored }) => restored, 'Points that have their base again.'),
  left: ended(({ left }) => left, 'Points that were left alone, because somebody else had written them since.'),
  handed_over: ended(
    ({ handedOver }) => handedOver,
    'Points that a later hold of this interface has taken over, and their base with them.',
  ),
}));

interface Holds {
  readonly records: Iterable<HoldRecord>;
  readonly count: number;
}

export const holds = members<Holds, Dates>()('Holds', () => ({
  holds: listInPieces(hold)(
    'Those that last, oldest first, then ended ones, newest first: the last ' +
      `${holdLimits.endedPerDevice} of each device, ${holdLimits.ended} in all.`,
    ({ records }) => records,
  ),
  count: integer(),
}));

interface Check {
  readonly deviceIndex: number;
  readonly id: string;
  readonly points: readonly string[];
}

/** Answer to a check without issues. */
export const holdCheck = members<Check>()('HoldCheck', () => ({
  device_index: member(() => deviceIndex)(),
  id: text('Id of the request.'),
  points: list(text())('The points that the hold would write, in the order of the request.'),
}));

/** No colon: with the source it is the writer of the points, and other requests write as `address:port`. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const holdId = z
  .string()
  .regex(idPattern, { error: 'must have 1 to 64 letters, digits, `.`, `_` or `-`, the first one a letter or digit' })
  .openapi({
    description: 'Chosen by the client; unique among the holds of the device that last.',
    example: 'peak-1',
  });

export const holdParamsSchema = z.strictObject({ id: holdId.openapi({ param: { name: 'id' } }) });

export const holdsQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Device index, 0-based; absent: the holds of all devices.' }),
});

const oneOf = (a: string, b: string) => ({ error: `exactly one of ${a} and ${b} is required` });

export const holdBodySchema = memo(() =>
  z
    .strictObject({
      id: holdId,
      values: z
        .record(z.string(), writtenSchema())
        .refine((values) => Object.keys(values).length > 0, { error: 'at least one point is required' })
        .refine((values) => Object.keys(values).length <= holdLimits.points, {
          error: `a hold has at most ${holdLimits.points} points`,
        })
        .optional()
        .openapi({
          description:
            'Values by model and point, as `704.WMaxLimPct`, in engineering units; enumerations by name or number. Points of ' +
            'set 1 (`705.Crv[0].Pt[0].V`) can be written here; commands (`715.AlarmReset`) and points of 64414 cannot be held.',
          minProperties: 1,
          maxProperties: holdLimits.points,
          example: { '704.WMaxLimPct': 30, '704.WMaxLimPctEna': 'ENABLED' },
        }),
      functions: gridSupportBodySchema()
        .optional()
        .openapi({
          description: `Functions as in the body of \`POST grid-support\`, ${holdLimits.points} points in all; in place of \`values\`.`,
        }),
      duration_s: z.number().gt(0).max(holdLimits.durationS).optional().openapi({
        description: 'Simulated seconds from now.',
      }),
      until: isoMember(
        'Simulated date and time (as `sim_time`) of the end, up to 30 days ahead; in place of `duration_s`.',
      ).optional(),
    })
    .refine(({ values, functions }) => (values === undefined) !== (functions === undefined), {
      path: ['values'],
      ...oneOf('values', 'functions'),
    })
    .refine(({ duration_s: durationS, until }) => (durationS === undefined) !== (until === undefined), {
      path: ['duration_s'],
      ...oneOf('duration_s', 'until'),
    })
    .openapi('HoldRequest'),
);

export type HoldBody = z.output<ReturnType<typeof holdBodySchema>>;
