/** The hand mutations of `test/mutants`: wrong rules, each with the tests that have to notice it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const mutantSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  /** path of the source from the root of the checkout */
  file: z.string().regex(/^(src|scripts)\//),
  /** occurs exactly once in the source */
  find: z.string().min(1),
  replace: z.string(),
  /** test files, the one that kills it first */
  spec: z.array(z.string().regex(/^test\/.*\.test\.tsx?$/)).min(1),
  /** the rule that is broken, with its clause where there is one */
  what: z.string().regex(/^[A-Z0-9].*\.$/s),
  /** title of the test that fails first */
  killedBy: z.string().min(1),
});

export type Mutant = Readonly<z.infer<typeof mutantSchema>> & {
  /** the file that lists it */
  readonly list: string;
};

export const mutantFolder = 'test/mutants';

/** All mutations, by file name and place. @param root of the checkout */
export function readMutants(root: string): readonly Mutant[] {
  const lists = readdirSync(join(root, mutantFolder)).filter((name) => name.endsWith('.json'));
  return lists.sort().flatMap((name) => {
    const list = `${mutantFolder}/${name}`;
    const entries = z.array(mutantSchema).parse(JSON.parse(readFileSync(join(root, list), 'utf8')));
    return entries.map((entry) => ({ ...entry, list }));
  });
}

/** The source with the mutation. @throws Error where `find` does not occur exactly once, or nothing changes */
export function mutated(source: string, { file, find, replace }: Mutant): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`"find" occurs ${count} times in ${file}, not once`);
  if (find === replace) throw new Error('"replace" is the same as "find"');
  return source.replace(find, () => replace);
}

/** Reasons why a mutation cannot be tried. */
export function mutantIssues(root: string, mutant: Mutant): readonly string[] {
  const missing = [mutant.file, ...mutant.spec].filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) return missing.map((path) => `${path} does not exist`);
  try {
    mutated(readFileSync(join(root, mutant.file), 'utf8'), mutant);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
