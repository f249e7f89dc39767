/** Charge points in one process: their memory, the time until all have booted, and for 1.6 CPU per message beside bare `ws`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CentralProcess } from '../support/central.ts';
import type { Group } from '../support/group.ts';
import { within } from '../support/net.ts';
import { scratchDirectory } from '../support/peers.ts';
import { twoCores } from '../support/cores.ts';
import type { Cores } from '../support/cores.ts';
import { cpuSeconds, inCheckout, pin, residentBytes, startServer } from '../support/processes.ts';
import type { Server } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const stations = 200;
/** Between two slices, s; the processor time without messages is that of this time. */
const quietS = 2;
/** every round takes minutes */
const mostRounds = 3;
/** calls of the central system to each charge point, per second */
const callsPerS = { usual: 5, many: 60 };
/** Each side is driven so many times, in turn with the other one. */
const slices = 3;
const bootLimitS = 60;
const sides = ['ours', 'bare'] as const;
const flags = ['-N', String(stations), '-d', 'EVSE'];

const rates = ['usual', 'many'] as const;

type Side = (typeof sides)[number];
type Rate = (typeof rates)[number];
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

/** The central system, as this group drives it. */
class Central extends CentralProcess {
  async untilBooted(side: Side): Promise<void> {
    for (;;) {
      const { booted } = (await this.ask<Sides<Connected>>({ what: 'stations' }))[side];
      if (booted === stations) return;
      await wait(20);
    }
  }

  samples(): Promise<object> {
    return this.ask({ what: 'samples' });
  }

  async drive(side: Side, rate: Rate, seconds: number): Promise<Driven> {
    return (await this.ask<Sides<Driven>>({ what: 'drive', paths: [side], seconds, rate: callsPerS[rate] }))[side];
  }

