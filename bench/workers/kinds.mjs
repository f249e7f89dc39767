// Times whole ticks of a plant at work, then physics and publication one by one on a second plant.
// Argument: JSON with flags, devices (as many as the flags make), tick_s (simulated), warm_ms and measure_ms, begin and again (commands of a source),
// set_points_pct and every_s (null: one set-point throughout).
// Prints one line of JSON, means in microseconds of processor time per device and tick.
import { appOf } from './app.mjs';

const given = JSON.parse(process.argv[2]);
const { devices, tick_s: tickS, every_s: everyS, set_points_pct: setPointsPct } = given;
const by = { source: 'rest', peer: 'bench' };
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
const realTickS = 1.5;
// simulated time between two refills; they are jumps, after which so many ticks pass before anything counts
const refillS = 3600;
const ticksToRest = 10;
const ticksBetween = Math.max(1, Math.round((everyS ?? refillS) / tickS));
// one look at the clock costs almost a microsecond
const ticksAtOnce = Math.min(ticksBetween, Math.ceil(32 / devices));
let kept;

/** Processor time of this process, us. */
function spent() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function prepared() {
  const { plant } = appOf(['--time_rate', String(tickS / realTickS), ...given.flags]);
  for (const device of plant.devices) for (const command of given.begin) device.command(command, by);
  return plant;
}

/** What happens to the devices between two stretches of ticks. */
function interlude(plant) {
  let at = 0;
  return () => {
    const pct = setPointsPct[at % Math.max(1, setPointsPct.length)];
    const write = pct !== undefined && (at === 0 || setPointsPct.length > 1);
    at += 1;
    for (const device of plant.devices) {
      for (const command of given.again) device.command(command, by);
      if (write) device.bank.transact(by, ({ m704 }) => { Object.assign(m704, { WSetMod: 'W_MAX_PCT', WSetPct: pct, WSetEna: 'ENABLED' }); });
    }
  };
}

/** Repeats `tick` for `warm_ms` and `measure_ms` of processor time; what `read` gains per device and tick in the latter, us. */
async function measured(between, tick, read) {
  const warmUs = given.warm_ms * 1000;
  let [ticks, usedUs, warm, left] = [0, 0, false, 0];
  let gained;
  while (!warm || usedUs < given.measure_ms * 1000) {
    if (!warm && usedUs >= warmUs) [ticks, usedUs, warm, gained] = [0, 0, true, undefined];
    if (left <= 0) {
      between();
      left = ticksBetween;
      if (everyS === null) for (let i = 0; i < ticksToRest; i += 1) await tick();
    }
    const start = spent();
    const from = read();
    for (let i = 0; i < ticksAtOnce; i += 1) await tick();
    const to = read();
    usedUs += spent() - start;
    gained = to.map((value, i) => value - from[i] + (gained?.[i] ?? 0));
    ticks += ticksAtOnce;
    left -= ticksAtOnce;
  }
  return gained.map((value) => value / (ticks * devices));
}

async function wholeTicks() {
  const plant = prepared();
  const [tickUs] = await measured(interlude(plant), () => plant.tick(), () => [spent()]);
  return { tickUs, powerKw: plant.latest.published[0].snapshot.metrics.power_kw };
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
