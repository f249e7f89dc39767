// Times whole ticks of a plant of equal devices at work, then physics and publication one by one on a second plant.
// Argument: JSON with flags, devices, tick_s (simulated), measure_ms, begin and again (commands of a source),
// set_points_pct and every_s (null: never).
// Prints one line of JSON, microseconds of processor time per device and tick: medians, since the machine has other work.
import { appOf } from './app.mjs';

const given = JSON.parse(process.argv[2]);
const { devices, tick_s: tickS } = given;
const by = { source: 'rest', peer: 'bench' };
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
const realTickS = 1.5;
// long enough to hold collections of young garbage
const sampleUs = 20_000;
// simulated time between two refills, and ticks between two looks at the clock
const mostStretchS = 3600;
const ticksAtOnce = Math.max(1, Math.ceil(32 / devices));
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

function prepared() {
  const { plant } = appOf(['-N', String(devices), '--time_rate', String(tickS / realTickS), ...given.flags]);
  for (const device of plant.devices) for (const command of given.begin) device.command(command, by);
  return plant;
}

/** What is done to the devices between two stretches; gives a function to call before each. */
function interlude(plant) {
  let at = 0;
  return () => {
    const pct = given.set_points_pct[at % Math.max(1, given.set_points_pct.length)];
    const write = pct !== undefined && (at === 0 || given.every_s !== null);
    at += 1;
    for (const device of plant.devices) {
      for (const command of given.again) device.command(command, by);
      if (write) device.bank.transact(by, ({ m704 }) => { Object.assign(m704, { WSetMod: 'W_MAX_PCT', WSetPct: pct, WSetEna: 'ENABLED' }); });
    }
  };
}

const ticksPerStretch = Math.max(1, Math.round((given.every_s ?? mostStretchS) / tickS));

/** Repeats `tick` in stretches for `measure_ms`; medians over samples of what `read` gains per device and tick, us. */
async function samples(before, tick, read) {
  const results = [];
  let [sum, ticks, total] = [null, 0, 0];
  do {
    before();
    const start = spent();
    const from = read();
    let done = 0;
    do {
      for (let i = 0; i < ticksAtOnce && done < ticksPerStretch; i += 1) {
        await tick();
        done += 1;
      }
    } while (done < ticksPerStretch && (given.every_s !== null || spent() - start < sampleUs));
    const gained = read().map((value, i) => value - from[i]);
    sum = sum === null ? gained : sum.map((value, i) => value + gained[i]);
    total += spent() - start;
    ticks += done;
    if (sum[0] < sampleUs && total < given.measure_ms * 1000) continue;
    results.push(sum.map((value) => value / (ticks * devices)));
    [sum, ticks] = [null, 0];
  } while (total < given.measure_ms * 1000);
  return results[0].map((_, i) => median(results.map((result) => result[i])));
}

async function measured(...args) {
  await samples(...args);
  return samples(...args);
}

async function wholeTicks() {
  const plant = prepared();
  const [tickUs] = await measured(interlude(plant), () => plant.tick(), () => [spent()]);
  return { tickUs, meanKw: plant.latest.published[0].snapshot.metrics.power_kw };
}

async function phases() {
  const plant = prepared();
  let end = plant.time.sim;
  const sums = [0, 0];
  const [physicsUs, publishUs] = await measured(interlude(plant), () => {
    end += Math.round(tickS * 1e6);
    const begin = spent();
    for (const device of plant.devices) device.advance(end);
    const middle = spent();
    for (const device of plant.devices) kept = device.publish(stamp);
    sums[0] += middle - begin;
    sums[1] += spent() - middle;
  }, () => [...sums]);
  return { physicsUs, publishUs };
}

const result = { ...await wholeTicks(), ...devices > 1 && await phases() };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(devices > 1 && kept === undefined ? 1 : 0));
