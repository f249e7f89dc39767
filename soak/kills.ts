/** Many short lives: the simulator is killed at a random instant after each start, and promises are compared. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../src/core/random.ts';
import type { Command } from '../test/support/process.ts';
import { Clients } from './clients.ts';
import type { ClientsOptions } from './clients.ts';
import { fleetOf } from './fleet.ts';
import type { Figure } from './figures.ts';
import { Lives } from './life.ts';
import type { BookName } from './options.ts';
import { Peers } from './peers.ts';
import { pause, textOf } from './tally.ts';

export interface KillsOptions {
  readonly kills: number;
  readonly seed: number;
  readonly devices: number;
  readonly books: ReadonlySet<BookName>;
  readonly command: Command;
}

/** so that a session of half a second has energy */
const timeRate = 10;
/** bounds of a life from when it is ready, ms */
const lifeMs = { low: 200, high: 2000 } as const;
/** of the last life, in which all sessions end, ms */
const settleMs = 30_000;
const answerS = 10;
const [pollS, controlEveryS, controlDurationS] = [2, 4, 2];

const clientsOptions = ({ devices, seed }: KillsOptions): ClientsOptions => ({
  fleet: fleetOf(devices),
  seed,
  masters: 2,
  streams: 2,
  restPerS: 20,
  commandShare: 0.8,
  scadas: 2,
  dnp3PeriodMs: 50,
  energyRoundMs: 100,
  comparePeriodMs: 100,
  stayMs: [200, 900],
});

/** The methods of a `Remote`, of clients in this process. */
const local = (clients: Clients) => ({
  call: async <T>(method: string, ...args: readonly unknown[]): Promise<T> => {
    const work = Reflect.get(clients, method) as (...parameters: readonly unknown[]) => unknown;
    return (await Reflect.apply(work, clients, args)) as T;
  },
});

async function untilSettled(peers: Peers): Promise<void> {
  const endMs = performance.now() + settleMs;
  while (performance.now() < endMs && !(peers.isSettled && peers.incomplete(0, false).length === 0)) await pause(200);
}

/** @param progress called after each kill with their number */
export async function kills(
  options: KillsOptions,
  progress: (count: number) => void = () => undefined,
): Promise<readonly Figure[]> {
  const { kills: count, seed, devices, books, command } = options;
  const random = createRandom(seed, 'kills');
  const fleet = fleetOf(devices);
  const peers = await Peers.open({ fleet, controlEveryS, controlDurationS, pollS });
  const clients = new Clients(clientsOptions(options));
  const [folder, stateFolder] = ['', '-state'].map((word) => mkdtempSync(join(tmpdir(), `derbench-kills${word}-`)));
  const life = {
    fleet,
    folder: folder ?? '',
    stateFolder: stateFolder ?? '',
    peers: peers.addresses,
    tickS: 0.1,
    seed,
    timeRate,
  };
  const lives = new Lives({ life: { ...life, command }, clients: local(clients), books });
  let killed = 0;
  try {
    await lives.start();
    while (killed < count && lives.failures.length === 0) {
      await pause(lifeMs.low + (lifeMs.high - lifeMs.low) * random.next());
      await lives.kill();
      killed += 1;
      await lives.start().catch((error: unknown) => {
        lives.failures.push(textOf(error));
      });
      progress(killed);
    }
    clients.leave();
    peers.end();
    await untilSettled(peers);
    const incomplete = peers.incomplete(answerS, false);
    const { ocpp, csip, issues } = peers.report();
    const tallies = clients.report();
    clients.end();
    const code = await lives.stop();
    const errors = tallies.flatMap(({ name, firstErrors }) => firstErrors.map((text) => `${name}: ${text}`));
    const open = { name: 'ocpp, transactions without an end', value: ocpp.open };
    const unanswered = { name: 'csip, controls without all responses', value: incomplete.length, details: incomplete };
    return [
      { name: `restarts that were ready, of ${count}`, value: lives.restarts, atLeast: count },
      { name: 'longest start', value: Math.max(0, ...lives.readyMs), unit: ' ms', aim: '<= 2000 ms' },
      { name: 'promises by REST and DNP3', value: sumOf(tallies, 'promises') },
      { name: 'energy readings', value: sumOf(tallies, 'energy readings') },
      { name: 'promises broken by a restart', value: lives.issues.length, atMost: 0, details: lives.issues },
      { name: 'ocpp, transactions', value: ocpp.transactions, atLeast: 1 },
      { name: 'ocpp, energy of transactions of 1.6', value: ocpp.energyWh, unit: ' Wh' },
      books.has('ocpp') ? { ...open, atMost: 0 } : open,
      { name: 'csip, controls', value: csip.controls },
      books.has('csip') ? { ...unanswered, atMost: 0 } : unanswered,
      { name: 'frames and books that are not right', value: issues.length, atMost: 0, details: issues },
      { name: 'errors of clients', value: errors.length, atMost: 0, details: errors },
      { name: 'failures of the process', value: lives.failures.length, atMost: 0, details: lives.failures },
      { name: 'exit code', value: code ?? NaN, atMost: 0, atLeast: 0 },
    ];
  } finally {
    clients.end();
    await lives.close();
    await peers.close();
  }
}

const sumOf = (tallies: ReturnType<Clients['report']>, count: string) =>
  tallies.reduce((sum, { counts }) => sum + (counts[count] ?? 0), 0);
