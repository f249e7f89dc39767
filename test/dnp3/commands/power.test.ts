import { expect } from 'chai';
import { PointRig } from '../rig/points.ts';

const by = { source: 'modbus', peer: 'test' } as const;

describe('limits and set-points by DNP3', () => {
  it('APL: limits generation in register and physics, and shows it in its mirror', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(5);
    const before = rig.activePowerW;
    rig.done(['AO88', 400], ['BO17', true]);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(40);
    expect([rig.value('AI149'), rig.value('BI69'), rig.value('BI36')]).to.deep.equal([400, 1, 1]);
    await rig.pass(60);
    expect(before).to.be.greaterThan(6000);
    expect(rig.activePowerW).to.be.closeTo(4000, 60);
    rig.done(['BO17', false]);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(before, 500);
  });

  it('APL: its reversion time is that of the register', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO85', 30], ['AO88', 500], ['BO17', true]);
    await rig.pass(20);
    expect(rig.value('BI69')).to.equal(1);
    await rig.pass(20);
    expect(rig.value('BI69')).to.equal(0);
  });

  it('APL: enables within the time window, once for each command, at the same instant at any tick', async () => {
    const instants = await Promise.all(
      [1, 10, 100].map(async (tickIntervalS) => {
        const rig = new PointRig('PV-3Phase', { tickIntervalS });
        rig.done(['AO83', 300], ['AO88', 500], ['BO17', true]);
        expect(rig.value('BI69')).to.equal(0);
        let changedAt = 0;
        rig.device.bank.onChange(({ at, points }) => {
          if (points.some(({ path }) => path === 'WMaxLimPctEna')) changedAt = at - rig.device.startedAt;
        });
        await rig.plant.step(400 / tickIntervalS);
        expect(rig.value('BI69')).to.equal(1);
        return changedAt;
      }),
    );
    expect(new Set(instants).size).to.equal(1);
    expect(instants[0]).to.be.within(1, 300e6);
  });

  it('SELECT checks everything and moves nothing', () => {
    const rig = new PointRig('PV-3Phase');
    expect(rig.operate('AO88', 300, true)).to.equal(0);
    expect(rig.operate('AO88', 1001, true)).to.equal(12);
    expect(rig.operate('BO17', true, true)).to.equal(0);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(100);
    expect(rig.value('BI69')).to.equal(0);
  });

  it('CHG: a battery charges and discharges by its set-point', async () => {
    const rig = new PointRig('Batt-3Phase');
    rig.done(['AO93', -500], ['BO18', true]);
    await rig.pass(60);
    const wMax = Number(rig.register(702, 'WMax'));
    expect(rig.activePowerW).to.be.closeTo(-wMax / 2, wMax * 0.03);
    expect([rig.value('BI20'), rig.value('BI19'), rig.value('BI18')]).to.deep.equal([1, 0, 0]);
    rig.done(['AO93', 250]);
    await rig.pass(60);
    expect(rig.activePowerW).to.be.closeTo(wMax / 4, wMax * 0.03);
    expect(rig.value('AI154')).to.equal(250);
  });

  it('AO87 limits what a battery charges, and lets it go with the mode', async () => {
    const rig = new PointRig('Batt-3Phase');
    const chargeMaxW = Number(rig.register(702, 'WChaRteMax'));
    rig.done(['AO93', -1000], ['BO18', true], ['AO87', 200], ['BO17', true]);
    await rig.pass(90);
    expect(rig.activePowerW).to.be.closeTo(-0.2 * chargeMaxW, 0.03 * chargeMaxW);
    rig.done(['BO17', false]);
    await rig.pass(90);
    expect(rig.activePowerW).to.be.lessThan(-0.8 * chargeMaxW);
  });

  it('AO87 limits what a charging station takes', () => {
    const rig = new PointRig('EVSE');
    expect(rig.value('BI36')).to.equal(1);
    rig.done(['AO87', 300], ['BO17', true]);
    const [limit] = rig.plant.siteOf([rig.device.index]).owners;
    expect(limit?.limitsW.load).to.equal(0.3 * Number(rig.register(702, 'WChaRteMax')));
  });

  it('IEEE 1815.2: the generation limit is AO87, and AO88 is absent', () => {
    const rig = new PointRig('PV-3Phase', { profile: 'ieee1815.2' });
    rig.done(['AO87', 400]);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(40);
    expect(rig.operate('AO88', 400)).to.equal(4);
  });

  it('FW: droop is the inverse of the gradient, and its dead band a distance', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO62', 36], ['AO64', 20_000], ['AO66', -36], ['BO16', true]);
    expect(rig.register(711, 'Ctl[0].DbOf')).to.be.closeTo(0.036, 1e-9);
    expect(rig.register(711, 'Ctl[0].DbUf')).to.be.closeTo(0.036, 1e-9);
    expect(rig.register(711, 'Ctl[0].KOf')).to.be.closeTo(0.05, 1e-9);
    expect([rig.value('AI121'), rig.value('AI123'), rig.value('AI125'), rig.value('BI68')]).to.deep.equal([
      36, 20_000, -36, 1,
    ]);
  });

  it('a Modbus write shows in the mirror, and a refused one leaves it', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO88', 700]);
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WMaxLimPct = 25;
    });
    expect(rig.value('AI149')).to.equal(250);
    await rig.pass(1);
    expect(rig.value('AI149')).to.equal(250);
  });

  it('a reset of the device puts settings and limits back', async () => {
    const rig = new PointRig('Batt-3Phase');
    rig.done(['AO83', 60], ['AO87', 200], ['AO88', 300]);
    rig.device.command({ kind: 'reset', scope: 'device' }, by);
    await rig.pass(1);
    expect([rig.value('AI143'), rig.value('AI148'), rig.value('AI149')]).to.deep.equal([0, 1000, 1000]);
  });

  it('local control answers status 7 and changes nothing', () => {
    const rig = new PointRig('PV-3Phase');
    rig.device.command({ kind: 'local', local: true }, { source: 'rest' });
    expect(rig.operate('AO88', 300)).to.equal(7);
    expect(rig.operate('BO17', true, true)).to.equal(7);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(100);
  });

  it('modes without physics are refused with status 4, and say so', () => {
    const rig = new PointRig('PV-3Phase');
    for (const index of [14, 15, 19, 20, 26, 31, 32]) {
      expect(rig.operate(`BO${index}`, true), `BO${index}`).to.equal(4);
      expect(rig.value(`BI${index + 19}`), `BI${index + 19}`).to.equal(0);
      expect(rig.value(`BI${index + 52}`), `BI${index + 52}`).to.equal(0);
    }
  });
});

