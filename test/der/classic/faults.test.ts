import { expect } from 'chai';
import { enableEdgeFault, ignoreEffectFault, lateEffectFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';

const both = { map: { layout: 'both' }, models: { '704': { WRmp: 1000 } } } as const;
const share = (rig: FaultyRig) => Math.round(rig.w / 100);
const limit = (pct: number) => ({ '123.WMaxLimPct': pct, '123.WMaxLim_Ena': 'ENABLED' });

describe('device faults aimed at a classic face', () => {
  it('ignore_effect concerns the setting, whichever face is written, and its end lets it through', async () => {
    const rig = await FaultyRig.sunny(both);
    rig.inject(ignoreEffectFault, {}, { target: { points: ['123.WMaxLimPct'] } });
    rig.write(limit(40));
    rig.write({ '704.WMaxLimPct': 30 });
    await rig.run(5);
    expect([rig.value('123.WMaxLimPct'), share(rig)]).to.deep.equal([30, 100]);
    rig.faults.clear();
    await rig.run(5);
    expect(share(rig)).to.equal(30);
  });

  it('enable_edge waits for the edge of either enable point', async () => {
    const rig = await FaultyRig.sunny(both);
    rig.write(limit(80));
    rig.inject(enableEdgeFault, {}, { target: { points: ['123.WMaxLimPct'] } });
    rig.write(limit(50));
    await rig.run(5);
    expect(share(rig)).to.equal(80);
    rig.write({ '123.WMaxLim_Ena': 'DISABLED' });
    rig.write({ '123.WMaxLim_Ena': 'ENABLED' });
    await rig.run(5);
    expect(share(rig)).to.equal(50);
  });

  it('late_effect does not delay the switch behind 123.Conn', async () => {
    const rig = await FaultyRig.sunny(both);
    rig.inject(lateEffectFault, { delay_s: 60 });
    rig.write({ '123.Conn': 'DISCONNECT', ...limit(50) });
    expect(rig.device.switchClosed).to.equal(false);
    rig.write({ '123.Conn': 'CONNECT' });
    expect(rig.device.switchClosed).to.equal(true);
  });
});
