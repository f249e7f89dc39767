/** The alarm of a source that the status message of a device in service names. */
import { expect } from 'chai';
import { alarmKinds, statusMessage } from '../../../src/der/device/alarms.ts';
import type { AlarmCode } from '../../../src/der/device/alarms.ts';
import type { Inverter } from '../../../src/der/inverter/inverter.ts';

const inService = {
  phase: 'in_service',
  ceasedBy: null,
  apparentPowerLimited: false,
  settings: { enterService: { permit: true }, operator: 'START' },
} as unknown as Inverter;
const messageOf = (...alarms: readonly AlarmCode[]) => statusMessage(inService, false, alarms);
const severities = ['error', 'warning', 'info'];
const rankOf = (code: AlarmCode) => severities.indexOf(alarmKinds[code].severity);

describe('The status message of a device in service', () => {
  /** alarms that a message names */
  const named = (Object.keys(alarmKinds) as AlarmCode[]).filter((code) => messageOf(code) !== null);

  it('names the alarm of the highest severity, whatever their order', () => {
    expect(new Set(named.map(rankOf)).size).to.equal(severities.length);
    for (const a of named)
      for (const b of named) {
        const worst = rankOf(a) < rankOf(b) ? a : b;
        if (rankOf(a) !== rankOf(b)) expect(messageOf(a, b), `${a}, ${b}`).to.equal(alarmKinds[worst].text);
      }
  });

  it('names a ground fault before anything that follows from it', () => {
    expect(named).to.include.members(['ground_fault', 'dc_disconnect', 'connector_fault']);
    for (const other of named) {
      expect(messageOf('ground_fault', other)).to.equal('ground fault at a charging connector');
      expect(messageOf(other, 'ground_fault')).to.equal('ground fault at a charging connector');
    }
  });
});
