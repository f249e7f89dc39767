/** Programs that a release runs. A signal ends the running one, so that the release fails and takes back what it made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const controller = new AbortController();
/** Aborted by SIGINT, SIGTERM and SIGHUP once `listen` has been called. */
export const interruption = controller.signal;

export function listen() {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(name, () => controller.abort(new Error(`ended by ${name}`)));
}

/** @returns the output of a program, whose messages are shown @throws Error when it fails, or after a signal */
export async function run(cwd, program, args, environment = {}) {
  interruption.throwIfAborted();
  const stdio = ['ignore', 'pipe', 'inherit'];
  // a group of its own, which ends as a whole: npm does not always hand signals on
  const child = spawn(program, args, { cwd, stdio, env: { ...process.env, ...environment }, detached: true });
  const end = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGTERM');
  };
  interruption.addEventListener('abort', end);
  try {
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    interruption.throwIfAborted();
    if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${code}`);
    return output.trim();
  } finally {
    interruption.removeEventListener('abort', end);
  }
}
