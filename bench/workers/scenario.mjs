// Times the ticks of a day: the bare loop, and a scenario with ten assertions over the same ticks, in turns.
// Arguments: rounds, flags of the simulator. Prints one line of JSON: seconds of each, medians.
import { readScenario, ScenarioRun, sourceOfRequest } from '../built/parts.js';
import { appOf } from './app.mjs';

const rounds = Number(process.argv[2]);
const flags = ['--start_paused', 'yes', '--start_clock_time', '00:00:00', ...process.argv.slice(3)];
const ticks = 57_600;

const content = {
  duration: '24 h',
  always: [
    { point: '701.Hz', between: [59, 61] },
    { point: '701.LLV', between: [400, 560] },
    { point: '701.W', between: [-11_000, 11_000] },
    { snapshot: 'metrics.power_kw', device: 1, between: [-12, 12] },
    { point: '701.Hz', device: 1, between: [59, 61] },
    { no_alarm: true },
  ],
  steps: [
    { time: '06:00', expect: { point: '701.LLV', device: 1, between: [400, 560] } },
    { time: '12:00', expect: { point: '701.W', between: [-11_000, 11_000], for: '1 h' } },
    { time: '18:00', expect: { point: '701.Hz', equals: 60, tolerance: 0.1, within: '1 min' } },
    { time: '21:00', expect: { point: '701.TotWhInj', since: 'start', at_least: 0 } },
  ],
};

async function bare() {
  const { plant } = appOf(flags);
  const begin = performance.now();
  await plant.step(ticks);
  return (performance.now() - begin) / 1000;
}

async function scenario() {
  const app = appOf(flags);
  const read = readScenario(sourceOfRequest(content), 'day', {}, app.api.checkRequest);
  const begin = performance.now();
  const report = await new ScenarioRun(read, app.scenarioHost('day'), { pace: 'fast', by: { source: 'rest' } }).finished;
  const seconds = (performance.now() - begin) / 1000;
  if (report.state !== 'passed') throw new Error(report.failures.join('\n'));
  return seconds;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const times = { bare: [], scenario: [] };
for (let round = 0; round < rounds; round += 1) {
  times.bare.push(await bare());
  times.scenario.push(await scenario());
}
process.stdout.write(`${JSON.stringify({ bareS: median(times.bare), scenarioS: median(times.scenario) })}\n`);
