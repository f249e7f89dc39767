import { expect } from 'chai';
import { render } from 'preact';
import { download } from '../../../src/ui/kit/download';
import { Chart, pngOf } from '../../../src/ui/kit/uplot-chart';
import type { ChartData, Series, Zoom } from '../../../src/ui/kit/uplot-chart';
import { strokes } from '../support/canvas.ts';
import { pass } from '../support/clock.ts';
import { all, leave, one, show } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const series: readonly Series[] = [
  { label: 'P', unit: 'kW', decimals: 2, colour: '--p' },
  { label: 'SoC', unit: '%', decimals: 1, colour: '--soc', side: 'right', dash: [4, 2] },
];

/** One sample a second from 12:00:00 UTC on. */
const start = Date.UTC(2026, 5, 21, 12) / 1000;
const dataOf = (powers: readonly (number | null)[]): ChartData => ({
  columns: [powers.map((_power, index) => start + index), powers, powers.map(() => 50)],
});

interface Options {
  readonly data?: ChartData;
  readonly zoom?: Zoom;
  readonly onZoom?: (zoom: Zoom) => void;
  readonly timezone?: string;
}

const chart = ({ data = dataOf([1, 2, 3, null, -5]), timezone = 'UTC', ...zooming }: Options = {}) => (
  <Chart label="Power" series={series} data={data} timezone={timezone} {...zooming} />
);

const legend = () => all('.u-legend .u-value').map((each) => each.textContent.replace('−', '-'));
const key = async (name: string, shiftKey = false) => {
  one('.chart').dispatchEvent(new KeyboardEvent('keydown', { key: name, shiftKey, bubbles: true, cancelable: true }));
  await settle();
};

describe('chart', () => {
  beforeEach(() => strokes.splice(0));
  afterEach(leave);

  it('has the newest values in its legend while no cursor is in it', async () => {
    await show(chart());
    expect(legend()).to.deep.equal(['2026-06-21 12:00:04', '-5.00 kW', '50.0 %']);
    expect(all('.u-legend .u-label').map((each) => each.textContent)).to.deep.equal(['Time', 'P', 'SoC']);
  });

  it('shows times in the zone of the simulated clock', async () => {
    await show(chart({ timezone: 'Europe/Berlin' }));
    expect(legend()[0]).to.equal('2026-06-21 14:00:04');
  });

  it('follows new data', async () => {
    const root = await show(chart());
    render(chart({ data: dataOf([1, 2, 3, null, -5, 7]) }), root);
    await settle();
    expect(legend()).to.deep.equal(['2026-06-21 12:00:05', '7.00 kW', '50.0 %']);
  });

  it('shows a value that is not there as a dash', async () => {
    await show(chart({ data: dataOf([1, null]) }));
    expect(legend()[1]).to.equal('– kW');
  });

  it('reads values with the arrow keys', async () => {
    await show(chart());
    await key('ArrowLeft');
    expect(legend()[0]).to.equal('2026-06-21 12:00:03');
    await key('ArrowLeft', true);
    expect(legend()).to.deep.equal(['2026-06-21 12:00:00', '1.00 kW', '50.0 %']);
    await key('ArrowRight');
    expect(legend()[1]).to.equal('2.00 kW');
    await key('End');
    expect(legend()[1]).to.equal('-5.00 kW');
    await key('Home');
    expect(legend()[1]).to.equal('1.00 kW');
  });

  it('gives up a zoom with Escape', async () => {
    const zooms: Zoom[] = [];
    await show(chart({ zoom: [start + 1, start + 2], onZoom: (zoom) => zooms.push(zoom) }));
    await key('Escape');
    expect(zooms).to.deep.equal([null]);
  });

  it('draws each line in a dash of its own, and the units at the axes', async () => {
    await show(chart());
    expect(strokes.filter(([method]) => method === 'setLineDash').map(([, dash]) => dash)).to.deep.include([4, 2]);
    const texts = strokes.filter(([method]) => method === 'fillText').map(([, text]) => text);
    expect(texts).to.include.members(['kW', '%', '12:00:00']);
  });

  it('draws steps, since a slope would invent values between two samples', async () => {
    await show(chart({ data: dataOf([1, 5, 2, 8]) }));
    const corners = strokes.filter(([method]) => method === 'path.lineTo').map(([, x, y]) => [Number(x), Number(y)]);
    const slopes = corners.filter(([x, y], index) => {
      const [fromX, fromY] = corners[index - 1] ?? [x, y];
      return x !== fromX && y !== fromY;
    });
    expect(corners.length).to.be.above(6);
    // the corner between the lines of two series is none
    expect(slopes.length).to.be.at.most(1);
  });

  it('gives what it has back to the page at its end', async () => {
    await show(chart());
    await leave();
    expect(all('.uplot')).to.deep.equal([]);
  });
});

describe('picture of charts', () => {
  afterEach(leave);

  it('has all charts below each other, each with its legend', async () => {
    const root = await show(
      <>
        {chart()}
        {chart({ data: dataOf([4]) })}
      </>,
    );
    HTMLCanvasElement.prototype.toBlob = (take) => take(new Blob(['png'], { type: 'image/png' }));
    strokes.splice(0);
    const picture = await pngOf(root);
    expect(picture?.type).to.equal('image/png');
    const texts = strokes.filter(([method]) => method === 'fillText').map(([, text]) => text);
    expect(texts).to.deep.equal(['P, kW', 'SoC, %', 'P, kW', 'SoC, %']);
    const tops = strokes.filter(([method]) => method === 'drawImage').map(([, , , top]) => Number(top));
    expect(tops).to.have.lengthOf(2);
    const [first = 0, second = 0] = tops;
    expect(second - first).to.be.above(200);
  });

  it('is offered as a file, whose memory is given back later', async () => {
    const clicked: string[] = [];
    const revoked: string[] = [];
    URL.createObjectURL = () => 'blob:1';
    URL.revokeObjectURL = (address) => revoked.push(address);
    HTMLAnchorElement.prototype.click = function (this: HTMLAnchorElement) {
      clicked.push(`${this.download} ${this.href}`);
    };
    download(new Blob(['a']), 'power.csv');
    await pass(10_000);
    Reflect.deleteProperty(HTMLAnchorElement.prototype, 'click');
    Reflect.deleteProperty(URL, 'createObjectURL');
    Reflect.deleteProperty(URL, 'revokeObjectURL');
    expect(clicked).to.deep.equal(['power.csv blob:1']);
    expect(revoked).to.deep.equal(['blob:1']);
  });
});
