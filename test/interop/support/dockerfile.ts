/** Carries out the steps of a Dockerfile without a container engine: each stage is a folder, the base image this machine. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';

interface Instruction {
  readonly name: string;
  /** `from` of `COPY --from=build` */
  readonly flags: ReadonlyMap<string, string>;
  readonly rest: string;
}

/** The instructions of a Dockerfile without comments, continued lines joined. */
function instructionsOf(text: string): readonly Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => {
      const [, name = '', flags = '', rest = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
      return {
        name,
        flags: new Map([...flags.matchAll(/--(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value])),
        rest,
      };
    });
}

/** Pairs `NAME=value` of ARG, ENV and LABEL; a name alone has no value. */
const pairsOf = (text: string): readonly (readonly [name: string, value: string])[] =>
  [...text.matchAll(/([\w.]+)(?:=("[^"]*"|\S*))?/g)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll('"', ''),
  ]);

/** Rules of a `.dockerignore`: the last line that fits a path decides. */
export class Dockerignore {
  readonly #rules: readonly { readonly line: string; readonly pattern: RegExp }[];

  constructor(text: string) {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    this.#rules = lines.map((line) => {
      const pattern = line
        .replace(/^!/, '')
        .replaceAll(/[.+^$()[\]{}|\\]/g, '\\$&')
        .replaceAll(/(\*\*\/)|\*/g, (_, deep: string | undefined) => (deep === undefined ? '[^/]*' : '(?:.*/)?'));
      return { line, pattern: new RegExp(`^${pattern}(?:/.*)?$`) };
    });
  }

  isSent(path: string): boolean {
    return this.#rules.findLast(({ pattern }) => pattern.test(path))?.line.startsWith('!') ?? true;
  }

  /** True for a folder in which a line names a path that is sent. */
  leadsToSent(folder: string): boolean {
    return this.#rules.some(({ line }) => line.startsWith(`!${folder}/`));
  }
}

/** Copies what is sent of a folder. */
export function sendContext(from: string, to: string): void {
  const rules = new Dockerignore(readFileSync(join(from, '.dockerignore'), 'utf8'));
  const isSent = (path: string) => path === '' || rules.isSent(path) || rules.leadsToSent(path);
  cpSync(from, to, { recursive: true, filter: (path) => isSent(posix.relative(from, path)) });
}

/** A stage, and what its image says about a container. */
export interface Stage {
  /** the root of its file system */
  readonly root: string;
  readonly environment: Record<string, string>;
  workdir: string;
  user: string;
  entrypoint: readonly string[];
  healthcheck: readonly string[];
}

/** One or several sources into a target, by the rules of COPY: the contents of a folder, not the folder. */
function copy(sources: readonly string[], target: string, isFolder: boolean): void {
  for (const source of sources)
    if (statSync(source).isDirectory()) cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else {
      const file = isFolder ? join(target, basename(source)) : target;
      mkdirSync(dirname(file), { recursive: true });
      cpSync(source, file);
    }
}

/** The environment with this Node.js first, without what an `npm run` around the test says to an npm inside. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV$|DERBENCH_)/i.test(name));
  return { ...Object.fromEntries(entries), PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
}

/** The steps of one Dockerfile, one after the other. */
class Build {
  readonly #context: string;
  readonly #folder: string;
  readonly #given: Readonly<Record<string, string>>;
  readonly #stages = new Map<string, Stage>();
  #stage: Stage | null = null;
  #args: Record<string, string> = {};

  constructor(context: string, folder: string, given: Readonly<Record<string, string>>) {
    this.#context = context;
    this.#folder = folder;
    this.#given = given;
  }

  get stage(): Stage {
    if (this.#stage === null) throw new Error('no stage has begun');
    return this.#stage;
  }

  /** A path inside the stage as one of this machine. */
  #place(path: string, { root, workdir } = this.stage): string {
    return join(root, posix.resolve(workdir, path));
  }

  #copy({ flags, rest }: Instruction): void {
    const words = rest.split(/\s+/);
    const target = words.pop() ?? '';
    const from = flags.get('from');
    const stage = from === undefined ? null : this.#stages.get(from);
    if (stage === undefined) throw new Error(`there is no stage ${from}`);
    const sources = words.map((word) => (stage === null ? join(this.#context, word) : this.#place(word, stage)));
    copy(sources, this.#place(target), target.endsWith('/') || sources.length > 1);
  }

  #run(command: string): void {
    execFileSync('/bin/sh', ['-c', command], {
      cwd: this.#place('.'),
      env: { ...cleanEnvironment(), ...this.stage.environment, ...this.#args },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  #begin(rest: string): void {
    const [, name = String(this.#stages.size)] = / AS (\S+)$/.exec(rest) ?? [];
    const root = join(this.#folder, name);
    this.#stage = { root, environment: {}, workdir: '/', user: '', entrypoint: [], healthcheck: [] };
    this.#stages.set(name, this.#stage);
    this.#args = {};
  }

  carryOut(instruction: Instruction): void {
    const { name, rest } = instruction;
    if (name === 'FROM') this.#begin(rest);
    else if (name === 'ARG') for (const [key, preset] of pairsOf(rest)) this.#args[key] = this.#given[key] ?? preset;
    else if (name === 'ENV') Object.assign(this.stage.environment, Object.fromEntries(pairsOf(rest)));
    else if (name === 'WORKDIR') {
      this.stage.workdir = rest;
      mkdirSync(this.#place('.'), { recursive: true });
    } else if (name === 'COPY') this.#copy(instruction);
    else if (name === 'RUN') this.#run(rest);
    else if (name === 'USER') this.stage.user = rest;
    else if (name === 'ENTRYPOINT') this.stage.entrypoint = JSON.parse(rest) as string[];
    else if (name === 'HEALTHCHECK') this.stage.healthcheck = JSON.parse(rest.replace(/^.*?CMD /, '')) as string[];
    else if (!['LABEL', 'EXPOSE'].includes(name)) throw new Error(`${name} is not carried out`);
  }
}

/**
 * Carries out a Dockerfile in an empty folder.
 * @param context folder with the files that were sent
 * @param given build arguments
 * @returns the last stage
 */
export function carryOut(
  dockerfile: string,
  context: string,
  folder: string,
  given: Readonly<Record<string, string>>,
): Stage {
  const build = new Build(context, folder, given);
  for (const instruction of instructionsOf(dockerfile)) build.carryOut(instruction);
  return build.stage;
}
