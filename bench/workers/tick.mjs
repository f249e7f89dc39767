// Times whole ticks of a plant, then the phases of a tick one by one on a second plant.
// Arguments: devices, milliseconds to measure, seconds of simulated time per tick, flags of the simulator.
// Prints one line of JSON, microseconds of processor time per device and tick: medians over batches, since the machine has
// other work. All times here are of the processor.
import { appOf, buildSnapshot, publishSnapshot } from './app.mjs';

const [devices, measureMs, tickSeconds] = process.argv.slice(2, 5).map(Number);
const flags = ['-N', String(devices), ...process.argv.slice(5)];
const rate = tickSeconds / 1.5;
// long enough to hold collections of young garbage
const batchMs = 20;
// V8 compiles the code of a tick within the first half second
const warmMs = 1000;
// one look at the processor time costs almost a microsecond
const ticksAtOnce = Math.ceil(32 / devices);
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
let kept;

/** Processor time of this process, us. */
function spent() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function median(values) {
  values.sort((a, b) => a - b);
  return values[values.length >> 1];
}

/** Repeats batches for `ms`; a batch repeats `ticksAtOnce` ticks and gives what `read` says, divided by devices and ticks. */
async function batches(ms, run, read) {
  const results = [];
  const begin = spent();
  do {
    const before = read();
    const start = spent();
    let ticks = 0;
    do {
      await run();
      ticks += ticksAtOnce;
    } while (spent() - start < 1000 * batchMs);
    const after = read();
    results.push(after.map((value, i) => (value - before[i]) / (ticks * devices)));
  } while (spent() - begin < 1000 * ms);
  return results[0].map((_, i) => median(results.map((batch) => batch[i])));
}

async function measured(run, read) {
  await batches(warmMs, run, read);
  return batches(measureMs, run, read);
}

async function wholeTicks() {
  const { plant } = appOf([...flags, '--time_rate', String(rate)]);
  const run = async () => {
    for (let i = 0; i < ticksAtOnce; i += 1) await plant.tick();
  };
  const [tickUs] = await measured(run, () => [spent()]);
  return tickUs;
}

async function phases() {
  const { plant } = appOf(flags);
  const micros = Math.round(tickSeconds * 1e6);
  let end = plant.time.sim;
  const sums = [0, 0, 0, 0];
  const timed = (phase, work) => {
    const begin = spent();
    for (let i = 0; i < ticksAtOnce; i += 1) work();
    sums[phase] += spent() - begin;
  };
  const each = (work) => () => {
    for (const device of plant.devices) work(device);
  };
  const run = () => {
    const snapshots = [];
    timed(0, () => {
      end += micros;
      for (const device of plant.devices) device.advance(end);
    });
    timed(1, each((device) => { kept = device.publish(stamp); }));
    timed(2, each((device) => { snapshots.push(buildSnapshot(device.bank.map, device, stamp, device.statusMessage)); }));
    timed(3, each(() => { kept = publishSnapshot(snapshots.pop()); }));
  };
  const [stepUs, publishUs, snapshotUs, jsonUs] = await measured(run, () => [...sums]);
  // `publish` of a device is registers, snapshot and JSON together
  return { stepUs, registersUs: publishUs - snapshotUs - jsonUs, snapshotUs, jsonUs };
}

const tickUs = await wholeTicks();
process.stdout.write(`${JSON.stringify({ tickUs, ...await phases() })}\n`, () => process.exit(kept === undefined ? 1 : 0));
