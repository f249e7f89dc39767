/** The timeline: operation, and members of its reply. */
import { timelineEntryJson } from '../../contract/timeline.ts';
import { timelineKinds, timelineLevels } from '../../core/timeline/entry.ts';
import type { TimelineEntry } from '../../core/timeline/entry.ts';
import { joinMs, timelineCapacity } from '../../core/timeline/timeline.ts';
import type { TimelineFilter } from '../../core/timeline/timeline.ts';
import { camelCased, count, members, time } from '../common/members.ts';
import { afterIdParam, chosenWords, deviceParam, isoParam, listParam, newestParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { missingMember } from '../fleet/members.ts';
import type { RouteContext } from '../http/context.ts';
import { invalidAll } from '../http/errors.ts';
import { listInPieces, replyInPieces } from '../http/streaming.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { entrySchema } from './members.ts';

const defaultLimit = 500;

const query = z.strictObject({
  after_id: afterIdParam.optional(),
  kinds: listParam('kinds', timelineKinds, 'Only these kinds; default all.').optional(),
  device: deviceParam.optional().openapi({ description: 'Only entries about the device of this index; default all.' }),
  level: z
    .enum(timelineLevels)
    .optional()
    .openapi({ param: { name: 'level' }, description: 'Only entries of this level and worse; default all.' }),
  since: isoParam('since', 'Only entries of this simulated time and later.').optional(),
  until: isoParam('until', 'Only entries up to this simulated time.').optional(),
  limit: newestParam(timelineCapacity, defaultLimit).optional(),
});

interface Answer {
  readonly tick: number;
  readonly simMs: number;
  readonly entries: readonly TimelineEntry[];
  readonly lastId: number;
}

type Context = Pick<RouteContext, 'plant'>;

const entry = {
  schema: entrySchema,
  reply: (of: TimelineEntry, { plant }: Context) => timelineEntryJson(of, (at) => plant.dateMs(at)),
};

const timeline = members<Answer, Context>()('Timeline', () => ({
  tick: count(),
  sim_time: time('Simulated time of the answer.', ({ simMs }) => simMs),
  entries: listInPieces(entry)('Oldest first.'),
  last_id: count('Id of the newest entry, also if the filter leaves it out; 0: none.'),
  missing: missingMember(),
}));

/** @throws HttpProblem `validation` with `allowed` for every unknown kind */
function filterOf({ plant }: Context, { kinds: names, ...parsed }: z.output<typeof query>): TimelineFilter {
  const kinds = chosenWords('kinds', names ?? timelineKinds, timelineKinds);
  if (kinds.issues.length > 0) throw invalidAll(kinds.issues);
  const { device, since, until, limit = defaultLimit, ...others } = camelCased(parsed);
  return {
    ...others,
    kinds: kinds.chosen,
    limit,
    ...(device !== undefined && { deviceIndex: device }),
    ...(since !== undefined && { since: plant.simAt(since) }),
    ...(until !== undefined && { until: plant.simAt(until) }),
  };
}

export const timelineRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/timeline',
    tag: 'Core',
    operationId: 'get_timeline',
    summary: 'Everything that changed something, as one list',
    description:
      'Commands, writes and calls of peers that change a value, grid and weather, trips and returns, limits, alarms, refusals, ' +
      'connections, findings, faults, scenarios, clock and settings; reads are no entries. Equal changes from one source within ' +
      `${joinMs / 1000} s are one entry with a count and a list of devices: its count may still grow after it was read. ` +
      `${timelineCapacity} entries are kept. To follow, pass the id of the last entry seen as \`after_id\`, or open ` +
      '`ws/timeline`, which sends each new entry as one message, and an entry that has grown again. All filters must match.',
    query,
    reply: timeline.schema,
    handle(ctx, { query: parsed }) {
      const { plant } = ctx;
      if (parsed.device !== undefined) plant.device(parsed.device);
      const entries = ctx.timeline.list(filterOf(ctx, parsed));
      const answer = {
        tick: plant.latest.tick,
        simMs: plant.dateMs(plant.now),
        entries,
        lastId: ctx.timeline.lastId,
      };
      return replyInPieces(timeline.reply(answer, ctx));
    },
  }),
];