describe('reactive power by DNP3', () => {
  it('CVAR: moves reactive power, in percent of the reference', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO5', 2], ['AO203', 300], ['BO27', true]);
    await rig.pass(60);
    const varMax = Number(rig.register(702, 'VarMaxInj'));
    expect(Number(rig.register(701, 'Var'))).to.be.closeTo(0.3 * varMax, 0.02 * varMax);
    expect(rig.value('AI281')).to.equal(300);
  });

  it('FPF: factor and excitation', async () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO210', 90], ['BO10', true], ['BO28', true]);
    expect(rig.register(704, 'PFWInj.Ext')).to.equal('UNDER_EXCITED');
    await rig.pass(60);
    const [w, reactive] = [rig.activePowerW, Number(rig.register(701, 'Var'))];
    expect(w / Math.hypot(w, reactive)).to.be.closeTo(0.9, 0.01);
    expect(reactive).to.be.lessThan(0);
  });

  it('the mode that is enabled last switches the others off', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['BO27', true]);
    expect([rig.value('BI79'), rig.value('BI80')]).to.deep.equal([1, 0]);
    rig.done(['BO28', true]);
    expect([rig.value('BI79'), rig.value('BI80')]).to.deep.equal([0, 1]);
    rig.done(['BO29', true]);
    expect([rig.value('BI80'), rig.value('BI81')]).to.deep.equal([0, 1]);
  });
});
