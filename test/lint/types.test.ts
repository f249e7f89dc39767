import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

const path = '../../scripts/lint/type-rules.mjs';
const { oxlintConfig } = (await import(path)) as {
  oxlintConfig: () => { readonly rules: Readonly<Record<string, unknown>> };
};

/** Code that a rule refuses. */
const refused: Readonly<Record<string, string>> = {
  'await-thenable': 'export async function f(): Promise<number> { return await 1; }',
  'no-array-delete': 'export const f = (a: number[]) => { delete a[0]; };',
  'no-base-to-string': 'export const f = (a: object) => String(a);',
  'no-confusing-void-expression': 'export const f = () => { const g = (): void => {}; const x = g(); return [x]; };',
  'no-deprecated': 'export const f = (a: string) => a.substr(1);',
  'no-duplicate-type-constituents': "export type A = 'a' | 'b' | 'a';",
  'no-floating-promises': 'export const f = (a: Promise<void>) => { a; };',
  'no-for-in-array': 'export const f = (a: number[]) => { for (const i in a) a.push(Number(i)); };',
  'no-generated-empty-object-type': "export type A = Omit<{ a: number }, 'a'>;",
  'no-implied-eval': "setTimeout('stop()', 1);",
  'no-meaningless-void-operator': 'export const f = (g: () => void) => { void g(); };',
  'no-misused-promises': 'export const f = (a: Promise<boolean>) => { if (a) return 1; return 2; };',
  'no-misused-spread': 'export const f = (a: Promise<object>) => ({ ...a });',
  'no-mixed-enums': "export enum A { One = 1, Two = 'two' }",
  'no-redundant-type-constituents': 'export type A = unknown | string;',
  'no-unnecessary-boolean-literal-compare': 'export const f = (a: boolean) => a === true;',
  'no-unnecessary-condition': 'export const f = (a: { b: number }) => a?.b;',
  'no-unnecessary-template-expression': "export const f = `a${'b'}`;",
  'no-unnecessary-type-arguments': 'function g<T = number>(a?: T) { return a; }\nexport const f = g<number>();',
  'no-unnecessary-type-assertion': 'export const f = (a: number) => a as number;',
  'no-unnecessary-type-conversion': 'export const f = (a: string) => String(a);',
  'no-unnecessary-type-parameters': 'export function f<T>(a: T): void { String(a); }',
  'no-unsafe-argument': 'export const f = (a: any, g: (b: string) => void) => { g(a); };',
  'no-unsafe-assignment': 'export const f = (a: any) => { const b = a; return [b]; };',
  'no-unsafe-call': 'export const f = (a: any) => { a(); };',
  'no-unsafe-enum-assignment': 'enum A { One }\nexport const f = (n: number) => { const a: A = n; return a; };',
  'no-unsafe-enum-comparison': 'enum A { One }\nexport const f = (a: A) => a === 0;',
  'no-unsafe-member-access': 'export const f = (a: any) => { a.b; };',
  'no-unsafe-return': 'export const f = (a: any) => a;',
  'no-unsafe-unary-minus': 'export const f = (a: string) => -a;',
  'no-useless-default-assignment': 'export const f = ({ a = 1 }: { a: number }) => a;',
  'only-throw-error': "export const f = () => { throw 'a'; };",
  'prefer-promise-reject-errors': "export const f = () => Promise.reject('a');",
  'prefer-reduce-type-parameter': 'export const f = [1].reduce((a, b) => [...a, b], [] as number[]);',
  'prefer-return-this-type': 'export class A { f(): A { return this; } }',
  'related-getter-setter-pairs': 'export interface A { get a(): string; set a(b: number); }',
  'require-await': 'export async function f() { return 1; }',
  'restrict-plus-operands': "export const f = (a: number) => a + 'b';",
  'restrict-template-expressions': 'export const f = (a: object) => `${a}`;',
  'return-await': 'export async function f(a: Promise<number>) { try { return a; } catch { return 1; } }',
  'switch-exhaustiveness-check': "export const f = (a: 'b' | 'c') => { switch (a) { case 'b': return 1; } return 2; };",
  'unbound-method': 'class A { n = 1; f() { return this.n; } }\nexport const f = new A().f;',
  'use-unknown-in-catch-callback-variable': 'export const f = (a: Promise<void>) => a.catch((e) => { throw e; });',
};

const program = (name: string, file = name) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', file);

/** Rules that oxlint reports, by file. */
function reports(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const args = [program('oxlint'), '--type-aware', '--config', 'oxlint.json', '--format', 'unix', '.'];
  // oxlint looks for it in the folder that it checks
  const env = { ...process.env, OXLINT_TSGOLINT_PATH: program('oxlint-tsgolint', 'tsgolint.js') };
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
  const byFile = new Map<string, Set<string>>();
  for (const [, file = '', rule = ''] of stdout.matchAll(/^(\S+)\.ts:.*\[Error\/typescript\(([\w-]+)\)\]$/gm))
    byFile.set(file, (byFile.get(file) ?? new Set()).add(rule));
  return byFile;
}

describe('rules with types', () => {
  let reported: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  before(function () {
    // a type program, on a machine that has other work
    this.timeout(60_000);
    const folder = mkdtempSync(join(tmpdir(), 'types-'));
    const compilerOptions = { strict: true, target: 'es2023', lib: ['es2023', 'dom'], module: 'nodenext', types: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(folder, 'oxlint.json'), JSON.stringify(oxlintConfig()));
    for (const [rule, code] of Object.entries(refused)) writeFileSync(join(folder, `${rule}.ts`), `${code}\n`);
    reported = reports(folder);
    rmSync(folder, { recursive: true });
  });

  it('each has a case here', () => {
    const rules = Object.keys(oxlintConfig().rules).map((name) => name.replace('typescript/', ''));
    expect(Object.keys(refused)).to.have.members(rules);
  });
  for (const rule of Object.keys(refused))
    it(`${rule} is enforced`, () => {
      expect([...(reported.get(rule) ?? [])]).to.include(rule);
    });
});
