/** The SunSpec clients of two Rust crates read all models that they know, and limit by 123. */
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { chainOf, inverterModel } from './support/map-chains.ts';
import { describeWith } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';
import { rustClients, startRustClient } from './support/rust.ts';
import type { RustClient } from './support/rust.ts';
import { Stage, titleOf } from './support/stage.ts';
import type { StagedShape } from './support/stage.ts';

const runs: readonly StagedShape[] = [
  { device: 'PV-3Phase', layout: 'classic', phases: 3 },
  { device: 'PV-3Phase', layout: 'both', phases: 3 },
  { device: 'PV-3Phase', layout: 'mixed', phases: 3 },
  { device: 'PV-1Phase', layout: 'classic', phases: 1 },
  { device: 'PV-3Phase', layout: 'classic', phases: 3, float: true },
  { device: 'Batt-3Phase', layout: 'both', phases: 3, storage: true },
];

/** One of the crates reads models of more than 125 registers in blocks that cut points, and 189 registers at once. */
const blocks = ['modbus.quantity_illegal', 'modbus.read_part_of_point'];

const scaled = (value: number, exponent: number) => value * 10 ** exponent;

/** Points of both libraries' own names, in engineering units. */
async function valuesOf(client: RustClient, peer: LinePeer, model: number): Promise<Record<string, number>> {
  if (client === 'sunspec_rs') return peer.ask('read', { model, points: ['W', 'Hz'] });
  const read: Json = await peer.ask('read', { model });
  return model > 110 && model < 120
    ? { W: read.w, Hz: read.hz }
    : { W: scaled(read.w, read.w_sf), Hz: scaled(read.hz, read.hz_sf) };
}

describeWith(['rust'], 'Rust crates as SunSpec clients', function () {
  this.timeout(120_000);
  for (const shape of runs)
    describe(titleOf(shape), () => {
      let stage: Stage;
      const hasLongModels = shape.layout === 'both' || shape.layout === 'mixed';
      const inverter = shape.layout === 'mixed' ? 701 : inverterModel(shape);

      before(async () => {
        stage = await Stage.ofShape(shape);
      });
      after(() => stage.close(hasLongModels ? blocks : []));

      for (const client of rustClients.filter((each) => each === 'sunspec' || shape.float !== true))
        describe(client, () => {
          let peer: LinePeer;

          before(() => {
            peer = startRustClient(client, stage.simulator.modbusPort);
          });
          after(() => peer.stop());

          it('knows every model of the chain and reads each', async () => {
            const { known }: { known: number[] } = await peer.ask('scan');
            expect([...known].sort((a, b) => a - b)).to.deep.equal(chainOf(shape).sort((a, b) => a - b));
            if (client === 'sunspec') for (const model of known) await peer.ask('read', { model });
          });

          it('reads the power and frequency that the REST interface shows', async () => {
            const { W, Hz } = await valuesOf(client, peer, inverter);
            expect(W).to.be.closeTo(await stage.number(701, 'W'), 1);
            expect(Hz).to.be.closeTo(await stage.number(701, 'Hz'), 0.01);
          });

          it('limits by 123', async () => {
            const percent = client === 'sunspec' ? 40 : 30;
            await peer.ask('limit', { raw: percent * 100 });
            await stage.settle();
            if (shape.storage !== true)
              expect(await stage.number(701, 'W')).to.be.closeTo(
                (percent / 100) * (await stage.number(702, 'WMax')),
                30,
              );
            const { W } = await valuesOf(client, peer, inverter);
            expect(W).to.be.closeTo(await stage.number(701, 'W'), 1);
            expect(await stage.number(704, 'WMaxLimPct')).to.equal(percent);
          });
        });
    });
});
