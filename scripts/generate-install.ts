/**
 * Writes the text about installing derbench between the marks of every page that has them:
 *
 *   npm run generate:install [-- --check]
 *
 * `published` of package.json decides whether it names a registry.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deliver } from './generated.ts';
import type { GeneratedFiles } from './generated.ts';

const root = new URL('..', import.meta.url);
const place = /(<!-- install -->\n).*?(<!-- \/install -->)/gs;

interface Package {
  readonly version: string;
  readonly derbench: { readonly published: boolean };
}

/** Text of the block, with the lines that a reader pastes. */
export function installText({ version, derbench }: Package): string {
  const shell = (line: string) => `\`\`\`sh\n${line}\n\`\`\`\n`;
  if (derbench.published) return shell('npm install --save-dev derbench');
  const file = `derbench-${version}.tgz`;
  return `Take the file \`${file}\` of a release, or make it in a checkout of derbench with \`npm ci && npm pack\`. Copy it into the
folder of your project, and install it there:

${shell(`npm install --save-dev ./${file}`)}`;
}

/** A page with the text in each of its places. */
export const withInstallText = (page: string, text: string) => page.replaceAll(place, `$1\n${text}\n$2`);

/** The pages that have a place, by their paths. */
export function installPages(): GeneratedFiles {
  const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
  const about = installText(JSON.parse(text('package.json')) as Package);
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`);
  return new Map(
    ['README.md', ...pages]
      .map((path) => [path, text(path)] as const)
      .filter(([, page]) => page.includes('<!-- install -->'))
      .map(([path, page]) => [path, withInstallText(page, about)]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = deliver(installPages(), process.argv.slice(2));
