import { expect } from 'chai';
import { tellDeviceChanges } from '../../../src/app/timeline/devices.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { TimelineKind } from '../../../src/core/timeline/entry.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import { HandWall } from '../../support/wall.ts';

function follow(types: readonly string[]): { plant: SimPlant; timeline: Timeline } {
  const plant = testPlant({ types, tickIntervalS: 1 });
  const timeline = new Timeline({ wall: new HandWall(), sim: () => plant.now });
  tellDeviceChanges(plant, timeline);
  return { plant, timeline };
}

const told = (timeline: Timeline, ...kinds: TimelineKind[]) =>
  timeline.list({ kinds }).map(({ level, title, devices }) => [level, title, ...devices]);

describe('timeline: changes of devices', () => {
  it('tells a trip at its instant, and the return', async () => {
    const { plant, timeline } = follow(['PV-3Phase', 'PV-3Phase']);
    await plant.step(5);
    expect(timeline.list()).to.deep.equal([]);
    plant.setGrid({ voltagePu: 0.4 });
    await plant.step(5);
    expect(told(timeline, 'service')).to.deep.include(['bad', 'Tripped on low voltage', 0, 1]);
    const trip = timeline.list({ level: 'bad' })[0];
    const instant = plant.devices[0]?.trace.transitions.find(({ to }) => to === 'tripped')?.at;
    expect(trip?.at).to.equal(instant);
    plant.setGrid({ voltagePu: 1 });
    await plant.step(700);
    const last = timeline.list({ kinds: ['service'] }).at(-1);
    expect(last).to.include({ level: 'info', title: 'In service' });
  });

  it('does not tell the alarm of a trip beside the trip', async () => {
    const { plant, timeline } = follow(['PV-3Phase']);
    plant.setGrid({ voltagePu: 0.4 });
    await plant.step(5);
    plant.setGrid({ voltagePu: 1 });
    await plant.step(5);
    expect(told(timeline, 'alarm')).to.deep.equal([]);
  });

  it('tells other alarms when they begin and when they end', async () => {
    const { plant, timeline } = follow(['Batt-3Phase']);
    const device = plant.device(0);
    device.command({ kind: 'battery.control', socPct: 100 }, { source: 'rest' });
    await plant.step(3);
    expect(told(timeline, 'alarm')).to.deep.equal([['info', 'Alarm soc_high', 0]]);
    device.command({ kind: 'battery.control', socPct: 50 }, { source: 'rest' });
    await plant.step(3);
    expect(told(timeline, 'alarm').at(-1)).to.deep.equal(['info', 'Alarm ended: soc_high', 0]);
  });

  it('tells which limit wins, and that nothing limits, not a trip between', async () => {
    const { plant, timeline } = follow(['PV-3Phase']);
    await plant.step(2);
    const { bank } = plant.device(0);
    bank.transact({ source: 'rest' }, (tx) => {
      tx.m704.WMaxLimPct = 10;
      tx.m704.WMaxLimPctEna = 'ENABLED';
    });
    await plant.step(30);
    plant.setGrid({ voltagePu: 0.4 });
    await plant.step(5);
    plant.setGrid({ voltagePu: 1 });
    await plant.step(700);
    expect(told(timeline, 'limit')).to.deep.equal([['info', 'Limit of active power limits', 0]]);
    bank.transact({ source: 'rest' }, (tx) => {
      tx.m704.WMaxLimPctEna = 'DISABLED';
    });
    await plant.step(60);
    expect(told(timeline, 'limit').at(-1)).to.deep.equal(['info', 'Nothing limits', 0]);
    expect(told(timeline, 'limit')).to.have.length(2);
  });

  it('tells the limit of a connector with its value, and a new value of it', async () => {
    const { plant, timeline } = follow(['EVSE']);
    const device = plant.device(0);
    const by = { source: 'rest' } as const;
    device.command({ kind: 'evse.plug', connectorId: 1 }, by);
    await plant.step(30);
    device.command({ kind: 'evse.limit', connectorId: 1, powerW: 5000 }, by);
    await plant.step(10);
    device.command({ kind: 'evse.limit', connectorId: 1, powerW: 6000 }, by);
    await plant.step(10);
    const texts = timeline.list({ kinds: ['limit'] }).map(({ text }) => text);
    expect(texts).to.include('A local limit holds the power of connector 1 at 5.00 kW.');
    expect(texts.at(-1)).to.equal('A local limit holds the power of connector 1 at 6.00 kW.');
  });

  it('tells commands of peers once, those of requests never', async () => {
    const { plant, timeline } = follow(['PV-3Phase']);
    const device = plant.device(0);
    device.command({ kind: 'switch', closed: false }, { source: 'csip', peer: 'AB12' });
    await plant.step(1);
    device.command({ kind: 'switch', closed: true }, { source: 'rest', peer: '127.0.0.1:1' });
    await plant.step(2);
    const commands = timeline.list({ kinds: ['peer'] });
    expect(commands.map(({ text, by }) => [text, by])).to.deep.equal([
      ['Commanded switch.', { source: 'csip', peer: 'AB12' }],
    ]);
  });

  it('adds nothing while nothing changes, and ends with its subscription', async () => {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase', 'EVSE', 'Wind-T4-3Phase'], tickIntervalS: 1 });
    const timeline = new Timeline({ wall: new HandWall(), sim: () => simTimeFromMs(0) });
    const end = tellDeviceChanges(plant, timeline);
    await plant.step(60);
    expect(told(timeline, 'service', 'alarm', 'peer')).to.deep.equal([]);
    end();
    plant.setGrid({ voltagePu: 0.4 });
    await plant.step(5);
    expect(told(timeline, 'service')).to.deep.equal([]);
  });
});
