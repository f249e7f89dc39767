/** A PV device in partial shade. */
import { expect } from 'chai';
import { KindRig, kindSpec } from './support.ts';

const shade = { shadedShare: 0.3, irradianceShare: 0.4 };

async function sunny(): Promise<KindRig> {
  const rig = new KindRig(kindSpec('pv'));
  rig.plant.setSurroundings({ irradianceWm2: 800, cellTemperatureC: 40 });
  await rig.run(60);
  return rig;
}

describe('PV device: partial shading', () => {
  it('costs more power than the missing light, and none once it ends', async () => {
    const rig = await sunny();
    const brightW = rig.w;
    rig.command({ kind: 'pv.shading', shading: shade });
    await rig.run(60);
    expect(rig.detail('pv').shading).to.deep.equal(shade);
    const lightShare = 1 - shade.shadedShare * (1 - shade.irradianceShare);
    expect(rig.w).to.be.within(0.4 * brightW, lightShare * brightW);
    rig.command({ kind: 'pv.shading', shading: null });
    await rig.run(60);
    expect([rig.w, rig.detail('pv').shading]).to.deep.equal([brightW, null]);
  });

  it('its curve has two maxima, the greater of them among the samples at any number of points', async () => {
    const rig = await sunny();
    rig.command({ kind: 'pv.shading', shading: shade });
    await rig.run(60);
    for (const points of [10, 37, 200]) {
      const { curve, mpp } = rig.device.dcCurve(undefined, points);
      expect(mpp?.p).to.equal(Math.max(...curve.map(({ p }) => p)));
      expect(
        curve.some(({ v, i }) => v === mpp?.v && i === mpp.i),
        `${points} points`,
      ).to.equal(true);
      expect(mpp?.p).to.be.closeTo(rig.detail('pv').availableDcW, 0.001 * (mpp?.p ?? 0));
    }
    const { curve } = rig.device.dcCurve(undefined, 200);
    const peaks = curve.filter(
      ({ p }, i) => i > 0 && p > (curve[i - 1]?.p ?? Infinity) && p >= (curve[i + 1]?.p ?? Infinity),
    );
    expect(peaks.length).to.equal(2);
  });

  it('shade over all or none of the array acts as less light', async () => {
    const rig = await sunny();
    const brightW = rig.w;
    rig.command({ kind: 'pv.shading', shading: { shadedShare: 0, irradianceShare: 0.1 } });
    await rig.run(60);
    expect(rig.w).to.equal(brightW);
    rig.command({ kind: 'pv.shading', shading: { shadedShare: 1, irradianceShare: 0.5 } });
    await rig.run(60);
    rig.command({ kind: 'pv.shading', shading: null });
    const shadedW = rig.w;
    rig.plant.setSurroundings({ irradianceWm2: 400, cellTemperatureC: 40 });
    await rig.run(60);
    expect(shadedW).to.be.closeTo(rig.w, 0.005 * rig.w);
  });

  it('a limit keeps it on the falling side of the greater maximum, and droop still reduces power', async () => {
    const rig = await sunny();
    rig.command({ kind: 'pv.shading', shading: shade });
    rig.limit(20);
    await rig.run(60);
    expect([rig.w, rig.detail('pv').mpptState]).to.deep.equal([2000, 'limit']);
    rig.plant.setGrid({ frequencyHz: 60.3 });
    await rig.watch(40, 1, () => undefined);
    expect(rig.w).to.be.closeTo(2000 - ((0.3 - 0.036) / 3) * 10_000, 2);
  });

  it('refuses shares outside 0..1, and a reset of the device ends the shade', async () => {
    const rig = await sunny();
    for (const bad of [
      { shadedShare: 1.2, irradianceShare: 0.5 },
      { shadedShare: 0.5, irradianceShare: -0.1 },
      { shadedShare: NaN, irradianceShare: 0.5 },
    ]) {
      expect(rig.refusalOf({ kind: 'pv.shading', shading: bad })).to.equal('COMMAND_BAD_VALUE');
    }
    rig.command({ kind: 'pv.shading', shading: shade });
    await rig.run(5);
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(5);
    expect(rig.detail('pv').shading).to.equal(null);
  });
});
