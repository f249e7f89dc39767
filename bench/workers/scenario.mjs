// Times the ticks of a day: the bare loop, and a scenario with ten assertions over the same ticks, in turns.
// Arguments: rounds, flags of the simulator, `--bare` and the flags of a third simulator whose bare ticks are timed too.
// Prints one line of JSON: processor seconds of each, medians.
import { setTimeout as wait } from 'node:timers/promises';
import { createApp, createLogBook, loadConfig, readScenario, ScenarioRun, sourceOfRequest } from '../built/parts.js';

const rounds = Number(process.argv[2]);
const given = process.argv.slice(3);
const split = given.includes('--bare') ? given.indexOf('--bare') : given.length;
const common = ['-wp', '0', '-p', '0', '--start_paused', 'yes', '--start_clock_time', '00:00:00'];
const flags = [...common, ...given.slice(0, split)];
const bareFlags = split === given.length ? null : [...common, ...given.slice(split + 1)];
const ticks = 57_600;
const csipLimitMs = 30_000;

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

/** Waits until the client of IEEE 2030.5, if there is one, has found its server and posts to it. */
async function untilCsipRuns({ api }) {
  const endMs = performance.now() + csipLimitMs;
  for (;;) {
    const { body } = await api.perform({ method: 'GET', path: '/csip/status', by: { source: 'rest' } });
    if (body.state === 'disabled' || body.state === 'running') return;
    if (performance.now() > endMs) throw new Error(`the client of IEEE 2030.5 is ${body.state}`);
    await wait(20);
  }
}

/** Processor seconds that work takes on a simulator whose protocols run. */
async function timed(flags, work) {
  const { config } = loadConfig(flags, {});
  const app = createApp(config, { logBook: createLogBook({ level: 'error', write: () => undefined }) });
  await app.start();
  await untilCsipRuns(app);
  const begin = process.cpuUsage();
  await work(app);
  const { user, system } = process.cpuUsage(begin);
  await app.stop();
  return (user + system) / 1e6;
}

const bare = (flags) => timed(flags, ({ plant }) => plant.step(ticks));

const scenario = () =>
  timed(flags, async (app) => {
    const read = readScenario(sourceOfRequest(content), 'day', {}, app.api.checkRequest);
    const run = new ScenarioRun(read, app.scenarioHost('day'), { pace: 'fast', by: { source: 'rest' } });
    const { state, failures } = await run.finished;
    if (state !== 'passed') throw new Error(failures.join('\n'));
  });

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const times = { alone: [], bare: [], scenario: [] };
for (let round = 0; round < rounds; round += 1) {
  if (bareFlags !== null) times.alone.push(await bare(bareFlags));
  times.bare.push(await bare(flags));
  times.scenario.push(await scenario());
}
const seconds = { aloneS: median(times.alone) ?? null, bareS: median(times.bare), scenarioS: median(times.scenario) };
process.stdout.write(`${JSON.stringify(seconds)}\n`);
