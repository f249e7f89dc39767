/** Cost of a device step with the grid-support functions of IEEE 1547 on, beside the reference model OpenDER. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions, Group } from '../support/group.ts';
import { pythonWithOpender } from '../support/opender.ts';
import { scratchDirectory } from '../support/peers.ts';
import { inCheckout, runJson } from '../support/processes.ts';
import { medianOf, medianRatio } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import type { Table } from '../support/table.ts';

interface Measured {
  readonly stepUs: number;
  readonly meanKw: number;
  readonly meanKvar: number;
}
interface Ours extends Measured {
  readonly physicsUs: number;
  readonly publishUs: number;
  readonly acting: readonly string[];
}
interface Theirs extends Measured {
  readonly versions: string;
}
interface Round {
  readonly ours: Ours;
  readonly theirs: Theirs | null;
}

interface Case {
  readonly name: string;
  readonly stepS: number;
  /** sub-steps of the physics in one step of the plant */
  readonly subSteps: number;
  /** null: the moving grid */
  readonly grid: { readonly voltagePu: number; readonly frequencyHz: number } | null;
  /** functions that must be in effect, else the figure does not count */
  readonly acts: readonly string[];
}

const stepsPerCycle = 600;
const movingStepS = 0.1;
const cycleS = stepsPerCycle * movingStepS;
// frequency is outside its deadband throughout: the limit never decides there
const moving: Case = {
  name: 'moving grid, 0.1 s in ticks of 1.5 s',
  stepS: 1.5,
  subSteps: 15,
  grid: null,
  acts: ['volt_var', 'volt_watt', 'freq_droop'],
};
const eachPublished: Case = { ...moving, name: 'moving grid, ticks of 0.1 s', stepS: movingStepS, subSteps: 1 };
const settled: Case = {
  name: 'settled, 1.5 s',
  stepS: 1.5,
  subSteps: 1,
  grid: { voltagePu: 1.04, frequencyHz: 60 },
  acts: ['volt_var', 'max_power'],
};
const cases = [moving, eachPublished, settled];

/**
 * Straight lines from one corner to the next, and from the last to the first: every step has another voltage and
 * frequency. In and out of each curve and deadband, but within all trip and ride-through limits.
 */
const corners: readonly (readonly [pu: number, hz: number])[] = [
  [1, 60],
  [1.03, 60.1],
  [1.06, 60.25],
  [1.08, 60.05],
  [1.07, 59.9],
  [1.05, 59.75],
  [1.08, 59.95],
  [1.04, 60.15],
  [1.01, 60.3],
  [0.97, 60.08],
];
const cornerS = cycleS / corners.length;

function gridCsv(cycles: number): string {
  const rows = Array.from({ length: cycles }, () => corners)
    .flat()
    .map(([pu, hz], i) => `${i * cornerS},${pu},${hz}`);
  return ['time_s,voltage_pu,frequency_hz', ...rows, ''].join('\n');
}

/** The course that the series gives at the beginning of each step of a cycle. */
function gridCourse(column: 0 | 1): number[] {
  return Array.from({ length: stepsPerCycle }, (_, step) => {
    const at = (step * corners.length) / stepsPerCycle;
    const corner = Math.floor(at);
    const from = corners[corner]?.[column] ?? NaN;
    const to = corners[(corner + 1) % corners.length]?.[column] ?? NaN;
    return from + (to - from) * (at - corner);
  });
}

function measureOurs({ stepS, subSteps, grid }: Case, { quick }: BenchOptions): Promise<Ours> {
  const warm = quick ? 10 : 60;
  const cycles = quick ? 10 : 60;
  // from midnight on, where the series begins; one cycle more for the mean output and one to spare
  const flags = [
    '-f',
    inCheckout('bench/profiles/100kW-3Phase.yaml'),
    '--dc_profile',
    inCheckout('bench/series/constant-sun.csv'),
    '--start_clock_time',
    '00:00:00',
  ];
  if (grid === null) {
    const path = join(scratchDirectory(), 'moving-grid.csv');
    writeFileSync(path, gridCsv(warm + cycles + 2));
    flags.push('--grid_profile', path);
  }
  const request = {
    flags,
    steps: stepsPerCycle / subSteps,
    sub_steps: subSteps,
    warm_cycles: warm,
    cycles,
    tick_s: stepS,
    grid,
  };
  return runJson<Ours>(process.execPath, [inCheckout('bench/workers/functions.mjs'), JSON.stringify(request)]);
}

