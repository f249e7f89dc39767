import { expect } from 'chai';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { testPlant } from '../../support/plant.ts';

const by = { source: 'modbus', peer: '192.0.2.1:1' } as const;

function battery() {
  const device = testPlant({ types: ['Batt-3Phase'], simModels: true }).device(0);
  const changes: (readonly string[])[] = [];
  device.bank.onChange(({ points }) => changes.push(points.map(pointName)));
  return { device, bank: device.bank, changes };
}

describe('registers of a device: one commit', () => {
  it('does all that its points command, with one change event', () => {
    const { device, bank, changes } = battery();
    bank.transact(by, ({ m704, m715, m802, m64414 }) => {
      Object.assign(m704, { WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED', WMaxLimPctRvrtTms: 30 });
      m715.AlarmReset = 1;
      Object.assign(m802!, { AlmRst: 1, SoCRsvMin: 25 });
      m64414!.GridFrequency = 60.1;
    });
    expect(changes).to.have.lengthOf(1);
    const { m704, m715, m802 } = bank.map;
    expect([m704.WMaxLimPctRvrtRem, m715.AlarmReset, m802?.AlmRst]).to.deep.equal([30, 0, 0]);
    // newest first: the alarms are reset once, before the storage follows
    expect(device.overrides.map(({ name }) => name)).to.deep.equal(['battery_reserve', 'alarm_reset']);
    const frequency = bank.layout.slot(64414, 'GridFrequency')!;
    expect(bank.value(frequency)).to.equal(60.1);
    expect(bank.provenance(frequency)).to.include(by);
  });

  it('that is refused does none of it', () => {
    const { device, bank, changes } = battery();
    const before = Buffer.from(bank.read(bank.layout.base, bank.layout.size));
    expect(() => {
      bank.transact(by, ({ m704, m715, m802 }) => {
        m715.AlarmReset = 1;
        m802!.SoCRsvMin = 25;
        m704.WMaxLimPct = 500;
      });
    }).to.throw('704.WMaxLimPct');
    expect([changes, device.overrides]).to.deep.equal([[], []]);
    expect(bank.read(bank.layout.base, bank.layout.size).equals(before)).to.equal(true);
  });
});
