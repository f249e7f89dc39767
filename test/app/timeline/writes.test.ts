import { expect } from 'chai';
import { tellWrites } from '../../../src/app/timeline/writes.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import { testPlant } from '../../support/plant.ts';
import { HandWall } from '../../support/wall.ts';

const master = { source: 'modbus', peer: '10.0.0.21:50001' } as const;

function follow(count = 1) {
  const plant = testPlant({ types: Array.from({ length: count }, () => 'PV-3Phase') });
  const timeline = new Timeline({ wall: new HandWall(), sim: () => plant.now });
  const end = tellWrites(plant, { find: () => undefined }, timeline);
  return { plant, timeline, end };
}

describe('timeline: writes of peers', () => {
  it('are told with label, value and unit, and with a reference to the point', () => {
    const { plant, timeline } = follow();
    plant.device(0).bank.transact(master, (tx) => {
      tx.m704.WMaxLimPct = 50;
      tx.m704.WMaxLimPctEna = 'ENABLED';
    });
    const [entry] = timeline.list();
    expect(entry).to.deep.include({ kind: 'peer', level: 'info', title: 'Registers written', by: master });
    expect(entry?.text).to.match(/^Set .*\(704\.WMaxLimPct\) to 50 Pct, .*\(704\.WMaxLimPctEna\) to ENABLED\.$/);
    expect(entry?.ref).to.deep.equal({ type: 'point', id: '704.WMaxLimPct' });
  });

  it('that change no value are none, nor is the rest of a write', () => {
    const { plant, timeline } = follow();
    const write = (pct: number) => {
      plant.device(0).bank.transact(master, (tx) => {
        tx.m704.WMaxLimPct = pct;
        tx.m704.WMaxLimPctEna = 'ENABLED';
      });
    };
    write(50);
    write(50);
    write(60);
    expect(timeline.list().map(({ text, count }) => [/ENABLED/.test(text), count])).to.deep.equal([
      [true, 1],
      [false, 1],
    ]);
  });

  it('of a heartbeat are none', () => {
    const { plant, timeline } = follow();
    plant.device(0).bank.transact(master, (tx) => {
      tx.m715.ControllerHb = 7;
    });
    expect(timeline.list()).to.deep.equal([]);
  });

  it('of requests are told by the request, those of faults by the fault', () => {
    const { plant, timeline } = follow();
    for (const [i, source] of (['rest', 'dashboard', 'scenario', 'fault', 'profile'] as const).entries())
      plant.device(0).bank.transact({ source }, (tx) => {
        tx.m704.WMaxLimPct = 10 + i;
      });
    expect(timeline.list()).to.deep.equal([]);
  });

  it('to all devices are one entry', () => {
    const { plant, timeline, end } = follow(20);
    const broadcast = () => {
      for (const { bank } of plant.devices)
        bank.transact(master, (tx) => {
          tx.m704.WMaxLimPct = bank.map.m704.WMaxLimPct === 50 ? 40 : 50;
        });
    };
    broadcast();
    expect(timeline.list().map(({ count, devices }) => [count, devices.size])).to.deep.equal([[20, 20]]);
    end();
    broadcast();
    expect(timeline.list()).to.have.length(1);
  });

  it('of many points name three', () => {
    const { plant, timeline } = follow();
    plant.device(0).bank.transact(master, (tx) => {
      tx.m704.WMaxLimPct = 50;
      tx.m704.WMaxLimPctRvrt = 60;
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPctRvrtTms = 60;
      tx.m704.WSetPct = 20;
    });
    expect(timeline.list()[0]?.text).to.match(/ and 2 other points\.$/);
  });

  it('of a reversion timer are told as such', () => {
    const { plant, timeline } = follow();
    plant.device(0).bank.transact({ source: 'reversion' }, (tx) => {
      tx.m704.WMaxLimPct = 50;
    });
    expect(timeline.list()[0]?.title).to.equal('Reverted');
  });
});
