/** A PV device with several inputs, each with an array of its own. */
import { expect } from 'chai';
import type { PvInputParameters, PvShading } from '../../../src/contract/kinds/pv.ts';
import { pick } from '../../support/depth.ts';
import { dumpOf, KindRig, kindSpec } from './support.ts';
import type { KindPlantOptions } from './support.ts';

const strings = { module: 'CS5P-220M', series: 14, parallel: 2, tiltDeg: 30, azimuthDeg: 180, shading: null } as const;
const window = { minDcVoltageV: 200, maxDcVoltageV: 1000 } as const;
const east: PvInputParameters = { ...strings, name: 'East', azimuthDeg: 90 };
const west: PvInputParameters = { ...strings, name: 'West', azimuthDeg: 270 };
const shade: PvShading = { shadedShare: 0.3, irradianceShare: 0.4 };

const rigOf = (inputs: readonly PvInputParameters[], options: KindPlantOptions = {}) =>
  new KindRig({ ...kindSpec('pv'), pv: { ...window, startPowerW: 80, inputs } }, options);

/** Registers of the ports. */
const portsOf = ({ map: { m714 } }: KindRig) =>
  Array.from(m714.Prt, ({ PrtTyp, IDStr, DCV, DCA, DCW, DCWhInj }) => ({ PrtTyp, IDStr, DCV, DCA, DCW, DCWhInj }));
const wattsOf = (rig: KindRig) => portsOf(rig).map(({ DCW }) => DCW ?? NaN);

