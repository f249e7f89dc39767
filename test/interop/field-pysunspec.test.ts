/** pysunspec2 and the first pysunspec read the map of each layout, and limit by 123 and by 704. */
import { expect } from 'chai';
import type { Layout } from './support/field-clients.ts';
import { chainOf, inverterModel } from './support/map-chains.ts';
import type { Shape } from './support/map-chains.ts';
import { describeWith, PythonPeer } from './support/peers.ts';
import { Stage, titleOf } from './support/stage.ts';
import type { StagedShape, Values } from './support/stage.ts';

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

const devices = [
  { device: 'PV-3Phase', phases: 3, storage: false },
  { device: 'Batt-3Phase', phases: 3, storage: true },
] as const;
const shapes: readonly StagedShape[] = devices.flatMap((kind) => [
  ...(['classic', 'both', 'mixed'] as const).map((layout) => ({ ...kind, layout })),
  { ...kind, layout: 'classic' as const, float: true },
]);

const hasBoth = (layout: Layout) => layout === 'both' || layout === 'mixed';

function expectChain(shape: Shape, base: number, models: readonly ScannedModel[]): void {
  expect(models.map(({ id }) => id)).to.deep.equal(chainOf(shape));
  let address = base + 2;
  for (const model of models) {
    expect(model, `model ${model.id}`).to.include({ address, error: '' });
    address += model.length + 2;
  }
}

for (const shape of shapes)
  describeWith(['pysunspec2'], `reads ${titleOf(shape)}`, () => {
    let stage: Stage;
    let master: PythonPeer;
    let scanned: { readonly base: number; readonly models: readonly ScannedModel[] };

    before(async () => {
      stage = await Stage.ofShape(shape);
      master = new PythonPeer('sunspec_master', stage.simulator.modbusPort);
      scanned = await master.ask('scan');
    });
    after(async () => {
      await master.stop();
      await stage.close();
    });

    const read = (model: number): Promise<Values> => master.ask('read', { model });
    const write = (model: number, values: Values) => master.ask('write_model', { model, values });

    it('knows all models, with the lengths of its definitions', () => {
      expectChain(shape, scanned.base, scanned.models);
    });

    it('finds every mandatory point implemented', async () => {
      for (const { id } of scanned.models) {
        const points: DescribedPoint[] = await master.ask('describe', { model: id });
        const missing = points.filter((point) => point.mandatory && !point.implemented).map(({ path }) => path);
        expect(missing, `model ${id}`).to.deep.equal([]);
      }
    });

    it('reads what the HTTP interface shows, point by point', async () => {
      for (const { id } of scanned.models) {
        const shown = await stage.shown(id);
        const values = { ...(await read(id)) };
        expect(Object.keys(values), `points of ${id}`).to.have.members(Object.keys(shown));
        delete values['Pad'];
        // pysunspec2 gives a float of 32 bits all the digits of its 64
        for (const [path, value] of Object.entries(values))
          if (typeof value === 'number' && id > 110 && id < 120)
            expect(Math.fround(value), `${id}.${path}`).to.equal(Math.fround(Number(shown[path])));
          else expect(value, `${id}.${path}`).to.equal(shown[path]);
      }
    });

    if (shape.storage === true) return;

    it('limits by 123, and by 704 to the same watts', async () => {
      const power = async () => {
        await stage.settle();
        const watts = await stage.number(701, 'W');
        if (shape.layout === 'mixed') return watts;
        const { W } = await read(inverterModel(shape));
        expect(W, `${inverterModel(shape)}.W`).to.be.closeTo(watts, 1);
        return watts;
      };
      const maxW = await stage.number(702, 'WMax');
      expect(await power(), 'without a limit').to.be.above(0.95 * maxW);

      await write(123, { WMaxLimPct: 40, WMaxLim_Ena: 1 });
      const by123 = await power();
      expect(by123).to.be.closeTo(0.4 * maxW, 0.005 * maxW);
      expect(await stage.shown(704)).to.include({ WMaxLimPct: 40, WMaxLimPctEna: 1 });

      await write(123, { WMaxLimPct: 100, WMaxLim_Ena: 0 });
      expect(await power(), 'without a limit again').to.be.above(0.95 * maxW);
      if (!hasBoth(shape.layout)) return;

      await write(704, { WMaxLimPctEna: 1, WMaxLimPct: 40 });
      expect(await power(), 'by 704').to.equal(by123);
      expect(await read(123)).to.include({ WMaxLimPct: 40, WMaxLim_Ena: 1 });
    });
  });

for (const shape of shapes.filter(({ layout }) => layout !== 'mixed'))
  describeWith(['pysunspec'], `reads ${titleOf(shape)}`, () => {
    let stage: Stage;
    let master: PythonPeer;
    let scanned: { readonly base: number; readonly models: readonly ScannedModel[] };
    /** models that this generation of the library has definitions for */
    const known = chainOf(shape).filter((id) => id < 200);

    before(async () => {
      stage = await Stage.ofShape(shape);
      master = new PythonPeer('sunspec_v1_master', stage.simulator.modbusPort);
      scanned = await master.ask('scan');
    });
    after(async () => {
      await master.stop();
      await stage.close();
    });

    const read = (model: number): Promise<Values> => master.ask('read', { model });

    it('finds the chain, and knows the models of its time', () => {
      const models = scanned.models.map((model) => (known.includes(model.id) ? model : { ...model, error: '' }));
      expectChain(shape, scanned.base, models);
    });

    it('reads what the HTTP interface shows', async () => {
      for (const id of known.filter((each) => each !== 160)) {
        const shown = await stage.shown(id);
        for (const [path, value] of Object.entries(await read(id))) {
          if (path === 'Pad') continue;
          const expected = shown[path];
          if (typeof expected === 'number' && typeof value === 'number')
            expect(value, `${id}.${path}`).to.be.closeTo(expected, 1e-6 * Math.abs(expected) + 1e-9);
          else expect(value, `${id}.${path}`).to.equal(expected);
        }
      }
    });

    it('reads the inputs of 160', async () => {
      const inputs = await read(160);
      const count = Number(inputs['N']);
      expect(count).to.be.above(0);
      for (let i = 0; i < count; i += 1) expect(inputs[`[${i}].DCW`], `input ${i}`).to.be.a('number');
    });

    if (shape.storage === true) return;

    it('limits by 123', async () => {
      const maxW = await stage.number(702, 'WMax');
      await master.ask('write_model', { model: 123, values: { WMaxLimPct: 30, WMaxLim_Ena: 1 } });
      await stage.settle();
      const watts = await stage.number(701, 'W');
      expect(watts).to.be.closeTo(0.3 * maxW, 0.005 * maxW);
      expect((await read(inverterModel(shape)))['W']).to.be.closeTo(watts, 1);
    });
  });
