import { expect } from 'chai';
import { adoptionFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { errorOf } from '../../support/map.ts';
import { byTest } from '../../support/rig.ts';

const stage = {
  '705.Crv[1].Pt[0].V': 90,
  '705.Crv[1].Pt[0].Var': 30,
  '705.Crv[1].Pt[1].V': 110,
  '705.Crv[1].Pt[1].Var': -30,
  '705.Crv[1].ActPt': 2,
} as const;
const request = { '705.AdptCrvReq': 2 } as const;

function staged(adoptionS = 0): FaultyRig {
  const rig = new FaultyRig({ inverter: { adoptionS } });
  rig.write(stage);
  return rig;
}

const outcome = (rig: FaultyRig) => [
  rig.value('705.AdptCrvReq'),
  rig.value('705.AdptCrvRslt'),
  rig.value('705.Crv[0].Pt[0].V'),
];
/** first point of the curve of the profile */
const oldV = new FaultyRig().value('705.Crv[0].Pt[0].V');

describe('device fault adoption', () => {
  it('lies: COMPLETED, and set 1 is the old one, as it stays when the fault ends', async () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'lies' });
    rig.write(request);
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', oldV]);
    rig.faults.clear();
    await rig.run(5);
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', oldV]);
    rig.write(request);
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', 90]);
  });

  it('failed: FAILED, and set 1 is the old one', () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'failed' });
    rig.write(request);
    expect(outcome(rig)).to.deep.equal([2, 'FAILED', oldV]);
  });

  it('stuck: IN_PROGRESS for good, until the fault ends', async () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'stuck' });
    rig.write(request);
    await rig.run(3600);
    expect(outcome(rig)).to.deep.equal([2, 'IN_PROGRESS', oldV]);
    rig.faults.clear();
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', 90]);
  });

  it('stuck with a duration: done at its end', async () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'stuck' }, { durationS: 90 });
    rig.write(request);
    await rig.run(89);
    expect(outcome(rig)[1]).to.equal('IN_PROGRESS');
    await rig.run(2);
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', 90]);
  });

  it('takes the place of an adoption that takes time, which never comes to its end', async () => {
    const rig = staged(10);
    rig.write(request);
    rig.inject(adoptionFault, { result: 'failed' }, { count: 1 });
    rig.write(request);
    expect(outcome(rig)).to.deep.equal([2, 'FAILED', oldV]);
    await rig.run(30);
    expect(outcome(rig)).to.deep.equal([2, 'FAILED', oldV]);
    rig.write(request);
    expect(outcome(rig)[1]).to.equal('IN_PROGRESS');
    await rig.run(11);
    expect(outcome(rig)).to.deep.equal([2, 'COMPLETED', 90]);
  });

  it('only of the models that its points belong to; count 1 strikes one request', () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'failed' }, { target: { points: ['706'] } });
    rig.write(request);
    expect(outcome(rig)[1]).to.equal('COMPLETED');
    rig.faults.clear();
    rig.inject(adoptionFault, { result: 'failed' }, { target: { points: ['705.AdptCrvReq'] }, count: 1 });
    rig.write(request);
    rig.write({ '706.AdptCrvReq': 2 });
    expect([outcome(rig)[1], rig.value('706.AdptCrvRslt')]).to.deep.equal(['FAILED', 'COMPLETED']);
    rig.write(request);
    expect(outcome(rig)[1]).to.equal('COMPLETED');
  });

  it('the control set of 711 as well, and nothing of the write but the result is kept back', () => {
    const rig = new FaultyRig();
    rig.inject(adoptionFault, { result: 'lies' });
    rig.write({ '711.Ctl[1].KOf': 0.03, '711.AdptCtlReq': 2, '711.Ena': 'DISABLED' });
    expect([rig.value('711.AdptCtlRslt'), rig.value('711.Ena')]).to.deep.equal(['COMPLETED', 'DISABLED']);
    expect(rig.value('711.Ctl[0].KOf')).to.not.equal(0.03);
  });

  it('a reset forgets an adoption that is stuck', async () => {
    const rig = staged();
    rig.inject(adoptionFault, { result: 'stuck' });
    rig.write(request);
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    rig.faults.clear();
    await rig.run(5);
    expect(outcome(rig).slice(1)).to.deep.equal(['COMPLETED', oldV]);
  });

  it('refuses points of models that adopt nothing', () => {
    expect(
      errorOf(() => {
        staged().inject(adoptionFault, { result: 'lies' }, { target: { points: ['704'] } });
      }).code,
    ).to.equal('COMMAND_BAD_VALUE');
  });
});
