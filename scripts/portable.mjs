/**
 * Makes an archive that runs without an installed Node.js: `node scripts/portable.mjs linux-x64 [--tarball FILE] [--out DIR]`.
 *
 * It holds bin/derbench, Node.js and the package with the modules of the lock file. A platform is added once a machine of
 * its kind has run scripts/portable-smoke.mjs.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { mainVersion, nodeOf } from './ci/runtime.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const platforms = ['linux-x64'];

const run = (cwd, program, ...args) => promisify(execFile)(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 });

/** A link to the launcher leads to the folder of the archive. */
const launcher = `#!/bin/sh
self=$(readlink -f -- "$0")
lib=\${self%/bin/*}/lib
exec "$lib/node" "$lib/derbench/dist/main.js" "$@"
`;

async function pack(folder) {
  const { stdout } = await run(root, 'npm', 'pack', '--silent', '--pack-destination', folder);
  return join(folder, stdout.trim().split('\\n').at(-1));
}

/** The package with its production modules in the versions of the lock file, and native parts of one platform. */
async function installPackage(tarball, folder, platform) {
  await mkdir(folder, { recursive: true });
  await run(folder, 'tar', '-xzf', tarball, '--strip-components=1', '--no-same-owner');
  await copyFile(join(root, 'package-lock.json'), join(folder, 'package-lock.json'));
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefer-offline'];
  await run(folder, 'npm', 'ci', ...options);
  for (const lock of ['package-lock.json', 'node_modules/.package-lock.json']) await rm(join(folder, lock));
  const prebuilds = join(folder, 'node_modules/@serialport/bindings-cpp/prebuilds');
  for (const name of await readdir(prebuilds))
    if (name !== platform) await rm(join(prebuilds, name), { recursive: true });
}

/** Node.js of the exact version with its licences, from the package in which npm carries it. */
async function installNode(lib) {
  const program = nodeOf(mainVersion, { packaged: true });
  await copyFile(program, join(lib, 'node'));
  await copyFile(join(dirname(program), '..', 'LICENSE'), join(lib, 'node.LICENSE'));
}

async function writeLauncher(folder) {
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/derbench'), launcher);
  await chmod(join(folder, 'bin/derbench'), 0o755);
}

/** Equal files make equal archives: order, owner, mode and time are fixed. */
async function archive(folder, name, file) {
  const seconds = process.env.SOURCE_DATE_EPOCH ?? '0';
  const fixed = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
    `--mtime=@${seconds}`,
  ];
  await run(folder, 'tar', ...fixed, '-cJf', file, name);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tarball: { type: 'string' }, out: { type: 'string', default: '.' } },
});
const [platform] = positionals;
if (!platforms.includes(platform)) throw new Error(`the platform is one of ${platforms.join(', ')}`);
if (platform !== `${process.platform}-${process.arch}`) throw new Error(`only ${platform} can make its archive`);
const workshop = await mkdtemp(join(tmpdir(), 'derbench-portable-'));
try {
  const tarball = values.tarball === undefined ? await pack(workshop) : resolve(values.tarball);
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const name = `derbench-${version}-${platform}`;
  const lib = join(workshop, name, 'lib');
  await installPackage(tarball, join(lib, 'derbench'), platform);
  await installNode(lib);
  await writeLauncher(join(workshop, name));
  const file = join(resolve(values.out), `${name}.tar.xz`);
  await archive(workshop, name, file);
  console.log(file);
} finally {
  await rm(workshop, { recursive: true, force: true });
}
