import { moduleNames } from '../../core/adapter.ts';
import { logCapacity, logLevels } from '../../core/log/log.ts';
import type { LogEntry, LogFilter } from '../../core/log/log.ts';
import { invalidAll } from '../http/errors.ts';
import { eachLater, replyInPieces } from '../http/pieces.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { chosenWords } from '../common/list-param.ts';
import { isoOrNull } from '../common/schemas.ts';
import { defaultLogLimit, exampleLogs, logsQuery, logsSchema } from './schemas.ts';
import type { LogsQuery, LogsReply } from './schemas.ts';

function entryReply({ id, timeMs, simMs, level, module, deviceIndex, message }: LogEntry) {
  return {
    id,
    timestamp: new Date(timeMs).toISOString(),
    sim_time: isoOrNull(simMs),
    level,
    module,
    device_index: deviceIndex,
    message,
  };
}

/** @throws HttpProblem `validation` with `allowed` for every unknown module or level */
function filterOf(query: LogsQuery): LogFilter {
  const modules = chosenWords('modules', query.modules ?? moduleNames, moduleNames);
  const levels = chosenWords('levels', query.levels ?? logLevels, logLevels);
  const issues = [...modules.issues, ...levels.issues];
  if (issues.length > 0) throw invalidAll(issues);
  return {
    modules: modules.chosen,
    levels: levels.chosen,
    limit: query.limit ?? defaultLogLimit,
    ...(query.device !== undefined && { deviceIndex: query.device }),
    ...(query.after_id !== undefined && { afterId: query.after_id }),
    ...(query.since !== undefined && { sinceMs: query.since }),
  };
}

const getLogs = route({
  method: 'get',
  path: '/logs',
  tag: 'Core',
  operationId: 'get_logs',
  summary: 'The last lines of the log',
  description:
    `The last ${logCapacity} lines of all modules together are kept. When the buffer is full, the module with the most lines loses ` +
    'its oldest, so a verbose module does not displace the lines of others. To follow the log, pass the id of the last entry ' +
    'seen as `after_id`; ids restart with the process (`started_at` of `server-info`). All filters must match. ' +
    'Repetitions of a line beyond ten within a second are replaced by one line with their number; the same holds for lines of one ' +
    'level about clients of the stream, connections of Modbus, and failed requests, which differ by an address or an id. ' +
    'Stacks of failures appear in the printed log only. ' +
    'Lines of the level `debug` exist only with `--log_level debug`. Messages may quote data from peers: show them as text.',
  query: logsQuery,
  reply: logsSchema,
  examples: { reply: exampleLogs },
  handle({ plant, logBook }, { query }) {
    if (query.device !== undefined) plant.device(query.device);
    const entries = logBook.entries(filterOf(query));
    return replyInPieces<LogsReply>({
      logs: eachLater(entries, entryReply),
      count: entries.length,
      modules: [...logBook.modules],
      dropped: logBook.dropped,
    });
  },
});

export const logRoutes: readonly Route[] = [getLogs];
