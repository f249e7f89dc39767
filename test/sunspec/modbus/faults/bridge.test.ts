import { expect } from 'chai';
import { dropFault, exceptionFault, outageFault } from '../../../../src/fault-kinds/modbus-transport.ts';
import type { RequestFacts } from '../../../../src/sunspec/modbus/server/context.ts';
import { createBankDisturber } from '../../../../src/sunspec/modbus/faults/bridge.ts';
import { FaultBench } from '../../../support/faults.ts';
import { createTestBank } from '../../../support/map.ts';

describe('faults of the wire over register maps', () => {
  function createRig() {
    const faults = new FaultBench([0, 3]);
    const map = createTestBank();
    const devices = [
      { index: 0, bank: map.bank },
      { index: 3, bank: createTestBank().bank },
    ];
    const disturber = createBankDisturber({
      registry: faults.registry,
      monotonicMs: () => faults.wall.monotonicMs(),
      devices: () => devices,
    });
    const read = (name: string, facts: Partial<RequestFacts> = {}) =>
      disturber.onRequest(
        {
          deviceIndex: 0,
          unitId: 1,
          functionCode: 3,
          address: map.slot(Number(name.slice(0, 3)), name.slice(4)).address,
          count: 1,
          answered: true,
          ...facts,
        },
        'mbap',
      );
    return { ...map, faults, devices, disturber, read };
  }

  it('resolves points, groups and models to the registers of the device', () => {
    const { faults, read, slot } = createRig();
    faults.inject(exceptionFault, { code: 2 }, { target: { points: ['704.WSet', '704.PFWInj', '705'] } });
    const refused = (name: string, facts: Partial<RequestFacts> = {}) => read(name, facts) !== null;
    expect(
      ['704.WSet', '704.PFWInj.PF', '704.PFWInj.Ext', '705.ID', '705.Crv[2].Pt[0].V'].map((name) => refused(name)),
    ).to.deep.equal([true, true, true, true, true]);
    expect(refused('704.WSet', { address: slot(704, 'WSet').address + 1 })).to.equal(true);
    expect(['704.WSetEna', '704.PFWInjRvrt.PF', '706.ID'].map((name) => refused(name))).to.deep.equal([
      false,
      false,
      false,
    ]);
  });

  it('asks the registers of the device whether a condition holds', () => {
    const { faults, read, bank } = createRig();
    faults.inject(dropFault, {}, { when: { point: '701.W', below: 100 } });
    bank.measurements.m701.W = 5000;
    expect(read('704.WSet')).to.equal(null);
    bank.measurements.m701.W = 0;
    expect(read('704.WSet')).to.deep.equal({ silence: { carriedOut: false } });
    bank.measurements.m701.W = 5000;
    expect(read('704.WSet')).to.equal(null);
    expect(read('704.WSet', { deviceIndex: 3 })).not.to.equal(null);
  });

  it('wants a condition to hold at every device where several are behind a port', () => {
    const {
      faults,
      disturber,
      devices: [first, second],
    } = createRig();
    faults.inject(outageFault, { mode: 'close' }, { when: { point: '701.W', below: 100 } });
    first!.bank.measurements.m701.W = 5000;
    expect([disturber.cuts(0), disturber.cuts(3), disturber.cuts(undefined)]).to.deep.equal([false, true, false]);
    first!.bank.measurements.m701.W = 0;
    second!.bank.measurements.m701.W = 0;
    expect(disturber.cuts(undefined)).to.equal(true);
  });

  it('leaves a device alone that is not there any more', () => {
    const { faults, read, devices } = createRig();
    faults.inject(dropFault, {}, { when: { point: '701.W', below: 1e9 } });
    faults.inject(exceptionFault, { code: 2 }, { target: { points: ['704'] } });
    devices.length = 0;
    expect(read('704.WSet')).to.equal(null);
  });
});
