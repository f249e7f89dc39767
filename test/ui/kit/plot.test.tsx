import { expect } from 'chai';
import { render } from 'preact';
import { Plot } from '../../../src/ui/kit/plot';
import type { Axis, Handle, Mark, Point } from '../../../src/ui/kit/plot';
import { all, leave, one, show } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const volts: Axis = { label: 'Voltage', unit: '%', min: 90, max: 110 };
const vars: Axis = { label: 'Reactive power', unit: '%', min: -60, max: 60 };
const seconds: Axis = { label: 'Time', unit: 's', min: 0.01, max: 1000, log: true };

/** The area between the axes of a plot of 560 by 320. */
const area = { left: 56, right: 546, top: 10, bottom: 280 };
const middle = { x: (area.left + area.right) / 2, y: (area.top + area.bottom) / 2 };

interface Options {
  readonly x?: Axis;
  readonly y?: Axis;
  readonly marks?: readonly Mark[];
  readonly handles?: readonly Handle[];
  readonly step?: Point;
  readonly onMove?: (index: number, to: Point) => void;
}

const plot = ({ x = volts, y = vars, marks = [], ...others }: Options = {}) => (
  <Plot label="Volt-var curve" x={x} y={y} marks={marks} {...others} />
);

const numbersOf = (element: Element, ...names: readonly string[]) =>
  names.map((name) => Number(element.getAttribute(name)));
const labels = () => all('.axes g text').map((each) => each.textContent.replace('−', '-'));

