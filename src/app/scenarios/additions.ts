/** Scenarios as requests name them: by content, by YAML text, or as one that comes with the program. */
import { bundledScenarioNames, bundledScenarioPath } from '../../config/profile/bundled.ts';
import type { ScenarioAddition, ScenarioText } from '../../contract/scenarios.ts';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { LoopShare } from '../../core/turns.ts';
import type { Source } from '../../scenario/file/source.ts';
import type { ScenarioCode } from './code.ts';
import type { ShelvedScenario } from './shelf.ts';

/** Opens the source of a scenario. @throws SimError CONFIG_INVALID, COMMAND_BAD_VALUE */
export type OpenSource = (code: ScenarioCode) => Source | Promise<Source>;

/** Name of a YAML text in issues. */
const yamlLabel = 'yaml';

/** @throws SimError COMMAND_BAD_VALUE */
export function bundledPath(name: string): string {
  const path = bundledScenarioPath(name);
  if (path !== undefined) return path;
  const detail = `no bundled scenario has this name${didYouMean(name, bundledScenarioNames)}`;
  throw new SimError('COMMAND_BAD_VALUE', 'no such scenario', [
    { name: '/bundled', detail, allowed: bundledScenarioNames },
  ]);
}

/** @param share in which a text of thousands of lines is parsed */
export function openerOf(addition: ScenarioAddition, share: LoopShare): OpenSource {
  if ('bundled' in addition) return (code) => code.sourceOfFile(bundledPath(addition.bundled));
  if ('yaml' in addition) return (code) => share.runInParts(code.readingSource(addition.yaml, yamlLabel));
  return (code) => code.sourceOfRequest(addition.content);
}

/** A scenario as it is kept. */
export function keptForm(addition: ScenarioAddition): Pick<ShelvedScenario, 'content' | 'isYaml' | 'bundled'> {
  if ('bundled' in addition) return { content: null, bundled: addition.bundled };
  if ('yaml' in addition) return { content: addition.yaml, isYaml: true, bundled: null };
  return { content: JSON.stringify(addition.content), bundled: null };
}

/** The text of a request; null: it has the name of a bundled scenario. */
export function textOf(addition: ScenarioAddition): ScenarioText | null {
  if ('bundled' in addition) return null;
  if ('yaml' in addition) return { content: addition.yaml, isYaml: true };
  return { content: JSON.stringify(addition.content), isYaml: false };
}

export function additionOf({ content, isYaml, bundled }: ShelvedScenario): ScenarioAddition {
  if (content === null) return { bundled: bundled ?? '' };
  return isYaml === true ? { yaml: content } : { content: JSON.parse(content) as unknown };
}

/** Turns an error of a scenario into an error of the request. @param issueOf names an issue by its place in the body */
export function refused(error: unknown, issueOf: (issue: Issue) => Issue): unknown {
  if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') return error;
  return new SimError('COMMAND_BAD_VALUE', error.message, error.issues.map(issueOf));
}

/** Names an issue by its place in the body, or in the text or file with the line. */
export function ofScenario({ name, detail }: Issue): Issue {
  if (name === '' || name.startsWith('/')) return { name: `/scenario${name}`, detail };
  const [, line, key] = /^yaml(?::(\d+))?(?:: (.*))?$/s.exec(name) ?? [];
  const place = [...(line === undefined ? [] : [`line ${line}`]), ...(key === undefined ? [] : [key])].join(': ');
  if (name.startsWith(yamlLabel)) return { name: '/yaml', detail: place === '' ? detail : `${place}: ${detail}` };
  return { name: '/bundled', detail: `${name}: ${detail}` };
}

/** Names an issue by the parameters of the request. */
export const ofParameters = ({ name, detail }: Issue): Issue =>
  /(^|\W)parameters$/.test(name)
    ? { name: '/parameters', detail }
    : { name: '/parameters', detail: `${name}: ${detail}` };
