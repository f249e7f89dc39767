// Memory that devices hold after garbage collection, without ports. Needs --expose-gc.
// Arguments: devices, and the flags that make them; without flags they are of the default type.
// Prints one line of JSON, bytes per device.
import { appOf } from './app.mjs';

const devices = Number(process.argv[2]);
const flags = process.argv.slice(3);

async function used() {
  // a turn of the event loop lets finished promises go
  for (let i = 0; i < 4; i += 1) {
    await new Promise((resolve) => { setImmediate(resolve); });
    globalThis.gc();
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  // Node counts array buffers within `external`
  return { heap: heapUsed, buffers: arrayBuffers, total: heapUsed + external };
}

async function ticked(count) {
  const app = appOf(flags.length > 0 && count === devices ? flags : ['-N', String(count)]);
  for (let i = 0; i < 20; i += 1) await app.plant.tick();
  return app;
}

// what is made once per process must not count: modules, tables, layouts, views
const small = await ticked(1);
const before = await used();
const large = await ticked(devices);
const after = await used();
const per = (name) => (after[name] - before[name]) / devices;
const registerBytes = large.plant.devices[0].bank.image().length;
const result = { heapBytes: per('heap'), bufferBytes: per('buffers'), totalBytes: per('total'), registerBytes };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(small.plant.devices.length + large.plant.devices.length > devices ? 0 : 1));
