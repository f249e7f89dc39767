/** gosunspec, the library inside evcc and mbmd, reads the older map, and limits as evcc does. */
import { expect } from 'chai';
import { startGoSunSpec } from './support/gosunspec.ts';
import { chainOf, inverterModel } from './support/map-chains.ts';
import { describeWith } from './support/peers.ts';
import type { LinePeer } from './support/peers.ts';
import { Stage, titleOf } from './support/stage.ts';
import type { StagedShape } from './support/stage.ts';

const shapes: readonly StagedShape[] = [
  { device: 'PV-3Phase', layout: 'classic', phases: 3 },
  { device: 'PV-3Phase', layout: 'both', phases: 3 },
  { device: 'PV-1Phase', layout: 'classic', phases: 1 },
  { device: 'PV-3Phase', layout: 'classic', phases: 3, float: true },
  { device: 'Batt-3Phase', layout: 'both', phases: 3, storage: true },
];

describeWith(['go'], 'gosunspec as a client', () => {
  for (const shape of shapes)
    describe(titleOf(shape), () => {
      let stage: Stage;
      let peer: LinePeer;
      const inverter = inverterModel(shape);

      before(async () => {
        stage = await Stage.ofShape(shape);
        peer = startGoSunSpec(stage.simulator.modbusPort);
      });
      after(async () => {
        await peer.stop();
        await stage.close();
      });

      const read = (model: number, point: string, block = 0): Promise<number> =>
        peer.ask('read', { model, point, block });
      const write = (model: number, point: string, value: number) => peer.ask('write', { model, point, value });

      it('knows the chain, and reads all blocks of the older models', async () => {
        expect(await peer.ask('scan')).to.deep.equal(chainOf(shape));
        for (const model of chainOf(shape).filter((id) => id < 705)) await peer.ask('read_model', { model });
      });

      it('reads the power that the REST interface shows, and that of the inputs', async () => {
        expect(await read(inverter, 'W')).to.be.closeTo(await stage.number(701, 'W'), 1);
        expect(await read(160, 'DCW', 1)).to.be.closeTo(Math.max(0, await stage.number(714, 'Prt[0].DCW')), 1);
      });

      if (shape.storage === true) return;

      it('limits by 123, point by point', async () => {
        await write(123, 'WMaxLimPct', 45);
        await write(123, 'WMaxLim_Ena', 1);
        await stage.settle();
        const watts = await stage.number(701, 'W');
        expect(watts).to.be.closeTo(0.45 * (await stage.number(702, 'WMax')), 30);
        expect(await read(inverter, 'W')).to.be.closeTo(watts, 1);
      });
    });
});
