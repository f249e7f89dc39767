import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readFaultProfiles } from '../../src/config/profile/fault-profiles.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

const page = readFileSync(new URL('../../docs/reference/faults-field.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!Seen|-)/.test(line))
  .map((line) => {
    const [seen = '', recipes = '', sets = ''] = line.split(' | ');
    return {
      seen: seen.slice(2),
      faults: [...recipes.matchAll(/`(\{.*?\})`/g)].map(([, json = '']) => JSON.parse(json)),
      sets: [...sets.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    };
  });

describe('docs/reference/faults-field.md', () => {
  let running: RunningApp;
  before(async () => {
    running = await startApp(['PV-3Phase']);
  });
  after(() => running.app.stop());

  const post = (body: unknown) => ask(running.port, '/api/sim/faults', { method: 'POST', body });

  for (const { seen, faults } of rows) {
    it(`has faults that a device takes, alone and together: ${seen}`, async () => {
      expect(faults).to.not.have.length(0);
      const named = faults.map((fault: Json) => ({ protocol: 'modbus', ...fault }));
      expect((await post({ inject: named })).json).to.include({ count: faults.length });
      await post({ clear: true });
    });
  }

  it('names every ready set that there is, each once', () => {
    expect(rows.flatMap(({ sets }) => sets).sort()).to.deep.equal(
      readFaultProfiles()
        .map(({ name }) => name)
        .sort(),
    );
  });
});
