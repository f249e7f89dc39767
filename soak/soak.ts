/** The long run: steady load, and with chaos its disturbances; figures of section "Soak" of `soak/README.md`. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../src/core/random.ts';
import { limitFiles, plan } from './chaos.ts';
import type { Planned } from './chaos.ts';
import type { ClientsOptions } from './clients.ts';
import { fleetOf, fromBuild, inspectedBuild } from './fleet.ts';
import type { RemotePeers } from './fleet.ts';
import type { Figure } from './figures.ts';
import { inspectorUrl, liveMb } from './inspector.ts';
import { Lives } from './life.ts';
import type { SoakOptions } from './options.ts';
import type { PeersReport } from './peers.ts';
import { Remote } from './remote.ts';
import { descriptorChange, metricsOf, sampleOf, slopeOf } from './samples.ts';
import type { Metrics, Sample } from './samples.ts';
import type { Command } from '../test/support/process.ts';
import { pause, textOf } from './tally.ts';
import type { TallyReport } from './tally.ts';

const maxWarmUpS = 120;
const samplePeriodS = 1;
const fullDiskS = 4;
/** a control counts as unanswered so long after its end, s */
const answerS = 30;
/** for open sessions and messages after the load has ended, s */
const settleS = 20;
/** for which growth is limited, s */
const growthSpanS = 600;

interface Series {
  readonly samples: Sample[];
  /** event loop of each 10 s */
  readonly p99Ms: number[];
  /** of the life in which it was asked last */
  begin: Metrics | null;
  last: Metrics | null;
  /** live memory after the warm-up and at the end, MB; NaN: not measured */
  readonly liveMb: [begin: number, end: number];
}

/** MB; NaN without an inspector. The collection stops the process, so the errors of its clients are excused. */
async function liveMemory(lives: Lives, clients: Remote): Promise<number> {
  const url = inspectorUrl(lives.simulator.output);
  if (url === null) return NaN;
  await clients.call('excuse');
  return liveMb(url).catch(() => NaN);
}

/** Samples from the end of the warm-up to that of the run. */
async function sample(
  [lives, clients]: readonly [Lives, Remote],
  series: Series,
  warmUpS: number,
  isOver: () => boolean,
): Promise<void> {
  await pause(warmUpS * 1000);
  series.liveMb[0] = await liveMemory(lives, clients);
  for (let second = 0; !isOver(); second += 1) {
    await pause(samplePeriodS * 1000);
    try {
      const { pid, httpPort } = lives.simulator;
      series.samples.push(await sampleOf(pid));
      if (second % 10 !== 0 && series.begin !== null) continue;
      series.last = await metricsOf(httpPort);
      series.begin ??= series.last;
      series.p99Ms.push(series.last.p99Ms);
    } catch {
      // the simulator is being restarted
    }
  }
}

interface Disturbed {
  readonly counts: Map<string, number>;
  readonly notes: string[];
}

async function disturb({ what }: Planned, lives: Lives, clients: Remote, peers: Remote): Promise<void> {
  switch (what) {
    case 'kill':
      await lives.kill();
      return lives.start();
    case 'cut clients':
      return clients.call('cut');
    case 'cut ocpp':
      return peers.call('cut', 'ocpp');
    case 'cut csip':
      return peers.call('cut', 'csip');
    case 'full disk': {
      const { pid } = lives.simulator;
      await limitFiles(pid, true);
      await pause(fullDiskS * 1000);
      await limitFiles(pid, false);
    }
  }
}

/** Disturbances until the end of the run. */
async function chaos(
  { seed, seconds }: SoakOptions,
  lives: Lives,
  [clients, peers]: readonly [Remote, Remote],
  progress: (text: string) => void,
): Promise<Disturbed> {
  const endMs = performance.now() + seconds * 1000;
  const counts = new Map<string, number>();
  const notes: string[] = [];
  for (const planned of plan(createRandom(seed, 'chaos'))) {
    const leftMs = endMs - performance.now();
    await pause(Math.min(leftMs, planned.afterS * 1000));
    if (performance.now() >= endMs || lives.failures.length > 0) return { counts, notes };
    progress(planned.what);
    try {
      await disturb(planned, lives, clients, peers);
      counts.set(planned.what, (counts.get(planned.what) ?? 0) + 1);
    } catch (error) {
      if (planned.what === 'kill') {
        lives.failures.push(textOf(error));
        return { counts, notes };
      }
      notes.push(`${planned.what} was left out: ${textOf(error)}`);
    }
  }
  return { counts, notes };
}

