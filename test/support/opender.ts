/** The OpenDER scenarios of fixtures/opender, replayed through the register map, and the checks on a replay. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  ModelSettings,
  Scenario,
  SeriesScenario,
  StimulusEvent,
  SteadyScenario,
} from '../../scripts/compact-opender.ts';
import { secondsBetween } from '../../src/core/time/clock.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import type { GridTrace } from '../../src/contract/grid-trace.ts';
import { spread } from './choice.ts';
import { OpenderRig, ratedKw } from './opender-plant.ts';

export const fixtureFolder = join(import.meta.dirname, '..', '..', 'fixtures', 'opender');
const text = (name: string) => readFileSync(join(fixtureFolder, name), 'utf8');
const base = JSON.parse(text('base.json')) as ModelSettings;

export const scenarios: readonly Scenario[] = readdirSync(fixtureFolder)
  .filter((name) => name.endsWith('.json') && name !== 'base.json')
  .flatMap((name) => JSON.parse(text(name)) as Scenario[]);
export const steadyScenarios = scenarios.filter((scenario) => scenario.kind === 'steady');
export const seriesScenarios = scenarios.filter((scenario) => scenario.kind === 'series');

/** One comparison; `off` is the deviation as a share of what is tolerated. */
export interface Finding {
  readonly what: string;
  readonly off: number;
}

/** Registers at one instant, in kW and kvar. */
export interface Sample {
  readonly t: number;
  readonly kw: number;
  readonly kvar: number;
  /** state of charge, 0..1; null: nothing runs empty or full */
  readonly soc: number | null;
  /** 701.St, InvSt and ConnSt */
  readonly state: string;
  readonly rideThrough: string;
}

export interface Transition {
  readonly t: number;
  readonly what: 'trip' | 'enter_service';
}

export interface Run {
  readonly samples: readonly Sample[];
  readonly trace: GridTrace;
  /** begin of the scenario's time */
  readonly start: SimTime;
}

/** Long enough for every response here to end: ten times the longest time constant. */
const settleS = 60;
const steadyToleranceKw = 0.001 * ratedKw;
const transientToleranceKw = 0.03 * ratedKw;
const plateauToleranceKw = 0.01 * ratedKw;
/** one step of the reference model, which counts energy with the power of the step before */
const socTolerance = 5e-4;

const micros = (seconds: number) => Math.round(seconds * 1e6);

function sampleOf(rig: OpenderRig, t: number): Sample {
  const { W, Var, St, InvSt, ConnSt } = rig.map.m701;
  const { rideThrough } = rig.device.trace.now;
  return { t, kw: W! / 1000, kvar: Var! / 1000, soc: rig.soc, state: `${St!} ${InvSt!} ${ConnSt!}`, rideThrough };
}

/** Each of so many rows as a steady state of its own, reached from nominal voltage and frequency with the same power. */
async function replaySteady(scenario: SteadyScenario, maxRows = Infinity): Promise<readonly Finding[]> {
  const rig = new OpenderRig(scenario, base);
  rig.configure(base);
  const findings: Finding[] = [];
  for (const { v, hz, p, limitPct, kw, kvar } of spread(scenario.rows, maxRows)) {
    rig.grid(1, 60);
    rig.power(p);
    if (limitPct !== undefined) rig.write({ '704': { WMaxLimPct: limitPct } });
    await rig.pass(micros(settleS));
    rig.grid(v, hz);
    await rig.pass(micros(settleS));
    const got = sampleOf(rig, 0);
    const off = Math.max(Math.abs(got.kw - kw), Math.abs(got.kvar - kvar)) / steadyToleranceKw;
    findings.push({
      off,
      what: `V ${String(v)}, ${hz} Hz, p ${p}: ${got.kw} kW ${got.kvar} kvar instead of ${kw} ${kvar} (${got.state})`,
    });
  }
  return findings;
}

function applyEvent(rig: OpenderRig, { v, hz, p, ramp, set }: StimulusEvent): void {
  if (v !== undefined || hz !== undefined) rig.grid(v, hz);
  if (ramp) rig.grid(undefined, ramp.toHz, Math.abs(ramp.toHz - rig.hz) / ramp.hzPerS);
  if (p !== undefined) rig.power(p);
  if (set) rig.write(set);
}

/** Seconds by which a transition may be off: 1 % of the time since what caused it, at least 0.1 s. */
function transitionTolerance({ events }: SeriesScenario, t: number): number {
  const cause = events.findLast((event) => event.t < t)?.t ?? 0;
  return Math.max(0.1, 0.01 * (t - cause));
}

