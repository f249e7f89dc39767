import { expect } from 'chai';
import { flagsOf, flagText, pointedMark } from '../../../src/ui/kit/chart-marks';
import type { ChartMark } from '../../../src/ui/kit/chart-marks';
import { Chart } from '../../../src/ui/kit/uplot-chart';
import { strokes } from '../support/canvas.ts';
import { all, leave, one, show } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const markAt = (atS: number, place: number): ChartMark => ({
  id: 40 + place,
  atS,
  letter: String.fromCodePoint(65 + place),
  title: `12:00:0${atS} step ${place}`,
  to: `#/devices/${place}/picture`,
});

describe('flags of marks on a chart', () => {
  const view = { fromS: 0, toS: 100, leftPx: 50, widthPx: 200, topPx: 24, heightPx: 100 };

  it('are shared by marks too close for two, and left out beside the axis', () => {
    const marks = [-1, 0, 17, 18, 60, 101].map(markAt);
    expect(flagsOf(marks, view).map(flagText)).to.deep.equal(['B–C', 'D', 'E']);
  });
});

describe('marks on a chart', () => {
  afterEach(leave);

  const start = Date.UTC(2026, 5, 21, 12) / 1000;
  const chart = (hasFlags: boolean) => (
    <Chart
      label="Power"
      series={[{ label: 'P', unit: 'kW', decimals: 2, colour: '--p' }]}
      data={{ columns: [[0, 1, 2, 3].map((second) => start + second), [1, 2, 3, 4]] }}
      timezone="UTC"
      marks={[markAt(start + 1, 0), markAt(start + 3, 1)]}
      hasFlags={hasFlags}
    />
  );

  it('are links to their causes, with time and sentence for readers', async () => {
    await show(chart(true));
    expect(
      all('.chart-flag').map((flag) => [flag.getAttribute('href'), flag.getAttribute('aria-label')]),
    ).to.deep.equal(
      [0, 1].map((place) => [
        `#/devices/${place}/picture`,
        `${'AB'[place]}: ${markAt(start + 1 + 2 * place, place).title}`,
      ]),
    );
  });

  it('have a line through each chart, also without flags, and one in front while they are pointed at', async () => {
    strokes.splice(0);
    await show(chart(false));
    expect(all('.chart-flag')).to.deep.equal([]);
    const dotted = strokes.filter(([method, dash]) => method === 'setLineDash' && String(dash) === '2,3');
    expect(dotted).to.not.have.lengthOf(0);
    expect(all('.chart-pointed')).to.deep.equal([]);
    pointedMark.value = 41;
    await settle();
    expect(one('.chart-pointed').style.left).to.match(/px$/);
    pointedMark.value = null;
  });
});
