/** Checks the arguments of a named event. */
import type { GridEventArguments, GridEventName, GridEventParameter } from '../../../contract/environment.ts';
import { gridEventNames } from '../../../contract/environment.ts';
import { SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import { didYouMean, givenText, suggestions } from '../../../core/nearest.ts';

/** Checked and complete arguments of one event. */
export interface EventArguments {
  readonly number: (name: string) => number;
  readonly word: (name: string) => string;
  /** @throws SimError COMMAND_BAD_VALUE for an argument that contradicts the others */
  readonly refuse: (name: string, detail: string) => never;
}

function pointer(name: string): string {
  return `/parameters/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function badValue(issues: readonly Issue[]): SimError {
  return new SimError('COMMAND_BAD_VALUE', issues.map((issue) => `${issue.name}: ${issue.detail}`).join('; '), issues);
}

/** @throws SimError COMMAND_BAD_VALUE for an unknown name */
export function eventName(name: string): GridEventName {
  const matchingName = gridEventNames.find((each) => each === name);
  if (matchingName) return matchingName;
  const detail = `must be one of ${gridEventNames.join(', ')}; given ${givenText(name)}${didYouMean(name, gridEventNames)}`;
  throw badValue([{ name: '/event', detail, allowed: gridEventNames }]);
}

/** The issue of one value, if any. */
function issueOf({ name, minimum, maximum, allowed }: GridEventParameter, value: number | string): Issue[] {
  if (allowed) {
    return typeof value === 'string' && allowed.includes(value)
      ? []
      : [
          {
            name: pointer(name),
            detail: `must be one of ${allowed.join(', ')}; given ${givenText(value)}${didYouMean(String(value), allowed)}`,
            allowed,
          },
        ];
  }
  const [low, high] = [minimum ?? -Infinity, maximum ?? Infinity];
  return typeof value === 'number' && value >= low && value <= high
    ? []
    : [{ name: pointer(name), detail: `must be a number from ${low} to ${high}; given ${givenText(value)}` }];
}

/**
 * The arguments of an event, with defaults for absent ones.
 * @throws SimError COMMAND_BAD_VALUE with every unknown parameter and every value outside its range
 */
export function checkedArguments(
  event: string,
  parameters: readonly GridEventParameter[],
  given: GridEventArguments,
): EventArguments {
  const names = parameters.map((parameter) => parameter.name);
  const values = new Map<string, number | string>(parameters.map((parameter) => [parameter.name, parameter.default]));
  const near = suggestions(() => names);
  const issues = Object.entries(given).flatMap(([name, value]): Issue[] => {
    const parameter = parameters.find((each) => each.name === name);
    if (!parameter) {
      return [
        {
          name: pointer(name),
          detail: `is not a parameter of ${event}; it has ${names.join(', ')}${near(name)}`,
          allowed: names,
        },
      ];
    }
    values.set(name, value);
    return issueOf(parameter, value);
  });
  if (issues.length > 0) throw badValue(issues);
  const argument = (name: string): number | string => {
    const value = values.get(name);
    if (value === undefined) throw new SimError('INTERNAL', `the event ${event} has no parameter ${name}`);
    return value;
  };
  return {
    number: (name) => Number(argument(name)),
    word: (name) => String(argument(name)),
    refuse: (name, detail) => {
      throw badValue([{ name: pointer(name), detail }]);
    },
  };
}
