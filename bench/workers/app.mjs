// A simulator of the compiled modules, without listeners.
import { createApp, createLogBook, loadConfig } from '../built/parts.js';

export { buildSnapshot, publishSnapshot } from '../built/parts.js';

/** @param {string[]} flags command line of the simulator */
export function appOf(flags) {
  const loaded = loadConfig(['--mb_enable', 'no', ...flags], {});
  if (loaded.kind !== 'run') throw new Error('the flags start nothing');
  return createApp(loaded.config, { logBook: createLogBook({ level: 'error', write: () => undefined }) });
}
