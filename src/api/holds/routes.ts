import type { Device } from '../../contract/device.ts';
import { pointerStep, SimError } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import { pointName } from '../../sunspec/map/view.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { deviceQuery } from '../common/schemas.ts';
import { functionRequests, functionValues } from '../grid-support/write.ts';
import type { FunctionValues } from '../grid-support/write.ts';
import type { RouteContext } from '../http/context.ts';
import { invalid, invalidAll, problemOf } from '../http/errors.ts';
import { suggestions } from '../../core/nearest.ts';
import { replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { holdLimits } from './book.ts';
import type { HoldRequest } from './book.ts';
import { hold, holdBodySchema, holdCheck, holdParamsSchema, holds, holdsQuery } from './members.ts';
import type { HoldBody } from './members.ts';

/** @throws HttpProblem `validation` with every name that no point has */
function namedValues({ bank }: Device, body: Readonly<Record<string, AnyPointValue>>): FunctionValues {
  const unknown: ProblemIssue[] = [];
  const near = suggestions(() => bank.layout.slots.map(pointName));
  const values = Object.entries(body).flatMap(([name, value]): HoldValue[] => {
    const [, model, path] = /^(\d{1,5})\.(.+)$/s.exec(name) ?? [];
    const slot = path === undefined ? undefined : bank.layout.slot(Number(model), path);
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

/** Carries out a request for a hold; refusals are in the terms of its body. */
function requested<T>(device: Device, body: HoldBody, carryOut: (values: FunctionValues['values']) => T): T {
  const translated = valuesOf(device, body);
  try {
    return carryOut(translated.values);
  } catch (error) {
    throw translated.inBodyTerms(error);
  }
}

const getHolds = route({
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
});

const beginHold = route({
  method: 'post',
  path: '/controls/holds',
  tag: 'Controls',
  operationId: 'begin_hold',
  summary: 'Begins a hold: sets points for a time and puts back at its end what was there before',
  description:
    'What a head-end does with an event. Exactly one of `values` and `functions`, and exactly one of `duration_s` and ' +
    '`until`. All points are written in one commit, or none; curves are checked as at an adoption. The hold also sets the ' +
    'reversion times (RvrtTms) of what it sets to 0, unless it sets them itself; and where it enables a function of reactive ' +
    'power, it disables the others. At the end points get their values and writers of before, except those that somebody ' +
    'else has written since (`left`). A reversion time that is put back starts in full. A hold over another one takes its ' +
    'points over for good and restores what was there before both. A reset of the device ends all holds. `conflict`: the id is ' +
    `in use, the device has ${holdLimits.perDevice} holds, or it is off; \`disabled\`: it does not have a function.`,
  query: deviceQuery,
  body: holdBodySchema,
  reply: hold.schema,
  problems: ['conflict', 'disabled'],
  handle(ctx, { query, body, by }) {
    const device = selectedDevice(ctx, query.device);
    const lasts = lastsOf(ctx, body);
    return requested(device, body, (values) =>
      hold.reply(ctx.holds.begin(device, { id: body.id, values, lasts }, by), ctx),
    );
  },
});

const checkHold = route({
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
    return requested(device, body, (values) => {
      ctx.holds.check(device, { id: body.id, values }, by);
      return holdCheck.reply({
        deviceIndex: device.index,
        id: body.id,
        points: values.map(({ slot }) => pointName(slot)),
      });
    });
  },
});

const endHold = route({
  method: 'post',
  path: '/controls/holds/{id}/end',
  tag: 'Controls',
  operationId: 'end_hold',
  summary: 'Ends a hold before its time',
  description: '`conflict`: the device is off; the hold lasts on.',
  params: holdParamsSchema,
  query: deviceQuery,
  reply: hold.schema,
  problems: ['unknown-resource', 'conflict'],
  handle(ctx, { params, query, by }) {
    const device = selectedDevice(ctx, query.device);
    return hold.reply(ctx.holds.end(device, params.id, by), ctx);
  },
});

export const holdRoutes: readonly Route[] = [getHolds, checkHold, beginHold, endHold];
