/** Holds of this interface: operations, and members of replies and requests. */
import { memo } from '../../core/lazy.ts';
import type { Device } from '../../contract/device.ts';
import { pointerStep, SimError } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { deviceQuery, deviceIndex, deviceParam, isoMember } from '../common/schemas.ts';
import { missingMember } from '../fleet/members.ts';
import { functionRequests, functionValues } from '../grid-support/registers.ts';
import type { FunctionValues } from '../grid-support/registers.ts';
import type { RouteContext } from '../http/context.ts';
import { invalid, invalidAll, problemOf } from '../http/errors.ts';
import { suggestions } from '../../core/nearest.ts';
import { replyInPieces, listInPieces } from '../http/streaming.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { holdLimits, endReasons } from './book.ts';
import type { HoldRequest, HoldEnd, HoldPointRecord, HoldRecord } from './book.ts';
import type { Plant } from '../../contract/plant.ts';
import { flag, integer, list, member, members, text, time, word } from '../common/members.ts';
import { writer } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { gridSupportBodySchema } from '../grid-support/schemas.ts';
import { valueSchema, writtenSchema } from '../registers.ts';

interface Dates {
  readonly plant: Pick<Plant, 'dateMs' | 'time'>;
}

const point = members<HoldPointRecord>()('HoldPoint', () => ({
  name: text('Model and point, for example `704.WMaxLimPct`.'),
  value: member(valueSchema)('Value of the hold as the register has it; an enumeration by its name.'),
  base: member(valueSchema)(
    'Value that the end restores: the value before the first hold of this interface on the point. ' +
      'An enumeration by its name; null: a point of a curve that was not in use.',
  ),
  overwritten: flag(
    'True if the point has had another writer since (a master, a reversion, another protocol, a later hold): the end ' +
      'leaves it alone. False again when that writer was the hold of another protocol, which has ended. After the end as at the end.',
  ),
  added: flag('True if the hold itself has added the point: a reversion time, or the enable of a reactive function.'),
}));

const ended = (names: (end: HoldEnd) => readonly string[], description: string) =>
  list(text()).orNull(`${description} Null before the end.`, ({ end }: HoldRecord) => end && names(end));

const hold = members<HoldRecord, Dates>()('Hold', () => ({
  id: text('Chosen by the client; unique among the holds of the device that have not ended.'),
  device_index: member(() => deviceIndex)(),
  state: word(['active', 'waiting', 'ended'])(
    '`waiting`: its time is over while the device is off; it ends when the device is back.',
    ({ end, waiting }) => (end ? 'ended' : waiting ? 'waiting' : 'active'),
  ),
  points: list(point)('Points of the request, then added ones.'),
  begun_at: time('Simulated time.', ({ begunBy }, { plant }) => plant.dateMs(begunBy.at)),
  ends_at: time('Simulated time, exact between ticks.', ({ endsAt }, { plant }) => plant.dateMs(endsAt)),
  remaining_s: member(() => z.number().min(0)).orNull(
    'Simulated seconds; null after the end.',
    ({ end, endsAt }: HoldRecord, { plant }: Dates) =>
      end ? null : Math.max(0, secondsBetween(plant.time.sim, endsAt)),
  ),
  writer: writer(
    'The request that began the hold. The points of the hold have `id` as their writer.',
    ({ begunBy }) => begunBy,
  ),
  reason: word(endReasons).orNull(
    'Why the hold ended: by request, by its time, by a reset of the device (nothing is written then, all points have start ' +
      'values), or by removal of the device. Null before the end.',
    ({ end }) => end?.reason,
  ),
  ended_at: time.orNull('Simulated time; null while it lasts.', ({ end }, { plant }) => end && plant.dateMs(end.at)),
  ended_by: writer.orNull('The request that ended it; null: none did.', ({ end }) => end?.by),
  restored: ended(({ restored }) => restored, 'Points that have their base again.'),
  left: ended(({ left }) => left, 'Points that were left alone, because another writer had written them since.'),
  handed_over: ended(
    ({ handedOver }) => handedOver,
    'Points that a later hold of this interface has taken over, together with their base.',
  ),
}));

