/** Charge points of OCPP 1.6 in one process: their memory, the time until all have booted, CPU per message beside bare `ws`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Group } from '../support/group.ts';
import { within } from '../support/net.ts';
import { scratchDirectory } from '../support/peers.ts';
import { cpuSeconds, inCheckout, residentBytes, startServer } from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const stations = 200;
/** every round takes minutes */
const mostRounds = 3;
/** calls of the central system to each charge point, per second */
const callsPerS = 5;
const bootLimitS = 60;
const sides = ['ours', 'bare'] as const;
const flags = ['-N', String(stations), '-d', 'EVSE'];

type Side = (typeof sides)[number];
type Sides<T> = Readonly<Record<Side, T>>;

interface Connected {
  readonly connected: number;
  readonly booted: number;
}

interface Driven {
  readonly frames: number;
  /** calls that were not answered as they should be */
  readonly refused: number;
  /** calls that were left out, since the one before them was not answered */
  readonly late: number;
}

/** The central system in its own process. */
class Central {
  readonly #child = spawn(process.execPath, [inCheckout('bench/workers/ocpp-central.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  readonly #lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  #port: number | undefined;

  async #line<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the central system has ended');
    return JSON.parse(value) as T;
  }

  #ask<T>(request: { readonly what: string; readonly [name: string]: unknown }): Promise<T> {
    this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    return this.#line();
  }

  async url(side: Side): Promise<string> {
    this.#port ??= (await this.#line<{ readonly port: number }>()).port;
    return `ws://127.0.0.1:${this.#port}/${side}`;
  }

  async untilBooted(side: Side): Promise<void> {
    for (;;) {
      const { booted } = (await this.#ask<Sides<Connected>>({ what: 'stations' }))[side];
      if (booted === stations) return;
      await wait(20);
    }
  }

  samples(): Promise<object> {
    return this.#ask({ what: 'samples' });
  }

  drive(seconds: number, ...paths: readonly Side[]): Promise<Sides<Driven>> {
    return this.#ask({ what: 'drive', paths, seconds, rate: callsPerS });
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}

interface Times {
  readonly settleS: number;
  readonly warmUpS: number;
  readonly seconds: number;
}

interface Idle {
  readonly residentMb: number;
  /** of one core */
  readonly cpuPct: number;
}

interface PerMessage extends Driven {
  readonly cpuUs: number;
}

interface Round {
  readonly without: Idle;
  readonly idle: Idle;
  readonly bootedS: number;
  readonly messages: Sides<PerMessage>;
}

const residentMb = async ({ pid }: Server) => ((await residentBytes(pid)) ?? NaN) / 1e6;
const cpuOf = async ({ pid }: Server) => (await cpuSeconds(pid)) ?? NaN;

async function idle(server: Server, { settleS, seconds }: Times): Promise<Idle> {
  await wait(settleS * 1000);
  const [begin, from] = [performance.now(), await cpuOf(server)];
  await wait(seconds * 1000);
  const cpuPct = (((await cpuOf(server)) - from) * 100) / ((performance.now() - begin) / 1000);
  return { residentMb: await residentMb(server), cpuPct };
}

async function withoutOcpp(times: Times): Promise<Idle> {
  const simulator = await startSimulator(stations, flags);
  try {
    return await idle(simulator, times);
  } finally {
    await simulator.stop();
  }
}

/** Processor time that both processes have spent while `work` ran, and how long that was. */
async function spent<T>(servers: Sides<Server>, work: () => Promise<T>) {
  const [begin, ours, bare] = [performance.now(), await cpuOf(servers.ours), await cpuOf(servers.bare)];
  const result = await work();
  const cpuS: Sides<number> = { ours: (await cpuOf(servers.ours)) - ours, bare: (await cpuOf(servers.bare)) - bare };
  return { result, cpuS, seconds: (performance.now() - begin) / 1000 };
}

async function messages(
  central: Central,
  servers: Sides<Server>,
  { warmUpS, seconds }: Times,
): Promise<Sides<PerMessage>> {
  await central.drive(warmUpS, ...sides);
  const quiet = await spent(servers, () => wait(seconds * 1000));
  const busy = await spent(servers, () => central.drive(seconds, ...sides));
  const perMessage = (side: Side): PerMessage => {
    const driven = busy.result[side];
    const cpuS = busy.cpuS[side] - (quiet.cpuS[side] * busy.seconds) / quiet.seconds;
    return { ...driven, cpuUs: (cpuS * 1e6) / driven.frames };
  };
  return { ours: perMessage('ours'), bare: perMessage('bare') };
}

async function startBare(central: Central): Promise<Server> {
  const file = join(scratchDirectory(), 'ocpp-samples.json');
  writeFileSync(file, JSON.stringify(await central.samples()));
  const url = await central.url('bare');
  const bare = startServer(process.execPath, [inCheckout('bench/peers/ocpp-bare.mjs'), file, url, String(stations)]);
  await within(bootLimitS, central.untilBooted('bare'), bare.failed);
  return bare;
}

async function withOcpp(times: Times): Promise<Omit<Round, 'without'>> {
  const central = new Central();
  const started: Server[] = [];
  try {
    const url = await central.url('ours');
    const ours = await startSimulator(stations, [...flags, '--ocpp_enable', 'yes', '--ocpp_csms_url', url]);
    started.push(ours);
    await within(bootLimitS, central.untilBooted('ours'), ours.failed);
    const bootedS = (performance.now() - ours.spawnedMs) / 1000;
    const atRest = await idle(ours, times);
    // the other side sends what ours sends: each action has to come once
    await central.drive(2, 'ours');
    const bare = await startBare(central);
    started.push(bare);
    return { idle: atRest, bootedS, messages: await messages(central, { ours, bare }, times) };
  } finally {
    await Promise.all(started.map((server) => server.stop()));
    await central.stop();
  }
}

function tables(rounds: readonly Round[], { settleS, seconds }: Times) {
  const memoryMib = medianOf(
    rounds,
    ({ idle: { residentMb: mb }, without }) => ((mb - without.residentMb) * 1e6) / 2 ** 20 / stations,
  );
  const ratio = medianOf(rounds, ({ messages: { ours, bare } }) => ours.cpuUs / bare.cpuUs);
  const bootedS = medianOf(rounds, (round) => round.bootedS);
  const atRest = (name: string, of: (round: Round) => Idle) => [
    name,
    figure(medianOf(rounds, (round) => of(round).residentMb)),
    figure(medianOf(rounds, (round) => of(round).cpuPct)),
  ];
  const busy = (name: string, side: Side) => [
    name,
    figure(medianOf(rounds, (round) => round.messages[side].frames / seconds)),
    figure(medianOf(rounds, (round) => round.messages[side].cpuUs)),
    String(rounds.reduce((sum, round) => sum + round.messages[side].refused, 0)),
    String(rounds.reduce((sum, round) => sum + round.messages[side].late, 0)),
  ];
  return [
    {
      title: `ocpp: ${stations} charging stations in one process, ${rounds.length} rounds`,
      head: ['idle', 'RSS MB', 'CPU %'],
      rows: [atRest('without OCPP', (round) => round.without), atRest('all connected', (round) => round.idle)],
      notes: [
        `measured ${settleS} s after the last device answers, or the last one has booted, for ${seconds} s`,
        `all have booted ${figure(bootedS)} s after the spawn; the first connections are spread over 10 s`,
      ],
    },
    {
      title: `ocpp: both at once, ${callsPerS} calls per second to each of ${stations} charge points`,
      head: ['charge points', 'messages/s', 'CPU us/message', 'refused', 'left out'],
      rows: [busy('derbench', 'ours'), busy('bare ws 8', 'bare')],
      notes: [
        'a message is a frame in or out; the CPU of the same time without messages, ticks included, is subtracted',
      ],
    },
    aimTable('ocpp', [
      aimRow('memory of an idle charge point', memoryMib, ' MiB', { atMost: 1 }),
      aimRow('CPU per message, ours/bare ws', ratio, '', { atMost: 3 }),
    ]),
  ];
}

export const ocppGroup: Group = {
  name: 'ocpp',
  async run({ rounds: wanted, quick }, progress) {
    const times: Times = quick ? { settleS: 15, warmUpS: 20, seconds: 10 } : { settleS: 60, warmUpS: 30, seconds: 30 };
    const count = Math.min(wanted, mostRounds);
    const rounds: Round[] = [];
    for (let round = 1; round <= count; round += 1) {
      progress(`ocpp: without OCPP, round ${round} of ${count}`);
      const without = await withoutOcpp(times);
      progress(`ocpp: ${stations} charge points, round ${round} of ${count}`);
      rounds.push({ without, ...(await withOcpp(times)) });
    }
    return tables(rounds, times);
  },
};
