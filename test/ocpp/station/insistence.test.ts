import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createInsistence } from '../../../src/ocpp/station/insistence.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { StationRig } from './rig.ts';

function rig() {
  const timers = new HandTimers(new HandWall());
  const lines: string[] = [];
  const line = (level: string) => (text: string, index?: number | null) => lines.push(`${level} ${index} ${text}`);
  const insistence = createInsistence(timers.later, { warning: line('warning'), error: line('error') }, 3);
  const state: { error: Error | null; attempts: number } = { error: null, attempts: 0 };
  const insist = () => {
    insistence.insist('it', 'it stays', () => {
      state.attempts += 1;
      if (state.error !== null) throw state.error;
    });
  };
  return { timers, lines, insistence, state, insist };
}

describe('Commands that a device may refuse for a time', () => {
  it('are tried each second until they are accepted, with one line of the log', () => {
    const { timers, lines, state, insist } = rig();
    state.error = new SimError('MAP_LOCAL_CONTROL', 'local control');
    insist();
    timers.pass(3500);
    expect(state.attempts).to.equal(4);
    state.error = null;
    timers.pass(500);
    expect([state.attempts, timers.waiting]).to.deep.equal([5, 0]);
    expect(lines).to.deep.equal(['warning 3 it stays: local control']);
  });

  it('end where another one takes their place, and with the station', () => {
    const { timers, insistence, state, insist } = rig();
    state.error = new SimError('COMMAND_CONFLICT', 'off');
    insist();
    insist();
    expect(timers.waiting).to.equal(1);
    insistence.end('it');
    expect(timers.waiting).to.equal(0);
    insist();
    insistence.stop();
    expect(timers.waiting).to.equal(0);
  });

  for (const error of [new SimError('INTERNAL', 'broken'), new TypeError('broken')])
    it(`are not tried again after a failure of the program: ${error.name}`, () => {
      const { timers, lines, state, insist } = rig();
      state.error = error;
      insist();
      timers.pass(10_000);
      expect(state.attempts).to.equal(1);
      expect(lines).to.deep.equal(['error 3 it stays, and this is not tried again: broken']);
    });

  it('are tried after a second though the central system sets its clock back by an hour', async () => {
    const site = new StationRig('ws://127.0.0.1:1');
    await site.loaded;
    const { parts, timers, wall, station } = site;
    parts.clock.sync(wall.nowMs(), wall.monotonicMs());
    let attempts = 0;
    parts.releases.insist('it', 'it stays', () => {
      attempts += 1;
      if (attempts < 2) throw new SimError('COMMAND_CONFLICT', 'off');
    });
    parts.clock.sync(wall.nowMs() - 3_600_000, wall.monotonicMs());
    timers.pass(1000);
    await station.stop();
    expect(attempts).to.equal(2);
  });
});
