import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { dnp3Families } from '../../src/api/metrics/protocol-families.ts';
import { dnp3Routes } from '../../src/api/outstations.ts';
import { commAlarmKinds } from '../../src/core/comm-alarms.ts';
import { severities } from '../../src/core/findings/rule.ts';
import { dnp3Faults } from '../../src/fault-kinds/dnp3.ts';
import { dnp3Rules } from '../../src/finding-rules/dnp3.ts';
import { Site } from './whole/site.ts';

const page = readFileSync(new URL('../../docs/protocols/dnp3.md', import.meta.url), 'utf8');

describe('docs/protocols/dnp3.md', () => {
  it('has every operation, metric and alarm of DNP3', () => {
    for (const { method, path } of dnp3Routes)
      expect(page).to.match(new RegExp(`${method.toUpperCase()}[^|]* \`${path.slice(1)}\``));
    for (const { name } of dnp3Families)
      expect(page).to.include(`\`${name.replace(/^derbench_dnp3_(.*)_total$/, '$1')}\``);
    for (const code of Object.keys(commAlarmKinds).filter((each) => each.startsWith('dnp3_')))
      expect(page).to.include(`\`${code}\` (warning, source \`comm\`)`);
  });

  it('has every rule for masters under its severity', () => {
    const [, section = ''] = /^## Findings$(.*?)^## /ms.exec(page) ?? [];
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    for (const [at, severity] of severities.entries()) {
      const column = rows.map((row) => row.split('|')[at + 2] ?? '').join();
      const documented = [...column.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      const names = Object.entries(dnp3Rules).flatMap(([name, row]) => (row.severity === severity ? name : []));
      expect(documented, severity).to.have.members(names);
    }
  });

  it('shows requests of faults that are accepted', async () => {
    const bodies = [...page.matchAll(/^fault '(.*?)'/gm)].map(([, body = '']) => JSON.parse(body) as { kind?: string });
    const kinds = new Set(dnp3Faults.map(({ kind }) => kind));
    expect(bodies.length).to.be.greaterThan(5);
    const site = await Site.open(['PV-3Phase']);
    try {
      for (const body of bodies) {
        if (body.kind !== undefined) expect(kinds).to.include(body.kind);
        await site.post('dnp3/fault', body);
      }
    } finally {
      await site.close();
    }
  });
});
