/**
 * Makes fixtures/opender from the scenarios that were run with the reference model OpenDER: stimulus and settings in
 * SunSpec terms, expected output, and the windows and instants to check.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Pair = readonly [number, number];
export type SettingValue = number | string | { readonly PF: number; readonly Ext: string } | readonly Pair[];
/** by model and point; voltages in percent of VNom, points of curve sets without their set */
export type ModelSettings = Readonly<Record<string, Readonly<Record<string, SettingValue>>>>;
export type Voltage = number | readonly [number, number, number];

/** Behaviour outside the registers. */
export interface Choices {
  readonly voltageMeasure?: 'positive_sequence';
  readonly lowPowerVars?: 'full';
  readonly cessationReturnS?: number;
  readonly cessationRampS?: number;
  /** the drawn random part of the enter-service delay */
  readonly randomDelayS?: number;
}

export interface Storage {
  readonly capacityWh: number;
  readonly soc: number;
  readonly socMin: number;
  readonly socMax: number;
  /** all losses fall on charging */
  readonly chargeEfficiency: number;
  /** time in which the power moves by its rating; 0 = at once */
  readonly powerRampS: number;
}

/** At `t` seconds; absent members keep their values. */
export interface StimulusEvent {
  readonly t: number;
  readonly v?: Voltage;
  readonly hz?: number;
  /** of rated power: available for PV, demanded for storage */
  readonly p?: number;
  readonly ramp?: { readonly toHz: number; readonly hzPerS: number };
  readonly set?: ModelSettings;
}

interface Common {
  readonly id: string;
  readonly title: string;
  readonly device: 'PV' | 'BESS';
  readonly basis: 'standard' | 'model-choice';
  /** differences from base.json */
  readonly settings: ModelSettings;
  readonly choices?: Choices;
}

export interface SteadyRow {
  readonly v: Voltage;
  readonly hz: number;
  readonly p: number;
  /** 704.WMaxLimPct of this row */
  readonly limitPct?: number;
  readonly kw: number;
  readonly kvar: number;
}

export interface SteadyScenario extends Common {
  readonly kind: 'steady';
  readonly rows: readonly SteadyRow[];
}

export interface SeriesScenario extends Common {
  readonly kind: 'series';
  readonly storage?: Storage;
  readonly endS: number;
  readonly modelStepS: number;
  readonly events: readonly StimulusEvent[];
  /** [t, kW, kvar], with storage also the state of charge */
  readonly rows: readonly (readonly number[])[];
  /** [from, to, kW, kvar] */
  readonly plateaus: readonly (readonly [number, number, number, number])[];
  readonly transitions: readonly (readonly [number, 'trip' | 'enter_service'])[];
  readonly noTrip: boolean;
  /** [t, state] of the reference model from `t` on */
  readonly states: readonly (readonly [number, string])[];
}

export type Scenario = SteadyScenario | SeriesScenario;

interface Source {
  readonly id: string;
  readonly title: string;
  readonly device: 'PV' | 'BESS';
  readonly basis: 'standard' | 'model-choice';
  readonly effective_settings: Readonly<Record<string, number | string | boolean>>;
  readonly sunspec_settings: ModelSettings;
  readonly stimulus: {
    readonly type: 'steady' | 'series';
    readonly t_end_s?: number;
    readonly model_step_s?: number;
    readonly events?: readonly {
      readonly t: number;
      readonly v?: Voltage;
      readonly f?: number;
      readonly p?: number;
      readonly ramp_f?: { readonly to: number; readonly rate: number };
      readonly set?: Readonly<Record<string, number | boolean>>;
    }[];
  };
  readonly result: {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (number | string | Voltage)[])[];
    readonly transitions?: readonly (readonly [number, string, string])[];
  };
  readonly checks?: {
    readonly plateaus: { readonly rows: SeriesScenario['plateaus'] };
    readonly transitions: { readonly rows: SeriesScenario['transitions'] };
    readonly no_trip: boolean;
  };
}

/** Rows of a constant stretch that stay all the same: one in so many. */
const keepEvery = 20;

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function plainNames(settings: ModelSettings): ModelSettings {
  return Object.fromEntries(
    Object.entries(settings).map(([model, points]) => [
      model,
      Object.fromEntries(Object.entries(points).map(([name, value]) => [name.replace(/_pct$/, ''), value])),
    ]),
  );
}

