/**
 * Words after a command, by its row of the table. A number such as -5 is an argument, which `parseArgs` of Node takes for
 * an option.
 */
import { UsageError } from '../../client-commands/call.ts';
import type { Arguments } from '../../client-commands/call.ts';
import type { Command } from './table/command.ts';
import { optionsOf } from './table/commands.ts';
import { didYouMean } from '../../core/nearest.ts';

const isOption = (word: string) => word.startsWith('-') && word.length > 1 && !/^-\.?\d/.test(word);

/** Words in which a number and its unit, as in `50 %`, are one. */
function withUnits(words: readonly string[]): readonly string[] {
  return words.reduce<readonly string[]>((joined, word) => {
    const last = joined.at(-1) ?? '';
    return /^(%|s|min|h|w|kw|mw)$/i.test(word) && /\d$/.test(last)
      ? [...joined.slice(0, -1), last + word]
      : [...joined, word];
  }, []);
}

/** A sentence about a name that is not in a list, with the nearest one. @param noun its kind, such as `list` */
export const unknown = (noun: string, given: string, names: readonly string[]): string =>
  `${JSON.stringify(given)} is no ${noun}${didYouMean(given, names) || '.'}`;

/** @throws UsageError */
export function parseArguments(command: Command, given: readonly string[]): Arguments {
  const accepted = optionsOf(command);
  const words: string[] = [];
  const options = new Map<string, string[]>();
  const rest = [...withUnits(given)];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!isOption(word)) {
      words.push(word);
      continue;
    }
    const [flag = '', inline] = word.split(/=(.*)/s);
    const option = accepted.find((each) => each.flag === flag || (flag === '--help' && each.flag === '-h'));
    if (option === undefined) {
      const flags = accepted.map((each) => each.flag);
      throw new UsageError(
        `${flag} is no option of ${command.name}${didYouMean(flag, flags)}. Options: ${flags.join(', ')}.`,
      );
    }
    const earlier = options.get(option.flag) ?? [];
    if (earlier.length > 0 && option.repeats !== true) throw new UsageError(`${flag} is given twice.`);
    if (option.value === undefined && inline !== undefined) throw new UsageError(`${flag} takes no value.`);
    const value = option.value === undefined ? '' : (inline ?? rest.shift());
    if (value === undefined || (value === '' && option.value !== undefined))
      throw new UsageError(`${flag} has no value. Write ${flag} ${option.value ?? ''}.`);
    options.set(option.flag, [...earlier, value]);
  }
  return { words, options };
}
