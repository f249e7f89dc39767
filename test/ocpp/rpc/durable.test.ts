import { expect } from 'chai';
import { until, useCentral } from './rig.ts';

/** A store whose changes become durable when the test says so. */
class HandStore {
  #waits: { readonly end: Promise<void>; readonly resolve: () => void }[] = [];

  /** A change that is not durable yet. */
  change(): void {
    let resolve: () => void = () => undefined;
    const end = new Promise<void>((done) => {
      resolve = done;
    });
    this.#waits.push({ end, resolve });
  }

  /** Makes the oldest change durable. */
  async write(): Promise<void> {
    const wait = this.#waits.shift();
    wait?.resolve();
    await wait?.end;
  }

  readonly durable = (): Promise<void> | null => this.#waits.at(-1)?.end ?? null;
}

describe('frames of a charge point whose state survives a restart', () => {
  const stage = useCentral();

  it('an answer goes out when the change that it promises is durable, and frames keep their order', async () => {
    const store = new HandStore();
    const { rig, station } = await stage.connected({ durable: store.durable });
    rig.handle = (action) => {
      if (action === 'ChangeConfiguration') store.change();
      return { status: 'Accepted' };
    };
    station.sendText('[2,"first","ChangeConfiguration",{"key":"HeartbeatInterval","value":"60"}]');
    station.sendText('[2,"second","ChangeConfiguration",{"key":"HeartbeatInterval","value":"61"}]');
    await until(() => rig.handled.length === 2);
    station.sendText('[2,"third","ClearCache",{}]');
    await until(() => rig.handled.length === 3);
    expect(rig.count('out', 'result')).to.equal(0);
    await store.write();
    await until(() => rig.count('out', 'result') === 1);
    await store.write();
    await until(() => rig.count('out', 'result') === 3);
    const ids = [await station.nextText(), await station.nextText(), await station.nextText()].map(
      (text) => (JSON.parse(text) as [number, string])[1],
    );
    expect(ids).to.deep.equal(['first', 'second', 'third']);
  });

  it('a connection that ends after an answer ends when the answer has gone out', async () => {
    const store = new HandStore();
    const { rig, station, connection } = await stage.connected({ durable: store.durable });
    rig.handle = (_action, _payload, after) => {
      store.change();
      after(() => {
        rig.link.reconnect('AuthorizationKey was changed');
      });
      return { status: 'Accepted' };
    };
    const reply = station.call('ClearCache');
    await until(() => rig.handled.length === 1);
    await store.write();
    expect((await reply).kind).to.equal('result');
    expect((await connection.closed).code).to.equal(1000);
  });

  it('an answer whose connection has ended meanwhile goes out on no other one', async () => {
    const store = new HandStore();
    const { rig, station, connection } = await stage.connected({ durable: store.durable });
    rig.handle = () => {
      store.change();
      return { status: 'Accepted' };
    };
    station.sendText('[2,"late","ClearCache",{}]');
    await until(() => rig.handled.length === 1);
    connection.socket.terminate();
    await rig.closed.take();
    rig.passWait();
    await rig.opened.take();
    await store.write();
    rig.handle = () => ({ status: 'Accepted' });
    station.sendText('[2,"next","ClearCache",{}]');
    expect(await station.nextText()).to.include('"next"');
    expect(rig.count('out', 'result')).to.equal(1);
  });
});
