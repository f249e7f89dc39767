import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { linkedFile } from '../support/repository.ts';
import { csipSettings, csipConduct } from '../../src/config/settings/csip.ts';
import { modeNames, modeTable } from '../../src/csip/control/modes.ts';
import { eventDiagram } from '../../src/csip/events/transitions.ts';

const docs = new URL('../../docs/protocols/', import.meta.url);
const text = readFileSync(new URL('csip.md', docs), 'utf8');

describe('docs/protocols/csip.md', () => {
  it('has the life of an event as the scheduler has it', () => {
    expect(text).to.contain(`\`\`\`mermaid\n${eventDiagram()}\n\`\`\``);
  });

  it('has every flag of the client', () => {
    const [flags = ''] = /## Flags\n([^]*?)\n## /.exec(text) ?? [];
    for (const { flags: names } of Object.values({ ...csipSettings, ...csipConduct }))
      expect(flags).to.contain(`\`${names?.at(-1) ?? '?'}\``);
  });

  it('says of every mode what it does, or that nothing has physics for it', () => {
    const [modes = ''] = /## Control modes\n([^]*?)\n## /.exec(text) ?? [];
    const named = [...modes.matchAll(/opMod\w+(?:\.\.\.)?/g)].map(([name]) => name);
    for (const name of modeNames) {
      const isNamed = named.some(
        (each) => each === name || (each.endsWith('...') && name.startsWith(each.slice(0, -3))),
      );
      expect(isNamed || modeTable[name].bitmap === 'modes2' || /Permit$/.test(name), name).to.equal(true);
    }
  });
});

/** Ids of a row: `BASIC-001, BASIC-002`; a range is no id of a test. */
const idsOf = (cell: string) => cell.split(', ').filter((id) => /^[A-Z]+-[0-9]+(-REJ)?$/.test(id));

describe('conformance table of docs/protocols/csip.md', () => {
  const rows = text
    .split('\n')
    .filter((line) => /^\| [A-Z]+-?\d*.* \| (pass|partly|no) \|/.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| /, '').trim()));

  it('has a result and, unless that is no, a test for each procedure', () => {
    expect(rows.length).to.be.greaterThan(40);
    for (const [ids = '', result, test = ''] of rows) expect(/\.test\.ts\)/.test(test), ids).to.equal(result !== 'no');
  });

  it('names tests of the whole client that have the id in their title', () => {
    for (const [ids = '', , test = '', remark = ''] of rows) {
      const [, path = ''] = /\((.*\/whole\/.*)\)/.exec(test) ?? [];
      if (path === '' || /^as /.test(remark)) continue;
      const titles = readFileSync(linkedFile(path), 'utf8');
      for (const id of idsOf(ids)) expect(titles, `${id} in ${path}`).to.contain(id);
    }
  });

  it('has every procedure that a test of the whole client names', () => {
    const folder = new URL('./whole/', import.meta.url);
    const named = new Set(rows.flatMap(([ids = '']) => idsOf(ids)));
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.test.ts')))
      for (const [id] of readFileSync(new URL(file, folder), 'utf8').matchAll(
        /\b(?:COMM|CORE|BASIC|UTIL|AGG|MAINT|ERR|ALL|MUL)-\d+\b/g,
      ))
        expect(named.has(id), `${id} of ${file}`).to.equal(true);
  });
});
