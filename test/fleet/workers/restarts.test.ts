import { expect } from 'chai';
import { versionIssue } from '../../../src/fleet/workers/nats-program.ts';
import { Restarts } from '../../../src/fleet/workers/restarts.ts';
import { followGateway } from '../../../src/fleet/workers/life.ts';

describe('fleet/workers: restarts', () => {
  it('wait longer each time, and end after five in five minutes', () => {
    const restarts = new Restarts();
    expect([0, 1, 2, 3, 4, 5].map((s) => restarts.waitMs(s * 1000))).to.deep.equal([
      1000,
      2000,
      4000,
      8000,
      16_000,
      null,
    ]);
    expect(restarts.waitMs(300_000)).to.equal(16_000);
    expect(new Restarts().waitMs(900_000)).to.equal(1000);
  });
});

describe('fleet/workers: the program of the server', () => {
  it('is of version 2.9 or newer', () => {
    expect(['nats-server: v2.9.0', 'nats-server: v2.15.1', 'nats-server: v3.0.0'].map(versionIssue)).to.deep.equal([
      null,
      null,
      null,
    ]);
    expect(versionIssue('nats-server: v2.8.4')).to.equal('is of version 2.8.4; needed is 2.9 or newer');
    expect(versionIssue('GNU sleep')).to.match(/does not say its version/);
  });
});

describe('fleet/workers: the life of a worker', () => {
  function worker(connected: boolean) {
    const calls: string[] = [];
    let disconnect: () => void = () => undefined;
    const ready = followGateway({
      channel: {
        connected,
        once: (_event, listener) => (disconnect = listener),
        send: (message) => calls.push(String(message)),
      },
      end: () => calls.push('end'),
      exit: () => calls.push('exit'),
      later(_ms, run) {
        run();
        return () => undefined;
      },
    });
    return { calls, ready, disconnect: () => disconnect() };
  }

  it('ends with its gateway, in order first', () => {
    const { calls, ready, disconnect } = worker(true);
    ready();
    expect(calls).to.deep.equal(['ready']);
    disconnect();
    expect(calls).to.deep.equal(['ready', 'end', 'exit']);
  });

  it('ends at once where the gateway has ended before', () => {
    expect(worker(false).calls).to.deep.equal(['end', 'exit']);
  });
});
