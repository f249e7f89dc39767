import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { lazy, loadPending, loadRest } from '../../../src/ui/shell/lazy';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { all, draw, leave, press, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const View = ({ name }: { readonly name: string }) => <b>{name}</b>;

/** A component in a file that arrives when the test says so. */
function fileOfView() {
  let loads = 0;
  let settleFile:
    | { readonly resolve: (view: typeof View) => void; readonly reject: (error: Error) => void }
    | undefined;
  const file = new Promise<typeof View>((resolve, reject) => {
    settleFile = { resolve, reject };
  });
  const Lazy = lazy(() => {
    loads += 1;
    return file;
  });
  return {
    Lazy,
    loads: () => loads,
    arrive: () => settleFile?.resolve(View),
    fail: () => settleFile?.reject(new TypeError('not loaded')),
  };
}

describe('component in a file of its own', () => {
  beforeEach(() => new Daemon());
  afterEach(leave);

  it('is loaded when it is first shown, and once', async () => {
    const { Lazy, arrive, loads } = fileOfView();
    expect(loads()).to.equal(0);
    await draw(<Lazy name="first" />);
    expect(all('[aria-busy=true]')).to.have.lengthOf(1);
    arrive();
    await settle();
    expect(textOf('b')).to.equal('first');
    expect(all('[aria-busy]')).to.deep.equal([]);
    await draw(<Lazy name="second" />);
    expect([textOf('b'), loads()]).to.deep.equal(['second', 1]);
  });

  it('is shown where it arrives between the first drawing and its effect', async () => {
    await loadPending(() => Promise.resolve());
    const { Lazy, arrive } = fileOfView();
    const loading = loadPending(() => Promise.resolve());
    const drawing = draw(<Lazy name="meanwhile" />);
    // the effects of a drawing run one turn later
    await setImmediate();
    expect(all('[aria-busy=true]')).to.have.lengthOf(1);
    arrive();
    await Promise.all([loading, drawing]);
    expect(textOf('b')).to.equal('meanwhile');
  });

  it('asks to load the page again where the daemon has another build', async () => {
    const { Lazy, fail } = fileOfView();
    await draw(<Lazy name="gone" />);
    fail();
    await settle();
    expect(textOf('[role=alert]')).to.equal('derbench was updated. Reload');
    let reloads = 0;
    location.reload = () => {
      reloads += 1;
    };
    await press('Reload');
    expect(reloads).to.equal(1);
  });

  it('does not speak of an update where no daemon answers', async () => {
    const { Lazy, fail } = fileOfView();
    globalThis.fetch = () => Promise.reject(new TypeError('network'));
    await draw(<Lazy name="gone" />);
    fail();
    await settle();
    expect(textOf('[role=alert]')).to.equal('This part of the page is not loaded. The daemon does not answer. Reload');
  });

  it('is loaded 5 s after the start, and after a failure when it is shown', async () => {
    await loadPending(() => Promise.resolve());
    let isServed = false;
    let loads = 0;
    const Lazy = lazy(async () => {
      loads += 1;
      await Promise.resolve();
      if (!isServed) throw new TypeError('network');
      return View;
    });
    loadRest();
    await pass(4900);
    expect(loads).to.equal(0);
    await pass(1000);
    expect(loads).to.equal(1);
    isServed = true;
    await draw(<Lazy name="late" />);
    expect([textOf('b'), loads]).to.deep.equal(['late', 2]);
  });
});
