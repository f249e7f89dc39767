import { expect } from 'chai';
import { dnp3AddressOf, dnp3PortOf, modbusPortOf, unitIdOf } from '../../src/contract/device-protocols.ts';

describe('contract: places of devices at listeners', () => {
  const device = { index: 60_003 };

  it('count from the first device of a shard', () => {
    const row = { port: 8502, countsFrom: 60_000, outstationAddress: 10 };
    expect([modbusPortOf(row, device), unitIdOf(row, device), dnp3PortOf(row, device)]).to.deep.equal([8505, 4, 8505]);
    expect(dnp3AddressOf({ ...row, sharedPort: true }, device)).to.equal(13);
    expect(dnp3AddressOf({ ...row, sharedPort: false }, device)).to.equal(10);
  });

  it('count from index 0 by default, and leave port 0 and own places as they are', () => {
    expect([modbusPortOf({ port: 1000 }, { index: 3 }), unitIdOf({}, { index: 3 })]).to.deep.equal([1003, 4]);
    expect(modbusPortOf({ port: 0, countsFrom: 60_000 }, device)).to.equal(0);
    const own = { ...device, modbus: { port: 700, unitId: 9 }, dnp3: { port: 800, address: 5 } };
    const row = { port: 8502, countsFrom: 60_000, outstationAddress: 10, sharedPort: true };
    expect([modbusPortOf(row, own), unitIdOf(row, own), dnp3PortOf(row, own), dnp3AddressOf(row, own)]).to.deep.equal([
      700, 9, 800, 5,
    ]);
  });
});