/** Ends of ticks, microseconds: events, ends of plateaus, every `tickS`; with `rows` also where there is something to compare. */
function tickEnds(
  { endS, events, plateaus, rows }: SeriesScenario,
  tickS: number,
  withRows: boolean,
): readonly number[] {
  const ends = new Set([endS, ...events.map(({ t }) => t), ...plateaus.map(([, to]) => to)].map(micros));
  for (let i = 1; i * micros(tickS) <= micros(endS); i += 1) ends.add(i * micros(tickS));
  if (withRows) for (const [t = 0] of rows) ends.add(micros(t));
  return [...ends].filter((at) => at > 0 && at <= micros(endS)).sort((a, b) => a - b);
}

/** The ramp of the active power limit in the reference model: its rating in 15 s, here in whole percent a second. */
const limitRampPctS = 7;

function rampOf({ events, basis }: SeriesScenario): number | undefined {
  const movesLimit = events.some(({ set }) => set?.['704']?.['WMaxLimPct'] !== undefined);
  return movesLimit && basis === 'model-choice' ? limitRampPctS : undefined;
}

/** @param tickS simulated length of a tick; events end the tick in which they fall */
export async function replaySeries(scenario: SeriesScenario, tickS: number, { withRows = false } = {}): Promise<Run> {
  const rig = new OpenderRig(scenario, base);
  rig.configure(base, rampOf(scenario));
  const [first, ...later] = scenario.events;
  if (first) applyEvent(rig, first);
  await rig.pass(micros(settleS));
  rig.fill();
  const { trace } = rig.device;
  const start = trace.now.at;
  const samples = [sampleOf(rig, 0)];
  let now = 0;
  let pending: readonly StimulusEvent[] = later;
  for (const end of tickEnds(scenario, tickS, withRows)) {
    await rig.pass(end - now);
    now = end;
    samples.push(sampleOf(rig, end / 1e6));
    while (pending[0] && micros(pending[0].t) <= now) {
      applyEvent(rig, pending[0]);
      pending = pending.slice(1);
    }
  }
  return { samples, trace, start };
}

const inService: readonly string[] = ['in_service', 'ramping', 'momentary_cessation'];

/** When the device left and entered service. */
export function transitionsOf({ trace, start }: Run): readonly Transition[] {
  return trace.transitions
    .filter(({ at, from, to }) => at >= start && inService.includes(from) !== inService.includes(to))
    .map(({ at, to }) => ({ t: secondsBetween(start, at), what: inService.includes(to) ? 'enter_service' : 'trip' }));
}

function plateauFindings({ plateaus, transitions }: SeriesScenario, { samples }: Run): Finding[] {
  // a tick that ends exactly at a transition still shows the state before it
  const settled = samples.filter(({ t }) => !transitions.some(([at]) => Math.abs(t - at) <= 1e-6));
  return plateaus.flatMap(([from, to, kw, kvar]) =>
    settled
      .filter(({ t }) => t >= from - 1e-6 && t <= to + 1e-6)
      .map((got) => ({
        off: Math.max(Math.abs(got.kw - kw), Math.abs(got.kvar - kvar)) / plateauToleranceKw,
        what: `plateau ${from}..${to} at ${got.t}: ${got.kw} kW ${got.kvar} kvar instead of ${kw} ${kvar} (${got.state})`,
      })),
  );
}

/** The speed of these functions is the maker's choice (at most 10 s): a scenario of the standard binds only what they settle at. */
function choosesVarSpeed({ basis, settings }: SeriesScenario): boolean {
  const on = (id: string, name: string) => settings[id]?.[name] === 1;
  return basis === 'standard' && (on('704', 'PFWInjEna') || on('704', 'VarSetEna') || on('712', 'Ena'));
}

/** Whether a time is shortly after an event, or within the tolerance of a transition. */
function isBlind(scenario: SeriesScenario): (t: number) => boolean {
  const { events, modelStepS, transitions } = scenario;
  const blindS = Math.max(0.1, 2 * modelStepS) + 1e-6;
  return (t) =>
    events.some((event) => t >= event.t && t <= event.t + blindS) ||
    transitions.some(([at]) => Math.abs(t - at) <= transitionTolerance(scenario, at) + 1e-6);
}

function transientFindings(scenario: SeriesScenario, { samples }: Run): Finding[] {
  const { rows } = scenario;
  const blind = isBlind(scenario);
  const byTime = new Map(samples.map((sample) => [micros(sample.t), sample]));
  const varFree = choosesVarSpeed(scenario);
  return rows.flatMap(([t = 0, kw = 0, kvar = 0]) => {
    const got = byTime.get(micros(t));
    if (!got || blind(t)) return [];
    const off = Math.max(Math.abs(got.kw - kw), varFree ? 0 : Math.abs(got.kvar - kvar)) / transientToleranceKw;
    return [{ off, what: `at ${t}: ${got.kw} kW ${got.kvar} kvar instead of ${kw} ${kvar} (${got.state})` }];
  });
}

