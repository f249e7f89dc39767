import { memo } from '../core/lazy.ts';
import { moduleNames } from '../core/adapter.ts';
import { logCapacity, logLevels } from '../core/log/log.ts';
import type { LogBook, LogEntry, LogFilter } from '../core/log/log.ts';
import { chosenWords, listParam, afterIdParam, deviceParam, isoParam, newestParam } from './common/schemas.ts';
import { camelCased, count, list, member, members, text, time, word } from './common/members.ts';
import { z } from './description/zod.ts';
import { invalidAll } from './http/errors.ts';
import { listInPieces, replyInPieces } from './http/streaming.ts';
import { route } from './http/route.ts';
import type { Route } from './http/route.ts';

const defaultLimit = 500;

const logsQuery = z.strictObject({
  modules: listParam('modules', moduleNames, 'Only these modules; default all.').optional(),
  levels: listParam('levels', logLevels, 'Only these levels; default all.').optional(),
  device: deviceParam
    .optional()
    .openapi({ description: 'Only lines about the device of this index; default all lines.' }),
  after_id: afterIdParam.optional(),
  since: isoParam('since', 'Only entries of this wall time and later.').optional(),
  limit: newestParam(logCapacity, defaultLimit).optional(),
});

const moduleSchema = memo(() =>
  z.enum(moduleNames).openapi('LogModule', {
    description:
      '`AC`: AC side of the devices, trips, ticks. `DC`: sources behind the inverters: arrays, batteries, rotors, stacks, ' +
      'charging connectors and their sessions. `Lab`: start, devices, HTTP, shutdown.',
  }),
);

const entry = members<LogEntry & { readonly shard?: string }>()('LogEntry', () => ({
  id: member(() => z.int().min(1))(
    'Ascending over all modules, from 1 in every process, or with `--state_dir` on from the process before.',
  ),
  timestamp: time('Wall time.', ({ timeMs }) => timeMs),
  sim_time: time.orNull(
    'Simulated time of the logged occurrence, for trips and alarms that of their sub-step; null: the clock did not exist yet.',
    ({ simMs }) => simMs,
  ),
  level: word(logLevels)(),
  module: member(moduleSchema)(),
  device_index: count.orNull('The device that the line is about; null: no single device.'),
  shard: text.optional(
    'Only at the gateway of a fleet: the shard that wrote the line; absent: the gateway itself.',
    ({ shard }) => shard,
  ),
  message: text(
    'One line of at most 4 KiB; control characters, bidirectional marks and backslashes are escaped (`\\x0a`, `\\u202e`, `\\\\`).',
  ),
}));

/** A log as replies show it. */
export interface ShownLog extends Pick<LogBook, 'modules' | 'dropped' | 'entries'> {
  /** of a gateway: lines of shards that did not come */
  readonly lost?: number;
}

const logs = members<ShownLog, { readonly entries: readonly LogEntry[] }>()('Logs', () => ({
  logs: listInPieces(entry)('Oldest first.', (_book, { entries }) => entries),
  count: count('Entries in this answer.', (_book, { entries }) => entries.length),
  modules: list(member(moduleSchema)())('Modules with lines since the start, or of the process before.'),
  dropped: count('Entries of any module that are no longer kept.'),
  lost: count.optional('Only at the gateway of a fleet: lines of shards that did not come.', ({ lost }) => lost),
}));

/** @throws HttpProblem `validation` with `allowed` for every unknown module or level */
function filterOf(query: z.output<typeof logsQuery>): LogFilter {
  const modules = chosenWords('modules', query.modules ?? moduleNames, moduleNames);
  const levels = chosenWords('levels', query.levels ?? logLevels, logLevels);
  const issues = [...modules.issues, ...levels.issues];
  if (issues.length > 0) throw invalidAll(issues);
  return {
    modules: modules.chosen,
    levels: levels.chosen,
    limit: query.limit ?? defaultLimit,
    ...camelCased({ device_index: query.device, after_id: query.after_id, since_ms: query.since }),
  };
}

function replyOf(book: ShownLog, entries: readonly LogEntry[]) {
  return replyInPieces(logs.reply(book, { entries }));
}

/** The reply about a log that is not of a simulator. @param query as the client sent it, checked before */
export const logsReply = (book: ShownLog, query: unknown) =>
  replyOf(book, book.entries(filterOf(logsQuery.parse(query))));

export const logRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/logs',
    tag: 'Core',
    operationId: 'get_logs',
    summary: 'The last lines of the log',
    description:
      `The last ${logCapacity} lines of all modules together are kept. When the buffer is full, the module with the most lines loses ` +
      'its oldest, so a verbose module does not displace the lines of others. To follow the log, pass the id of the last entry ' +
      'seen as `after_id`; ids restart with the process (`started_at` of `server-info`) unless `--state_dir` keeps its state: then they ' +
      'go on, with a gap, and the newest lines of the modules `AC` and `DC` and warnings and errors of all modules are there again. ' +
      'All filters must match. ' +
      'If a line is repeated more than ten times within a second, one line with the number replaces the further repetitions. ' +
      'Lines of one level about clients of the stream, about Modbus connections and about failed requests count as repetitions ' +
      'even if their addresses or ids differ. ' +
      'Stack traces of failures appear in the printed log only. ' +
      'Lines of the level `debug` exist only with `--log_level debug`. Messages may quote data from peers: show them as text.',
    query: logsQuery,
    reply: logs.schema,
    async handle({ plant, logBook, state }, { query }) {
      if (query.device !== undefined) plant.device(query.device);
      const entries = logBook.entries(filterOf(query));
      // a client that has seen a line finds it after a restart, too
      await state.durable();
      return replyOf(logBook, entries);
    },
  }),
];
