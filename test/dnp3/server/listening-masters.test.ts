import { expect } from 'chai';
import { linkFrame } from '../rig/frames.ts';
import type { TestMaster } from '../rig/master.ts';
import { ListenerRig, turn } from './listener-rig.ts';

const nullResponse = 'f0829000';

describe('masters that listen first', () => {
  let rig: ListenerRig;
  afterEach(() => rig.close());

  /** The next unsolicited response; the timers of the outstation are at their time. */
  async function heard(master: TestMaster, from = 0): Promise<string> {
    rig.stack.clock.pass(0);
    return (await master.next(({ uns }) => uns, from)).octets.toString('hex');
  }

  it('8.11 get the response without objects at once, and are not thrown out', async () => {
    rig = await ListenerRig.open({ unsolicited: true });
    const master = await rig.master();
    expect(await heard(master)).to.equal(nullResponse);
    rig.pass(30_000);
    await master.quiet();
    expect(master.closed).to.equal(false);
  });

  it('8.11 get the events that waited for them, after a new connection', async () => {
    rig = await ListenerRig.open({ unsolicited: true });
    const first = await rig.master();
    await heard(first);
    first.confirm({ uns: true, seq: 0 });
    await first.ask(20, Buffer.from([60, 2, 6]));
    await first.close();
    while (rig.listener.connections.length > 0) await turn();
    rig.stack.set('binaryInput', 0, 0);
    rig.stack.set('binaryInput', 0, 1);
    const second = await rig.master();
    expect(await heard(second)).to.match(/^f18290003302070100000000000002032801000000810000$/);
    second.confirm({ uns: true, seq: 1 });
    await second.quiet();
    expect(rig.stack.outstation.association(4)?.events.size).to.equal(0);
  });

  it('do not take the place of a connection that lives', async () => {
    rig = await ListenerRig.open({ unsolicited: true });
    const old = await rig.master();
    await old.ask(23);
    const fresh = await rig.master();
    // the old one is asked, and answers
    await old.nextFrame(({ control }) => control === 0x49, 0);
    old.sendLink(0x8b);
    await old.quiet();
    rig.pass(10_000);
    expect((await old.ask(23)).functionCode).to.equal(129);
    rig.pass(10_000);
    await fresh.ended();
    expect(fresh.frames).to.deep.equal([]);
    expect((await old.ask(23)).functionCode).to.equal(129);
  });

  it('take the place of a connection that does not answer any more', async () => {
    rig = await ListenerRig.open({ unsolicited: true });
    const old = await rig.master();
    await old.ask(23);
    const fresh = await rig.master();
    rig.pass(10_000);
    await old.ended();
    while (rig.listener.connections.length > 1) await turn();
    rig.pass(500);
    expect(await heard(fresh)).to.equal(nullResponse);
  });

  it('take the place that a connection leaves while they wait', async () => {
    rig = await ListenerRig.open({ unsolicited: true });
    const old = await rig.master();
    await old.ask(23);
    const fresh = await rig.master();
    await old.close();
    while (rig.listener.connections.length > 1) await turn();
    rig.pass(500);
    expect(await heard(fresh)).to.equal(nullResponse);
  });

  for (const [what, options] of [
    ['without unsolicited responses', {}],
    ['when several masters may be meant', { unsolicited: true, masters: [4, 5] }],
  ] as const)
    it(`have to speak ${what}`, async () => {
      rig = await ListenerRig.open(options);
      const master = await rig.master();
      rig.stack.clock.pass(0);
      master.sendRaw(linkFrame(0x80, 1, 4));
      await rig.framesIn(1);
      rig.pass(10_000);
      await master.ended();
      expect(master.frames).to.deep.equal([]);
    });
});
