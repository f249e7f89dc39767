import { expect } from 'chai';
import { kindIssues } from '../../src/core/faults/kinds.ts';
import { exceptionFault } from '../../src/fault-kinds/modbus-transport.ts';
import { targetIssues } from '../../src/fault-kinds/rows.ts';

describe('targets of faults of Modbus', () => {
  it('end with the address space of registers', () => {
    expect(targetIssues('modbus', { points: ['701.W'], functions: [3] })).to.deep.equal([]);
    expect(targetIssues('modbus', { registers: { address: 65_535, count: 1 } })).to.deep.equal([]);
    const beyond = { registers: { address: 65_535, count: 2 } };
    const issue = { name: '/target/registers/count', detail: 'must be at most 1 from address 65535 on' };
    expect(targetIssues('modbus', beyond)).to.deep.equal([issue]);
    const request = { protocol: 'modbus' as const, kind: 'exception', parameters: { code: 2 }, target: beyond };
    expect(kindIssues(exceptionFault, request)).to.deep.equal([issue]);
  });
});