function measureTheirs(python: string, { stepS, grid }: Case, { quick }: BenchOptions): Promise<Theirs> {
  const request = {
    // it has no just-in-time compiler, so it needs less warming up than Node
    step_s: grid === null ? movingStepS : stepS,
    steps: stepsPerCycle,
    warm_cycles: 2,
    cycles: quick ? 3 : 15,
    voltage_pu: grid?.voltagePu ?? gridCourse(0),
    frequency_hz: grid?.frequencyHz ?? gridCourse(1),
  };
  return runJson<Theirs>(python, [inCheckout('bench/peers/opender_step.py'), JSON.stringify(request)]);
}

/** Ratio in the same rounds, or null without the peer. */
function ratio(rounds: readonly Round[], of: (ours: Ours) => number): number | null {
  const both = rounds.flatMap(({ ours, theirs }) =>
    theirs === null ? [] : [{ ours: of(ours), theirs: theirs.stepUs }],
  );
  return both.length === 0
    ? null
    : medianRatio(
        both.map((r) => r.ours),
        both.map((r) => r.theirs),
        (us) => us,
      );
}

function rowsOf({ name }: Case, rounds: readonly Round[]): string[][] {
  const ours = rounds.map((round) => round.ours);
  const theirs = rounds.flatMap((round) => round.theirs ?? []);
  const whole = ratio(rounds, (us) => us.stepUs);
  const physics = ratio(rounds, (us) => us.physicsUs);
  const rows = [
    [
      `derbench, ${name}`,
      figure(medianOf(ours, (m) => m.stepUs)),
      figure(medianOf(ours, (m) => m.physicsUs)),
      figure(medianOf(ours, (m) => m.publishUs)),
      figure(medianOf(ours, (m) => m.meanKw)),
      figure(medianOf(ours, (m) => m.meanKvar)),
      whole === null ? '-' : whole.toFixed(3),
      physics === null ? '-' : physics.toFixed(3),
    ],
  ];
  if (theirs.length > 0) {
    const us = figure(medianOf(theirs, (m) => m.stepUs));
    rows.push([
      `OpenDER, ${name}`,
      us,
      us,
      '-',
      figure(medianOf(theirs, (m) => m.meanKw)),
      figure(medianOf(theirs, (m) => m.meanKvar)),
      '',
      '',
    ]);
  }
  return rows;
}

/** Reasons why a figure means less than it seems. */
function silentFunctions({ name, acts }: Case, rounds: readonly Round[]): string[] {
  const silent = acts.filter((one) => rounds.some(({ ours }) => !ours.acting.includes(one)));
  return silent.length === 0
    ? []
    : [`NOT COMPARABLE, ${name}: enabled but not acting in derbench: ${silent.join(', ')}`];
}

function tables(results: ReadonlyMap<Case, readonly Round[]>, missing: string | null): readonly Table[] {
  const entries = [...results];
  const versions = entries.flatMap(([, rounds]) => rounds).find(({ theirs }) => theirs !== null)?.theirs?.versions;
  const silent = entries.flatMap(([one, rounds]) => silentFunctions(one, rounds));
  const ratioMoving = ratio(results.get(moving) ?? [], (us) => us.stepUs);
  return [
    {
      title: 'functions: us per device step, all grid-support functions on',
      head: ['', 'whole step', 'physics', 'publication', 'mean kW', 'mean kvar', 'ours/its', 'physics/its'],
      rows: entries.flatMap(([one, rounds]) => rowsOf(one, rounds)),
      notes: [
        'publication is registers, snapshot and JSON, which the peer does not have',
        versions ?? `OpenDER left out: ${missing ?? 'no figure'}`,
        ...silent,
      ],
    },
    aimTable('functions', [
      aimRow(
        'a step in a moving grid, publication included, ours/OpenDER',
        silentFunctions(moving, results.get(moving) ?? []).length > 0 ? null : ratioMoving,
        '',
        { atMost: 0.05 },
      ),
    ]),
  ];
}

export const functionsGroup: Group = {
  name: 'functions',
  async run(options, progress) {
    const python = await pythonWithOpender(progress);
    const results = new Map(cases.map((one) => [one, [] as Round[]]));
    for (let round = 1; round <= options.rounds; round += 1) {
      progress(`functions: round ${round} of ${options.rounds}`);
      for (const [one, rounds] of results) {
        const ours = await measureOurs(one, options);
        rounds.push({ ours, theirs: 'path' in python ? await measureTheirs(python.path, one, options) : null });
      }
    }
    return tables(results, 'missing' in python ? python.missing : null);
  },
};
