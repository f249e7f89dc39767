import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { rulesPage } from '../../scripts/generate-finding-rules.ts';
import { plainRule as row } from '../support/findings.ts';

describe('page of all rules of findings', () => {
  it('is up to date (npm run generate:findings)', () => {
    expect(readFileSync(new URL('../../docs/reference/finding-rules.md', import.meta.url), 'utf8')).to.equal(
      rulesPage(),
    );
  });

  it('has a row for each rule, and the rules by the fault that provokes them', () => {
    const modbus = {
      a: { ...row, core: 'reading', title: 'One | two', versions: ['1', '2'] },
      b: {
        ...row,
        provokedBy: ['modbus.drop'],
        params: { gap_s: { default: 5, min: 1, max: 9, unit: 's', title: 'Gap' } },
      },
    } as const;
    const dnp3 = { c: { ...row, provokedBy: ['modbus.drop', 'dnp3.delay'] } };
    const page = rulesPage({ modbus, csip: {}, ocpp: {}, dnp3, common: {} });
    expect(page)
      .to.contain('| `modbus.a`*: One \\| two | violation |')
      .and.contain('| Versions 1, 2. |')
      .and.contain('| `modbus.b`: A title. |')
      .and.contain('| Provoked by `modbus.drop`. `gap_s` 5 s. |')
      .and.contain('| `dnp3.delay` | `dnp3.c` |\n| `modbus.drop` | `modbus.b`, `dnp3.c` |')
      .and.not.contain('## OCPP');
  });
});
