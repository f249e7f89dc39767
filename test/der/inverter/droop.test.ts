import { expect } from 'chai';
import fc from 'fast-check';
import { FrequencyDroop } from '../../../src/der/inverter/droop.ts';
import type { DroopInput } from '../../../src/der/inverter/droop.ts';
import type { DroopSetting } from '../../../src/der/inverter/settings.ts';
import { real } from '../../support/arbitrary.ts';
import { holds } from '../../support/property.ts';
import { Rig } from '../../support/rig.ts';
import { IdealRig, ratedW } from './ideal-rig.ts';

const setting: DroopSetting = {
  enabled: true,
  overBandHz: 0.036,
  underBandHz: 0.036,
  overDroop: 0.05,
  underDroop: 0.05,
  responseS: 5,
  minPowerPct: 0,
};
const calm: DroopInput = {
  hz: 60,
  nominalHz: 60,
  wMaxW: ratedW,
  presentW: 6000,
  normalW: 6000,
  capW: ratedW,
  free: true,
  maxW: ratedW,
};
/** power per hertz beyond the band */
const slope = (k = 0.05, nominalHz = 60) => ratedW / (nominalHz * k);

function settled(hz: number, own: Partial<DroopSetting> = {}, others: Partial<DroopInput> = {}): FrequencyDroop {
  const droop = new FrequencyDroop();
  droop.advance({ ...setting, ...own }, { ...calm, ...others, hz }, Infinity);
  return droop;
}