  async pinTo(processor: number | null): Promise<void> {
    if (processor !== null && this.pid !== undefined) await pin(this.pid, processor);
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
  /** stations of 2.1 that can give power back, with their device model, beside the same devices without OCPP */
  readonly newest: { readonly without: Idle; readonly idle: Idle };
  readonly idle: Idle;
  readonly bootedS: number;
  readonly messages: Readonly<Record<Rate, Sides<PerMessage>>>;
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

async function withoutOcpp(times: Times, more: readonly string[] = []): Promise<Idle> {
  const simulator = await startSimulator(stations, [...flags, ...more]);
  try {
    return await idle(simulator, times);
  } finally {
    await simulator.stop();
  }
}

/** Processor time of one process per message, beyond what it takes while nothing is sent. */
async function measured(
  central: Central,
  servers: Sides<Server>,
  rate: Rate,
  seconds: number,
): Promise<Sides<PerMessage>> {
  const sums = { ours: { frames: 0, refused: 0, late: 0, cpuS: 0 }, bare: { frames: 0, refused: 0, late: 0, cpuS: 0 } };
  for (let slice = 0; slice < slices; slice += 1)
    for (const side of sides) {
      const [quietBegin, quietFrom] = [performance.now(), await cpuOf(servers[side])];
      await wait(1000 * quietS);
      const [begin, from] = [performance.now(), await cpuOf(servers[side])];
      const quiet = (from - quietFrom) / (begin - quietBegin);
      const driven = await central.drive(side, rate, seconds / slices);
      const sum = sums[side];
      sum.cpuS += (await cpuOf(servers[side])) - from - quiet * (performance.now() - begin);
      sum.frames += driven.frames;
      sum.refused += driven.refused;
      sum.late += driven.late;
    }
  const perMessage = (side: Side): PerMessage => ({
    ...sums[side],
    cpuUs: (sums[side].cpuS * 1e6) / sums[side].frames,
  });
  return { ours: perMessage('ours'), bare: perMessage('bare') };
}

async function messages(
  central: Central,
  servers: Sides<Server>,
  { warmUpS, seconds }: Times,
): Promise<Round['messages']> {
  for (const side of sides) await central.drive(side, 'many', warmUpS / 2);
  return {
    usual: await measured(central, servers, 'usual', seconds),
    many: await measured(central, servers, 'many', seconds),
  };
}

async function startBare(central: Central): Promise<Server> {
  const file = join(scratchDirectory(), 'ocpp-samples.json');
  writeFileSync(file, JSON.stringify(await central.samples()));
  const url = await central.url('bare');
  const bare = startServer(process.execPath, [inCheckout('bench/peers/ocpp-bare.mjs'), file, url, String(stations)]);
  await within(bootLimitS, central.untilBooted('bare'), bare.failed);
  return bare;
}

async function withOcpp(times: Times, cores: Cores): Promise<Omit<Round, 'without' | 'newest'>> {
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
    await central.drive('ours', 'usual', 2);
    const bare = await startBare(central);
    started.push(bare);
    // the same for both sides: a write of theirs wakes a central system on another processor
    await central.pinTo(cores.load);
    if (cores.server !== null) for (const { pid } of [ours, bare]) await pin(pid, cores.server);
    return { idle: atRest, bootedS, messages: await messages(central, { ours, bare }, times) };
  } finally {
    await Promise.all(started.map((server) => server.stop()));
    await central.stop();
  }
}

const newestFlags = ['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'];

async function withNewest(times: Times): Promise<Round['newest']> {
  const without = await withoutOcpp(times, newestFlags);
  const central = new Central();
  try {
    const url = await central.url('ours');
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_version', 'ocpp2.1', '--ocpp_csms_url', url];
    const simulator = await startSimulator(stations, [...flags, ...newestFlags, ...ocpp]);
    try {
      await within(bootLimitS, central.untilBooted('ours'), simulator.failed);
      return { without, idle: await idle(simulator, times) };
    } finally {
      await simulator.stop();
    }
  } finally {
    await central.stop();
  }
}

function tables(rounds: readonly Round[], { settleS, seconds }: Times, { note }: Cores) {
  const mib = ({ idle: { residentMb: mb }, without }: { readonly idle: Idle; readonly without: Idle }) =>
    ((mb - without.residentMb) * 1e6) / 2 ** 20 / stations;
  const memoryMib = medianOf(rounds, mib);
  const newestMib = medianOf(rounds, ({ newest }) => mib(newest));
  const ratioAt = (rate: Rate) => medianOf(rounds, ({ messages: { [rate]: of } }) => of.ours.cpuUs / of.bare.cpuUs);
  const bootedS = medianOf(rounds, (round) => round.bootedS);
  const atRest = (name: string, of: (round: Round) => Idle) => [
    name,
    figure(medianOf(rounds, (round) => of(round).residentMb)),
    figure(medianOf(rounds, (round) => of(round).cpuPct)),
  ];
  const busy = (name: string, side: Side, rate: Rate) => [
    name,
    String(callsPerS[rate]),
    figure(medianOf(rounds, (round) => round.messages[rate][side].frames / seconds)),
    figure(medianOf(rounds, (round) => round.messages[rate][side].cpuUs)),
    String(rounds.reduce((sum, round) => sum + round.messages[rate][side].refused, 0)),
    String(rounds.reduce((sum, round) => sum + round.messages[rate][side].late, 0)),
  ];
  return [
    {
      title: `ocpp: ${stations} charging stations in one process, ${rounds.length} rounds`,
      head: ['idle', 'RSS MB', 'CPU %'],
      rows: [
        atRest('without OCPP', (round) => round.without),
        atRest('1.6, all connected', (round) => round.idle),
        atRest('V2G without OCPP', ({ newest }) => newest.without),
        atRest('V2G on 2.1, all connected', ({ newest }) => newest.idle),
      ],
      notes: [
        `measured ${settleS} s after the last device answers, or the last one has booted, for ${seconds} s`,
        `all have booted ${figure(bootedS)} s after the spawn; the first connections are spread over 10 s`,
      ],
    },
    {
      title: `ocpp: calls to each of ${stations} charge points, one side in turn with the other`,
      head: ['charge points', 'calls/s each', 'messages/s', 'CPU us/message', 'refused', 'left out'],
      rows: rates.flatMap((rate) => [busy('derbench', 'ours', rate), busy('bare ws 8', 'bare', rate)]),
      notes: [
        'a message is a frame in or out; the CPU of the same time without messages, ticks included, is subtracted',
        note,
        `CPU per message, ours/bare ws, at ${callsPerS.many} calls/s each: ${figure(ratioAt('many'))}; there ` +
          'the central system never sleeps, so that no write has to wake it',
      ],
    },
    aimTable('ocpp', [
      aimRow('memory of an idle charge point of 1.6', memoryMib, ' MiB', { atMost: 1 }),
      aimRow('memory of an idle V2G station of 2.1', newestMib, ' MiB', { atMost: 2 }),
      aimRow(`CPU per message, ours/bare ws, ${callsPerS.usual} calls/s each`, ratioAt('usual'), '', { atMost: 3 }),
    ]),
  ];
}

export const ocppGroup: Group = {
  name: 'ocpp',
  async run({ rounds: wanted, quick }, progress) {
    const times: Times = quick ? { settleS: 15, warmUpS: 20, seconds: 10 } : { settleS: 60, warmUpS: 30, seconds: 30 };
    const count = Math.min(wanted, mostRounds);
    const rounds: Round[] = [];
    const cores = await twoCores();
    for (let round = 1; round <= count; round += 1) {
      progress(`ocpp: without OCPP, round ${round} of ${count}`);
      const without = await withoutOcpp(times);
      progress(`ocpp: ${stations} charge points, round ${round} of ${count}`);
      const newest = await withNewest(times);
      rounds.push({ without, newest, ...(await withOcpp(times, cores)) });
    }
    return tables(rounds, times, cores);
  },
};
