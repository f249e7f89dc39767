import { expect } from 'chai';
import { get } from '../../../src/ui/api/call';
import { useFigures } from '../../../src/ui/store/figures';
import { changes, useLive } from '../../../src/ui/store/live';
import { frame } from '../../../src/ui/store/stream';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { leave, show } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { accept, startPage } from '../support/stream.ts';

describe('pace of the page', () => {
  before(async () => {
    await startPage();
    await accept();
  });
  afterEach(leave);

  it('changes figures at once, then at most once per second, and shows the last of them', async () => {
    let drawn = 0;
    const Figure = () => {
      useFigures();
      drawn += 1;
      return null;
    };
    await pass(2000);
    await show(<Figure />);
    for (let each = 0; each < 10; each += 1) {
      frame.value += 1;
      await settle();
    }
    expect(drawn).to.equal(2);
    await pass(1000);
    expect(drawn).to.equal(3);
    await pass(3000);
    expect(drawn).to.equal(3);
  });

  it('reads what seldom changes when a change is announced, and every 15 s', async () => {
    const daemon = new Daemon();
    const Names = () => {
      useLive(get('devices'), 'change');
      return null;
    };
    await show(<Names />);
    const readings = () => daemon.to('GET devices').length;
    expect(readings()).to.equal(1);
    await pass(10_000);
    expect(readings()).to.equal(1);
    changes.value += 1;
    await settle();
    expect(readings()).to.equal(2);
    await pass(15_500);
    expect(readings()).to.equal(3);
  });
});
