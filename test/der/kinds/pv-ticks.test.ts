/** The course of a PV device under any tick, and beside events that do not concern it. */
import { expect } from 'chai';
import { KindRig, kindSpec } from './support.ts';

interface Course {
  readonly tickS: number;
  readonly oscillates?: true;
}

/** Moving sun, then a ramp of the light, then a step of it and back. @returns what registers and detail show */
async function shown({ tickS, oscillates }: Course) {
  const rig = new KindRig(kindSpec('pv'), { time: '08:00:00' });
  rig.plant.setSurroundings({ source: 'clear_sky' });
  if (oscillates)
    rig.plant.startGridEvent('oscillation', {
      quantity: 'frequency',
      amplitude: 0.01,
      duration_s: 300,
      frequency_hz: 0.1,
    });
  const seen: unknown[] = [];
  const look = () => {
    const { m701, m714 } = rig.map;
    const { W, TotWhInj, InvSt } = m701;
    seen.push({ W, TotWhInj, InvSt, DCW: m714.DCW, DCWhInj: m714.DCWhInj, DCV: m714.Prt[0]?.DCV, DCA: m714.DCA });
  };
  await rig.watch(240, tickS, () => undefined);
  look();
  rig.plant.setSurroundings({ irradianceWm2: 900, rampS: 45 });
  await rig.watch(60, tickS, () => undefined);
  look();
  rig.plant.setSurroundings({ irradianceWm2: 200, durationS: 60 });
  await rig.watch(120, tickS, () => undefined);
  look();
  return { seen, cellC: rig.detail('pv').cellTemperatureC };
}

describe('PV device: time', () => {
  it('its registers and cell temperature do not depend on the tick, nor on an oscillation of the frequency', async () => {
    const reference = await shown({ tickS: 1 });
    for (const course of [{ tickS: 0.1 }, { tickS: 60 }, { tickS: 1, oscillates: true }] as const) {
      const { seen, cellC } = await shown(course);
      expect(seen, JSON.stringify(course)).to.deep.equal(reference.seen);
      expect(cellC).to.be.closeTo(reference.cellC, 1e-4);
    }
  });
});
