// Times the ticks of a day: the bare loop, and a scenario with ten assertions over the same ticks, in turns.
// Arguments: rounds, flags of the simulator. Prints one line of JSON: seconds of each, medians.
import { createApp, createLogBook, loadConfig, readScenario, ScenarioRun, sourceOfRequest } from '../built/parts.js';

const rounds = Number(process.argv[2]);
const flags = ['-wp', '0', '-p', '0', '--start_paused', 'yes', '--start_clock_time', '00:00:00', ...process.argv.slice(3)];
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

/** Seconds that work takes on a simulator whose protocols run. */
async function timed(work) {
  const { config } = loadConfig(flags, {});
  const app = createApp(config, { logBook: createLogBook({ level: 'error', write: () => undefined }) });
  await app.start();
  const begin = performance.now();
  await work(app);
  const seconds = (performance.now() - begin) / 1000;
  await app.stop();
  return seconds;
}

const bare = () => timed(({ plant }) => plant.step(ticks));

const scenario = () =>
  timed(async (app) => {
    const read = readScenario(sourceOfRequest(content), 'day', {}, app.api.checkRequest);
    const run = new ScenarioRun(read, app.scenarioHost('day'), { pace: 'fast', by: { source: 'rest' } });
    const { state, failures } = await run.finished;
    if (state !== 'passed') throw new Error(failures.join('\n'));
  });

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const times = { bare: [], scenario: [] };
for (let round = 0; round < rounds; round += 1) {
  times.bare.push(await bare());
  times.scenario.push(await scenario());
}
process.stdout.write(`${JSON.stringify({ bareS: median(times.bare), scenarioS: median(times.scenario) })}\n`);
