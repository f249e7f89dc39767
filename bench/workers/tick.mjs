// Times whole ticks of a plant, then the phases of a tick one by one on a second plant.
// Arguments: devices, milliseconds to measure, seconds of simulated time per tick, flags of the simulator.
// Prints one line of JSON, microseconds per device and tick: medians over batches, since the machine has other work.
import { appOf, buildSnapshot, publishSnapshot } from './app.mjs';

const [devices, measureMs, tickSeconds] = process.argv.slice(2, 5).map(Number);
const flags = ['-N', String(devices), ...process.argv.slice(5)];
const rate = tickSeconds / 1.5;
// long enough to hold collections of young garbage
const batchMs = 20;
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
let kept;

function median(values) {
  values.sort((a, b) => a - b);
  return values[values.length >> 1];
}

/** Repeats batches for `ms`; a batch repeats `tick` and gives what `read` says, divided by devices and ticks. */
async function batches(ms, tick, read) {
  const results = [];
  const begin = performance.now();
  do {
    const before = read();
    const start = performance.now();
    let ticks = 0;
    do {
      await tick();
      ticks += 1;
    } while (performance.now() - start < batchMs);
    const after = read();
    results.push(after.map((value, i) => ((value - before[i]) * 1000) / (ticks * devices)));
  } while (performance.now() - begin < ms);
  return results[0].map((_, i) => median(results.map((batch) => batch[i])));
}

async function measured(tick, read) {
  await batches(measureMs, tick, read);
  return batches(measureMs, tick, read);
}

async function wholeTicks() {
  const { plant } = appOf([...flags, '--time_rate', String(rate)]);
  const [tickUs] = await measured(() => plant.tick(), () => [performance.now()]);
  return tickUs;
}

async function phases() {
  const { plant } = appOf(flags);
  const micros = Math.round(tickSeconds * 1e6);
  let end = plant.time.sim;
  const spent = [0, 0, 0, 0];
  const timed = (phase, work) => {
    const begin = performance.now();
    for (const device of plant.devices) work(device);
    spent[phase] += performance.now() - begin;
  };
  const tick = () => {
    end += micros;
    const snapshots = [];
    let at = 0;
    timed(0, (device) => device.advance(end));
    timed(1, (device) => { kept = device.publish(stamp); });
    timed(2, (device) => { snapshots.push(buildSnapshot(device.bank.map, device, stamp, device.statusMessage)); });
    timed(3, () => { kept = publishSnapshot(snapshots[at++]); });
  };
  const [stepUs, publishUs, snapshotUs, jsonUs] = await measured(tick, () => [...spent]);
  // `publish` of a device is registers, snapshot and JSON together
  return { stepUs, registersUs: publishUs - snapshotUs - jsonUs, snapshotUs, jsonUs };
}

const tickUs = await wholeTicks();
process.stdout.write(`${JSON.stringify({ tickUs, ...await phases() })}\n`, () => process.exit(kept === undefined ? 1 : 0));
