import { expect } from 'chai';
import { functionCodes } from '../../../src/dnp3/stack/application/types.ts';
import { classes } from '../rig/classes.ts';
import type { Stack } from '../rig/stack.ts';

/** Changes that become durable when the test says so. */
class Disk {
  /** functions whose changes were to be made durable */
  readonly functions: number[] = [];
  isBusy = true;
  #waits: (() => void)[] = [];

  readonly durable = (functionCode: number): Promise<void> | null => {
    this.functions.push(functionCode);
    if (!this.isBusy) return null;
    return new Promise((resolve) => {
      this.#waits.push(resolve);
    });
  };

  /** Makes the oldest change durable. */
  async write(): Promise<void> {
    this.#waits.shift()?.();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

const clearRestart = '02 50 01 00 07 07 00';
const latch = '05 0c 01 28 01 00 00 00 03 01 00 00 00 00 00 00 00 00 00';

function connected(): { readonly disk: Disk; readonly stack: Stack } {
  const disk = new Disk();
  return { disk, stack: classes({ durable: disk.durable, unsolicited: true }) };
}

describe('responses of an outstation of DNP3 with a memory', () => {
  it('confirm a change when it is durable, in the order of their requests', async () => {
    const { disk, stack } = connected();
    expect(stack.ask(`c0 ${clearRestart}`)).to.deep.equal([]);
    expect(stack.ask(`c1 ${latch}`)).to.deep.equal([]);
    disk.isBusy = false;
    // a READ does not pass the responses before it
    expect(stack.ask('c2 01 3c 03 06')).to.deep.equal([]);
    await disk.write();
    expect(stack.sent().map((fragment) => fragment.slice(0, 5))).to.deep.equal(['c0 81']);
    await disk.write();
    expect(stack.sent().map((fragment) => fragment.slice(0, 5))).to.deep.equal(['c1 81', 'c2 81']);
    expect(stack.ask('c3 17')).to.have.lengthOf(1);
  });

  it('are sent at once where nothing has to become durable, READ always', () => {
    const { disk, stack } = connected();
    stack.set('binaryInput', 0, 1);
    expect(stack.ask('c0 01 3c 02 06')[0]).to.match(/^e0 81/);
    disk.isBusy = false;
    expect(stack.ask(`c1 ${clearRestart}`)).to.have.lengthOf(1);
  });

  it('follow a confirm when the removal of its events is durable', async () => {
    const { disk, stack } = connected();
    stack.set('binaryInput', 0, 1);
    stack.ask('c0 01 3c 02 06');
    stack.ask('c0 00');
    expect(disk.functions).to.deep.equal([functionCodes.confirm]);
    expect(stack.ask('c1 01 3c 02 06')).to.deep.equal([]);
    await disk.write();
    expect(stack.sent()).to.have.lengthOf(1);
    expect(stack.ask('c2 01 3c 02 06')).to.have.lengthOf(1);
  });

  it('follow the confirm of an unsolicited response in the same way, which itself waits for nothing', async () => {
    const { disk, stack } = connected();
    stack.clock.pass(0);
    expect(stack.sent()).to.have.lengthOf(1);
    stack.ask('d0 00');
    expect(stack.ask('c1 01 3c 02 06')).to.deep.equal([]);
    await disk.write();
    expect(stack.sent()).to.have.lengthOf(1);
    disk.isBusy = false;
    stack.ask('c2 14 3c 02 06');
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent().some((fragment) => fragment.includes('82') && fragment.includes('02 '))).to.equal(true);
  });

  it('whose connection has ended meanwhile are sent on no other one', async () => {
    const { disk, stack } = connected();
    stack.ask(`c0 ${clearRestart}`);
    stack.disconnect();
    stack.connect();
    await disk.write();
    expect(stack.sent()).to.deep.equal([]);
    disk.isBusy = false;
    expect(stack.ask('c1 17')).to.have.lengthOf(1);
  });

  it('wait in a limited number: a disk that stands still costs no memory without end', async () => {
    const { disk, stack } = connected();
    for (let n = 0; n < 100; n += 1) stack.ask(`c${(n % 16).toString(16)} ${clearRestart}`);
    for (let n = 0; n < 100; n += 1) await disk.write();
    expect(stack.sent()).to.have.lengthOf(64);
  });

  it('are not sent for silent functions and broadcasts, whose changes become durable too', () => {
    const { disk, stack } = connected();
    stack.ask(`c0 ${latch.replace(/^05/, '06')}`);
    stack.ask(`c1 ${latch}`, 4, 'broadcast-no-confirm');
    expect(disk.functions).to.deep.equal([functionCodes.directOperateNr, functionCodes.directOperate]);
  });
});
