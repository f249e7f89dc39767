import { expect } from 'chai';
import { createLabControl } from '../../src/app/lab-control.ts';
import type { Restart } from '../../src/app/start-stop.ts';
import { certificatesSlot } from '../../src/pki/store.ts';
import { configOf } from '../support/configured.ts';

describe('labs that wait to be checked', () => {
  /** A control whose labs are noted in `events`. */
  function controlWith(events: string[]) {
    const contents = new Map<string, readonly string[]>();
    const restarts: Restart[] = [];
    const state = { isEnding: false };
    const control = createLabControl({
      start: configOf(),
      valueOf: () => null,
      current() {
        throw new Error('no lab');
      },
      state: { contents: () => contents },
      unkept: new Map(),
      log: { info: () => undefined },
      tryToBuild: ({ tickS }) => events.push(`tick ${tickS}`),
      isEnding: () => state.isEnding,
      onRestart: (restart) => restarts.push(restart),
    });
    return { control, contents, restarts, state };
  }

  const outcomes = async (calls: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).map((result) => (result.status === 'rejected' ? result.reason.code : 'checked'));

  it('are checked one at a time, with a turn of the event loop between; beyond three they are refused', async () => {
    const events: string[] = [];
    const { control } = controlWith(events);
    let isDone = false;
    const turn = () => {
      events.push('turn');
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const results = await outcomes([1, 2, 3, 4, 5, 6].map((tick) => control.prepare({ tick })));
    isDone = true;
    const refused = 'COMMAND_QUEUE_FULL';
    expect(results).to.deep.equal(['checked', 'checked', 'checked', 'checked', refused, refused]);
    const order = events.filter((event, at) => event !== events[at - 1]);
    expect(order.slice(0, 8)).to.deep.equal(['turn', 'tick 1', 'turn', 'tick 2', 'turn', 'tick 3', 'turn', 'tick 4']);
    expect(await outcomes([control.prepare({ tick: 7 })])).to.deep.equal(['checked']);
  });

  it('are refused when the simulator stops, and one with issues lets the next one follow', async () => {
    const events: string[] = [];
    const { control, state } = controlWith(events);
    const calls = [control.prepare({ tick: 0 }), control.prepare({ tick: 2 })];
    expect(await outcomes(calls)).to.deep.equal(['COMMAND_BAD_VALUE', 'checked']);
    const late = control.prepare({ tick: 3 });
    state.isEnding = true;
    expect(await outcomes([late])).to.deep.equal(['STOPPING']);
    expect(events).to.deep.equal(['tick 2']);
  });

  it('begin with the certificates of that time', async () => {
    const { control, contents, restarts } = controlWith([]);
    const { begin } = await control.prepare({ tick: 2 });
    contents.set(certificatesSlot, ['later']);
    begin?.('a test');
    expect(restarts[0]?.contents.get(certificatesSlot)).to.deep.equal(['later']);
  });
});
