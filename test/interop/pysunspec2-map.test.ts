import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { describeWith } from './support/peers.ts';
import { lineKinds, tcp } from './support/sunspec-line.ts';
import type { SunSpecLine } from './support/sunspec-line.ts';
import { Stream } from './support/stream.ts';

const chain = [1, 701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];

interface ScannedModel {
  readonly id: number;
  readonly address: number;
  readonly length: number;
  readonly error: string;
}
interface DescribedPoint {
  readonly path: string;
  readonly mandatory: boolean;
  readonly implemented: boolean;
}
type Values = Readonly<Record<string, number>>;

const runs = [
  ...lineKinds.map((line) => ({ line, name: 'three-phase', flags: ['-d', 'PV-3Phase'], phases: 3 })),
  { line: tcp, name: 'split-phase', flags: ['-d', 'PV-2Phase'], phases: 2 },
  { line: tcp, name: 'single-phase', flags: ['-d', 'PV-1Phase'], phases: 1 },
  { line: tcp, name: '500 kW', flags: ['-d', 'PV-3Phase', '-f', '500kW-3Phase'], phases: 3 },
];

/** Relations between the measurements of 701 and 714 that hold on any device, within the steps of their registers. */
function expectPlausible(ac: Values, dc: Values, phases: number): void {
  const at = (values: Values, name: string) => {
    const value = values[name];
    expect(value, name).to.be.a('number');
    return value as number;
  };
  const step = (name: string) => 10 ** at(ac, name);
  const sum = (name: string) =>
    Array.from({ length: phases }, (_, i) => at(ac, `${name}L${i + 1}`)).reduce((a, b) => a + b, 0);
  const [w, q, va] = [at(ac, 'W'), at(ac, 'Var'), at(ac, 'VA')];
  expect(w, 'W at noon').to.be.greaterThan(0);
  expect(w / at(dc, 'DCW'), 'efficiency').to.be.within(0.9, 1);
  expect(Math.hypot(w, q), 'VA').to.be.closeTo(va, 2 * step('W_SF'));
  expect(Math.abs(at(ac, 'PF')), 'PF').to.be.closeTo(w / va, (2 * step('W_SF')) / va + step('PF_SF'));
  expect(at(ac, 'Hz'), 'Hz').to.be.closeTo(60, 0.001);
  for (const [name, scale] of [
    ['W', 'W_SF'],
    ['VA', 'VA_SF'],
    ['Var', 'Var_SF'],
    ['A', 'A_SF'],
  ] as const) {
    expect(sum(name), `sum of ${name}`).to.be.closeTo(at(ac, name), 2.5 * step(scale));
  }
  expect(at(ac, 'A') * at(ac, 'LNV'), 'A x LNV').to.be.closeTo(va, 0.002 * va + step('VA_SF'));
  if (phases === 3) expect(at(ac, 'LLV'), 'LLV').to.be.closeTo(Math.sqrt(3) * at(ac, 'LNV'), 2 * step('V_SF'));
}

for (const { line, name, flags, phases } of runs) {
  describeWith(line.peers, `reads the map over ${line.name}, ${name}`, () => {
    let opened: SunSpecLine;
    let master: SunSpecLine['master'];
    let httpPort: number;
    let scanned: { readonly base: number; readonly models: readonly ScannedModel[] };

    before(async () => {
      opened = await line.open(['--tick', '0.1', ...flags]);
      ({
        master,
        simulator: { httpPort },
      } = opened);
      scanned = await master.ask('scan');
    });
    after(async () => {
      await opened.stop();
    });

    it('finds the chain at 40000, in order, with lengths that fit its definitions', () => {
      expect(scanned.base).to.equal(40_000);
      expect(scanned.models.map(({ id }) => id)).to.deep.equal(chain);
      let address = 40_002;
      for (const model of scanned.models) {
        expect(model, `model ${model.id}`).to.include({ address, error: '' });
        address += model.length + 2;
      }
    });

    it('finds every mandatory point implemented', async () => {
      for (const model of chain) {
        const points: DescribedPoint[] = await master.ask('describe', { model });
        const missing = points.filter((point) => point.mandatory && !point.implemented).map(({ path }) => path);
        expect(missing, `model ${model}`).to.deep.equal([]);
      }
    });

    it('reads measurements that fit each other, with and without reactive power', async () => {
      expectPlausible(await master.ask('read', { model: 701 }), await master.ask('read', { model: 714 }), phases);
      // a share of what the active power leaves, so that active power is not reduced
      await master.ask('write_model', { model: 704, values: { VarSetMod: 2, VarSetPct: -30, VarSetEna: 1 } });
      const stream = await Stream.open(httpPort);
      await stream.until('reactive power', 10, ({ metrics }) => metrics.reactive_power_kvar < 0 || undefined);
      await stream.close();
      // all of one tick
      await ask(httpPort, '/api/sim/controls/time', { body: { mode: 'paused' } });
      const ac: Values = await master.ask('read', { model: 701 });
      expect(ac['Var']).to.be.lessThan(0);
      expectPlausible(ac, await master.ask('read', { model: 714 }), phases);
    });

    it('reads what the HTTP interface shows, point by point', async () => {
      const paused = await ask(httpPort, '/api/sim/controls/time', { body: { mode: 'paused' } });
      expect(paused.status).to.equal(200);
      for (const model of chain) {
        const { json } = await ask(httpPort, `/api/sim/registers/${model}`);
        // pysunspec2 takes an empty text for "not implemented"
        const shown = Object.fromEntries(
          json.points.map((point: Json) => [point.name, point.value === '' ? null : point.value]),
        );
        const read: Record<string, unknown> = await master.ask('read', { model });
        expect(Object.keys(read), `points of ${model}`).to.have.members(Object.keys(shown));
        // and its padding for a number
        delete read['Pad'];
        for (const [path, value] of Object.entries(read)) expect(value, `${model}.${path}`).to.equal(shown[path]);
      }
    });
  });
}
