/** Reads the files of scenarios, with the place of every key. */
import { realpathSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { fileReason, readTextFile } from '../../core/text-file.ts';
import { runWhole } from '../../core/turns.ts';
import { parsingYamlText } from '../../core/yaml.ts';
import type { YamlText } from '../../core/yaml.ts';
import { placeText } from '../model.ts';
import type { Place } from '../model.ts';

/** Maximum size of all files of a scenario together. */
export const maxScenarioBytes = 5 * 1024 * 1024;
/** Maximum depth of includes. */
export const maxIncludeDepth = 8;

/** A mapping with the places of its keys. */
export interface Source {
  readonly value: Readonly<Record<string, unknown>>;
  place(path: readonly PropertyKey[]): Place;
  /** Opens the file of an `include`. @throws SimError CONFIG_INVALID */
  include(path: string, at: readonly PropertyKey[]): Source;
}

/** @throws SimError CONFIG_INVALID with one issue */
export function refuse(place: Place, detail: string): never {
  throw invalidScenario([{ name: placeText(place), detail }]);
}

/** The error of an invalid scenario. */
export function invalidScenario(issues: readonly Issue[]): SimError {
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
  return new SimError('CONFIG_INVALID', `The scenario is not valid, ${count}:`, issues);
}

function mapping(value: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return refuse(place, 'must be a mapping of keys to values');
}

const noIncludes = '`include` is for scenarios in files only';

/** A scenario from a request, which has no file and so no includes. */
export function sourceOfRequest(value: unknown): Source {
  const place = (path: readonly PropertyKey[]): Place => ({ file: null, line: null, path });
  return {
    value: mapping(value, place([])),
    place,
    include: (_path, at) => refuse(place(at), noIncludes),
  };
}

/**
 * A scenario from the YAML text of a request, which has no includes; yields when other work may run.
 * @throws SimError CONFIG_INVALID
 */
export function* readingSource(text: string, label: string): Generator<undefined, Source> {
  const parsed = yield* readingYaml(text, { file: label, line: null, path: [] });
  const place = (path: readonly PropertyKey[]): Place => ({ file: label, line: parsed.lineOf(path), path });
  return { value: mapping(parsed.value, place([])), place, include: (_path, at) => refuse(place(at), noIncludes) };
}

/** The files of one scenario: all in one folder or below, with a common limit of bytes. */
class Files {
  readonly #root: string;
  /** by real path */
  readonly #parsed = new Map<string, YamlText>();
  #left = maxScenarioBytes;

  constructor(root: string) {
    this.#root = root;
  }

  /** Reads a file and counts its bytes. @throws Error whose message is for the user */
  text(path: string): string {
    const text = readTextFile(path, maxScenarioBytes);
    this.#left -= Buffer.byteLength(text);
    if (this.#left < 0) throw new Error(`the files of a scenario are larger than ${maxScenarioBytes} bytes together`);
    return text.replace(/^\uFEFF/, '');
  }

  #parse(real: string, whole: Place, at: Place): YamlText {
    const text = reading(at, () => this.text(real));
    return runWhole(readingYaml(text, whole));
  }

  /** Resolves links and checks that the file is inside the folder. @throws Error whose message is for the user */
  inside(path: string, from: string): string {
    if (isAbsolute(path)) throw new Error('must be relative to the file with the include');
    const real = realpathSync(resolve(from, path));
    if (!real.startsWith(this.#root.endsWith(sep) ? this.#root : this.#root + sep))
      throw new Error('leads out of the folder of the scenario');
    return real;
  }

  /**
   * @param label the name in messages
   * @param at the include that names it; absent: the command line
   */
  read(real: string, label: string, depth: number, at?: Place): Source {
    const whole: Place = { file: label, line: null, path: [] };
    if (!['.yaml', '.yml', '.json'].includes(extname(real).toLowerCase()))
      refuse(whole, `given extension "${extname(real)}"; allowed: .yaml, .yml, .json`);
    const parsed = this.#parsed.get(real) ?? this.#parse(real, whole, at ?? whole);
    this.#parsed.set(real, parsed);
    const place = (path: readonly PropertyKey[]): Place => ({ file: label, line: parsed.lineOf(path), path });
    return {
      value: mapping(parsed.value, place([])),
      place,
      include: (path, key) => {
        const here = place(key);
        if (depth === maxIncludeDepth) refuse(here, `files are included deeper than ${maxIncludeDepth} levels`);
        const included = reading(here, () => this.inside(path, dirname(real)));
        return this.read(included, relative(this.#root, included), depth + 1, here);
      },
    };
  }
}

/** Runs `read`; an error in it becomes an issue at the place. */
function reading<T>(place: Place, read: () => T): T {
  try {
    return read();
  } catch (error) {
    return refuseUnread(error, place);
  }
}

/** @throws SimError CONFIG_INVALID */
function* readingYaml(text: string, whole: Place): Generator<undefined, YamlText> {
  try {
    return yield* parsingYamlText(text);
  } catch (error) {
    return refuseUnread(error, whole);
  }
}

/** Makes an issue at the place of an error. @throws SimError */
function refuseUnread(error: unknown, place: Place): never {
  if (error instanceof SimError) throw error;
  return refuse(place, error instanceof RangeError ? 'nested too deeply' : `cannot be read: ${fileReason(error)}`);
}

/** Reads a scenario file. @throws SimError CONFIG_INVALID */
export function sourceOfFile(path: string): Source {
  const label = basename(path);
  const real = reading({ file: label, line: null, path: [] }, () => realpathSync(path));
  return new Files(dirname(real)).read(real, label, 0);
}
