/** `derbench init`: a first configuration by a few questions, and a first scenario. */
import { writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Arguments } from '../../client-commands/call.ts';
import { systemIo } from '../../config/layers/files.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { SimError } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { packageFile } from '../../core/package-files.ts';
import { fileReason } from '../../core/text-file.ts';

/** Types of devices by the words of `--kinds`. */
const types = {
  PV: 'PV-3Phase',
  Batt: 'Batt-3Phase',
  Wind: 'Wind-T4-3Phase',
  Fuelcell: 'Fuelcell-3Phase',
  Hybrid: 'HybridDC-3Phase',
  EVSE: 'EVSE',
} as const;
type Kind = keyof typeof types;

const protocols = ['modbus', 'dnp3', 'ocpp'] as const;
const frequencies = ['50', '60'] as const;
/** Kinds whose ratings follow the question; the profiles of the others have theirs. */
const rated: ReadonlySet<Kind> = new Set(['PV', 'Batt']);

/** A question, with the flag that answers it. */
interface Question {
  readonly flag: string;
  readonly text: string;
  readonly preset: string;
}

export const questions: readonly Question[] = [
  { flag: '--kinds', text: `Devices, as PV=2,Batt=1 of ${Object.keys(types).join(', ')}`, preset: 'PV=1' },
  { flag: '--rating', text: 'Rating of a PV inverter or battery, kW', preset: '10' },
  { flag: '--frequency', text: 'Nominal frequency of the grid, 50 or 60 Hz', preset: '60' },
  { flag: '--protocols', text: `Protocols of ${protocols.join(', ')}`, preset: 'modbus' },
  { flag: '--mb-port', text: 'Modbus TCP port of the first device', preset: '8502' },
  { flag: '--http-port', text: 'Port of the dashboard and the HTTP interface', preset: '8111' },
];

/** Asks a question; null: there is no terminal, so that the preset applies. */
export type Ask = ((text: string, preset: string) => Promise<string>) | null;

type Answers = ReadonlyMap<string, string>;

/** Answers of flags, then those of a person, then presets. */
async function answersOf({ options }: Arguments, ask: Ask): Promise<Answers> {
  const answers = new Map<string, string>();
  for (const { flag, text, preset } of questions) {
    const given = options.get(flag)?.[0];
    const asked = given === undefined && ask !== null && !options.has('--yes') ? await ask(text, preset) : '';
    answers.set(flag, given ?? (asked.trim() || preset));
  }
  return answers;
}

function refuse(flag: string, given: string, allowed: string): never {
  throw new SimError('CONFIG_INVALID', `derbench init: ${flag}: given ${JSON.stringify(given)}; allowed: ${allowed}`);
}

function numberIn(flag: string, text: string, min: number, max: number): number {
  const value = text === '' ? Number.NaN : Number(text);
  if (!(value >= min && value <= max)) refuse(flag, text, `a number from ${min} to ${max}`);
  return value;
}

function kindsOf(text: string): readonly (readonly [kind: Kind, count: number])[] {
  const names = Object.keys(types);
  return text.split(',').map((word) => {
    const [name = '', count = '1'] = word.trim().split('=');
    const kind = names.find((each) => each.toLowerCase() === name.toLowerCase());
    if (kind === undefined) refuse('--kinds', name, `${names.join(', ')}${didYouMean(name, names)}`);
    return [kind as Kind, numberIn('--kinds', count, 1, 1000)] as const;
  });
}

function wordsIn(flag: string, text: string, allowed: readonly string[]): readonly string[] {
  const words = text.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !allowed.includes(word));
  if (unknown !== undefined) refuse(flag, unknown, `${allowed.join(', ')}${didYouMean(unknown, allowed)}`);
  return words;
}

function deviceLines([kind, count]: readonly [Kind, number], ratingKw: number, frequency: string): readonly string[] {
  const watts = Math.round(ratingKw * 1000);
  const volts = frequency === '50' ? 400 : 480;
  return [
    `  - device_type: ${types[kind]}`,
    `    name: ${kind}`,
    ...(count === 1 ? [] : [`    count: ${count}`]),
    ...(rated.has(kind)
      ? ['    profile:', '      models:', `        "702": { WMaxRtg: ${watts}, VAMaxRtg: ${watts}, VNomRtg: ${volts} }`]
      : []),
  ];
}

