import { RuleTester } from 'eslint';
import type { Rule } from 'eslint';
import tseslint from 'typescript-eslint';

RuleTester.describe = describe;
RuleTester.it = it;
RuleTester.itOnly = it;

const path = '../../scripts/lint/plugin.mjs';
const { default: plugin } = (await import(path)) as { default: { rules: Record<string, Rule.RuleModule> } };

const tester = new RuleTester({ languageOptions: { parser: tseslint.parser } });

interface Cases {
  readonly valid: readonly (string | RuleTester.ValidTestCase)[];
  /** code, identifier of the message, and for rules that repair it, the code afterwards */
  readonly invalid: readonly (readonly [code: string, messageId: string, output?: string])[];
}

function tests(name: string, { valid, invalid }: Cases): void {
  const rule = plugin.rules[name];
  if (rule === undefined) throw new Error(`no rule ${name}`);
  tester.run(name, rule, {
    valid: [...valid],
    invalid: invalid.map(([code, messageId, output]) => ({ code, errors: [{ messageId }], output: output ?? null })),
  });
}

tests('no-packed-spread', {
  valid: [
    'const x = { a, ...b };',
    'const x = { a, ...(c && { b }) };',
    'const x = { a, ...(c ? { b } : {}) };',
    'const x = [...[a, b]];',
    'const x = { a, ...({ [b]: c } as T) };',
    'const x = { ...{ get now() { return clock(); } } };',
  ],
  invalid: [
    ['const x = { ...{ a, b } };', 'packed', 'const x = { a, b };'],
    ['const x = { ...{ a, b, }, c };', 'packed', 'const x = { a, b, c };'],
    ['const x = { ...{ a, ...b }, c };', 'packed', 'const x = { a, ...b, c };'],
    ['const x = { ...{ a /* one, */ }, c };', 'packed', 'const x = { a /* one, */, c };'],
    ['const x = { ...{ a, // first\n b }, c };', 'packed', 'const x = { a, // first\n b\n, c };'],
    ['const x = { ...{} };', 'packed'],
  ],
});

tests('plain-comments', {
  valid: [
    '/** True if a frame is complete. */ const a = 1;',
    '// a reason\n// what goes on here',
    '/**\n * Power, W.\n * What follows is the second line.\n */ const a = 1;',
    '/* as it is */ const a = 1;',
  ],
  invalid: [
    ['/** What a device shows. */ const a = 1;', 'opening'],
    ['/**\n * Whether a frame is complete.\n */ const a = 1;', 'opening'],
    ['// those of this process', 'opening'],
    ['const a = 1; // what it is', 'opening'],
    ['/* such a thing */', 'opening'],
    ['/** This is it. */', 'opening'],
    ['// Who asks', 'opening'],
  ],
});

tests('plain-names', {
  valid: [
    'const now = () => clock.now();',
    'const { found, now: nowMs } = result;',
    'function found(device) { return device; }',
    'const foundDevice = find();',
  ],
  invalid: [
    ['const found = find();', 'name'],
    ['let known = 1;', 'name'],
    ['const [first, own] = list;', 'name'],
    ['function f(made = 1) { return made; }', 'name'],
    ['const f = (told) => told;', 'name'],
    ['const now = clock.now();', 'name'],
  ],
});

tests('unique-titles', {
  valid: [
    "describe('a', () => { it('x', f); it('y', f); });",
    "describe('a', () => { it('x', f); }); describe('b', () => { it('x', f); });",
    "describe('a', () => { for (const n of all) it(`x ${n}`, f); });",
    'for (const n of all) describe(`a ${n}`, () => { it("x", f); });',
    "for (const n of all) describe('a', () => { it(`x ${n}`, f); });",
    "function tests(name) { it('x', f); } describe('a', () => tests()); describe('b', () => tests());",
    "page.it('x', f); page.it('x', f);",
  ],
  invalid: [
    ["describe('a', () => { it('x', f); it('x', g); });", 'doubled'],
    ["it('x', f); it.skip('x', g);", 'doubled'],
    ["describe('a', () => { it('x', f); }); describe('a', () => { it(`x`, f); });", 'doubled'],
    ["describe('a b', () => { it('x', f); }); describe('a', () => { it('b x', f); });", 'doubled'],
    ["describe('a', () => { for (const n of all) it('x', f); });", 'repeated'],
    ["describe('a', () => { for (const n of all) { it('x', f); } });", 'repeated'],
    ["all.forEach((n) => { describe('a', () => { it('x', f); }); });", 'repeated'],
  ],
});

tests('test-asserts', {
  valid: [
    "it('x', () => { expect(1).to.equal(1); });",
    "it('x', async () => expectState(await read()));",
    "it('x', () => { rows.forEach(expectRow); });",
    "it('x', () => { for (const row of rows) { const run = () => assert.equal(row, 1); run(); } });",
    "it('x', () => page.checkTitle());",
    "it('x', checkFrame);",
    "it('x', checkOf('frame'));",
    "it('x', () => holds('sum', any(), () => true));",
    "const run = (n) => { expect(n).to.equal(1); }; it('x', () => run(1));",
    "function walk(n) { if (n > 0) walk(n - 1); sameBytes(n, n); } it('x', () => { walk(3); });",
    "it('x', run); function run() { expect(1).to.equal(1); }",
    'it(title);',
    { code: "it('x', () => rest.refused('/a', 404));", options: [{ also: ['refused'] }] },
  ],
  invalid: [
    ["it('x', () => { read(); });", 'nothing'],
    ["it('x', () => rest.refused('/a', 404));", 'nothing'],
    ["it('x', async () => { await expected(); checked(); assertion(); });", 'nothing'],
    ["it('x', () => { const expectations = 1; });", 'nothing'],
    ["const run = () => read(); it('x', () => run());", 'nothing'],
    ["function walk(n) { if (n > 0) walk(n - 1); } it('x', () => { walk(3); });", 'nothing'],
    ["it('x', run);", 'nothing'],
    ["it.skip('x', () => {});", 'nothing'],
  ],
});

tests('no-timed-wait', {
  valid: [
    'await new Promise((resolve) => setTimeout(resolve, 0));',
    'await new Promise((resolve) => setTimeout(resolve));',
    'await new Promise((resolve, reject) => { socket.once("data", resolve); setTimeout(reject, 1000); });',
    'await new Promise((resolve, reject) => setTimeout(reject, 1000));',
    'setTimeout(() => stop(), 100);',
    "import { setImmediate } from 'node:timers/promises';",
  ],
  invalid: [
    ['await new Promise((resolve) => setTimeout(resolve, 100));', 'wait'],
    ['await new Promise((resolve) => setTimeout(resolve, ms));', 'wait'],
    ['const sleep = (ms) => new Promise((go) => { setTimeout(() => go(), ms); });', 'wait'],
    ['await new Promise(function (go) { setTimeout(() => { go(1); }, 50); });', 'wait'],
    ["import { setTimeout as sleep } from 'node:timers/promises';", 'wait'],
    ["import { scheduler } from 'timers/promises';", 'wait'],
  ],
});
