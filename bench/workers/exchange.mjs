// Times steps of one second with all voltages moving: by an exchange over HTTP, by the same calls within the process, one after
// the other or apart, and by one request for each device. Arguments: devices, steps of a batch, rounds. Prints one line of JSON: processor time of the
// server and wall time in ms per step, medians.
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { appOf } from './app.mjs';

const [devices, steps, rounds] = process.argv.slice(2).map(Number);
const isClient = process.send !== undefined;

/** Voltages per unit of all devices in a step, each in the range of volt-var. */
const voltagesAt = (step) => Array.from({ length: devices }, (_, i) => 1 + 0.05 * Math.sin(step * 0.7 + i));
const columnsAt = (step) => {
  const [a, b, c] = [voltagesAt(step), voltagesAt(step + 0.1), voltagesAt(step + 0.2)];
  return { va_pu: a, vb_pu: b, vc_pu: c };
};

function client() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (port, path, body) =>
    new Promise((resolve, reject) => {
      const text = body && JSON.stringify(body);
      const headers = text && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
      const options = { port, agent, path: `/api/sim${path}`, method: text ? 'POST' : 'GET', headers };
      const asked = request({ host: '127.0.0.1', ...options }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          if (response.statusCode >= 300) reject(new Error(`${path}: ${answer}`));
          else resolve(JSON.parse(answer));
        });
      });
      asked.on('error', reject);
      asked.end(text);
    });
  const loads = {
    exchange: (port, step, session) => call(port, '/exchange/step', { session, dt_s: 1, ...columnsAt(step) }),
    trial: (port, step, session) => call(port, '/exchange/trial', { session, dt_s: 1, ...columnsAt(step) }),
    read: (port) => call(port, '/exchange/values'),
    async today(port, step) {
      const { va_pu: a, vb_pu: b, vc_pu: c } = columnsAt(step);
      for (let i = 0; i < devices; i += 1)
        await call(port, `/controls/grid?device=${i}`, { voltage_a_pu: a[i], voltage_b_pu: b[i], voltage_c_pu: c[i] });
      await call(port, '/controls/time/step', { ticks: 1 });
      await call(port, '/devices');
    },
  };
  process.on('message', async ({ load, port, first, count, session }) => {
    const times = [];
    for (let step = first; step < first + count; step += 1) {
      const begin = performance.now();
      await loads[load](port, step, session);
      times.push(performance.now() - begin);
    }
    process.send(times.sort((a, b) => a - b)[times.length >> 1]);
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

async function server() {
  const flags = ['-N', String(devices), '--start_paused', 'yes', '--tick', '1', '-wp', '0'];
  const app = appOf(flags);
  const { http } = await app.start();
  const { plant, api } = app;
  const by = { source: 'rest' };
  const load = fork(process.argv[1], process.argv.slice(2));
  const post = async (path, body) => {
    const { status, body: answer } = await api.perform({ method: 'POST', path, body, by });
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  for (let i = 0; i < devices; i += 1) await post(`/grid-support/volt-var?device=${i}`, { enabled: true });
  let step = 0;
  let session = '';
  const overHttp = (kind, count) =>
    new Promise((resolve) => {
      load.once('message', resolve);
      load.send({ load: kind, port: http.port, first: step, count, session });
    });
  const columns = (at) => {
    const { va_pu: aPu, vb_pu: bPu, vc_pu: cPu } = columnsAt(at);
    return { aPu, bPu, cPu };
  };
  const each = async (act, pauseMs = 0) => {
    const prepared = Array.from({ length: steps }, (_, n) => columns(step + n));
    const begin = process.cpuUsage();
    for (const values of prepared) {
      await act(values);
      if (pauseMs > 0) await wait(pauseMs);
    }
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1000 / steps;
  };
  const stepInside = (values) => plant.exchange.step((now) => now + 1e6, values);
  const loads = {
    inside: () => each(stepInside),
    // as a solver at work between the steps leaves the caches of the processor
    apart: () => each(stepInside, 2),
    put: () => each((values) => plant.exchange.put(values)),
  };
  // a step of `today` has N + 2 requests; a few trials would measure code that is not compiled yet
  const shareOf = { today: 0.1, trial: 5 };
  const results = {};
  const record = (name, value) => (results[name] ??= []).push(value);
  async function measure(kind) {
    if (loads[kind]) record(kind, await loads[kind]());
    else {
      const count = Math.ceil(steps * (shareOf[kind] ?? 1));
      const begin = process.cpuUsage();
      const wallMs = await overHttp(kind, count);
      const { user, system } = process.cpuUsage(begin);
      record(kind, (user + system) / 1000 / count);
      record(`${kind}Wall`, wallMs);
    }
    step += steps;
  }
  const kinds = ['inside', 'exchange', 'apart', 'trial', 'read', 'put'];
  for (let round = 0; round <= rounds; round += 1) {
    ({ session } = await post('/exchange', { phases: false }));
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) await measure(kind);
    await post('/exchange/end', { session });
    await measure('today');
    // the first round compiles
    if (round === 0) for (const name of Object.keys(results)) delete results[name];
  }
  const medians = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]));
  const to = (name, other) => median(results[name].map((ms, n) => ms / results[other][n]));
  const ratios = {
    toInside: to('exchange', 'inside'),
    toApart: to('exchange', 'apart'),
    trialToStep: to('trial', 'exchange'),
    todayToExchange: to('todayWall', 'exchangeWall'),
  };
  process.stdout.write(`${JSON.stringify({ ...medians, ...ratios })}\n`);
  load.disconnect();
  await app.stop();
  process.exit(0);
}

if (isClient) client();
else await server();