interface Holds {
  readonly records: Iterable<HoldRecord>;
  readonly count: number;
}

const holds = members<Holds, Dates>()('Holds', () => ({
  holds: listInPieces(hold)(
    'Active and waiting holds by device, the oldest of each first, then ended ones, newest first: the last ' +
      `${holdLimits.endedPerDevice} of each device, ${holdLimits.ended} in all.`,
    ({ records }) => records,
  ),
  count: integer(),
  missing: missingMember(),
}));

interface Check {
  readonly deviceIndex: number;
  readonly id: string;
  readonly points: readonly string[];
}

/** Answer to a check without issues. */
const holdCheck = members<Check>()('HoldCheck', () => ({
  device_index: member(() => deviceIndex)(),
  id: text('Id of the request.'),
  points: list(text())('The points that the hold would write, in the order of the request.'),
}));

/** No colon: the id is the peer of the points' writer, where other requests have `address:port`. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const holdId = z
  .string()
  .regex(idPattern, { error: 'must have 1 to 64 letters, digits, `.`, `_` or `-`, the first one a letter or digit' })
  .openapi({
    description: 'Chosen by the client; unique among the holds of the device that have not ended.',
    example: 'peak-1',
  });

const holdParamsSchema = z.strictObject({ id: holdId.openapi({ param: { name: 'id' } }) });

const holdsQuery = z.strictObject({
  device: deviceParam.optional().openapi({ description: 'Device index, 0-based; absent: the holds of all devices.' }),
});

const oneOf = (a: string, b: string) => ({ error: `exactly one of ${a} and ${b} is required` });

const holdBodySchema = memo(() =>
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
            'Values by model and point, for example `704.WMaxLimPct`, in engineering units; enumerations by name or number. Points of ' +
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

type HoldBody = z.output<ReturnType<typeof holdBodySchema>>;

/** @throws HttpProblem `validation` with every name that no point has */
function namedValues({ bank }: Device, body: Readonly<Record<string, AnyPointValue>>): FunctionValues {
  const unknown: ProblemIssue[] = [];
  const near = suggestions(() => bank.layout.slots.map(pointName));
  const values = Object.entries(body).flatMap(([name, value]): HoldValue[] => {
    const slot = bank.layout.named(name);
    if (slot) return [{ slot, value }];
    unknown.push({
      in: 'body',
      name: `/values${pointerStep(name)}`,
      detail: `the device has no such point${near(name)}`,
    });
    return [];
  });
  if (unknown.length > 0) throw invalidAll(unknown);
  return {
    values,
    inBodyTerms(error) {
      if (!(error instanceof SimError) || problemOf[error.code] !== 'validation' || error.issues.length === 0) {
        return error;
      }
      return invalidAll(
        error.issues.map(({ name, detail, allowed }) => {
          const isInBody = Object.hasOwn(body, name);
          return {
            in: 'body',
            name: isInBody ? `/values${pointerStep(name)}` : '/values',
            detail: isInBody ? detail : `${name}: ${detail}`,
            ...(allowed && { allowed }),
          };
        }),
      );
    },
  };
}

/** @throws HttpProblem `validation`, `disabled` */
function valuesOf(device: Device, { values, functions }: HoldBody): FunctionValues {
  if (values !== undefined) return namedValues(device, values);
  const translated = functionValues(device.bank, functionRequests(functions ?? {}, '/functions'));
  const count = translated.values.length;
  if (count === 0) throw invalid('body', '/functions', 'at least one setting is required');
  if (count > holdLimits.points) {
    throw invalid('body', '/functions', `has ${count} points; a hold has at most ${holdLimits.points}`);
  }
  return translated;
}

