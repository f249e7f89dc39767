import { expect } from 'chai';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { testPlant } from '../../support/plant.ts';

const byModbus = { source: 'modbus', peer: '192.0.2.7:40001' } as const;
const writers = ({ overrides }: Pick<SimDevice, 'overrides'>) =>
  overrides.map(({ name, source, peer }) => [name, source, peer]);

describe('last writers of what has no register', () => {
  it('a reset of alarms is the same by command and by the registers of models 715 and 802', () => {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase', 'PV-3Phase'] });
    plant.device(0).bank.transact(byModbus, ({ m715 }) => {
      m715.AlarmReset = 1;
    });
    plant.device(1).bank.transact(byModbus, ({ m802 }) => {
      if (m802) m802.AlmRst = 1;
    });
    plant.device(2).command({ kind: 'reset', scope: 'alarms' }, byModbus);
    for (const device of plant.devices)
      expect(writers(device)).to.deep.equal([['alarm_reset', 'modbus', byModbus.peer]]);
  });

  it('a register of resets that asks for nothing leaves no trace', () => {
    const plant = testPlant({ types: ['Batt-3Phase'] });
    plant.device(0).bank.transact(byModbus, ({ m715, m802 }) => {
      m715.AlarmReset = 0;
      if (m802) m802.AlmRst = 0;
    });
    expect(writers(plant.device(0))).to.deep.equal([]);
  });

  it('a reset of the device leaves itself alone', () => {
    const plant = testPlant({ types: ['Batt-3Phase'] });
    const device = plant.device(0);
    device.command({ kind: 'battery.control', mode: 'charge', powerW: 1000 }, byModbus);
    device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(writers(device)).to.deep.equal([['device_reset', 'rest', undefined]]);
  });
});
