import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { dashboardText } from '../../scripts/make-grafana.ts';
import { metricFamilies } from '../../src/api/metrics/metrics.ts';

const deployed = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

/** The fields of the grid that a panel covers. */
const fieldsOf = ({ gridPos: { x, y, w, h } }: Panel) =>
  Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`);

describe('dashboard of Grafana', () => {
  it('is up to date (npm run generate:grafana)', () => {
    expect(deployed('grafana/dashboards/derbench.json')).to.equal(dashboardText());
  });

  it('asks for families that there are, as the alerts do', () => {
    const names = new Set<string>(metricFamilies.map(({ name }) => name));
    for (const text of [dashboardText(), deployed('alerts.yml')]) {
      const asked = [...text.matchAll(/\b(?:derbench|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);
      expect(asked).to.have.length.greaterThan(5);
      expect(asked.filter((name) => !names.has(name))).to.deep.equal([]);
    }
  });

  it('has panels that share no field of its 24 columns', () => {
    const { panels } = JSON.parse(dashboardText()) as { panels: readonly Panel[] };
    const fields = panels.flatMap(fieldsOf);
    expect(new Set(fields).size).to.equal(fields.length);
    expect(fields.filter((field) => Number(field.split(' ')[0]) >= 24)).to.deep.equal([]);
  });

  it('comes from the data source that the reader chooses', () => {
    const asked = [...dashboardText().matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect([...new Set(asked)].sort()).to.deep.equal(['${datasource}', 'derbench']);
  });
});
