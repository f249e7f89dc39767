import { expect } from 'chai';
import type { CommandRecord } from '../../../src/contract/plant.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { codeOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';
import { byTest, quickEntry, Rig } from '../../support/rig.ts';
import { HandWall } from '../../support/wall.ts';

const submit = (plant: SimPlant, command: 'start' | 'stop' | 'reset', deviceIndex = 0): string =>
  plant.commands.submit({ command, deviceIndex }, byTest).id;
const stateOf = (plant: SimPlant, id: string) => plant.commands.get(id)?.state;

describe('Operator commands', () => {
  it('wait for the next tick, also while paused', async () => {
    const rig = await Rig.sunny();
    const id = submit(rig.plant, 'stop');
    expect(rig.plant.commands.get(id)).to.deep.include({
      command: 'stop',
      deviceIndex: 0,
      scope: null,
      state: 'queued',
      source: 'rest',
      startedAtMs: null,
      finishedAtMs: null,
      message: null,
    });
    expect(rig.map.m703.ES).to.equal('ENABLED');
    await rig.plant.tick();
    expect(stateOf(rig.plant, id)).to.equal('queued');
    await rig.run(0.1);
    expect(stateOf(rig.plant, id)).to.equal('running');
    expect(rig.plant.commands.get(id)?.startedAtMs).to.be.a('number');
    expect(rig.map.m703.ES).to.equal('DISABLED');
  });

  it('act from the start of the tick that runs when they are asked, and their lines say so', async () => {
    const wall = new HandWall(Date.UTC(2026, 5, 21, 12));
    const begins: number[] = [];
    const info = (message: string, _index?: number, at?: number) => {
      if (message.includes('begins')) begins.push((at ?? NaN) / 1000);
    };
    const plant = testPlant({ mode: 'wall_clock', wall, log: { ...silentLogger, info } });
    wall.advance(1500);
    await plant.tick();
    const endMs = plant.time.dateMs;
    wall.advance(800);
    expect(plant.time.dateMs).to.equal(endMs + 800);
    submit(plant, 'stop');
    wall.advance(700);
    await plant.tick();
    expect(begins).to.deep.equal([endMs]);
    expect(plant.device(0).bank.map.m703.ES).to.equal('DISABLED');
  });

  it('stop completes when the device is off, start when it runs', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig, { delayS: 5, rampS: 5 });
    const stop = submit(rig.plant, 'stop');
    await rig.run(4);
    expect(stateOf(rig.plant, stop)).to.equal('running');
    await rig.run(2);
    expect(rig.plant.commands.get(stop)).to.deep.include({ state: 'completed', message: null });
    const start = submit(rig.plant, 'start');
    await rig.run(8);
    expect(rig.state).to.equal('on starting connected');
    expect(stateOf(rig.plant, start)).to.equal('running');
    await rig.run(3);
    expect(stateOf(rig.plant, start)).to.equal('completed');
    expect(rig.map.m703.ES).to.equal('ENABLED');
  });

  it('start ends a stop by OpCtl, too, and completes asleep at night', async () => {
    const rig = new Rig();
    quickEntry(rig);
    rig.plant.setSurroundings({ irradianceWm2: 0 });
    rig.set((tx) => {
      tx.m715.OpCtl = 'STOP';
    });
    await rig.run(1);
    expect(rig.state).to.equal('off off disconnected');
    const id = submit(rig.plant, 'start');
    await rig.run(1);
    expect(rig.state).to.equal('on sleeping connected');
    expect(stateOf(rig.plant, id)).to.equal('completed');
  });

  it('of one device run in order, one after the other, in one tick', async () => {
    const rig = await Rig.sunny();
    const ids = [submit(rig.plant, 'start'), submit(rig.plant, 'stop'), submit(rig.plant, 'reset')];
    await rig.run(0.1);
    expect(ids.map((id) => stateOf(rig.plant, id))).to.deep.equal(['canceled', 'running', 'completed']);
    expect(rig.plant.commands.get(ids[0]!)?.message).to.equal('followed by stop');
    expect(rig.map.m703.ES).to.equal('DISABLED');
  });

  it('a later opposite one cancels a running one', async () => {
    const rig = await Rig.sunny();
    const stop = submit(rig.plant, 'stop');
    await rig.run(1);
    const start = submit(rig.plant, 'start');
    await rig.run(1);
    expect(stateOf(rig.plant, stop)).to.equal('canceled');
    await rig.run(5);
    expect(stateOf(rig.plant, start)).to.equal('completed');
  });

  it('fail after the enter-service times and a minute of simulated time', async () => {
    const rig = await Rig.sunny();
    quickEntry(rig, { delayS: 10, randomS: 20, rampS: 30 });
    const stop = submit(rig.plant, 'stop');
    await rig.run(6);
    expect(stateOf(rig.plant, stop)).to.equal('completed');
    rig.plant.setGrid({ outage: true });
    const start = submit(rig.plant, 'start');
    await rig.run(119.9);
    expect(stateOf(rig.plant, start)).to.equal('running');
    await rig.run(0.1);
    expect(rig.plant.commands.get(start)).to.deep.include({ state: 'failed', message: 'the device is still standby' });
  });

  it('fail with the reason of the device', async () => {
    const plant = testPlant();
    const command = plant.devices[0]!.command.bind(plant.devices[0]!);
    plant.devices[0]!.command = () => {
      throw new Error('jammed');
    };
    const id = submit(plant, 'stop');
    await plant.step(1);
    expect(plant.commands.get(id)).to.deep.include({ state: 'failed', message: 'jammed' });
    plant.devices[0]!.command = command;
  });

  it('reset carries a scope', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 10;
    });
    rig.plant.setGrid({ voltagePu: 1.02 }, 0);
    const alarms = rig.plant.commands.submit({ command: 'reset', deviceIndex: 0 }, byTest);
    expect(alarms.scope).to.equal('alarms');
    await rig.run(1);
    expect(rig.map.m704.WMaxLimPct).to.equal(10);
    rig.plant.commands.submit({ command: 'reset', deviceIndex: 0, scope: 'device' }, byTest);
    await rig.run(10);
    expect([rig.map.m704.WMaxLimPct, rig.map.m704.WMaxLimPctEna]).to.deep.equal([100, 'DISABLED']);
    expect(rig.plant.grid(0).voltageAPu).to.equal(1);
    expect(rig.w).to.equal(10_000);
    expect(rig.device.bank.provenance(rig.device.bank.layout.slot(704, 'WMaxLimPct')!)).to.equal(undefined);
  });

  it('at most 64 wait for a device; other devices have their own queue', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    for (let i = 0; i < 64; i += 1) submit(plant, 'start');
    expect(codeOf(() => submit(plant, 'start'))).to.equal('COMMAND_QUEUE_FULL');
    submit(plant, 'start', 1);
    await plant.step(1);
    submit(plant, 'start');
    // only an opposite command cancels
    expect(plant.commands.list({ state: 'completed' })).to.have.length(65);
    expect(plant.commands.list({ state: 'canceled' })).to.have.length(0);
  });

  it('the last 1000 are kept, newest first; an open one is never dropped', async () => {
    const plant = testPlant({ types: ['PV', 'PV'] });
    plant.setGrid({ outage: true });
    await plant.step(2);
    const running = submit(plant, 'start', 1);
    const ids: string[] = [];
    for (let round = 0; round < 20; round += 1) {
      for (let i = 0; i < 60; i += 1) ids.push(submit(plant, 'reset'));
      await plant.step(1);
    }
    const kept = plant.commands.list();
    expect(kept).to.have.length(1000);
    expect(kept[0]!.id).to.equal(ids.at(-1));
    expect(kept.at(-1)!.id).to.equal(running);
    expect(stateOf(plant, running)).to.equal('running');
    expect(plant.commands.get(ids[0]!)).to.equal(undefined);
    expect(plant.commands.list({ deviceIndex: 1 }).map((record: CommandRecord) => record.id)).to.deep.equal([running]);
  });

  it('open ones are canceled when the simulator stops', async () => {
    const plant = testPlant();
    plant.setGrid({ outage: true });
    await plant.step(2);
    const done = submit(plant, 'reset');
    const running = submit(plant, 'start');
    await plant.step(1);
    const queued = submit(plant, 'stop');
    plant.commands.cancelAll();
    expect([done, running, queued].map((id) => stateOf(plant, id))).to.deep.equal([
      'completed',
      'canceled',
      'canceled',
    ]);
    expect(plant.commands.get(queued)?.message).to.equal('the simulator stopped first');
    await plant.step(1);
    expect(plant.devices[0]!.bank.map.m703.ES).to.equal('ENABLED');
  });
});
