import { expect } from 'chai';
import { AdapterLifecycle, startLine } from '../../src/core/adapter.ts';

/** A promise and what settles it. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('life-cycle of an adapter', () => {
  it('starts, listens, stops and starts again; each once however often it is asked', async () => {
    const lifecycle = new AdapterLifecycle();
    let [opened, closed] = [0, 0];
    const open = () => void (opened += 1);
    const close = () => void (closed += 1);
    expect([lifecycle.state, lifecycle.stopping]).to.deep.equal(['stopped', false]);
    const starting = lifecycle.start(open);
    expect(lifecycle.state).to.equal('starting');
    await starting;
    await lifecycle.start(open);
    expect([lifecycle.state, opened]).to.deep.equal(['listening', 1]);
    await Promise.all([lifecycle.stop(close), lifecycle.stop(close)]);
    expect([lifecycle.state, lifecycle.stopping, closed]).to.deep.equal(['stopped', true, 1]);
    await lifecycle.start(open);
    expect([lifecycle.state, lifecycle.stopping, opened]).to.deep.equal(['listening', false, 2]);
  });

  it('keeps the error of a start that failed until the next one succeeds', async () => {
    const lifecycle = new AdapterLifecycle();
    const failure = new Error('the port is in use');
    expect(await lifecycle.start(() => Promise.reject(failure)).catch((error: unknown) => error)).to.equal(failure);
    expect(lifecycle.status({ detail: 'port 1' })).to.include({ state: 'error', detail: 'the port is in use' });
    await lifecycle.start(() => undefined);
    expect(lifecycle.status({ detail: 'port 1' })).to.include({ state: 'listening', detail: 'port 1' });
  });

  it('a stop before the start has ended leaves it stopped', async () => {
    const lifecycle = new AdapterLifecycle();
    const opening = deferred();
    const starting = lifecycle.start(() => opening.promise);
    const stopping = lifecycle.stop(() => opening.promise);
    opening.resolve();
    await Promise.all([starting, stopping]);
    expect(lifecycle.state).to.equal('stopped');
  });

  it('a peer that is lost while it starts is not forgotten', async () => {
    const lifecycle = new AdapterLifecycle();
    await lifecycle.start(() => {
      lifecycle.retrying('the line has gone');
    });
    expect(lifecycle.status({})).to.include({ state: 'retrying', detail: 'the line has gone' });
    lifecycle.listening();
    expect(lifecycle.status({})).to.deep.equal({
      enabled: true,
      state: 'listening',
      detail: null,
      endpoint: null,
      peers: 0,
      lastActivityMs: null,
      rxCount: 0,
      txCount: 0,
      errorCount: 0,
    });
  });

  it('an adapter may know its state better', () => {
    const status = new AdapterLifecycle().status({ enabled: false, state: 'disabled', peers: 3, droppedCount: 1 });
    expect(status).to.include({ enabled: false, state: 'disabled', peers: 3, droppedCount: 1 });
  });

  it('start lines have one column for the name', () => {
    expect([startLine('HTTP', 'a'), startLine('Telemetry', 'b')]).to.deep.equal(['HTTP      a', 'Telemetry b']);
  });
});
