import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { linkedFile } from '../support/repository.ts';
import { faultKinds } from '../../src/fault-kinds/protocols.ts';
import { reservedMembers } from '../../src/fault-kinds/request.ts';
import { catalogueRows, profileRows } from '../support/fault-tables.ts';

const docs = new URL('../../docs/concepts/', import.meta.url);
const text = readFileSync(new URL('faults.md', docs), 'utf8');
const lines = text.split('\n');

describe('docs/concepts/faults.md', () => {
  it('has the catalogue as the rows have it', () => {
    const rows = lines.filter((line) => /^\| `\w+` \| (transport|acceptance|reading|effect) \|/.test(line));
    expect(rows.map((line) => line.slice(0, line.lastIndexOf(' [')))).to.deep.equal(
      catalogueRows().map(({ start }) => start),
    );
  });

  it('names for each kind a file that tests it', () => {
    for (const { kind, start } of catalogueRows()) {
      const [, path = ''] =
        /\]\(([^)]+\.test\.ts)\) \|$/.exec(lines.find((line) => line.startsWith(start)) ?? '') ?? [];
      const url = linkedFile(path);
      expect(path !== '' && existsSync(url), kind).to.equal(true);
      const constant = `${kind.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())}Fault`;
      expect(readFileSync(url, 'utf8'), kind).to.match(new RegExp(`\\b(${constant}|${kind})\\b`));
    }
    expect(catalogueRows()).to.have.length(faultKinds.length);
  });

  it('has every ready set, and every member that all kinds take', () => {
    for (const row of profileRows()) expect(lines).to.include(row);
    for (const member of reservedMembers.filter((name) => name !== 'kind')) expect(text).to.contain(`\`${member}\``);
  });
});