describe('PV device with several inputs', () => {
  it('over a clear day the east leads the west, and the ports add up', async () => {
    const rig = rigOf([east, west], { time: '04:00:00' });
    rig.plant.setSurroundings({ source: 'clear_sky' });
    const seen: [number, number][] = [];
    await rig.watch(18 * 3600, 300, () => {
      const [eastW = NaN, westW = NaN] = wattsOf(rig);
      seen.push([eastW, westW]);
      expect(rig.map.m714.DCW).to.be.closeTo(eastW + westW, 2);
    });
    const brightest = (n: 0 | 1) => seen.findIndex((watts) => watts[n] === Math.max(...seen.map((each) => each[n])));
    // ticks of five minutes from 04:00: in the middle of each half of the day
    expect(brightest(0)).to.be.within(48, 84);
    expect(brightest(1)).to.be.within(108, 144);
    expect(seen[36]![0]).to.be.above(3 * seen[36]![1]);
    const ports = portsOf(rig);
    expect(ports.map(({ PrtTyp, IDStr }) => [PrtTyp, IDStr])).to.deep.equal([
      ['PV', 'East'],
      ['PV', 'West'],
    ]);
    expect(rig.map.m714.NPrt).to.equal(2);
    expect(rig.map.m714.DCWhInj).to.be.closeTo(ports[0]!.DCWhInj! + ports[1]!.DCWhInj!, 2);
    // the sun is at the same height twice, but the air is warmer in the afternoon
    expect(ports[1]!.DCWhInj! / ports[0]!.DCWhInj!).to.be.within(0.94, 1.06);
  });

  it('shading an input moves its port alone', async () => {
    const rig = rigOf([east, west]);
    rig.plant.setSurroundings({ irradianceWm2: 800, cellTemperatureC: 40 });
    await rig.run(60);
    const [bright] = portsOf(rig);
    expect(bright).to.deep.include({ DCW: portsOf(rig)[1]!.DCW, DCV: portsOf(rig)[1]!.DCV });
    rig.command({ kind: 'pv.shading', input: 1, shading: shade });
    await rig.run(60);
    const [first, second] = portsOf(rig);
    expect([first!.DCW, first!.DCV]).to.deep.equal([bright!.DCW, bright!.DCV]);
    expect(second!.DCW! / bright!.DCW!).to.be.within(0.4, 0.82);
    expect(rig.detail('pv').inputs?.map(({ name, shading }) => [name, shading])).to.deep.equal([
      ['East', null],
      ['West', shade],
    ]);
    expect(rig.device.dcCurve(1, 100).mpp!.p).to.be.closeTo(second!.DCW!, 10);
    expect(rig.device.dcCurve(undefined, 100)).to.deep.include({ port: 0 });
    expect(() => rig.device.dcCurve(2, 100)).to.throw('ports 0 to 1');
    expect(rig.refusalOf({ kind: 'pv.shading', input: 2, shading: null })).to.equal('COMMAND_BAD_VALUE');
    // without a number all of them
    rig.command({ kind: 'pv.shading', shading: null });
    await rig.run(60);
    expect(portsOf(rig)[1]).to.deep.include({ DCW: bright!.DCW, DCV: bright!.DCV });
  });

  it('a limit takes the same share of what each can give, each above its maximum power point', async () => {
    const rig = rigOf([
      { ...strings, name: 'Large', parallel: 3 },
      { ...strings, name: 'Small', parallel: 1 },
    ]);
    rig.plant.setSurroundings({ irradianceWm2: 800, cellTemperatureC: 40 });
    await rig.run(60);
    const before = portsOf(rig);
    rig.limit(30);
    await rig.run(60);
    const after = portsOf(rig);
    expect(rig.w).to.equal(3000);
    expect(after[0]!.DCW! / after[1]!.DCW!).to.be.closeTo(3, 0.01);
    after.forEach(({ DCV }, i) => expect(DCV).to.be.above(before[i]!.DCV! + 20));
    expect(rig.detail('pv').inputs?.map(({ mpptState }) => mpptState)).to.deep.equal(['limit', 'limit']);
  });

  it('equal inputs are as one array of their size', async () => {
    // from the night on; a whole day ends in the next one
    const hours = pick({ quick: 5, ci: 17 });
    const course = async (rig: KindRig) => {
      rig.plant.setSurroundings({ source: 'clear_sky' });
      await rig.watch(hours * 3600, 60, () => undefined);
      const { m701, m714 } = rig.map;
      return { ac: m701.TotWhInj!, night: m701.TotWhAbs!, dc: m714.DCWhInj!, cellC: rig.detail('pv').cellTemperatureC };
    };
    const options = { time: '04:00:00' };
    const two = await course(
      rigOf(
        [strings, strings].map((each, i) => ({ ...each, name: `${i}` })),
        options,
      ),
    );
    const pv = { ...window, startPowerW: 80, ...strings, parallel: 4 };
    const one = await course(new KindRig({ ...kindSpec('pv'), pv }, options));
    expect(one.ac).to.be.above(hours === 17 ? 40_000 : 1000);
    for (const name of ['ac', 'dc'] as const) expect(two[name] / one[name], name).to.be.closeTo(1, 1e-4);
    expect([two.night, two.cellC]).to.deep.equal([one.night, one.cellC]);
  });

  it('its registers do not depend on the tick', async () => {
    const course = async (tickS: number) => {
      const rig = rigOf([east, { ...west, shading: shade }], { time: '08:00:00' });
      rig.plant.setSurroundings({ source: 'clear_sky' });
      await rig.watch(240, tickS, () => undefined);
      const seen: unknown[] = [portsOf(rig)];
      rig.plant.setSurroundings({ irradianceWm2: 900, rampS: 45 });
      await rig.watch(60, tickS, () => undefined);
      seen.push(portsOf(rig));
      rig.plant.setSurroundings({ irradianceWm2: 200, durationS: 60 });
      await rig.watch(120, tickS, () => undefined);
      return [...seen, portsOf(rig), rig.map.m701.TotWhInj];
    };
    const reference = await course(1);
    for (const tickS of [0.1, 60]) expect(await course(tickS), `${tickS} s`).to.deep.equal(reference);
  });

  it('a set irradiance counts for every input, as does that of a series', async () => {
    const rig = rigOf([east, west], { time: '08:00:00' });
    const lightOf = () => rig.detail('pv').inputs?.map(({ irradianceWm2 }) => irradianceWm2) ?? [];
    await rig.run(2);
    expect(new Set([...lightOf(), rig.detail('pv').irradianceWm2])).to.have.lengthOf(1);
    rig.plant.setSurroundings({ source: 'clear_sky' });
    await rig.run(2);
    expect(lightOf()[0]).to.be.above(3 * lightOf()[1]!);
    rig.plant.setSurroundings({ irradianceWm2: 500 });
    await rig.run(2);
    expect(lightOf()).to.deep.equal([500, 500]);
  });

  it('a reset of the device brings the shading of the profile, and the same run the same registers', async () => {
    const run = async () => {
      const rig = rigOf([east, { ...west, shading: shade }]);
      rig.command({ kind: 'pv.shading', shading: null });
      await rig.run(30);
      rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
      await rig.run(30);
      expect(rig.detail('pv').inputs?.map(({ shading }) => shading)).to.deep.equal([null, shade]);
      return dumpOf(rig.device).toString('hex');
    };
    expect(await run()).to.equal(await run());
  });
});
