import { expect } from 'chai';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

describe('Communication alarms over REST', () => {
  it('are shown and counted with the other alarms of their device', async () => {
    const commAlarms = new CommAlarms(() => Date.parse('2026-06-21T10:00:00Z'));
    const rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'], commAlarms }));
    try {
      commAlarms.raise(1, 'rtu_port_lost', 'the serial port has disappeared');
      const alarm = {
        code: 'rtu_port_lost',
        source: 'comm',
        severity: 'warning',
        since: '2026-06-21T10:00:00.000Z',
        device_index: 1,
        port: null,
        latched: false,
        message: 'the serial port has disappeared',
      };
      const shown = { active_count: 1, highest_severity: 'warning', active: [alarm], latched_count: 0 };
      const { alarms, devices } = await rest.get('/overview');
      expect(alarms).to.deep.equal(shown);
      expect((await rest.get('/overview?device=0')).alarms).to.deep.include({ active_count: 0, active: [] });
      expect((await rest.get('/overview?device=1')).alarms).to.deep.equal(shown);
      expect(devices.map(({ alarm_count: count }: { alarm_count: number }) => count)).to.deep.equal([0, 1]);
      const [first, second] = (await rest.get('/devices')).devices;
      expect([first.alarms.active_count, second.alarms]).to.deep.equal([0, shown]);
      const metrics = await rest.call('/metrics');
      expect(metrics.text).to.match(/derbench_device_alarms\{[^}]*device="1"[^}]*severity="warning"[^}]*\} 1\n/);
    } finally {
      await rest.api.stop();
    }
  });
});