/** The value that most scenarios have, for every point. */
function commonSettings(all: readonly ModelSettings[]): ModelSettings {
  const [first = {}] = all;
  return Object.fromEntries(
    Object.entries(first).map(([model, points]) => [
      model,
      Object.fromEntries(Object.keys(points).map((name) => [name, mostFrequent(all.map((one) => one[model]?.[name]))])),
    ]),
  );
}

function mostFrequent(values: readonly (SettingValue | undefined)[]): SettingValue {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(JSON.stringify(value), (counts.get(JSON.stringify(value)) ?? 0) + 1);
  const [best = ['null', 0]] = [...counts].sort((a, b) => b[1] - a[1]);
  return JSON.parse(best[0]) as SettingValue;
}

function differing(settings: ModelSettings, base: ModelSettings): ModelSettings {
  const models = Object.entries(settings).map(
    ([model, points]) =>
      [
        model,
        Object.fromEntries(Object.entries(points).filter(([name, value]) => !sameJson(value, base[model]?.[name]))),
      ] as const,
  );
  return Object.fromEntries(models.filter(([, points]) => Object.keys(points).length > 0));
}

function choicesOf(of: Source['effective_settings']): Choices {
  const seconds = (name: string) => (typeof of[name] === 'number' ? of[name] : 0);
  return {
    ...(of['NP_V_MEAS_UNBALANCE'] === 'POS' && { voltageMeasure: 'positive_sequence' }),
    ...(of['NP_Q_CAPABILITY_LOW_P'] === 'SAME' && { lowPowerVars: 'full' }),
    ...(seconds('MC_RETURN_T') > 0 && { cessationReturnS: seconds('MC_RETURN_T') }),
    ...(seconds('NP_RT_RAMP_UP_TIME') > 0 && { cessationRampS: seconds('NP_RT_RAMP_UP_TIME') }),
    ...(seconds('ES_RANDOMIZED_DELAY') > 0 && { randomDelayS: seconds('ES_RANDOMIZED_DELAY_ACTUAL') }),
  };
}

function storageOf(of: Source['effective_settings']): Storage {
  const value = (name: string, fallback: number) => (typeof of[name] === 'number' ? of[name] : fallback);
  return {
    capacityWh: value('NP_BESS_CAPACITY', 0),
    soc: value('SOC_INIT', 0.5),
    socMin: value('NP_BESS_SOC_MIN', 0),
    socMax: value('NP_BESS_SOC_MAX', 1),
    chargeEfficiency: value('NP_EFFICIENCY', 1),
    powerRampS: value('NP_BESS_P_RAMP_TIME', 0),
  };
}

/** The settings that scenarios change under way, as the points that hold them. */
function settingAsPoints([name, value]: readonly [string, number | boolean]): ModelSettings {
  const percent = Math.round(Number(value) * 1e4) / 100;
  switch (name) {
    case 'AP_LIMIT':
      return { '704': { WMaxLimPct: percent } };
    case 'CONST_Q':
      return { '704': { VarSetPct: percent } };
    case 'ES_PERMIT_SERVICE':
      return { '703': { ES: Number(value) } };
    default:
      throw new Error(`no point is known for the setting ${name}`);
  }
}

function eventOf({ t, v, f, p, ramp_f: ramp, set }: NonNullable<Source['stimulus']['events']>[number]): StimulusEvent {
  const sets = Object.entries(set ?? {}).map(settingAsPoints);
  return {
    t,
    ...(v !== undefined && { v }),
    ...(f !== undefined && { hz: f }),
    ...(p !== undefined && { p }),
    ...(ramp && { ramp: { toHz: ramp.to, hzPerS: ramp.rate } }),
    ...(sets.length > 0 && { set: Object.assign({}, ...sets) as ModelSettings }),
  };
}

/** Drops rows inside stretches without a change of output. */
function thinned(rows: SeriesScenario['rows']): SeriesScenario['rows'] {
  const sameOutput = (a: readonly number[] | undefined, b: readonly number[]) =>
    a !== undefined && a[1] === b[1] && a[2] === b[2];
  return rows.filter((row, i) => i % keepEvery === 0 || !sameOutput(rows[i - 1], row) || !sameOutput(rows[i + 1], row));
}

