/** The Nu HTML checker, whose package brings the program for Java. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedPath } from './peers.ts';

interface Message {
  readonly url: string;
  readonly type: string;
  readonly message: string;
  readonly extract?: string;
}

/** The checker takes a style sheet for blocked whose hash is in the policy. */
const unreadHash = 'Inline style violates Content Security Policy (meta tag)';

/** What the checker remarks on documents, `NAME error: text extract`. @param documents by a name of letters and digits */
export async function remarksOn(documents: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'derbench-html-'));
  try {
    const files = [...documents].map(([name, text]) => [join(folder, `${name.replaceAll(/\W+/g, '-')}.html`), text]);
    await Promise.all(files.map(([file = '', text = '']) => writeFile(file, text)));
    const jar = join(installedPath('pageJudges'), '../vnu-jar/build/dist/vnu.jar');
    const { stderr } = await promisify(execFile)(
      'java',
      ['-jar', jar, '--exit-zero-always', '--format', 'json', ...files.map(([file = '']) => file)],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    const { messages } = JSON.parse(stderr) as { readonly messages: readonly Message[] };
    return messages
      .filter(({ message }) => !message.startsWith(unreadHash))
      .map(({ url, type, message, extract }) => `${url.replace(/.*\//, '')} ${type}: ${message} ${extract ?? ''}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
