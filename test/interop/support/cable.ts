import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Both ends of the cable of a directory. */
export const ends = (directory: string): readonly [string, string] => [
  join(directory, 'simulator'),
  join(directory, 'master'),
];

/** Two serial ports with a cable between them, as files of a directory. */
export async function cable(directory: string): Promise<ChildProcess> {
  const [ours, theirs] = ends(directory);
  const appeared = new Promise<void>((resolve) => {
    const watcher = watch(directory, () => {
      if (!existsSync(ours) || !existsSync(theirs)) return;
      watcher.close();
      resolve();
    });
  });
  const socat = spawn('socat', [`pty,raw,echo=0,link=${ours}`, `pty,raw,echo=0,link=${theirs}`], { stdio: 'ignore' });
  await appeared;
  return socat;
}

export async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close');
  child.kill();
  await ended;
}