function steadyRows({ result: { columns, rows } }: Source): SteadyRow[] {
  const cell = (row: Source['result']['rows'][number], ...names: readonly string[]) =>
    row[columns.findIndex((name) => names.includes(name))];
  return rows.map((row) => {
    const limit = cell(row, 'AP_LIMIT');
    return {
      v: cell(row, 'v_pu') as Voltage,
      hz: Number(cell(row, 'f_hz')),
      p: Number(cell(row, 'p_avl_pu', 'p_dem_pu')),
      ...(limit !== undefined && { limitPct: Math.round(Number(limit) * 1e4) / 100 }),
      kw: Number(cell(row, 'p_kw')),
      kvar: Number(cell(row, 'q_kvar')),
    };
  });
}

function seriesPart(source: Source): Omit<SeriesScenario, keyof Common> {
  const { stimulus, result, checks, effective_settings: settings } = source;
  const places = ['t_s', 'p_kw', 'q_kvar', 'soc_pu']
    .map((name) => result.columns.indexOf(name))
    .filter((at) => at >= 0);
  return {
    kind: 'series',
    ...('NP_BESS_CAPACITY' in settings && { storage: storageOf(settings) }),
    endS: stimulus.t_end_s ?? 0,
    modelStepS: stimulus.model_step_s ?? 0,
    events: (stimulus.events ?? []).map(eventOf),
    rows: thinned(result.rows.map((row) => places.map((at) => Number(row[at])))),
    plateaus: checks?.plateaus.rows ?? [],
    transitions: checks?.transitions.rows ?? [],
    noTrip: checks?.no_trip ?? false,
    states: (result.transitions ?? []).map(([t, , to]) => [t, to.toLowerCase().replaceAll(' ', '_')]),
  };
}

function compact(source: Source, base: ModelSettings): Scenario {
  const { id, title, device, basis } = source;
  const choices = choicesOf(source.effective_settings);
  const common: Common = {
    id,
    title,
    device,
    basis,
    settings: differing(plainNames(source.sunspec_settings), base),
    ...(Object.keys(choices).length > 0 && { choices }),
  };
  if (source.stimulus.type === 'series') return { ...common, ...seriesPart(source) };
  return { ...common, kind: 'steady', rows: steadyRows(source) };
}

const lineWidth = 160;

/** JSON with everything on one line that fits. */
function jsonText(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value);
  if (flat.length + indent.length <= lineWidth || typeof value !== 'object' || value === null) return flat;
  const inner = `${indent} `;
  const lines = Array.isArray(value)
    ? value.map((item) => inner + jsonText(item, inner))
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${jsonText(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open ?? ''}\n${lines.join(',\n')}\n${indent}${close ?? ''}`;
}

/** Name and text of every fixture file: base.json, and one list of scenarios for each class. */
export function compactAll(folder: string): ReadonlyMap<string, string> {
  const directory = join(folder, 'scenarios');
  const sources = readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Source);
  const base = commonSettings(sources.map((source) => plainNames(source.sunspec_settings)));
  const classes = new Map<string, Scenario[]>();
  for (const source of sources) {
    const name = source.id.replace(/-[A-Z]$/, '');
    classes.set(name, [...(classes.get(name) ?? []), compact(source, base)]);
  }
  return new Map([
    ['base.json', `${jsonText(base)}\n`],
    ...[...classes].map(([name, scenarios]) => [`${name}.json`, `${jsonText(scenarios)}\n`] as const),
  ]);
}

/** Names of fixture files that are missing, superfluous or differ from `files`. */
export function differingFixtures(files: ReadonlyMap<string, string>, target: string): readonly string[] {
  const present = readdirSync(target).filter((name) => name.endsWith('.json'));
  const changed = [...files].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(target, name), 'utf8') !== text,
  );
  return [...changed.map(([name]) => name), ...present.filter((name) => !files.has(name))];
}

function main(args: readonly string[]): number {
  const [folder, ...others] = args.filter((arg) => !arg.startsWith('--'));
  const flags = args.filter((arg) => arg.startsWith('--'));
  if (folder === undefined || others.length > 0 || flags.some((flag) => flag !== '--check')) {
    process.stderr.write('usage: compact-opender.ts DIR [--check]\n  DIR holds scenarios/*.json\n');
    return 2;
  }
  const target = fileURLToPath(new URL('../fixtures/opender/', import.meta.url));
  const files = compactAll(folder);
  if (flags.length === 0) {
    mkdirSync(target, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(target, name), text);
    return 0;
  }
  const names = differingFixtures(files, target);
  for (const name of names) process.stderr.write(`fixtures/opender/${name} differs from the scenarios\n`);
  return names.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
