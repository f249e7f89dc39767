import { expect } from 'chai';
import { commAlarmKinds, CommAlarms } from '../../src/core/comm-alarms.ts';

describe('Communication alarms', () => {
  let nowMs: number;
  let alarms: CommAlarms;

  beforeEach(() => {
    nowMs = 1000;
    alarms = new CommAlarms(() => nowMs);
  });

  it('are kept per device, from the first raise on', () => {
    alarms.raise(3, 'rtu_port_lost', 'the port has disappeared');
    nowMs = 2000;
    alarms.raise(3, 'rtu_port_lost', 'the port cannot be opened');
    expect(alarms.of(3)).to.deep.equal([
      { code: 'rtu_port_lost', severity: 'warning', sinceMs: 1000, message: 'the port cannot be opened' },
    ]);
    expect(alarms.of(4)).to.deep.equal([]);
  });

  it('begin anew after an end', () => {
    alarms.raise(0, 'rtu_port_lost', 'a');
    alarms.end(0, 'rtu_port_lost');
    expect(alarms.of(0)).to.deep.equal([]);
    nowMs = 5000;
    alarms.raise(0, 'rtu_port_lost', 'b');
    expect(alarms.of(0).map(({ sinceMs }) => sinceMs)).to.deep.equal([5000]);
  });

  it('tell of their begin and end once, not of a new message or an end without an alarm', () => {
    const told: unknown[] = [];
    const end = alarms.onChange(({ deviceIndex, alarm: { code, message }, isOver }) => {
      told.push([deviceIndex, code, message, isOver]);
    });
    alarms.raise(3, 'rtu_port_lost', 'a');
    alarms.raise(3, 'rtu_port_lost', 'b');
    alarms.end(3, 'rtu_port_lost');
    alarms.end(3, 'rtu_port_lost');
    end();
    alarms.raise(3, 'rtu_port_lost', 'c');
    expect(told).to.deep.equal([
      [3, 'rtu_port_lost', 'a', false],
      [3, 'rtu_port_lost', 'b', true],
    ]);
  });

  it('an end without an alarm does nothing', () => {
    alarms.end(7, 'rtu_port_lost');
    expect(alarms.of(7)).to.deep.equal([]);
  });

  it('of a device that has left are gone, those of others stay', () => {
    alarms.raise(0, 'rtu_port_lost', 'a');
    alarms.raise(1, 'rtu_port_lost', 'b');
    alarms.forget(0);
    expect([alarms.of(0).length, alarms.of(1).length]).to.deep.equal([0, 1]);
  });

  it('a list that was read does not change', () => {
    alarms.raise(0, 'rtu_port_lost', 'a');
    const before = alarms.of(0);
    alarms.raise(0, 'rtu_port_lost', 'b');
    alarms.end(0, 'rtu_port_lost');
    expect(before.map(({ message }) => message)).to.deep.equal(['a']);
  });

  it('messages are cut at 256 characters', () => {
    alarms.raise(0, 'rtu_port_lost', 'x'.repeat(10_000));
    expect(alarms.of(0)[0]?.message).to.have.length(256);
  });

  it('codes are words in lower case', () => {
    for (const code of Object.keys(commAlarmKinds)) expect(code).to.match(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
  });
});
