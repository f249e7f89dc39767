/** The code blocks of documents, run as a reader would paste them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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

/** Standard output of a program that reads its script from its input. @throws Error with both outputs if it fails */
export async function pasted(
  program: readonly [string, ...string[]],
  script: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const [command, ...args] = program;
  const child = spawn(command, args, { cwd: root, env });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  child.stdin.end(script);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}\n${script}\n${output}\n${complaints}`);
  return output;
}