function clientsOptions(options: SoakOptions): ClientsOptions {
  const { devices, seed, masters, streams, restPerS } = options;
  return {
    fleet: fleetOf(devices),
    seed,
    masters,
    streams,
    restPerS,
    commandShare: 0.3,
    scadas: Math.min(8, devices),
    dnp3PeriodMs: 1000,
    energyRoundMs: 1000,
    comparePeriodMs: 200,
    stayMs: [4000, 15_000],
  };
}

/** Figures of the process itself. */
function processFigures({ samples, p99Ms, begin, last, liveMb: live }: Series, isChaos: boolean): readonly Figure[] {
  const spanS = (samples.at(-1)?.atS ?? 0) - (samples[0]?.atS ?? 0);
  const [liveBegin, liveEnd] = live;
  // growth in ten minutes; a shorter run is not extrapolated
  const growthMb = (liveEnd - liveBegin) * Math.min(1, growthSpanS / spanS);
  const ticks = (last?.ticks ?? NaN) - (begin?.ticks ?? NaN);
  const skipped = (last?.skipped ?? NaN) - (begin?.skipped ?? NaN);
  // a restart resets the counters and the memory
  if (isChaos) return [{ name: 'event loop, p99 of 10 s, highest', value: Math.max(...p99Ms), unit: ' ms' }];
  const growth = { name: 'growth of live memory', value: growthMb, unit: ' MB', aim: '< 10 MB in 10 min' };
  return [
    // growth is measured by the inspector alone
    ...(Number.isNaN(growthMb) ? [] : [{ ...growth, atMost: 10 }]),
    { name: 'live memory at the end', value: liveEnd, unit: ' MB' },
    { name: 'slope of resident memory', value: 60 * slopeOf(samples), unit: ' MB/min' },
    { name: 'resident memory at the end', value: samples.at(-1)?.residentMb ?? NaN, unit: ' MB' },
    { name: 'growth of open descriptors', value: descriptorChange(samples), atMost: 5, aim: '+- 5' },
    { name: 'ticks', value: ticks, atLeast: 1 },
    { name: 'missed ticks', value: skipped, aim: '0' },
    { name: 'share of missed ticks', value: (100 * skipped) / (ticks + skipped), unit: ' %', atMost: 0.1 },
    { name: 'event loop, p99 of 10 s, median', value: medianOf(p99Ms), unit: ' ms', atMost: 100, aim: '< 50 ms' },
    { name: 'event loop, p99 of 10 s, highest', value: Math.max(...p99Ms), unit: ' ms' },
    { name: 'stalls of more than 1 s', value: (last?.stalls ?? NaN) - (begin?.stalls ?? NaN), atMost: 0 },
  ];
}

const medianOf = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

function clientFigures(tallies: readonly TallyReport[]): readonly Figure[] {
  const errors = tallies.flatMap(({ name, firstErrors }) => firstErrors.map((text) => `${name}: ${text}`));
  return [
    ...tallies.flatMap(({ name, counts, p99Ms }) => [
      ...Object.entries(counts).map(([count, value]): Figure => ({ name: `${name}, ${count}`, value })),
      ...(p99Ms > 0 ? [{ name: `${name}, p99 of answers`, value: p99Ms, unit: ' ms' }] : []),
    ]),
    { name: 'errors of clients', value: sum(tallies.map((tally) => tally.errors)), atMost: 0, details: errors },
    { name: 'errors that disturbances explain', value: sum(tallies.map(({ excused }) => excused)) },
  ];
}

function peerFigures(report: PeersReport, incomplete: readonly string[], { books, chaos: isChaos }: SoakOptions) {
  const { ocpp, csip, issues } = report;
  const isOpen = { name: 'ocpp, transactions without an end', value: ocpp.open };
  const isIncomplete = { name: 'csip, controls without all responses', value: incomplete.length, details: incomplete };
  return [
    { name: 'ocpp, stations connected', value: ocpp.connected },
    { name: 'ocpp, frames', value: ocpp.frames },
    { name: 'ocpp, transactions', value: ocpp.transactions },
    { name: 'ocpp, energy of transactions of 1.6', value: ocpp.energyWh, unit: ' Wh' },
    books.has('ocpp') ? { ...isOpen, atMost: 0 } : isOpen,
    { name: 'csip, requests', value: csip.requests },
    { name: 'csip, responses', value: csip.responses },
    { name: 'csip, controls', value: csip.controls },
    books.has('csip') ? { ...isIncomplete, atMost: 0 } : isIncomplete,
    ...(isChaos ? [] : [{ name: 'csip, requests refused', value: csip.refused, atMost: 0 }]),
    { name: 'frames and books that are not right', value: issues.length, atMost: 0, details: issues },
  ] satisfies readonly Figure[];
}

