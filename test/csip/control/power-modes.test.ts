import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { apply, control, differences, event, point, points, stateOf, target } from '../../support/csip-controls.ts';

describe('DERControls of active power', () => {
  it('limit a PV device at their start, and its power follows with 704.WRmp', async () => {
    const plant = testPlant();
    await plant.step(4);
    const before = stateOf(plant);
    const [device] = plant.devices;
    if (!device) throw new Error('no device');
    const free = Number(point(device, '701.W'));
    const bridge = target(plant);
    const [outcome] = apply(bridge, event('E1', control({ opModMaxLimW: 3050 })));
    expect(outcome).to.deep.equal({ state: 'applied', leftOut: [], overwritten: false });
    expect(points(device, '704.WMaxLimPctEna', '704.WMaxLimPct', '701.W')).to.deep.equal(['ENABLED', 30.5, free]);
    expect(device.bank.provenance(device.bank.layout.slot(704, 'WMaxLimPct')!)).to.include({
      source: 'csip',
      peer: 'E1',
    });
    await plant.step(1);
    // 20 % of 10 kW per second for one tick of 1.5 s
    expect(point(device, '701.W')).to.be.within(free - 3010, free - 2990);
    await plant.step(3);
    expect(point(device, '701.W')).to.equal(3050);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
    await plant.step(8);
    expect(point(device, '701.W')).to.be.within(free - 20, free + 20);
  });
});
