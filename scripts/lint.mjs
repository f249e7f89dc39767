/**
 * `npm run lint`: style, layer rules, complexity and import cycles. Runs all checks, whatever fails on the way.
 *
 *   npm run lint [-- --warnings]   rules with types by oxlint, the others by ESLint
 *   npm run lint:full              all rules by ESLint, among them the one that oxlint lacks
 *
 * --warnings lists advice, such as long files, which is otherwise only counted.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tinyFiles } from './lint/tiny-files.mjs';
import { oxlintConfig } from './lint/type-rules.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const isFull = process.argv.includes('--full');
const showsWarnings = process.argv.includes('--warnings');

/** Path of the program of a package. */
function programOf(name) {
  const file = require.resolve(`${name}/package.json`);
  return join(dirname(file), require(file).bin[name]);
}

/** @returns whether the program found nothing */
function run(name, args) {
  const { status, error } = spawnSync(process.execPath, [programOf(name), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...(showsWarnings && { LINT_WARNINGS: '1' }) },
  });
  if (error) console.error(String(error));
  if (status !== 0) console.log(`${name}: FAILED`);
  return status === 0;
}

function types() {
  const file = '.cache/lint/oxlintrc.json';
  mkdirSync(join(root, dirname(file)), { recursive: true });
  writeFileSync(join(root, file), JSON.stringify(oxlintConfig(), null, 2));
  const scripts = ['**/*.{js,mjs,cjs}', 'src/ui/api/openapi.d.ts'].flatMap((pattern) => ['--ignore-pattern', pattern]);
  return run('oxlint', [
    '--type-aware',
    '--config',
    file,
    '--format',
    'unix',
    ...scripts,
    'src',
    'test',
    'bench',
    'soak',
    'scripts',
  ]);
}

const eslint = (config) => run('eslint', ['--config', config, '--format', './scripts/lint/formatter.mjs', '.']);

const cycles = () =>
  run('dpdm', ['--no-tree', '--no-warning', '--no-progress', '--exit-code', 'circular:1', 'src/**/*.{ts,tsx}']);

function adviceOnTinyFiles() {
  const files = tinyFiles(root);
  if (showsWarnings) for (const { file, importer } of files) console.log(`${file} could be a part of ${importer}`);
  console.log(`${files.length} files of less than 20 lines have one importer`);
}

const checks = isFull ? [eslint('eslint.config.js')] : [types(), eslint('eslint.syntax.config.js')];
checks.push(cycles());
adviceOnTinyFiles();
process.exitCode = checks.every(Boolean) ? 0 : 1;
