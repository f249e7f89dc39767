/** Versions of Node.js that a run needs besides the one that starts it, from the packages in which npm carries them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'derbench', 'node');

const maxFetchMs = 300_000;

/** The versions that are supported, the oldest that `engines` allows first. */
export const nodeVersions = JSON.parse(readFileSync(new URL('../nodes.json', import.meta.url), 'utf8'));
export const [floorVersion] = nodeVersions;
/** The version on which the suite runs in CI, and which a portable archive brings. */
export const mainVersion = nodeVersions.find((version) => version.startsWith('24.'));

/**
 * The program of a version; the one that runs this file if it has the same major version and `exact` is not set, or the
 * same version and `packaged` is not set.
 * @throws Error where npm cannot fetch it
 */
export function nodeOf(version, { exact = false, packaged = false } = {}) {
  const isSame = process.versions.node === version;
  const isAlike = process.versions.node.split('.')[0] === version.split('.')[0];
  if (!packaged && (isSame || (isAlike && !exact))) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const folder = join(cache, version);
  const program = join(folder, 'node_modules', name, 'bin', platform === 'win' ? 'node.exe' : 'node');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--silent'];
    execFileSync('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`], {
      stdio: 'inherit',
      timeout: maxFetchMs,
    });
  }
  return program;
}

/** An environment in which `node` and `npm` run with this program. */
export function withNode(program, environment = process.env) {
  return { ...environment, PATH: `${dirname(program)}:${environment.PATH}` };
}