/** Waits until the vehicles have left and the peers have everything, at most for some seconds. */
async function settle(peers: Remote): Promise<void> {
  await peers.call('end');
  const endMs = performance.now() + settleS * 1000;
  while (performance.now() < endMs && !(await peers.call<boolean>('isSettled'))) await pause(500);
}

export interface SoakResult {
  readonly figures: readonly Figure[];
  readonly samples: readonly Sample[];
}

/** One long run. @param command default: the build, with an inspector where nothing restarts */
export async function soak(
  options: SoakOptions,
  progress: (text: string) => void,
  command: Command = options.chaos ? fromBuild : inspectedBuild,
): Promise<SoakResult> {
  const { devices, seconds, seed, tickS, books } = options;
  const fleet = fleetOf(devices);
  const peers = new Remote('soak/peers-process.ts');
  const clients = new Remote('soak/clients-process.ts');
  const folder = mkdtempSync(join(tmpdir(), 'derbench-soak-'));
  const stateFolder = options.chaos ? mkdtempSync(join(tmpdir(), 'derbench-soak-state-')) : null;
  let lives: Lives | null = null;
  try {
    const pollS = Math.round(Math.min(30, Math.max(5, seconds / 20)));
    const [controlEveryS, controlDurationS] = [Math.max(20, 4 * pollS), Math.max(6, pollS)];
    const addresses = await peers.call<RemotePeers>('open', { fleet, controlEveryS, controlDurationS, pollS });
    await clients.call('open', clientsOptions(options));
    const life = { fleet, folder, stateFolder, peers: addresses, tickS, seed };
    lives = new Lives({ life: { ...life, command }, clients, books });
    await lives.start();
    progress(`${devices} devices are ready after ${Math.round(lives.simulator.readyMs)} ms`);
    const series: Series = { samples: [], p99Ms: [], begin: null, last: null, liveMb: [NaN, NaN] };
    const warmUpS = Math.min(maxWarmUpS, 0.2 * seconds);
    let isOver = false;
    const sampling = sample([lives, clients], series, warmUpS, () => isOver);
    const disturbed = options.chaos
      ? await chaos(options, lives, [clients, peers], progress)
      : await pause(seconds * 1000).then(() => null);
    isOver = true;
    await sampling;
    series.liveMb[1] = await liveMemory(lives, clients);
    // the vehicles that are there leave by themselves: no new ones come
    await clients.call('leave');
    await settle(peers);
    const incomplete = await peers.call<readonly string[]>('incomplete', answerS, !options.chaos);
    const tallies = await clients.call<readonly TallyReport[]>('report');
    await clients.call('end');
    const report = await peers.call<PeersReport>('report');
    const code = await lives.stop();
    const { failures, issues, readyMs, restarts } = lives;
    for (const note of disturbed?.notes ?? []) progress(note);
    const figures: readonly Figure[] = [
      ...processFigures(series, options.chaos),
      ...clientFigures(tallies),
      ...peerFigures(report, incomplete, options),
      ...[...(disturbed?.counts ?? [])].map(([what, value]): Figure => ({ name: `disturbance: ${what}`, value })),
      ...(options.chaos
        ? [
            { name: 'restarts that were ready', value: restarts, atLeast: 1 },
            { name: 'longest start', value: Math.max(...readyMs), unit: ' ms', aim: '<= 2000 ms' },
            { name: 'promises broken by a restart', value: issues.length, atMost: 0, details: issues },
          ]
        : []),
      { name: 'failures of the process', value: failures.length, atMost: 0, details: failures },
      { name: 'exit code', value: code ?? NaN, atMost: 0, atLeast: 0 },
    ];
    return { figures, samples: series.samples };
  } finally {
    await lives?.close();
    clients.stop();
    peers.stop();
  }
}
