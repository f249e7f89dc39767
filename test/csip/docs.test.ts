import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { csipSettings, csipConduct } from '../../src/config/settings/csip.ts';
import { modeNames, modeTable } from '../../src/csip/control/modes.ts';
import { eventDiagram } from '../../src/csip/events/transitions.ts';

const docs = new URL('../../docs/', import.meta.url);
const text = readFileSync(new URL('csip.md', docs), 'utf8');

describe('docs/csip.md', () => {
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

  it('leads to files that are there', () => {
    for (const [, path = ''] of text.matchAll(/\]\(([^)#]+)[^)]*\)/g))
      expect(existsSync(new URL(path, docs)), path).to.equal(true);
  });
});
