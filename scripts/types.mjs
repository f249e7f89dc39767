import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What scripts see of the package. */
const modules = ['index', ...['client', 'error', 'options', 'replies'].map((name) => `library/${name}`)];

/**
 * Declarations of the package for scripts, by file name: each from its own source, without the compiler looking at
 * others, so that it takes little time.
 * @param {string} root folder of the project
 * @throws {Error} when an export has no type of its own
 */
export async function declarations(root) {
  const { default: ts } = await import('typescript');
  const compilerOptions = { isolatedDeclarations: true, declaration: true, strict: true, target: 'es2023' };
  const declared = await Promise.all(
    modules.map(async (name) => {
      const fileName = `${name}.ts`;
      const source = await readFile(join(root, 'src', fileName), 'utf8');
      const { outputText, diagnostics } = ts.transpileDeclaration(source, { fileName, compilerOptions });
      const [first] = diagnostics ?? [];
      if (first !== undefined)
        throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`);
      const text = outputText.replaceAll(/(from '\.\/[\w/]+)\.ts'/g, "$1.js'");
      return [`${name}.d.ts`, text];
    }),
  );
  return Object.fromEntries(declared);
}

/** Writes them to a folder. @param {string} folder */
export async function writeDeclarations(root, folder) {
  await mkdir(join(folder, 'library'), { recursive: true });
  for (const [name, text] of Object.entries(await declarations(root))) await writeFile(join(folder, name), text);
}
