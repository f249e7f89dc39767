import { expect } from 'chai';
import type { AvailablePower } from '../../../src/contract/device.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byTest } from '../../support/rig.ts';
import { fleetKinds, firstNonFinite, KindRig, kindPlant, kindSpec, operator } from './support.ts';

const nothing: AvailablePower = { injectW: 0, absorbW: 0, injectVar: 0, absorbVar: 0 };

describe('Power available now, by kind', () => {
  it('pv at noon: what the array gives after losses, whatever limits it', async () => {
    const rig = new KindRig(kindSpec('pv'));
    rig.plant.setSurroundings({ irradianceWm2: 600, cellTemperatureC: 25 });
    await rig.run(60);
    const free = rig.device.available;
    expect(free.injectW).to.be.closeTo(rig.w, 1).and.above(1000);
    expect(free.absorbW).to.equal(0);
    rig.limit(20);
    rig.useCurve(706, [
      [90, 10],
      [110, 10],
    ]);
    rig.plant.setSite({ export: 100 }, operator);
    await rig.run(60);
    expect(rig.w).to.be.at.most(100);
    expect(rig.device.available.injectW).to.be.closeTo(free.injectW, 0.01 * free.injectW);
  });

  it('pv by night: nothing, reactive power neither', async () => {
    const rig = new KindRig(kindSpec('pv'), { time: '00:00:00' });
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    await rig.run(60);
    expect(rig.device.available).to.deep.equal(nothing);
  });

  it('702.WMax bounds it, WMaxLimPct does not', async () => {
    const rig = new KindRig(kindSpec('pv'));
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rig.run(60);
    const ratedW = rig.map.m702.WMaxRtg!;
    expect(rig.device.available.injectW).to.equal(ratedW);
    rig.write((tx) => {
      tx.m702.WMax = ratedW / 2;
    });
    rig.limit(10);
    // settings count at once, without a tick
    expect(rig.device.available.injectW).to.equal(ratedW / 2);
    await rig.run(10);
    expect([rig.w, rig.device.available.injectW]).to.deep.equal([ratedW / 20, ratedW / 2]);
  });

  it('reactive power is what capability and circle leave beside the present power', async () => {
    const rig = new KindRig(kindSpec('pv'));
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    await rig.run(60);
    const { VAMax, VarMaxInj, VarMaxAbs, WMax } = rig.map.m702;
    // at full power the circle is all used
    expect(VAMax).to.equal(WMax);
    expect(rig.device.available.injectVar).to.be.below(0.05 * VAMax!);
    rig.limit(60);
    await rig.run(10);
    expect(rig.device.available).to.include({ injectVar: VarMaxInj, absorbVar: VarMaxAbs });
    rig.limit(95);
    await rig.run(10);
    const besideVar = Math.sqrt(VAMax! ** 2 - rig.w ** 2);
    expect(besideVar).to.be.below(VarMaxInj!);
    expect(rig.device.available.injectVar).to.be.closeTo(besideVar, 5);
    rig.limit(10);
    await rig.run(10);
    // half of the capability at half of 20 % of rated power (Table 7)
    expect(rig.device.available.injectVar).to.be.closeTo(VarMaxInj! / 2, 1);
    rig.limit(3);
    await rig.run(10);
    expect(rig.device.available).to.include({ injectVar: 0, absorbVar: 0 });
  });

  it('the current limit bounds it too (702.AMax x voltage)', async () => {
    const rig = new KindRig(kindSpec('pv'));
    rig.plant.setSurroundings({ irradianceWm2: 1100, cellTemperatureC: 25 });
    rig.write((tx) => {
      tx.m702.AMax = tx.m702.AMax! / 2;
    });
    await rig.run(60);
    const { AMax, VNom } = rig.map.m702;
    const circleVa = AMax! * (VNom! / Math.sqrt(3));
    expect(rig.device.available.injectW).to.be.closeTo(circleVa, 0.001 * circleVa);
  });

  it('battery: both directions, by its state of charge and limits', async () => {
    const rig = new KindRig(kindSpec('battery'));
    await rig.run(10);
    const { WMax, WChaRteMax } = rig.map.m702;
    expect(rig.device.available.injectW).to.be.closeTo(WMax!, 1e-6);
    expect(rig.device.available.absorbW).to.be.closeTo(WChaRteMax!, 1e-6);
    const { soc_min_pct: minPct, soc_max_pct: maxPct } = rig.plant.latest.published[0]!.snapshot.metrics;
    rig.command({ kind: 'battery.control', socPct: minPct! });
    await rig.run(10);
    expect(rig.device.available.injectW).to.equal(0);
    expect(rig.device.available.absorbW).to.be.above(0);
    expect(rig.device.available.injectVar).to.be.above(0);
    rig.command({ kind: 'battery.control', socPct: maxPct! });
    await rig.run(10);
    expect(rig.device.available.injectW).to.be.above(0);
    expect(rig.device.available.absorbW).to.equal(0);
  });

  it('battery: forced modes and set-points do not count, open contactors do', async () => {
    const rig = new KindRig(kindSpec('battery'));
    await rig.run(10);
    const free = rig.device.available;
    rig.command({ kind: 'battery.control', mode: 'charge', powerW: 500 });
    await rig.run(10);
    const { injectW, absorbW } = rig.device.available;
    expect([injectW, absorbW]).to.deep.equal([free.injectW, free.absorbW]);
    rig.command({ kind: 'battery.control', mode: 'auto' });
    rig.command({ kind: 'battery.connect', connect: false });
    await rig.run(10);
    expect(rig.device.available).to.deep.equal(nothing);
  });

  for (const kind of ['windT3', 'windT4'] as const) {
    it(`${kind}: follows the wind, not a set-point`, async () => {
      const rig = new KindRig(kindSpec(kind));
      const ofWind = async (speedMS: number) => {
        rig.command({ kind: 'wind.override', speedMS, height: 'hub' });
        await rig.run(600);
        return rig.device.available.injectW;
      };
      expect(await ofWind(1)).to.equal(0);
      const partW = await ofWind(8);
      expect(partW)
        .to.be.closeTo(rig.w, 0.1 * rig.w)
        .and.above(0);
      const ratedW = rig.map.m702.WMax!;
      expect(await ofWind(15)).to.be.closeTo(ratedW, 1e-6 * ratedW);
      rig.demand(ratedW / 4);
      await rig.run(60);
      expect(rig.w).to.be.closeTo(ratedW / 4, 1e-3 * ratedW);
      expect(rig.device.available.injectW).to.be.closeTo(ratedW, 1e-6 * ratedW);
      expect(rig.device.available.absorbW).to.equal(0);
    });
  }

  it('fuel cell: its rating once it is ready, also while its ramp is under way', async () => {
    const rig = new KindRig({ ...kindSpec('fuelCell'), models: { '704': { WRmp: 1000 } } });
    rig.demand(0);
    await rig.run(900);
    expect(rig.w).to.equal(0);
    const { injectW, absorbW } = rig.device.available;
    expect(absorbW).to.equal(0);
    rig.demand(rig.map.m702.WMax);
    await rig.run(1);
    expect(rig.device.available.injectW).to.equal(injectW);
    await rig.run(900);
    expect(rig.w).to.be.closeTo(injectW, 0.01 * injectW);
  });

  it('hybrid: array and battery together, within the inverter', async () => {
    const rig = new KindRig(kindSpec('hybrid'));
    rig.plant.setSurroundings({ irradianceWm2: 300, cellTemperatureC: 25 });
    await rig.run(60);
    const day = rig.device.available;
    expect(day.injectW).to.be.within(1, rig.map.m702.WMax!);
    rig.demand(rig.map.m702.WMax);
    await rig.run(60);
    expect(rig.w).to.be.closeTo(day.injectW, 0.02 * day.injectW);
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    rig.demand(null);
    const { soc_min_pct: minPct } = rig.plant.latest.published[0]!.snapshot.metrics;
    rig.command({ kind: 'battery.control', socPct: minPct! });
    await rig.run(60);
    expect(rig.device.available.injectW).to.equal(0);
  });

  it('charging station: what its vehicles take, and give where they can', async () => {
    const rig = new KindRig(kindSpec('evse'));
    await rig.run(10);
    const empty = rig.device.available;
    expect(empty.injectW).to.equal(0);
    rig.command({ kind: 'evse.plug', connectorId: 1 });
    await rig.run(120);
    const { absorbW } = rig.device.available;
    expect(absorbW)
      .to.be.closeTo(-rig.w, 0.02 * -rig.w)
      .and.above(1000);
    rig.demand(-absorbW / 2);
    await rig.run(30);
    expect(rig.w).to.be.closeTo(-absorbW / 2, 0.02 * absorbW);
    expect(rig.device.available.absorbW).to.be.closeTo(absorbW, 0.02 * absorbW);
  });
});

