/** Plugin of Stryker: mutants inside calls of a logger are not made, since no rule depends on what a log says. */
import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin';

const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** `log.warn(...)`, `this.#log.info(...)`, `deps.log?.debug(...)`. */
function isLogCall({ type, callee }) {
  if (type !== 'CallExpression' && type !== 'OptionalCallExpression') return false;
  const { object, property } = callee;
  if (!levels.has(property?.name)) return false;
  const receiver = object.property ?? object;
  return /^(log|logger)$/.test(receiver.name ?? receiver.id?.name ?? '');
}

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'log-calls', {
    // the whole statement, since its removal is a mutant too
    shouldIgnore: ({ node }) => (isLogCall(node.expression ?? node) ? 'call of a logger' : undefined),
  }),
];
