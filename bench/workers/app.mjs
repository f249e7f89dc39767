// A simulator of the compiled modules, without listeners.
const dist = new URL('../../dist/', import.meta.url);
const { createApp } = await import(new URL('app.js', dist).href);
const { loadConfig } = await import(new URL('config/layers/load.js', dist).href);
const { createLogBook } = await import(new URL('core/log/log.js', dist).href);

export const { buildSnapshot, publishSnapshot } = await import(new URL('der/device/snapshot.js', dist).href);

/** @param {string[]} flags command line of the simulator */
export function appOf(flags) {
  const loaded = loadConfig(['--mb_enable', 'no', ...flags], {});
  if (loaded.kind !== 'run') throw new Error('the flags start nothing');
  return createApp(loaded.config, { logBook: createLogBook({ level: 'error', write: () => undefined }) });
}
