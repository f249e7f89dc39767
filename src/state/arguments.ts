/** The command line of `derbench state`. */
import { parseArgs } from 'node:util';
import { SimError, givenAllowed } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';

const actions = ['show', 'export', 'import', 'reset'] as const;
type Action = (typeof actions)[number];

export interface StateArguments {
  readonly action: Action;
  readonly folder: string;
  /** the document of `import` */
  readonly file: string;
  /** null: the whole simulator */
  readonly device: number | null;
  readonly asJson: boolean;
  /** null: standard output */
  readonly output: string | null;
  readonly withSecrets: boolean;
  readonly isConfirmed: boolean;
}

export const stateHelp = `Usage: derbench state show DIR [--device K] [--json]
       derbench state export DIR [--device K] [--output FILE] [--with_secrets]
       derbench state import DIR FILE [--device K]
       derbench state reset DIR [--device K] --yes

Works on the folder of --state_dir while no simulator has it; show may also read beside a running one.

  show            size, last write, and slots, entries and octets of each part of the simulator
  export          the state as one JSON document
  import          replaces the state by that of a document: whole, or not at all
  reset           empties the state; snapshots stay
  --device K      only what belongs to the device of this index
  --json          show as JSON
  --output FILE   file of the document, readable by its owner alone (default: standard output)
  --with_secrets  with passwords and private keys, which are left out otherwise
  --yes           confirms reset

Exit code: 0 done, 2 wrong use, a folder in use or a file that does not fit; then nothing is changed. 1 another failure.`;

const flags = {
  device: { type: 'string' },
  json: { type: 'boolean' },
  output: { type: 'string' },
  with_secrets: { type: 'boolean' },
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Actions that have a flag. */
const flagsOf: Readonly<Record<Action, readonly string[]>> = {
  show: ['device', 'json'],
  export: ['device', 'output', 'with_secrets'],
  import: ['device'],
  reset: ['device', 'yes'],
};

function wrong(detail: string): SimError {
  return new SimError('CONFIG_INVALID', `${detail}; derbench state --help explains the arguments`);
}

/** Long names may be written with dashes, as everywhere. */
const underscored = (word: string) => word.replace(/^--[^=]*/, (name) => `--${name.slice(2).replaceAll('-', '_')}`);

/** @throws SimError CONFIG_INVALID */
function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: words.map(underscored), options: flags, allowPositionals: true });
  } catch (error) {
    // Node's words name the flag and what is wrong with it, then give advice on positional arguments
    throw wrong((error as Error).message.replace(/\. .*$/s, ''));
  }
}

function isAction(word: string | undefined): word is Action {
  return (actions as readonly (string | undefined)[]).includes(word);
}

function deviceOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw wrong(`--device: ${givenAllowed(text, 'the index of a device, from 0 on')}`);
  return Number(text);
}

/** @returns null: help is wanted @throws SimError CONFIG_INVALID */
export function parseStateArguments(words: readonly string[]): StateArguments | null {
  const { values, positionals } = parsed(words);
  if (values.help === true) return null;
  const [action, folder, ...others] = positionals;
  if (!isAction(action)) {
    const hint = action === undefined ? '' : didYouMean(action, actions);
    throw wrong(`the first word: ${givenAllowed(action, actions.join(', '))}${hint}`);
  }
  const [file = '', ...rest] = action === 'import' ? others : ['', ...others];
  if (folder === undefined || folder === '') throw wrong('DIR is missing: the folder of --state_dir');
  if (action === 'import' && file === '') throw wrong('FILE is missing: the document of derbench state export');
  if (rest.length > 0) throw wrong(`${JSON.stringify(rest[0])} is one word too many`);
  const misplaced = Object.keys(values).find((name) => !flagsOf[action].includes(name));
  if (misplaced !== undefined) throw wrong(`--${misplaced} is no flag of derbench state ${action}`);
  if (values.output === '') throw wrong('--output has no value');
  return {
    action,
    folder,
    file,
    device: deviceOf(values.device),
    asJson: values.json === true,
    output: values.output ?? null,
    withSecrets: values.with_secrets === true,
    isConfirmed: values.yes === true,
  };
}