describe('Frequency droop (IEEE 1547-2018 6.5.2.7, Table 24)', () => {
  it('lowers the power from the moment when the frequency left the band', () => {
    expect(settled(61).outputW).to.be.closeTo(6000 - 0.964 * slope(), 1e-6);
    expect(settled(60.5, { overDroop: 0.03 }).outputW).to.be.closeTo(6000 - 0.464 * slope(0.03), 1e-6);
    expect(settled(61, { overBandHz: 1.5 }).side).to.equal(null);
  });

  it('raises it on the other side, up to what the source gives', () => {
    expect(settled(59.5).outputW).to.be.closeTo(6000 + 0.464 * slope(), 1e-6);
    expect(settled(59, { underDroop: 0.02 }).outputW).to.equal(ratedW);
    expect(settled(59, {}, { maxW: 6100 }).outputW).to.equal(6100);
    // a source that has lost power is no reason to fall below the reference here: the source bounds it elsewhere
    expect(settled(59, {}, { maxW: 5000 }).outputW).to.equal(6000);
  });

  it('goes down to PMin and no further, below zero where PMin says so', () => {
    expect(settled(62.5).outputW).to.equal(0);
    expect(settled(62.5, { minPowerPct: 30 }).outputW).to.equal(3000);
    expect(settled(62.5, { minPowerPct: -20 }).outputW).to.equal(-2000);
    expect(settled(62.5, { minPowerPct: -100, overDroop: 0.02 }).outputW).to.equal(-ratedW);
    // already below PMin: it does not raise
    expect(settled(62.5, { minPowerPct: 80 }).outputW).to.equal(6000);
  });

  it('the edge of the band belongs to the band', () => {
    for (const hz of [60 - 0.036, 60.036, 60]) expect(settled(hz).side, `${hz}`).to.equal(null);
    expect([settled(60.0361).side, settled(59.9639).side]).to.deep.equal(['over', 'under']);
  });

  it('keeps its reference while the band is left, also straight through to the other side', () => {
    const droop = settled(61);
    droop.advance(setting, { ...calm, hz: 61.2, presentW: droop.outputW }, Infinity);
    expect(droop.referenceW).to.equal(6000);
    expect(droop.outputW).to.be.closeTo(6000 - 1.164 * slope(), 1e-6);
    droop.advance(setting, { ...calm, hz: 59.5, presentW: droop.outputW }, Infinity);
    expect(droop.outputW).to.be.closeTo(6000 + 0.464 * slope(), 1e-6);
  });

  it('returns with the same response, and then ends', () => {
    const droop = settled(61);
    const low = droop.outputW;
    droop.advance(setting, { ...calm, presentW: low }, 5);
    expect([droop.outside, droop.side]).to.deep.equal([false, 'over']);
    expect(droop.outputW).to.be.closeTo(low + 0.9 * (6000 - low), 1e-6);
    droop.advance(setting, { ...calm, presentW: droop.outputW }, 60);
    expect([droop.side, droop.moving]).to.deep.equal([null, false]);
  });

  it('if the frequency leaves the band again during the return, it starts from the present power', () => {
    const droop = settled(61);
    droop.advance(setting, { ...calm, presentW: droop.outputW }, 5);
    const halfway = droop.outputW;
    droop.advance(setting, { ...calm, hz: 60.5, presentW: halfway }, 0);
    expect(droop.referenceW).to.equal(halfway);
    expect(droop.outputW).to.equal(halfway);
  });

  it('a command moves the reference where it limits the power; the source does not', () => {
    const droop = settled(61);
    const advance = (others: Partial<DroopInput>) => {
      droop.advance(setting, { ...calm, hz: 61, presentW: droop.outputW, ...others }, Infinity);
    };
    advance({ normalW: 9000 });
    expect(droop.referenceW, 'more sun').to.equal(6000);
    advance({ normalW: 9000, capW: 9500 });
    expect(droop.referenceW, 'a limit that is not felt').to.equal(6000);
    advance({ normalW: 5000, capW: 5000 });
    expect(droop.referenceW, 'a limit below').to.equal(5000);
    expect(droop.outputW).to.be.closeTo(5000 - 0.964 * slope(), 1e-6);
    advance({ normalW: 7000, capW: 7000 });
    expect(droop.referenceW, 'the limit that bound is raised').to.equal(7000);
  });

  it('the return ends even under a source that always moves, and follows commands at once', () => {
    const droop = settled(59.5);
    let normalW = 6000;
    for (let i = 0; i < 250; i += 1)
      droop.advance(setting, { ...calm, presentW: droop.outputW, normalW: (normalW += 0.4) }, 0.1);
    expect(droop.side).to.equal(null);
    const other = settled(59.5);
    other.advance(setting, { ...calm, presentW: other.outputW }, 1);
    const left = other.outputW - 6000;
    other.advance(setting, { ...calm, presentW: other.outputW, normalW: 1000, capW: 1000 }, 0.1);
    expect(other.outputW).to.be.closeTo(1000 + left * 10 ** (-0.1 / 5), 1e-6);
  });

  it('disabled during an event it returns smoothly', () => {
    const droop = settled(61);
    const low = droop.outputW;
    const off = { ...setting, enabled: false };
    droop.advance(off, { ...calm, hz: 61, presentW: low }, 5);
    expect(droop.outputW).to.be.closeTo(low + 0.9 * (6000 - low), 1e-6);
    droop.advance(off, { ...calm, hz: 61, presentW: droop.outputW }, Infinity);
    expect(droop.side).to.equal(null);
  });

  it('gives the same result however the time is split', () => {
    holds(
      'droop however time is split',
      [real(58, 62), fc.array(real(0.01, 3), { minLength: 1, maxLength: 20 })],
      (hz, steps) => {
        const whole = new FrequencyDroop();
        const split = new FrequencyDroop();
        whole.advance(
          setting,
          { ...calm, hz },
          steps.reduce((sum, dt) => sum + dt, 0),
        );
        for (const dt of steps)
          split.advance(setting, { ...calm, hz, presentW: split.side === null ? 6000 : split.outputW }, dt);
        // a hundredth of the share at which it counts as arrived
        expect(split.outputW).to.be.closeTo(whole.outputW, 0.01 + 1e-6);
      },
    );
  });
});

