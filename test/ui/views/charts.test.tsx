import { expect } from 'chai';
import { Notice } from '../../../src/ui/kit/notice';
import { rangeOf } from '../../../src/ui/kit/uplot-chart';
import Charts from '../../../src/ui/views/charts/charts';
import { drawn, quantities } from '../../../src/ui/views/charts/panels';
import type { Samples } from '../../../src/ui/views/charts/samples';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { address, all, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('axes of charts', () => {
  const spanOf = (name: string) => quantities.find((each) => each.name === name)?.minSpan;

  it('span at least a share of the ratings', () => {
    const ratings = { powerKw: 500, voltageV: 277 };
    expect(['p', 'v', 'f', 'soc'].map((name) => spanOf(name)?.(ratings))).to.deep.equal([10, 277 * 0.04, 0.1, 5]);
    expect(spanOf('p')?.({ powerKw: null, voltageV: null })).to.equal(undefined);
  });

  it('keep small changes in the middle, and zero in view where it counts', () => {
    expect(rangeOf(4, false)(null, 230, 231)).to.deep.equal([228.5, 232.5]);
    expect(rangeOf(1, true)(null, 40, 50)).to.deep.equal([-3, 53]);
    expect(rangeOf(1, true)(null, -50, -40)).to.deep.equal([-53, 3]);
    expect(rangeOf(10, true)(null, null, null)).to.deep.equal([0, 10]);
  });
});

describe('lines of devices with different times', () => {
  const samplesOf = (times: readonly number[]): Samples => ({
    times,
    metrics: ['power_kw'],
    column: () => times.map(() => 1),
    leftOut: 0,
    keptSince: null,
    capacity: 100,
  });

  it('have no gap where only the other device has a sample', () => {
    const named = [0, 1].map((device) => ({ device, name: `Device ${device}`, place: device }));
    const samples = new Map([samplesOf([0, 2]), samplesOf([0, 1, 2])].entries());
    const { data } = drawn(named, samples, quantities[0]?.lines ?? []);
    expect(data.columns).to.deep.equal([
      [0, 1, 2],
      [1, undefined, 1],
      [1, 1, 1],
    ]);
  });
});

describe('charts', () => {
  before(startPage);
  beforeEach(async () => {
    localStorage.clear();
    answerForSite(new Daemon());
    await accept();
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const draw = async (hash: string) => {
    await address(hash);
    await show(
      <>
        <Notice />
        <Charts />
      </>,
    );
    await pass(100);
  };
  const titles = () => all('section.panel > header h2').map((each) => each.textContent);

  it('have panels of their own for P and Q, also at an earlier address', async () => {
    await draw('#/charts?device=0&panels=power');
    expect(titles()).to.deep.equal(['Active power', 'Reactive power']);
  });

  it('save the layout under a name, open it, delete it, and take that back', async () => {
    await draw('#/charts?devices=0,1&panels=p,v&window=1h&zoom=1,2');
    await press('Layouts');
    const field = one('[aria-label="Name of the layout"]');
    field.value = 'Two at noon';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    await press('Save');
    const link = one('.layout a');
    expect(link.textContent).to.equal('Two at noon');
    expect(decodeURIComponent(link.getAttribute('href') ?? '')).to.equal('#/charts?devices=0,1&window=1h&panels=p,v');
    await press('Delete Two at noon');
    expect(all('.layout')).to.deep.equal([]);
    await press('Undo');
    expect(textOf('.layout a')).to.equal('Two at noon');
  });

  it('find a device by its name', async () => {
    await draw('#/charts?device=0');
    await press('1 of 6 devices');
    const names = () => all('.device-choice label').map((each) => each.textContent);
    expect(names()).to.have.lengthOf(6);
    expect(names()[2]).to.equal('2 Device wind');
  });
});