describe('plot', () => {
  afterEach(leave);

  it('has the corners of the axes at the corners of its area', async () => {
    const points: readonly Point[] = [
      [90, -60],
      [110, 60],
      [100, 0],
    ];
    await show(plot({ marks: [{ kind: 'line', points, colour: 'red' }] }));
    expect(one('polyline').getAttribute('points')).to.equal('56.0,280.0 546.0,10.0 301.0,145.0');
  });

  it('has each kind of mark at its place', async () => {
    await show(
      plot({
        marks: [
          { kind: 'dot', at: [100, 0], colour: 'red', title: 'now' },
          { kind: 'rule', x: 90, colour: 'red', title: 'limit' },
          { kind: 'rule', y: 60, colour: 'red' },
          { kind: 'text', at: [110, -60], text: 'end' },
          {
            kind: 'area',
            points: [
              [90, 0],
              [100, 60],
              [110, 0],
            ],
            colour: 'red',
            title: 'region',
          }, // prettier-ignore
          { kind: 'line', points: [[90, 0]], colour: 'red', dashed: true, title: 'stored' }, // prettier-ignore
        ],
      }),
    );
    const rules = all('line[stroke-dasharray="2 3"]').map((each) => numbersOf(each, 'x1', 'x2', 'y1', 'y2'));
    expect(numbersOf(one('circle'), 'cx', 'cy')).to.deep.equal([middle.x, middle.y]);
    expect(rules).to.deep.equal([
      [area.left, area.left, area.top, area.bottom],
      [area.left, area.right, area.top, area.top],
    ]);
    expect(numbersOf(one('text.note'), 'x', 'y')).to.deep.equal([area.right, area.bottom]);
    expect(one('polygon').getAttribute('points')).to.equal('56.0,145.0 301.0,10.0 546.0,145.0');
    expect(one('polyline').getAttribute('stroke-dasharray')).to.equal('5 4');
    expect(all('title').map((each) => each.textContent)).to.have.members(['now', 'limit', 'region', 'stored']);
  });

  it('draws the operating point in front of the handles', async () => {
    const marks: readonly Mark[] = [{ kind: 'dot', at: [100, 0], colour: 'red', title: 'now' }];
    await show(plot({ marks, handles: [{ at: [100, 0], label: 'Point 1' }] }));
    expect(all('circle').map((each) => each.getAttribute('class'))).to.deep.equal(['handle', 'live-point']);
  });

  const ticks: readonly (readonly [min: number, max: number, labels: readonly string[]])[] = [
    [90, 110, ['90', '95', '100', '105', '110']],
    [0, 1, ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']],
    [-60, 60, ['-60', '-40', '-20', '0', '20', '40', '60']],
    [59.5, 60.5, ['59.6', '59.8', '60.0', '60.2', '60.4']],
    [0, 0.05, ['0.00', '0.01', '0.02', '0.03', '0.04', '0.05']],
    [0, 12_345, ['0', '5000', '10000']],
  ];
  for (const [min, max, expected] of ticks)
    it(`has round numbers from ${min} to ${max}`, async () => {
      await show(plot({ x: { ...volts, min, max }, y: { ...vars, min: 0, max: 1, unit: '' } }));
      expect(labels().slice(0, -6)).to.deep.equal(expected);
    });

  it('has the decades of a logarithmic axis, each at the same distance', async () => {
    await show(plot({ y: seconds }));
    expect(labels().slice(5)).to.deep.equal(['0.01', '0.1', '1', '10', '100', '1000']);
    const heights = all('.axes g line')
      .slice(5)
      .map((each) => Number(each.getAttribute('y1')));
    expect(heights.map(Math.round)).to.deep.equal([280, 226, 172, 118, 64, 10]);
  });

  it('keeps what is below a logarithmic axis at its foot', async () => {
    await show(plot({ y: seconds, marks: [{ kind: 'dot', at: [100, 0], colour: 'red', title: 'at once' }] }));
    expect(numbersOf(one('circle'), 'cy')).to.deep.equal([area.bottom]);
  });

  it('stays finite on an axis without a length', async () => {
    const root = await show(
      plot({
        x: { ...volts, min: 100, max: 100 },
        y: { ...vars, min: 0, max: 0 },
        marks: [{ kind: 'dot', at: [100, 0], colour: 'red', title: 'now' }],
      }),
    );
    expect(root.innerHTML).not.to.match(/NaN|Infinity/);
  });

  it('names axes with their units', async () => {
    await show(plot({ y: { ...vars, label: 'Power factor', unit: '' } }));
    expect(all('.axes > text').map((each) => each.textContent)).to.deep.equal(['Voltage, %', 'Power factor']);
  });
});

describe('points of a plot that can be moved', () => {
  let moves: (readonly [index: number, x: number, y: number])[] = [];
  const onMove = (index: number, [x, y]: Point) => moves.push([index, x, y]);
  const handles: readonly Handle[] = [
    { at: [95, 30], label: 'Point 1' },
    { at: [105, -30], label: 'Point 2', issue: 'is below the previous point' },
  ];

  const handle = (index: number) => {
    const match = all('.handle')[index];
    if (match === undefined) throw new Error(`the plot has no handle ${index}`);
    return match;
  };
  const key = (index: number, name: string, shiftKey = false) =>
    handle(index).dispatchEvent(new KeyboardEvent('keydown', { key: name, shiftKey, bubbles: true, cancelable: true }));
  const pointer = (target: Element, kind: string, clientX = 0, clientY = 0) =>
    target.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX, clientY, bubbles: true }));
  const expectMove = (index: number, x: number, y: number) => {
    const [lastIndex = -1, lastX = Number.NaN, lastY = Number.NaN] = moves.at(-1) ?? [];
    expect(lastIndex).to.equal(index);
    expect(lastX).to.be.closeTo(x, 1e-9);
    expect(lastY).to.be.closeTo(y, 1e-9);
  };
  /** The plot is twice as large on the screen as in its own units, and begins at 10, 20. */
  const place = () => {
    one('svg').getBoundingClientRect = () => new DOMRect(10, 20, 1120, 640);
  };
  const screen = (x: number, y: number) => [10 + 2 * x, 20 + 2 * y] as const;

  beforeEach(() => (moves = []));
  afterEach(leave);

  it('move by a step of an arrow key, with Shift by ten', async () => {
    await show(plot({ handles, onMove, step: [0.1, 1] }));
    key(0, 'ArrowRight');
    expectMove(0, 95.1, 30);
    key(0, 'ArrowLeft');
    expectMove(0, 94.9, 30);
    key(1, 'ArrowUp', true);
    expectMove(1, 105, -20);
    key(1, 'ArrowDown');
    expectMove(1, 105, -31);
    key(1, 'Enter');
    expect(moves).to.have.lengthOf(4);
  });

  it('have steps by the decade on a logarithmic axis', async () => {
    const at = (time: number): readonly Handle[] => [{ at: [100, time], label: 'Point' }];
    const root = await show(plot({ y: seconds, handles: at(0.5), onMove, step: [0.1, 0.01] }));
    key(0, 'ArrowUp');
    expectMove(0, 100, 0.51);
    for (const [time, up, down] of [
      [1, 1.1, 0.99],
      [5, 5.1, 4.9],
      [10, 11, 9.9],
      [300, 301, 299],
    ] as const) {
      render(plot({ y: seconds, handles: at(time), onMove, step: [0.1, 0.01] }), root);
      key(0, 'ArrowUp');
      expectMove(0, 100, up);
      key(0, 'ArrowDown');
      expectMove(0, 100, down);
    }
  });

  it('follow the pointer, and snap to steps', async () => {
    await show(plot({ handles, onMove, step: [0.5, 5] }));
    place();
    pointer(handle(1), 'pointerdown');
    // a pixel beside the middle of the axes
    pointer(one('svg'), 'pointermove', ...screen(middle.x + 1, middle.y - 1));
    expectMove(1, 100, 0);
    pointer(one('svg'), 'pointermove', ...screen(area.right, area.top));
    expectMove(1, 110, 60);
  });

  it('follow it only while they are held', async () => {
    await show(plot({ handles, onMove }));
    place();
    pointer(one('svg'), 'pointermove', 300, 100);
    expect(moves).to.deep.equal([]);
    for (const ending of ['pointerup', 'pointercancel', 'lostpointercapture']) {
      pointer(handle(0), 'pointerdown');
      pointer(one('svg'), ending);
      await settle();
      pointer(one('svg'), 'pointermove', 300, 100);
      expect(moves, ending).to.deep.equal([]);
    }
  });

  it('keep the axes still until they are let go', async () => {
    const root = await show(plot({ handles, onMove }));
    place();
    pointer(handle(0), 'pointerdown');
    render(plot({ x: { ...volts, max: 190 }, handles, onMove }), root);
    expect(labels()).to.include('110').and.not.to.include('180');
    pointer(one('svg'), 'pointermove', ...screen(area.right, middle.y));
    expectMove(0, 110, 0);
    pointer(one('svg'), 'pointerup');
    await settle();
    expect(labels()).to.include('180');
  });

  it('are named, and say what is wrong with them', async () => {
    await show(plot({ handles, onMove }));
    expect(all('.handle').map((each) => each.getAttribute('class'))).to.deep.equal(['handle', 'handle wrong']);
    expect(all('.handle title').map((each) => each.textContent)).to.deep.equal([
      'Point 1',
      'is below the previous point',
    ]);
    expect(one('svg').getAttribute('role')).to.equal('group');
  });
});