describe('Frequency droop of a device (model 711)', () => {
  it('is enabled by default: 36 mHz, 5 %, 5 s', () => {
    const { m711 } = new IdealRig().map;
    const { DbOf, DbUf, KOf, KUf, RspTms, PMin } = m711.Ctl[0]!;
    expect([m711.Ena, DbOf, DbUf, KOf, KUf, RspTms, PMin]).to.deep.equal(['ENABLED', 0.036, 0.036, 0.05, 0.05, 5, 0]);
  });

  it('61 Hz from full power leaves 67.9 % of it', async () => {
    const rig = new IdealRig();
    rig.grid({ frequencyHz: 61 });
    await rig.run(5);
    expect(rig.w).to.be.closeTo(ratedW - 0.9 * 0.964 * slope(), 3);
    await rig.run(60);
    expect(rig.w).to.be.closeTo(6787, 1);
    expect([...rig.device.activeFunctions]).to.deep.equal(['freq_droop']);
    expect(rig.map.m701.ThrotSrc).to.equal(1 << 5);
    rig.grid({ frequencyHz: 60 });
    await rig.run(60);
    expect(rig.w).to.equal(ratedW);
    expect(rig.map.m701.ThrotSrc).to.equal(0);
  });

  it('under-frequency goes above the limit, and not above the source', async () => {
    for (const [givesW, w] of [
      [ratedW, 5000 + 0.604 * slope()],
      [6000, 6000],
    ] as const) {
      const rig = new IdealRig({ givesW });
      rig.set((tx) => {
        tx.m704.WMaxLimPctEna = 'ENABLED';
        tx.m704.WMaxLimPct = 50;
      });
      await rig.run(10);
      rig.grid({ frequencyHz: 59.36 });
      await rig.run(60);
      expect(rig.w).to.be.closeTo(w, 1);
      expect([...rig.device.activeFunctions]).to.deep.equal(['freq_droop']);
      rig.grid({ frequencyHz: 60 });
      await rig.run(60);
      expect(rig.w).to.equal(5000);
    }
  });

  it('a new limit during the event moves the output with 704.WRmp', async () => {
    const rig = new IdealRig();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 80;
    });
    await rig.run(10);
    rig.grid({ frequencyHz: 60.3 });
    await rig.run(60);
    const drop = 0.264 * slope();
    expect(rig.w).to.be.closeTo(8000 - drop, 1);
    rig.set((tx) => {
      tx.m704.WMaxLimPct = 60;
    });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(6000 - drop, 1);
  });

  it('starts from the power before the event, whatever the source does later', async () => {
    const rig = new IdealRig({ givesW: 6000 });
    await rig.run(1);
    rig.grid({ frequencyHz: 60.336 });
    await rig.run(60);
    rig.source.availableDcW = ratedW;
    await rig.run(60);
    expect(rig.w).to.be.closeTo(6000 - 0.3 * slope(), 1);
  });

  it('on 50 Hz: bands by offset, droop in per unit of 50', async () => {
    const rig = await Rig.sunny({ nominalHz: 50 });
    rig.plant.setGrid({ frequencyHz: 50.5 });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(ratedW - 0.464 * slope(0.05, 50), 2);
  });

  it('PMin bounds it', async () => {
    const rig = new IdealRig();
    rig.set((tx) => {
      tx.m711.Ctl[1]!.PMin = 40;
      tx.m711.Ctl[1]!.KOf = 0.02;
      tx.m711.AdptCtlReq = 2;
    });
    rig.grid({ frequencyHz: 61.1 });
    await rig.run(60);
    expect(rig.w).to.equal(4000);
  });

  it('disabled in the event: back to the source', async () => {
    const rig = new IdealRig();
    rig.grid({ frequencyHz: 61 });
    await rig.run(60);
    rig.set((tx) => {
      tx.m711.Ena = 'DISABLED';
    });
    await rig.run(5);
    expect(rig.w).to.be.closeTo(ratedW - 0.1 * 0.964 * slope(), 5);
    await rig.run(60);
    expect(rig.w).to.equal(ratedW);
  });

  it('a storage responds on both sides of zero', async () => {
    const rig = IdealRig.store();
    await rig.run(1);
    expect(rig.w).to.equal(0);
    rig.grid({ frequencyHz: 60.636 });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(-0.6 * slope(), 1);
    rig.grid({ frequencyHz: 59.364 });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(0.6 * slope(), 1);
    rig.grid({ frequencyHz: 60 });
    await rig.run(60);
    expect(rig.w).to.equal(0);
  });

  it('a charging storage charges less, and then discharges, at low frequency', async () => {
    const rig = IdealRig.store();
    rig.demand(-1000);
    await rig.run(10);
    rig.grid({ frequencyHz: 59.364 });
    await rig.run(60);
    expect(rig.w).to.be.closeTo(-1000 + 0.6 * slope(), 1);
  });

  it('the end of a set-point moves the reference to zero, however fast the ramp', async () => {
    for (const rampPctS of [20, 1000]) {
      const rig = IdealRig.store();
      rig.demand(-ratedW);
      await rig.run(10);
      rig.grid({ frequencyHz: 60.336 });
      await rig.run(60);
      expect(rig.w).to.equal(-ratedW);
      rig.set((tx) => {
        Object.assign(tx.m704, { WRmp: rampPctS, WSetEna: 'DISABLED' });
      });
      await rig.run(60);
      expect(rig.w).to.be.closeTo(-0.3 * slope(), 1);
    }
  });
});