/** @throws HttpProblem `validation` for an end that is not ahead, or too far */
function lastsOf({ plant }: RouteContext, { duration_s: seconds = 0, until: untilMs }: HoldBody): HoldRequest['lasts'] {
  if (untilMs === undefined) return { seconds };
  const { sim } = plant.time;
  const until = plant.simAt(untilMs);
  if (until > sim && until <= addSeconds(sim, holdLimits.durationS)) return { until };
  const present = new Date(plant.dateMs(sim)).toISOString();
  throw invalid('body', '/until', `must be after the simulated time, ${present}, by at most 30 days`);
}

/** Carries out a request for a hold; refusals name the members of its body. */
function withValues<T>(device: Device, body: HoldBody, carryOut: (values: FunctionValues['values']) => T): T {
  const translated = valuesOf(device, body);
  try {
    return carryOut(translated.values);
  } catch (error) {
    throw translated.inBodyTerms(error);
  }
}

export const holdRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/controls/holds',
    tag: 'Controls',
    operationId: 'get_holds',
    summary: 'Holds (timed controls) of this interface: in force and ended',
    query: holdsQuery,
    reply: holds.schema,
    problems: ['unknown-device'],
    handle(ctx, { query }) {
      const index = query.device === undefined ? undefined : selectedDevice(ctx, query.device).index;
      return replyInPieces(holds.reply(ctx.holds.list(index), ctx));
    },
  }),
  route({
    method: 'post',
    path: '/controls/holds/check',
    tag: 'Controls',
    operationId: 'check_hold',
    routine: true,
    summary: 'Checks a hold as its begin would, and changes nothing',
    description: 'The refusals are those of `POST controls/holds`.',
    query: deviceQuery,
    body: holdBodySchema,
    reply: holdCheck.schema,
    problems: ['conflict', 'disabled'],
    handle(ctx, { query, body, by }) {
      const device = selectedDevice(ctx, query.device);
      lastsOf(ctx, body);
      return withValues(device, body, (values) => {
        ctx.holds.check(device, { id: body.id, values }, by);
        return holdCheck.reply({
          deviceIndex: device.index,
          id: body.id,
          points: values.map(({ slot }) => pointName(slot)),
        });
      });
    },
  }),
  route({
    method: 'post',
    path: '/controls/holds',
    tag: 'Controls',
    operationId: 'begin_hold',
    summary: 'Begins a hold: sets points for a time and puts back at its end what was there before',
    description:
      'Acts as an event of a head-end does. Exactly one of `values` and `functions`, and exactly one of `duration_s` and ' +
      '`until`. All points are written in one commit, or none; curves are checked as at an adoption. The hold also sets the ' +
      'reversion times (RvrtTms) of what it sets to 0, unless it sets them itself; and where it enables a function of reactive ' +
      'power, it disables the others. At the end points get their values and writers of before, except those that another ' +
      'writer has written since (`left`). A reversion time that is put back starts in full. A hold over another one takes its ' +
      'points over for good and restores what was there before both. A reset of the device ends all holds. `conflict`: the id is ' +
      `in use, the device has ${holdLimits.perDevice} holds, or it is off; \`disabled\`: it does not have a function.`,
    query: deviceQuery,
    body: holdBodySchema,
    reply: hold.schema,
    problems: ['conflict', 'disabled'],
    handle(ctx, { query, body, by }) {
      const device = selectedDevice(ctx, query.device);
      const lasts = lastsOf(ctx, body);
      return withValues(device, body, (values) =>
        hold.reply(ctx.holds.begin(device, { id: body.id, values, lasts }, by), ctx),
      );
    },
  }),
  route({
    method: 'post',
    path: '/controls/holds/{id}/end',
    tag: 'Controls',
    operationId: 'end_hold',
    summary: 'Ends a hold before its time',
    description: '`conflict`: the device is off; the hold stays in force.',
    params: holdParamsSchema,
    query: deviceQuery,
    reply: hold.schema,
    problems: ['unknown-resource', 'conflict'],
    handle(ctx, { params, query, by }) {
      const device = selectedDevice(ctx, query.device);
      return hold.reply(ctx.holds.end(device, params.id, by), ctx);
    },
  }),
];
