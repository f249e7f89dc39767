/** Files with cases of a property: `test/examples` has those of each run, `.cache/counterexamples` those that failed. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { fromJson, toJson } from './json-values.ts';

export type Json = ReturnType<typeof toJson>;

/** How a property writes its cases, whose values JSON cannot hold. */
export interface CaseForm<Args extends readonly unknown[]> {
  readonly write: (args: Args) => unknown;
  readonly read: (json: unknown) => Args;
}

/** What a file of cases holds. */
export interface CaseFile {
  /** the test file, from the folder of the project */
  readonly file: string;
  readonly property: string;
  /** one list of arguments each */
  readonly cases: readonly Json[];
}

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));
export const examplesFolder = join(projectFolder, 'test/examples');
export const counterexamplesFolder = join(projectFolder, '.cache/counterexamples');

export const inProject = (path: string): string => relative(projectFolder, path).replaceAll('\\', '/');

const worded = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** The name of the file with the cases of a property. */
export function slugOf(file: string, property: string): string {
  const place = file.replace(/^test\//, '').replace(/(\.test)?\.tsx?$/, '');
  return `${worded(place)}--${worded(property).replace(/^-|-$/g, '')}`;
}

export class PropertyCases<Args extends readonly unknown[]> {
  readonly #file: string;
  readonly #property: string;
  readonly #form: CaseForm<Args>;

  constructor(file: string, property: string, form?: CaseForm<Args>) {
    this.#file = file;
    this.#property = property;
    this.#form = form ?? { write: (args) => args, read: (json) => json as Args };
  }

  get #name(): string {
    return `${slugOf(this.#file, this.#property)}.json`;
  }

  /** Cases of the file in the folder; none without the file. */
  read(folder: string): Args[] {
    const path = join(folder, this.#name);
    if (!existsSync(path)) return [];
    const { cases } = JSON.parse(readFileSync(path, 'utf8')) as CaseFile;
    return cases.map((json) => this.#form.read(fromJson(json)));
  }

  /** @returns the path @throws TypeError if the case does not come back from a file as it is */
  write(folder: string, args: Args): string {
    const json = toJson(this.#form.write(args));
    const reread = this.#form.read(fromJson(JSON.parse(JSON.stringify(json)) as Json));
    if (!isDeepStrictEqual(reread, args)) throw new TypeError('the case does not come back from JSON as it was');
    const content: CaseFile = { file: this.#file, property: this.#property, cases: [json] };
    mkdirSync(folder, { recursive: true });
    const path = join(folder, this.#name);
    writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
    return path;
  }
}
