import { expect } from 'chai';
import type { DeviceCommand } from '../../src/contract/device.ts';
import { overrideNames, overridesOf } from '../../src/contract/device.ts';

const rows: readonly (readonly [DeviceCommand, ...(typeof overrideNames)[number][]])[] = [
  [{ kind: 'start' }],
  [{ kind: 'stop' }],
  [{ kind: 'switch', closed: false }, 'switch'],
  [{ kind: 'reset', scope: 'alarms' }, 'alarm_reset'],
  [{ kind: 'reset', scope: 'device' }, 'device_reset'],
  [{ kind: 'battery.control', mode: 'auto' }, 'battery_mode'],
  [{ kind: 'battery.control', powerW: null }, 'battery_mode'],
  [{ kind: 'battery.control', durationS: 5 }, 'battery_mode'],
  [{ kind: 'battery.control', socPct: 0 }, 'battery_soc'],
  [
    { kind: 'battery.control', mode: 'idle', socPct: 5, strings: [] },
    'battery_mode',
    'battery_soc',
    'battery_contactors',
  ],
  [{ kind: 'battery.connect', connect: false }, 'battery_contactors'],
  [{ kind: 'evse.plug', connectorId: 1 }, 'evse_cable'],
  [{ kind: 'evse.unplug', connectorId: 1 }, 'evse_cable'],
];

describe('names of what commands set', () => {
  for (const [command, ...names] of rows) {
    it(`${JSON.stringify(command)}: ${names.join(', ') || 'registers alone'}`, () => {
      expect(overridesOf(command)).to.deep.equal(names);
    });
  }

  it('are unique words in lower case', () => {
    expect(new Set(overrideNames).size).to.equal(overrideNames.length);
    for (const name of overrideNames) expect(name).to.match(/^[a-z]+(_[a-z]+)*$/);
  });
});