describe('No power is available', () => {
  const lit = async () => {
    const rig = await FaultyRig.sunny({ models: { '703': { ESDlyTms: 60, ESRndTms: 0, ESRmpTms: 100 } } });
    expect(rig.device.available.injectW).to.equal(10_000);
    return rig;
  };

  it('with an open switch; on the way back the enter-service ramp does not count', async () => {
    const rig = await lit();
    expect(rig.device.switchClosed).to.equal(true);
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    expect(rig.device.switchClosed).to.equal(false);
    await rig.run(2);
    // on its way down it could return at once
    expect([rig.w > 0, rig.device.available.injectW]).to.deep.equal([true, 10_000]);
    await rig.run(10);
    expect(rig.device.available).to.deep.equal(nothing);
    rig.device.command({ kind: 'switch', closed: true }, byTest);
    await rig.run(30);
    expect(rig.device.available).to.deep.equal(nothing);
    await rig.run(40);
    expect(rig.w).to.be.within(1, 2000);
    expect(rig.device.available.injectW).to.equal(10_000);
  });

  it('after a trip, which leaves the switch closed', async () => {
    const rig = await lit();
    rig.plant.setGrid({ voltagePu: 0.3 });
    await rig.run(20);
    expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
    expect([rig.device.switchClosed, rig.device.available]).to.deep.equal([true, nothing]);
  });

  it('in momentary cessation', async () => {
    const rig = await lit();
    rig.plant.setGrid({ voltagePu: 0.3 });
    await rig.run(0.5);
    expect([rig.map.m701.ConnSt, rig.w]).to.deep.equal(['CONNECTED', 0]);
    expect(rig.device.available).to.deep.equal(nothing);
  });

  it('without permit service, and during a reboot', async () => {
    const rig = await lit();
    rig.write({ '703.ES': 'DISABLED' });
    await rig.run(1);
    expect(rig.device.available).to.deep.equal(nothing);
    const other = await lit();
    other.inject(rebootFault, { off_s: 10 });
    expect(other.device.available).to.deep.equal(nothing);
  });

  it('from a model that has failed', async () => {
    const rig = await lit();
    rig.plant.setGrid({ voltagePu: Number.NaN });
    await rig.run(1);
    expect(rig.device.available).to.deep.equal(nothing);
  });
});

describe('Power available of any kind', () => {
  it('is finite and not negative through starts, nights and outages, and within the ratings', async () => {
    const plant = kindPlant(fleetKinds.map(kindSpec), { tickIntervalS: 1, rate: 30 });
    for (let i = 0; i < 60; i += 1) {
      if (i === 20) plant.setGrid({ outage: true });
      if (i === 25) plant.setGrid({ outage: false });
      if (i === 40) plant.setSurroundings({ irradianceWm2: 0 });
      await plant.step(1);
      for (const { available, bank, name } of plant.devices) {
        expect(firstNonFinite(available), name).to.equal(null);
        for (const value of Object.values(available)) expect(value, name).to.be.at.least(0);
        const { WMaxRtg, WChaRteMaxRtg, VarMaxInjRtg, VarMaxAbsRtg } = bank.map.m702;
        expect(available.injectW, name).to.be.at.most(WMaxRtg!);
        expect(available.absorbW, name).to.be.at.most(WChaRteMaxRtg ?? 0);
        expect(available.injectVar, name).to.be.at.most(VarMaxInjRtg!);
        expect(available.absorbVar, name).to.be.at.most(VarMaxAbsRtg!);
      }
    }
  });
});
