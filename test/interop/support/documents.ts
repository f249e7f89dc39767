/** The code blocks of documents, run as a reader would paste them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programCommand } from '../../support/process.ts';
import { python } from './peers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The code blocks of a document or of one of its sections, without the indentation of a list. */
export function blocksOf(path: string, title?: string): Block[] {
  const page = readFileSync(`${root}/${path}`, 'utf8');
  const part = title === undefined ? page : ((page.split(`\n## ${title}\n`)[1] ?? '').split(/\n##+ /)[0] ?? '');
  return [...part.matchAll(/^( *)```(\w+)\n(.*?)^\1```/gms)].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** An empty folder and an environment for what a reader pastes: with `derbench`, `node` and the Python of the peers. */
export class Desk {
  readonly folder = mkdtempSync(join(tmpdir(), 'derbench-desk-'));
  readonly #commands = mkdtempSync(join(tmpdir(), 'derbench-bin-'));
  /** the simulator, from any folder */
  readonly command = join(this.#commands, 'derbench');

  constructor() {
    const words = programCommand.map((word) => (/\.[jt]s$/.test(word) ? resolve(root, word) : word));
    const loaded = words.map((word) => (word === '--import=tsx' ? `--import=${import.meta.resolve('tsx')}` : word));
    const text = `#!/bin/sh\nexec ${loaded.map((word) => `'${word}'`).join(' ')} "$@"\n`;
    writeFileSync(this.command, text, { mode: 0o755 });
  }

  /** The environment of a shell. @param more further variables */
  env(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const interpreter = python.includes('/') ? [dirname(python)] : [];
    const path = [this.#commands, dirname(process.execPath), ...interpreter, process.env['PATH'] ?? ''];
    const clean = Object.entries(process.env).filter(([name]) => !/^(DERBENCH_|NODE_TEST_CONTEXT$)/.test(name));
    return { ...Object.fromEntries(clean), PATH: path.join(delimiter), PYTHONDONTWRITEBYTECODE: '1', ...more };
  }

  clear(): void {
    for (const folder of [this.folder, this.#commands]) rmSync(folder, { recursive: true });
  }
}

/** A program of a document that takes longer is ended. */
const longestRunMs = 600_000;

/**
 * Standard output of a program that reads its script from its input.
 * @throws Error with both outputs if it fails, or has not ended in time
 */
export async function pasted(
  program: readonly [string, ...string[]],
  script: string,
  env: NodeJS.ProcessEnv = process.env,
  cwd = root,
  maxMs = longestRunMs,
): Promise<string> {
  const [command, ...args] = program;
  const child = spawn(command, args, { cwd, env });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  child.stdin.end(script);
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    child.kill('SIGKILL');
    // programs that it has started may hold them
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
  }, maxMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  const isLate = late.signal.aborted;
  const outcome = isLate ? `has not ended within ${maxMs / 1000} s` : `ended with ${String(code)}`;
  if (isLate || code !== 0) throw new Error(`${command} ${outcome}\n${script}\n${output}\n${complaints}`);
  return output;
}