function contentFindings({ rows }: SeriesScenario, { samples }: Run): Finding[] {
  const byTime = new Map(samples.map((sample) => [micros(sample.t), sample]));
  return rows.flatMap(([t = 0, , , soc]) => {
    const got = byTime.get(micros(t))?.soc ?? null;
    if (got === null || soc === undefined) return [];
    return [{ off: Math.abs(got - soc) / socTolerance, what: `at ${t}: state of charge ${got} instead of ${soc}` }];
  });
}

const never = 1e9;
const rideThroughStates: readonly string[] = [
  'continuous_operation',
  'mandatory_operation',
  'permissive_operation',
  'momentary_cessation',
  'cease_to_energize',
];

/** The region of ride-through while in service. */
function rideThroughFindings(scenario: SeriesScenario, { samples }: Run): Finding[] {
  const blind = isBlind(scenario);
  return samples
    .filter(({ t }) => t > 0 && !blind(t))
    .flatMap(({ t, rideThrough, state }) => {
      const [, wanted] = scenario.states.findLast(([from]) => from <= t) ?? [0, 'continuous_operation'];
      if (!rideThroughStates.includes(wanted)) return [];
      return [
        { off: rideThrough === wanted ? 0 : never, what: `at ${t}: ${rideThrough} instead of ${wanted} (${state})` },
      ];
    });
}

function transitionFindings(scenario: SeriesScenario, run: Run): Finding[] {
  const seen = transitionsOf(run);
  const wanted = scenario.noTrip ? [] : scenario.transitions;
  if (seen.length !== wanted.length) {
    return [{ off: never, what: `transitions ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}` }];
  }
  return wanted.map(([t, what], i) => {
    const got = seen[i]!;
    const off = got.what === what ? Math.abs(got.t - t) / transitionTolerance(scenario, t) : never;
    return { off, what: `${got.what} at ${got.t} instead of ${what} at ${t}` };
  });
}

/** All checks of a series on one run; rows between the ticks of the run are left out. */
export function seriesFindings(scenario: SeriesScenario, run: Run): readonly Finding[] {
  return [
    ...plateauFindings(scenario, run),
    ...transientFindings(scenario, run),
    ...contentFindings(scenario, run),
    ...rideThroughFindings(scenario, run),
    ...transitionFindings(scenario, run),
  ];
}

const sameInstantS = 0.001;

/** How far two runs are apart: where both ended a tick, and in the instants of their transitions. */
export function differences(run: Run, reference: Run): readonly Finding[] {
  const byTime = new Map(reference.samples.map((sample) => [micros(sample.t), sample]));
  const apart = run.samples.flatMap((got): Finding[] => {
    const wanted = byTime.get(micros(got.t));
    if (!wanted) return [];
    const off = Math.max(Math.abs(got.kw - wanted.kw), Math.abs(got.kvar - wanted.kvar)) / steadyToleranceKw;
    const what = `at ${got.t}: ${got.kw} kW ${got.kvar} kvar ${got.state} instead of ${wanted.kw} ${wanted.kvar} ${wanted.state}`;
    return [{ off: got.state === wanted.state ? off : never, what }];
  });
  const [seen, expected] = [transitionsOf(run), transitionsOf(reference)];
  const instants = expected.map(({ t, what }, i) => {
    const got = seen[i];
    const off = got?.what === what && seen.length === expected.length ? Math.abs(got.t - t) / sameInstantS : never;
    return { off, what: `${got?.what ?? 'nothing'} at ${got?.t ?? '-'} instead of ${what} at ${t}` };
  });
  return [...apart, ...instants];
}

export interface ReplayOptions {
  /** steady states, evenly spread; default: all */
  readonly maxRows?: number;
  /** of series; default: 1.5 */
  readonly tickS?: number;
}

/** A scenario with ticks that end at its rows too. */
export async function findingsOf(
  scenario: Scenario,
  { maxRows, tickS = 1.5 }: ReplayOptions = {},
): Promise<readonly Finding[]> {
  if (scenario.kind === 'steady') return await replaySteady(scenario, maxRows);
  return seriesFindings(scenario, await replaySeries(scenario, tickS, { withRows: true }));
}

/** Findings beyond the tolerance, the worst first. */
export function failuresOf(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ off }) => !(off <= 1)).sort((a, b) => b.off - a.off);
}
