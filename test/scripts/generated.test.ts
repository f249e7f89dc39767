import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataFolder, differences, firstDifference, formatted, writeGenerated } from '../../scripts/generated.ts';

describe('generated files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'generated-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('a check names each file that differs or is missing, with the first line that differs', () => {
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
    writeFileSync(join(folder, 'b.txt'), 'one\ntwo\nthree\n');
    const files = new Map([
      ['a.txt', 'one\ntwo\n'],
      ['b.txt', 'one\n2\nthree\n'],
      ['c.txt', ''],
    ]);
    expect(differences(files, folder)).to.deep.equal([
      'b.txt is not what its generator makes: line 2 is "two", the generator makes "2"',
      'c.txt is missing',
    ]);
  });
  it('a text that ends early differs in the line that it lacks', () => {
    expect(firstDifference('one', 'one\ntwo')).to.equal('line 2 is nothing, the generator makes "two"');
    expect(firstDifference('one\ntwo', 'one')).to.equal('line 2 is "two", the generator makes nothing');
    expect(firstDifference('one\n', 'one\n')).to.equal(null);
  });
  it('of a long line the part around the difference is shown', () => {
    const long = 'x'.repeat(1000);
    const difference = firstDifference(`${long}1${long}`, `${long}2${long}`);
    const part = (digit: number) => `"…${'x'.repeat(50)}${digit}${'x'.repeat(49)}…"`;
    expect(difference).to.equal(`line 1 is ${part(1)}, the generator makes ${part(2)}`);
  });
  it('an equal file keeps its time, others are written', () => {
    const long = new Date('2020-01-01T00:00:00Z');
    for (const name of ['a.txt', 'b.txt']) {
      writeFileSync(join(folder, name), 'one\n');
      utimesSync(join(folder, name), long, long);
    }
    writeGenerated(
      new Map([
        ['a.txt', 'one\n'],
        ['b.txt', 'two\n'],
      ]),
      folder,
    );
    expect(statSync(join(folder, 'a.txt')).mtime).to.deep.equal(long);
    expect(readFileSync(join(folder, 'b.txt'), 'utf8')).to.equal('two\n');
  });
  it('code is formatted as that of the checkout, and a text that is no code is refused', () => {
    expect(formatted('src/generated.ts', 'export const a={b:"c"}')).to.equal("export const a = { b: 'c' };\n");
    expect(() => formatted('src/generated.ts', 'export const = ;')).to.throw('src/generated.ts cannot be formatted');
  });
  it('a generator takes one folder of data', () => {
    expect(dataFolder(['data', '--check'], 'make DIR')).to.equal('data');
    for (const args of [[], ['--check'], ['one', 'other'], ['--chekc', 'data'], ['data', '--chekc']])
      expect(() => dataFolder(args, 'make DIR'), args.join(' ')).to.throw('usage: make DIR');
  });
});