function schemaLine(file: string, name: string): string {
  const path = relative(dirname(resolve(file)), packageFile(`config/schema/${name}.schema.json`));
  return `# yaml-language-server: $schema=${path.replaceAll('\\', '/')}`;
}

/** Text of a configuration. @throws SimError CONFIG_INVALID */
export function configText(file: string, answers: Answers): string {
  const of = (flag: string) => answers.get(flag) ?? '';
  const ratingKw = numberIn('--rating', of('--rating'), 0.5, 5000);
  const [frequency = ''] = wordsIn('--frequency', of('--frequency'), frequencies);
  const chosen = wordsIn('--protocols', of('--protocols'), protocols);
  return [
    schemaLine(file, 'config'),
    `# derbench --config ${file}`,
    `website_port: ${numberIn('--http-port', of('--http-port'), 0, 65_535)}`,
    ...(chosen.includes('modbus')
      ? [`mb_port: ${numberIn('--mb-port', of('--mb-port'), 0, 65_535)}`]
      : ['mb_enable: false']),
    ...(chosen.includes('dnp3') ? ['dnp3_enable: true'] : []),
    ...(chosen.includes('ocpp') ? ['ocpp_enable: true', 'ocpp_csms_url: ws://127.0.0.1:8180/ocpp'] : []),
    'grid:',
    `  nominal_frequency_hz: ${frequency}`,
    'devices:',
    ...kindsOf(of('--kinds')).flatMap((kind) => deviceLines(kind, ratingKw, frequency)),
    '',
  ].join('\n');
}

/** Text of a scenario that passes. */
const scenarioText = (file: string) => `${schemaLine(file, 'scenario')}
# derbench run ${file}
name: A limit over REST
description: The active power follows 704.WMaxLimPct.
config:
  devices:
    - { device_type: PV-3Phase, profile: 10kW-3Phase }
steps:
  - name: Half of the power
    environment: { irradiance_w_m2: 1200, ambient_temperature_c: 10 }
    registers: { 704: { WMaxLimPct: 50, WMaxLimPctEna: ENABLED } }
    expect: { point: 701.W, equals: 5000, tolerance: 50, within: 30 s }
`;

/** Refuses a configuration that would not start. @throws SimError CONFIG_INVALID */
function checkConfig(file: string, text: string): void {
  const path = resolve(file);
  loadConfig(
    ['--config', file],
    {},
    {
      isFile: (each) => each === path || systemIo.isFile(each),
      readFile: (each, maxBytes) => (each === path ? text : systemIo.readFile(each, maxBytes)),
    },
  );
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const reason = isThere ? 'exists already; give another name' : `cannot be written: ${fileReason(error)}`;
    throw new SimError('CONFIG_INVALID', `derbench init: ${file} ${reason}`);
  }
}

/**
 * Writes a file.
 * @param program words that start the program, in the form a person used
 * @returns lines about it
 * @throws SimError CONFIG_INVALID
 */
export async function init(given: Arguments, ask: Ask, program: string): Promise<readonly string[]> {
  const [first, second, ...more] = given.words;
  const isScenario = first === 'scenario';
  const file = (isScenario ? second : first) ?? (isScenario ? 'scenario.yaml' : 'derbench.yaml');
  if (more.length > 0 || (!isScenario && second !== undefined))
    throw new SimError('CONFIG_INVALID', 'derbench init: one file at most; usage: derbench init [scenario] [FILE]');
  if (isScenario) {
    write(file, scenarioText(file));
    return [`${file} is written. Run it: ${program} run ${file}`];
  }
  const text = configText(file, await answersOf(given, ask));
  checkConfig(file, text);
  write(file, text);
  return [`${file} is written and valid. Start it: ${program} --config ${file}`];
}
