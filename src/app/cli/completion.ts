/** Completion scripts: static text with all names in it, so that no process runs at TAB. */
import { unknown } from './arguments.ts';
import {
  bundledEvseProfileNames,
  bundledExampleNames,
  bundledProfileNames,
  bundledScenarioNames,
} from '../../config/profile/bundled.ts';
import { knownSpellings } from '../../config/layers/flags.ts';
import { gridEventNames } from '../../contract/environment.ts';
import { SimError } from '../../core/errors.ts';
import { faultKinds } from '../../fault-kinds/protocols.ts';
import { topics } from './short-help.ts';
import type { Command, NameList } from './table/command.ts';
import { commandNames, commands, optionsOf } from './table/commands.ts';

const namesOf: Readonly<Record<Exclude<NameList, 'files'>, () => readonly string[]>> = {
  scenarios: () => bundledScenarioNames,
  events: () => [...gridEventNames, 'normal'],
  faults: () => [...new Set(faultKinds.map(({ kind }) => kind)), 'list', 'clear'],
  configs: () => bundledExampleNames,
  topics: () => [...Object.keys(topics), ...commandNames],
};

/** Names after flags of the simulator. */
const flagNames = {
  '--config': namesOf.configs,
  '-f': () => bundledProfileNames,
  '--evse_profile': () => bundledEvseProfileNames,
} as const;

const words = (names: readonly string[]) => names.join(' ');

/** Words that complete an argument; null: files. */
function argumentWords({ completes }: Command): readonly string[] | null {
  if (completes === undefined) return [];
  if (completes === 'files') return null;
  return typeof completes === 'string' ? namesOf[completes]() : completes;
}

/** Everything that may follow a command; scenarios are files too. */
function wordsAfter(command: Command): readonly string[] {
  const flags = command.runs === 'flags' ? knownSpellings : optionsOf(command).map(({ flag }) => flag);
  return [...(argumentWords(command) ?? []), ...flags];
}

const takesFiles = ({ completes }: Command) => completes === 'files' || completes === 'scenarios';

function bash(): string {
  const cases = commands.map(
    (command) =>
      `    ${command.name}) words=${JSON.stringify(words(wordsAfter(command)))}${takesFiles(command) ? '; files=yes' : ''} ;;`,
  );
  const values = Object.entries(flagNames).map(
    ([flag, names]) => `    ${flag}) words=${JSON.stringify(words(names()))}; files=yes ;;`,
  );
  return [
    '# completion of derbench for bash: source <(derbench completion bash)',
    '_derbench() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words="" files=""',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    `    *) words=${JSON.stringify(words(knownSpellings))} ;;`,
    '  esac',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words=${JSON.stringify(words([...commandNames, ...knownSpellings]))}; fi`,
    '  case "$previous" in',
    ...values,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$current")); fi',
    '}',
    'complete -F _derbench derbench',
  ].join('\n');
}

function zsh(): string {
  const cases = commands.map(
    (command) =>
      `    ${command.name}) compadd -- ${words(wordsAfter(command))}${takesFiles(command) ? '; _files' : ''} ;;`,
  );
  const values = Object.entries(flagNames).map(
    ([flag, names]) => `    ${flag}) compadd -- ${words(names())}; _files; return ;;`,
  );
  const descriptions = commands.map(({ name, line }) => `${name}:${line.replaceAll(/[':]/g, '')}`);
  return [
    '#compdef derbench',
    '# completion of derbench for zsh: derbench completion zsh > a folder of $fpath, as _derbench',
    '_derbench() {',
    '  case "$words[CURRENT-1]" in',
    ...values,
    '  esac',
    '  if (( CURRENT == 2 )); then',
    `    local -a names=(${descriptions.map((text) => `'${text}'`).join(' ')})`,
    "    _describe 'command' names",
    `    compadd -- ${words(knownSpellings)}`,
    '    return',
    '  fi',
    '  case "$words[2]" in',
    ...cases,
    `    *) compadd -- ${words(knownSpellings)} ;;`,
    '  esac',
    '}',
    'if [ "$funcstack[1]" = _derbench ]; then _derbench "$@"; else compdef _derbench derbench; fi',
  ].join('\n');
}

function fish(): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const rows = commands.flatMap((command) => [
    `complete -c derbench -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(command.line)}`,
    `complete -c derbench -n '__fish_seen_subcommand_from ${command.name}' ` +
      `${takesFiles(command) ? '' : '-f '}-a ${quoted(words(wordsAfter(command)))}`,
  ]);
  const values = Object.entries(flagNames).map(
    ([flag, names]) =>
      `complete -c derbench ${flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`} -r -a ${quoted(words(names()))}`,
  );
  return ['# completion of derbench for fish: derbench completion fish | source', ...rows, ...values].join('\n');
}

const scripts = { bash, zsh, fish } as const;

/** @param given words after `completion` @throws SimError CONFIG_INVALID */
export function completionScript([shell = '', ...more]: readonly string[]): string {
  const [names, given] = [Object.keys(scripts), [shell, ...more].join(' ')];
  if (more.length > 0 || !Object.hasOwn(scripts, shell))
    throw new SimError(
      'CONFIG_INVALID',
      `derbench completion: ${shell === '' ? 'the shell is missing.' : unknown('shell', given, names)} ` +
        `Shells: ${names.join(', ')}.`,
    );
  return scripts[shell as keyof typeof scripts]();
}
