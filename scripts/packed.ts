/** Judgements of the packed package: its size, its files and its bill of materials. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const kindsFile = join(root, 'test/package/packed.txt');
const maxBytes = 4_250_000;

/** An entry of `npm pack --json`. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

interface Tree {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Tree>>;
}

interface Bill {
  readonly components: readonly { readonly type: string; readonly name: string; readonly version?: string }[];
}

const run = async (program: string, ...args: readonly string[]) =>
  (await promisify(execFile)(program, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout;

/** Folders and endings of files, with the name where it has none: bundled files have other names in each build. */
export function kindsOf(files: Packed['files']): string {
  const kinds = new Set(files.map(({ path }) => path.replace(/[^/]+(\.[^./]+)$/, '*$1')));
  return `${[...kinds].sort().join('\n')}\n`;
}

/** @param renew writes the kinds of files in place of comparing them */
export async function checkContents({ size, files }: Packed, renew: boolean): Promise<void> {
  if (size > maxBytes) throw new Error(`the package has ${size} bytes, more than ${maxBytes}`);
  process.stdout.write(`size: ${size} bytes of at most ${maxBytes}\n`);
  const kinds = kindsOf(files);
  if (renew) await writeFile(kindsFile, kinds);
  else if (kinds !== (await readFile(kindsFile, 'utf8'))) {
    throw new Error(`the package has other kinds of files than ${kindsFile} (--renew writes it):\n${kinds}`);
  }
}

function packagesBelow({ dependencies = {} }: Tree): string[] {
  return Object.entries(dependencies).flatMap(([name, tree]) => [
    ...(tree.version === undefined ? [] : [`${name} ${tree.version}`]),
    ...packagesBelow(tree),
  ]);
}

/** Whether the bill of materials has the packages of the licence file and those that npm installs, and no others. */
export async function judgeBill(dist: string): Promise<void> {
  const licences = await readFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const bundled = licences.split(`\n\n${'-'.repeat(80)}\n\n`).map((part) => part.split(' ').slice(0, 2).join(' '));
  const tree = JSON.parse(await run('npm', 'ls', '--omit=dev', '--all', '--json', '--package-lock-only')) as Tree;
  const bill = JSON.parse(await readFile(join(dist, 'sbom.cdx.json'), 'utf8')) as Bill;
  const libraries = bill.components.filter(({ type }) => type === 'library');
  const inBill = libraries.map(({ name, version }) => `${name} ${version}`).sort();
  const shipped = [...new Set([...bundled, ...packagesBelow(tree)])].sort();
  if (inBill.join() !== shipped.join()) {
    const differing = [...inBill, ...shipped].filter((each) => !inBill.includes(each) || !shipped.includes(each));
    throw new Error(`sbom.cdx.json and what is shipped differ in ${differing.join(', ')}`);
  }
  process.stdout.write(`bill of materials: ${inBill.length} packages\n`);
}
