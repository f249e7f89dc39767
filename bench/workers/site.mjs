// Times ticks of a plant with limits of connection points.
// Arguments: devices, milliseconds to measure, seconds of simulated time per tick, case, flags of the simulator.
// Prints one line of JSON: microseconds of processor time per device and simulated second, a median over batches.
import { appOf } from './app.mjs';

const [devices, measureMs, tickSeconds] = process.argv.slice(2, 5).map(Number);
const { plant } = appOf(['-N', String(devices), ...process.argv.slice(6)]);
const by = { source: 'rest' };
const batchMs = 50;

/** The same limit both ways, as a part of what all devices can inject together. */
const both = (part) => ({ export: part * devices * 10_000, import: part * devices * 10_000 });
const limitSite = (part) => plant.setSite(both(part), by);
function limitDevices() {
  for (const { index } of plant.devices) plant.setSite({ export: 1000 + index, load: 1000 }, by, { devices: [index] });
}
function limitGroups() {
  for (let first = 0; first + 10 <= Math.min(devices, 1000); first += 10)
    plant.setSite({ export: 8000, import: 8000 }, by, { devices: Array.from({ length: 10 }, (_, k) => first + k) });
}

const cases = {
  none: () => undefined,
  open: () => limitSite(2),
  binding: () => limitSite(0.1),
  devices: limitDevices,
  nested: () => {
    limitSite(0.05);
    limitGroups();
    limitDevices();
  },
};
cases[process.argv[5]]();
// stepped by hand: a tick of real time would end early on a slow machine
plant.setTime({ mode: 'paused', rate: tickSeconds / 1.5 });

const usedUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

async function batches(ms) {
  const results = [];
  const begin = performance.now();
  do {
    const before = usedUs();
    const start = performance.now();
    let ticks = 0;
    do {
      await plant.step(1);
      ticks += 1;
    } while (performance.now() - start < batchMs);
    results.push((usedUs() - before) / (ticks * devices * tickSeconds));
  } while (performance.now() - begin < ms);
  results.sort((a, b) => a - b);
  return results[results.length >> 1];
}

await batches(measureMs);
const us = await batches(measureMs);
process.stdout.write(`${JSON.stringify({ us })}\n`, () => process.exit(0));
