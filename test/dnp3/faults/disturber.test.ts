import { expect } from 'chai';
import { dnp3Disturbers } from '../../../src/dnp3/faults/disturber.ts';
import type { DeviceDisturber } from '../../../src/dnp3/faults/disturber.ts';
import {
  badCrcFault,
  bufferOverflowFault,
  confirmAskedFault,
  delayFault,
  iinBitsFault,
  noConfirmFault,
  noResponseFault,
  restartBitFault,
  timeLostFault,
  unknownObjectFault,
  wrongSequenceFault,
} from '../../../src/fault-kinds/dnp3.ts';
import { FaultBench } from '../../support/faults.ts';
import { undisturbed } from '../../../src/dnp3/stack/outstation/types.ts';

describe('faults of an outstation', () => {
  let bench: FaultBench;
  let disturber: DeviceDisturber;

  beforeEach(() => {
    bench = new FaultBench([0, 1]);
    disturber = dnp3Disturbers({ registry: bench.registry, holds: () => true })(0);
  });

  const responseTo = (functionCode: number, facts = {}) =>
    disturber.response(functionCode, { asksForConfirm: false, freeBytes: 100, ...facts });

  it('none: nothing is disturbed', () => {
    expect(disturber.iin(true)).to.equal(0);
    expect(disturber.ignoresConfirm()).to.equal(false);
    expect(responseTo(1)).to.deep.equal(undisturbed);
  });

  it('restart_bit, buffer_overflow and time_lost set their indications until they end', () => {
    bench.inject(restartBitFault);
    bench.inject(bufferOverflowFault);
    bench.inject(timeLostFault);
    expect(disturber.iin(true)).to.equal(0x0080 | 0x0800 | 0x0010);
    expect(disturber.isTimeLost()).to.equal(true);
    bench.registry.clear();
    expect(disturber.iin(true)).to.equal(0);
  });

  it('indications that are only shown use up no strike', () => {
    bench.inject(restartBitFault, {}, { count: 1 });
    expect([disturber.iin(false), disturber.iin(false)]).to.deep.equal([0x0080, 0x0080]);
    expect([disturber.iin(true), disturber.iin(true), disturber.iin(false)]).to.deep.equal([0x0080, 0, 0]);
  });

  it('no_confirm overlooks confirms', () => {
    bench.inject(noConfirmFault);
    expect(disturber.ignoresConfirm()).to.equal(true);
  });

  it('bad_crc, no_response and wrong_sequence act on the functions that they are aimed at', () => {
    bench.inject(badCrcFault, {}, { target: { functions: [1] } });
    bench.inject(wrongSequenceFault, { shift: 3 }, { target: { functions: [1, 130] } });
    expect(responseTo(1)).to.deep.equal({ ...undisturbed, badCrc: true, sequenceShift: 3 });
    expect(responseTo(130)).to.deep.equal({ ...undisturbed, sequenceShift: 3 });
    expect(responseTo(5)).to.deep.equal(undisturbed);
    bench.inject(noResponseFault, {}, { target: { functions: [5] } });
    expect(responseTo(5).dropped).to.equal(true);
  });

  it('iin_bits sets the bits that it names', () => {
    for (let bit = 0; bit < 16; bit += 1) {
      bench.inject(iinBitsFault, { bits: [`IIN${bit < 8 ? 1 : 2}.${bit % 8}`] });
      expect(disturber.iin(true)).to.equal(1 << bit);
      bench.registry.clear();
    }
    bench.inject(iinBitsFault, { bits: ['IIN1.6', 'IIN2.5'] });
    expect(disturber.iin(true)).to.equal(0x2040);
  });

  it('unknown_object adds one to responses to READ alone', () => {
    bench.inject(unknownObjectFault, { group: 200, variation: 9 }, { count: 1 });
    expect(responseTo(3)).to.deep.equal(undisturbed);
    expect(responseTo(1, { freeBytes: 4 }), 'it does not fit').to.deep.equal(undisturbed);
    expect(responseTo(1)).to.deep.equal({ ...undisturbed, addedOctets: Buffer.from([200, 9, 7, 1, 0]) });
    expect(responseTo(1)).to.deep.equal(undisturbed);
  });

  it('confirm_asked does not strike where CON is set', () => {
    bench.inject(confirmAskedFault, {}, { count: 1 });
    expect(responseTo(130, { asksForConfirm: true })).to.deep.equal(undisturbed);
    expect(responseTo(3).asksForConfirm).to.equal(true);
    expect(responseTo(3)).to.deep.equal(undisturbed);
  });

  it('confirm_asked and delay act on the functions that they are aimed at; delays add up', () => {
    bench.inject(confirmAskedFault, {}, { target: { functions: [3, 4] } });
    bench.inject(delayFault, { delay_ms: 200 }, { target: { functions: [4] } });
    bench.inject(delayFault, { delay_ms: 50 });
    expect(responseTo(3)).to.deep.equal({ ...undisturbed, asksForConfirm: true, delayMs: 50 });
    expect(responseTo(4)).to.deep.equal({ ...undisturbed, asksForConfirm: true, delayMs: 250 });
    expect(responseTo(1)).to.deep.equal({ ...undisturbed, delayMs: 50 });
  });
});
