import { expect } from 'chai';
import type { Origin } from '../../../src/core/origin.ts';
import type { SimError } from '../../../src/core/errors.ts';
import { exceptionOf } from '../../../src/sunspec/modbus/server/unit.ts';
import { Rest } from '../../support/rest.ts';
import { Rig } from '../../support/rig.ts';
import { errorOf } from '../../support/map.ts';

const remote: readonly Origin[] = (['modbus', 'csip', 'ocpp', 'dnp3'] as const).map((source) => ({ source }));
const panel: Origin = { source: 'rest' };

describe('Local control (715.LocRemCtl)', () => {
  it('refuses writes and commands from afar, in the words of each road, and nothing is changed', () => {
    const rig = new Rig();
    rig.device.command({ kind: 'local', local: true }, panel);
    expect(rig.map.m715.LocRemCtl).to.equal('LOCAL');
    const before = rig.dump();
    const at = rig.device.bank.layout.slot(704, 'WMaxLimPct')!;
    for (const by of remote) {
      const roads: (() => void)[] = [
        () => {
          rig.device.bank.transact(by, (tx) => {
            tx.m704.WMaxLimPct = 10;
          });
        },
        () => {
          rig.device.bank.write(at.address, Buffer.from([0, 10]), by);
        },
        () => {
          rig.device.bank.assign(by, [{ slot: at, value: 10 }]);
        },
        () => {
          rig.device.bank.adopt(by, (tx) => {
            tx.m705.Ena = 'ENABLED';
          });
        },
      ];
      for (const road of roads) {
        const error: SimError = errorOf(road);
        expect(error.code, by.source).to.equal('MAP_LOCAL_CONTROL');
        expect(exceptionOf(error)).to.equal(2);
      }
      expect(
        errorOf(() => {
          rig.device.command({ kind: 'switch', closed: false }, by);
        }).code,
      ).to.equal('COMMAND_CONFLICT');
    }
    expect(rig.dump()).to.deep.equal(before);
    expect(rig.device.bank.provenance(at)?.source).to.equal(undefined);
    expect(rig.device.overrides.map(({ name, source }) => [name, source])).to.deep.equal([['local_control', 'rest']]);
  });

  it('leaves the panel at the device free, and ends with the switch or a reset of the device', () => {
    const rig = new Rig();
    rig.device.command({ kind: 'local', local: true }, panel);
    rig.device.bank.transact(panel, (tx) => {
      tx.m704.WMaxLimPct = 10;
    });
    expect(rig.map.m704.WMaxLimPct).to.equal(10);
    rig.device.command({ kind: 'reset', scope: 'device' }, panel);
    expect(rig.device.localControl).to.equal(false);
    expect(rig.map.m715.LocRemCtl).to.equal('REMOTE');
    rig.device.bank.transact({ source: 'modbus' }, (tx) => {
      tx.m704.WMaxLimPct = 20;
    });
    expect(rig.map.m704.WMaxLimPct).to.equal(20);
  });

  it('a reversion that was asked for before still happens', async () => {
    const rig = await Rig.sunny();
    rig.device.bank.transact({ source: 'modbus' }, (tx) => {
      Object.assign(tx.m704, {
        WMaxLimPctEna: 'ENABLED',
        WMaxLimPct: 50,
        WMaxLimPctRvrt: 80,
        WMaxLimPctEnaRvrt: 'ENABLED',
        WMaxLimPctRvrtTms: 5,
      });
    });
    rig.device.command({ kind: 'local', local: true }, panel);
    await rig.run(6);
    expect(rig.map.m704.WMaxLimPct).to.equal(80);
  });

  it('is turned over REST', async () => {
    const rest = await Rest.open(new Rig().plant);
    try {
      expect(await rest.get('/controls/local')).to.deep.equal({ device_index: 0, local: false, changed_by: null });
      const turned = await rest.post('/controls/local', { local: true });
      expect(turned).to.deep.include({ device_index: 0, local: true });
      expect(turned.changed_by).to.include({ source: 'rest' });
    } finally {
      await rest.api.stop();
    }
  });
});
