/** `derbench list`: what comes with the program, by name and description. */
import { readFileSync } from 'node:fs';
import {
  bundledEvseProfileNames,
  bundledExampleNames,
  bundledExamplePath,
  bundledFaultProfileNames,
  bundledFaultProfilePath,
  bundledProfileNames,
  bundledProfilePath,
  bundledProxyMapNames,
  bundledProxyMapPath,
  bundledScenarioNames,
  bundledScenarioPath,
} from '../../config/profile/bundled.ts';
import { SimError } from '../../core/errors.ts';
import { parseYaml } from '../../core/yaml.ts';
import { gridEventLibrary } from '../../der/surroundings/grid/events.ts';
import { faultKinds } from '../../fault-kinds/protocols.ts';
import { printable, table } from '../../client-commands/output.ts';
import { unknown } from './arguments.ts';
import type { GroupDef, ModelDef, PointDef } from '../../sunspec/map/types.ts';
import { classicModels, servedModels } from '../../sunspec/models/served.ts';

/** One entry of a list, as `--json` prints it. */
interface Entry {
  readonly name: string;
  readonly text: string;
}

interface Head {
  readonly name?: string;
  readonly title?: string;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

/** Entries of files by title, by name, or by the comment below the line about the schema. */
function fileEntries(names: readonly string[], pathOf: (name: string) => string | undefined): readonly Entry[] {
  return names.map((name) => {
    const text = readFileSync(pathOf(name) ?? '', 'utf8');
    const { title, name: label } = parseYaml(text) as Head;
    const [, comment = ''] = /^#(?! yaml-language-server)\s*(.*)$/m.exec(text) ?? [];
    return { name, text: oneLine(title ?? label ?? comment) };
  });
}

const events = (): readonly Entry[] =>
  gridEventLibrary(60).map(({ name, description, parameters }) => {
    const texts = parameters.map((parameter) => `${parameter.name}=${String(parameter.default)}`);
    return { name, text: `${description} (${texts.join(', ')})` };
  });

const faults = (): readonly Entry[] =>
  faultKinds.map(({ protocol, kind, summary }) => ({ name: `${protocol} ${kind}`, text: oneLine(summary) }));

const models: readonly ModelDef[] = [...servedModels, ...classicModels];

function pointEntry(prefix: string, { name, label, units, access, symbols }: PointDef): Entry {
  const words = symbols === undefined ? '' : `: ${Object.keys(symbols).join(', ')}`;
  const unit = units === undefined ? '' : `, ${units}`;
  return { name: `${prefix}${name}`, text: `${access === 'RW' ? 'RW' : 'R '}  ${label}${unit}${words}` };
}

function groupEntries(prefix: string, { name, points, groups = [] }: GroupDef): readonly Entry[] {
  const inner = `${prefix}${name}[0].`;
  return [...points.map((point) => pointEntry(inner, point)), ...groups.flatMap((group) => groupEntries(inner, group))];
}

/** @throws SimError CONFIG_INVALID for a model that no device serves */
function points(model: string | undefined): readonly Entry[] {
  if (model === undefined)
    return models.map(({ id, name, label }) => ({ name: String(id), text: `${name}: ${label}` }));
  const definition = models.find(({ id }) => String(id) === model);
  if (definition === undefined)
    throw new SimError(
      'CONFIG_INVALID',
      `derbench list points: no device serves model ${JSON.stringify(model)}. Models: ${models.map(({ id }) => id).join(', ')}.`,
    );
  const { id, points: own, groups = [] } = definition;
  const prefix = `${id}.`;
  return [...own.map((point) => pointEntry(prefix, point)), ...groups.flatMap((group) => groupEntries(prefix, group))];
}

const lists: Readonly<Record<string, (word?: string) => readonly Entry[]>> = {
  scenarios: () => fileEntries(bundledScenarioNames, bundledScenarioPath),
  profiles: () => fileEntries([...bundledProfileNames, ...bundledEvseProfileNames], bundledProfilePath),
  events,
  faults,
  sets: () => fileEntries(bundledFaultProfileNames, bundledFaultProfilePath),
  maps: () => fileEntries(bundledProxyMapNames, bundledProxyMapPath),
  configs: () => fileEntries(bundledExampleNames, bundledExamplePath),
  points,
};
export const listNames: readonly string[] = Object.keys(lists);

/**
 * The entries of a list.
 * @param words name of the list; for points also a model
 * @throws SimError CONFIG_INVALID
 */
export function listed([name = '', word, ...more]: readonly string[]): readonly Entry[] {
  const list = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (list === undefined)
    throw new SimError(
      'CONFIG_INVALID',
      `derbench list: ${name === '' ? 'its name is missing.' : unknown('list', name, listNames)} ` +
        `Lists: ${listNames.join(', ')}.`,
    );
  if (more.length > 0 || (word !== undefined && name !== 'points'))
    throw new SimError(
      'CONFIG_INVALID',
      `derbench list: ${JSON.stringify([word, ...more].join(' '))} has no meaning there. Usage: derbench list ${name}.`,
    );
  return list(word);
}

/** Lines of a list. */
export function listLines(entries: readonly Entry[]): readonly string[] {
  const columns = [
    { head: 'name', cell: ({ name }: Entry) => name },
    { head: 'description', cell: ({ text }: Entry) => text },
  ];
  return table(columns, entries).map(printable);
}
