/** The scenarios that come with the program, compared with the running simulator. */
import { readFileSync } from 'node:fs';
import { bundledScenarioNames, bundledScenarioPath } from '../../config/profile/bundled.ts';
import type { BundledScenario, ComparedScenario } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import { parseYaml } from '../../core/yaml.ts';
import { needsPeer } from '../../scenario/file/needs-peer.ts';
import { duration } from '../../scenario/file/schema.ts';
import { devicesIn, misfits } from './fit.ts';
import type { FittedDevice, RequiredByEntry, RunningConfig } from './fit.ts';

type Config = Readonly<Record<string, unknown>>;

/** The head of a scenario file, which the tests of the project check. */
interface Head {
  readonly name: string;
  readonly description: string;
  readonly standard?: string;
  readonly takes: string;
  readonly config: Config & {
    readonly devices: readonly { readonly device_type: string; readonly count?: number; readonly profile?: unknown }[];
  };
}

interface LibraryEntry extends BundledScenario {
  readonly config: Config;
}

function devicesText({ devices }: Head['config']): string {
  const texts = devices.map(({ device_type: type, count = 1, profile }) =>
    [...(count === 1 ? [] : [`${count} x`]), type, ...(typeof profile === 'string' ? [profile] : [])].join(' '),
  );
  return texts.join(', ');
}

function readEntry(name: string): LibraryEntry {
  const head = parseYaml(readFileSync(bundledScenarioPath(name) ?? '', 'utf8')) as Head & Config;
  return {
    name,
    title: head.name,
    description: head.description.trim(),
    standard: head.standard ?? null,
    takesS: duration.parse(head.takes),
    devices: devicesText(head.config),
    needsPeer: needsPeer(head),
    config: head.config,
  };
}

/** Entries by name: the files do not change while the program runs. */
const readEntries = new Map<string, LibraryEntry>();

/** Yields before each file, when other work may run. */
export function* readingLibrary(): Generator<undefined, readonly LibraryEntry[]> {
  for (const name of bundledScenarioNames) {
    yield;
    if (!readEntries.has(name)) readEntries.set(name, readEntry(name));
  }
  return [...readEntries.values()];
}

/** The greatest number of devices of one scenario. */
export const maxDevicesOf = (entries: readonly LibraryEntry[]): number =>
  Math.max(0, ...entries.map(({ config }) => devicesIn(config)));

/** A bundled scenario has no invalid entry. */
const invalidEntries = () => new SimError('INTERNAL', 'a bundled scenario has an invalid device');

/** The library where no devices can be compared with it, for one reason. */
export const incomparable = (entries: readonly LibraryEntry[], reason: string): readonly ComparedScenario[] =>
  entries.map((entry) => ({ ...entry, differences: [reason] }));

/** @param required the devices of the scenarios, filled by the first comparison */
export function* comparingLibrary(
  entries: readonly LibraryEntry[],
  devices: readonly FittedDevice[],
  running: RunningConfig,
  required: RequiredByEntry,
): Generator<undefined, readonly ComparedScenario[]> {
  const compared: ComparedScenario[] = [];
  for (const { config, ...scenario } of entries) {
    yield;
    compared.push({ ...scenario, differences: yield* misfits(config, devices, running, invalidEntries, required) });
  }
  return compared;
}
