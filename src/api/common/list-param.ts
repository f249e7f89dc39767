import type { ProblemIssue } from '../../core/http/problem.ts';
import { givenText, suggestions } from '../../core/nearest.ts';
import { z } from '../description/zod.ts';

/** A query parameter of several words: a comma list, or the parameter repeated. */
export function listParam(name: string, words: readonly string[], description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) => [value].flat().flatMap((text) => text.split(',')))
    .openapi({
      param: { name, style: 'form', explode: false },
      type: 'array',
      items: { type: 'string', enum: [...words] },
      minItems: 1,
      description: `${description} Comma list or repeated, in upper or lower case.`,
    });
}

/** Explains an empty name in a comma list; the name of the parameter precedes it. */
export const emptyName = 'has an empty name: it is empty, or has a comma without a name beside it';

/** The known words among the given ones, and an issue for each unknown one. */
export function chosenWords<W extends string>(
  name: string,
  given: readonly string[],
  words: readonly W[],
): { readonly chosen: readonly W[]; readonly issues: readonly ProblemIssue[] } {
  const chosen: W[] = [];
  const issues: ProblemIssue[] = [];
  const near = suggestions(() => words);
  for (const text of given) {
    const word = words.find((each) => each.toLowerCase() === text.trim().toLowerCase());
    if (word === undefined)
      issues.push({
        in: 'query',
        name,
        detail: `${givenText(text)} is not one of ${words.join(', ')}${near(text)}`,
        allowed: words,
      });
    else chosen.push(word);
  }
  return { chosen, issues };
}
