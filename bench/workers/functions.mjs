// Times steps of a plant of one device with grid-support functions on, then physics and publication of a step one by
// one on a second plant. Argument: JSON with flags, steps (of one cycle), sub_steps (in each), warm_cycles, cycles, tick_s, and `grid`, a
// patch that holds throughout, or null for what the flags give.
// Prints one line of JSON: medians over the cycles of microseconds per step, mean output and acting functions of the last.
import { appOf } from './app.mjs';

const given = JSON.parse(process.argv[2]);
const { steps, sub_steps: subSteps } = given;
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
let kept;

function median(values) {
  values.sort((a, b) => a - b);
  return values[values.length >> 1];
}

function prepared() {
  const { plant } = appOf(['-N', '1', '--start_paused', 'yes', '--tick', String(given.tick_s), ...given.flags]);
  if (given.grid) plant.setGrid(given.grid);
  const [device] = plant.devices;
  device.bank.transact({ source: 'rest' }, (tx) => {
    for (const model of [tx.m705, tx.m706, tx.m707, tx.m708, tx.m709, tx.m710, tx.m711]) model.Ena = 'ENABLED';
    tx.m712.Ena = 'DISABLED';
    tx.m703.ES = 'ENABLED';
    tx.m704.WMaxLimPct = 80;
    tx.m704.WMaxLimPctEna = 'ENABLED';
  });
  return { plant, device };
}

/** Runs cycles; gives the medians of what `read` gained in each, in microseconds per step. */
async function measured(cycle, read) {
  for (let i = 0; i < given.warm_cycles; i += 1) await cycle();
  const results = [];
  for (let i = 0; i < given.cycles; i += 1) {
    const before = read();
    await cycle();
    results.push(read().map((value, k) => (value - before[k]) * 1000 / (steps * subSteps)));
  }
  return results[0].map((_, k) => median(results.map((result) => result[k])));
}

async function wholeSteps() {
  const { plant, device } = prepared();
  const [stepUs] = await measured(() => plant.step(steps), () => [performance.now()]);
  const acting = new Set();
  let [kw, kvar] = [0, 0];
  for (let i = 0; i < steps; i += 1) {
    await plant.step(1);
    const { metrics } = plant.latest.published[0].snapshot;
    kw += metrics.power_kw;
    kvar += metrics.reactive_power_kvar;
    for (const name of device.activeFunctions) acting.add(name);
  }
  if (device.enterService.state !== 'in_service') throw new Error('the device is not in service');
  return { stepUs, meanKw: kw / steps, meanKvar: kvar / steps, acting: [...acting] };
}

async function phases() {
  const { plant, device } = prepared();
  const micros = Math.round(given.tick_s * 1e6);
  let end = plant.time.sim;
  const spent = [0, 0];
  const [physicsUs, publishUs] = await measured(() => {
    for (let i = 0; i < steps; i += 1) {
      end += micros;
      const begin = performance.now();
      device.advance(end);
      const middle = performance.now();
      kept = device.publish(stamp);
      spent[0] += middle - begin;
      spent[1] += performance.now() - middle;
    }
  }, () => [...spent]);
  return { physicsUs, publishUs };
}

const result = { ...await wholeSteps(), ...await phases() };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(kept === undefined ? 1 : 0));
