// Times whole ticks of a plant, then the phases of a tick one by one on a second plant.
// Arguments: devices, milliseconds to measure, seconds of simulated time per tick, flags of the simulator.
// Prints one line of JSON, microseconds per device and tick.
import { appOf, buildSnapshot, publishSnapshot } from './app.mjs';

const [devices, measureMs, tickSeconds] = process.argv.slice(2, 5).map(Number);
const flags = ['-N', String(devices), ...process.argv.slice(5)];
const rate = tickSeconds / 1.5;
const stamp = { tick: 1, timestamp: '2026-06-21T12:00:00.000Z', wallTime: '2026-06-21T12:00:00.000Z', clockTime: '12:00:00' };
let kept;

async function wholeTicks() {
  const { plant } = appOf([...flags, '--time_rate', String(rate)]);
  const run = async (ms) => {
    const begin = performance.now();
    let ticks = 0;
    do {
      await plant.tick();
      ticks += 1;
    } while (performance.now() - begin < ms);
    return ((performance.now() - begin) * 1000) / (ticks * devices);
  };
  await run(measureMs / 2);
  return run(measureMs);
}

function phases() {
  const { plant } = appOf(flags);
  const micros = Math.round(tickSeconds * 1e6);
  let end = plant.time.sim;
  const spent = { step: 0, publish: 0, snapshot: 0, json: 0 };
  const timed = (name, work) => {
    const begin = performance.now();
    for (const device of plant.devices) work(device);
    spent[name] += performance.now() - begin;
  };
  const run = (ms) => {
    for (const name of Object.keys(spent)) spent[name] = 0;
    const begin = performance.now();
    let ticks = 0;
    do {
      end += micros;
      timed('step', (device) => device.step(end));
      timed('publish', (device) => { kept = device.publish(stamp); });
      const snapshots = [];
      timed('snapshot', (device) => { snapshots.push(buildSnapshot(device.bank.map, device, stamp, device.statusMessage)); });
      let at = 0;
      timed('json', () => { kept = publishSnapshot(snapshots[at++]); });
      ticks += 1;
    } while (performance.now() - begin < ms);
    return ticks;
  };
  run(measureMs / 2);
  const ticks = run(measureMs);
  const us = (ms) => (ms * 1000) / (ticks * devices);
  // `publish` of a device is registers, snapshot and JSON together
  return {
    stepUs: us(spent.step), registersUs: us(spent.publish - spent.snapshot - spent.json),
    snapshotUs: us(spent.snapshot), jsonUs: us(spent.json),
  };
}

const tickUs = await wholeTicks();
process.stdout.write(`${JSON.stringify({ tickUs, ...phases() })}\n`, () => process.exit(kept === undefined ? 1 : 0));
