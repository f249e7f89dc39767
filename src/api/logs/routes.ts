import { moduleNames } from '../../core/adapter.ts';
import { logCapacity, logLevels } from '../../core/log/log.ts';
import type { LogEntry, LogFilter } from '../../core/log/log.ts';
import { invalidAll } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { chosenWords } from '../common/list-param.ts';
import { defaultLogLimit, exampleLogs, logsQuery, logsSchema } from './schemas.ts';
import type { LogsQuery } from './schemas.ts';

function entryReply({ id, timeMs, level, module, deviceIndex, message }: LogEntry) {
  return { id, timestamp: new Date(timeMs).toISOString(), level, module, device_index: deviceIndex, message };
}

/** @throws HttpProblem `validation` with `allowed` for every word that is no module or level */
function filterOf(query: LogsQuery): LogFilter {
  const modules = chosenWords('modules', query.modules ?? moduleNames, moduleNames);
  const levels = chosenWords('levels', query.levels ?? logLevels, logLevels);
  const faults = [...modules.faults, ...levels.faults];
  if (faults.length > 0) throw invalidAll(faults);
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
    `The last ${logCapacity} lines of all modules together are kept. When there are more, the oldest line of the module with ` +
    'the most lines goes, so that one that talks a lot does not push out what others said. To follow the log, ask with `after_id` of ' +
    'the last entry seen; ids begin anew when the process does (`started_at` of `server-info`). All filters hold together. ' +
    'The same line ten times within a second is followed by one with the number of its further repetitions; so it is with lines of one ' +
    'level about clients of the stream, connections of Modbus, and failed requests, which differ by an address or an id. ' +
    'Stacks of failures are in the printed log alone. ' +
    'Lines of the level `debug` exist only with `--log_level debug`. Messages may quote what peers sent: show them as text.',
  query: logsQuery,
  reply: logsSchema,
  examples: { reply: exampleLogs },
  handle({ plant, logBook }, { query }) {
    if (query.device !== undefined) plant.device(query.device);
    const entries = logBook.entries(filterOf(query));
    return {
      logs: entries.map(entryReply),
      count: entries.length,
      modules: [...logBook.modules],
      dropped: logBook.dropped,
    };
  },
});

export const logRoutes: readonly Route[] = [getLogs];
