import { expect } from 'chai';
import { Notice } from '../../../src/ui/kit/notice';
import { rangeOf } from '../../../src/ui/kit/uplot-chart';
import Charts from '../../../src/ui/views/charts/charts';
import { energyOf } from '../../../src/ui/views/charts/energy';
import { groupCharts, pastOf } from '../../../src/ui/views/charts/group-charts';
import { marksOf } from '../../../src/ui/views/charts/marks';
import { drawn, powerLinesOfOne, quantities } from '../../../src/ui/views/charts/panels';
import type { TimelineEntry } from '../../../src/ui/store/timeline';
import type { Samples } from '../../../src/ui/views/charts/samples';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Asked } from '../support/daemon.ts';
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

describe('lines of one device', () => {
  it('have its limit and what it could give dashed beside the power', () => {
    const samples: Samples = {
      times: [0, 1],
      metrics: powerLinesOfOne.map(({ metric }) => metric),
      column: (metric) => (metric === 'possible_kw' ? [9, null] : [4, 4]),
      leftOut: 0,
      keptSince: null,
      capacity: 100,
    };
    const { series, data } = drawn([{ device: 0, name: 'Roof', place: 0 }], new Map([[0, samples]]), powerLinesOfOne);
    expect(series.map(({ label, dash }) => [label, dash !== undefined])).to.deep.equal([
      ['P', false],
      ['limit', true],
      ['possible', true],
    ]);
    expect(data.columns.slice(1)).to.deep.equal([
      [4, 4],
      [4, 4],
      [9, null],
    ]);
  });
});

const columnsOf = (times: readonly string[]) => {
  const column = (...values: readonly (number | null)[]) => values.slice(0, times.length);
  return {
    timestamp: times.map((time) => `2026-06-21T${time}Z`),
    wall_time: [],
    tick: [],
    net_power_kw: column(7, 4, -3),
    generation_kw: column(7, 4, 0),
    consumption_kw: column(0, 0, 3),
    export_limit_kw: column(8, 4, 4),
    import_limit_kw: column(null, null, 3),
    generation_limit_kw: column(9, null, null),
    load_limit_kw: column(null, null, 5),
  };
};
const groupHistory = { devices: [0, 5], interval_s: 2, capacity: 100, metrics: [], count: 3, truncated: false };

describe('charts of a group', () => {
  const linesOf = (times: readonly string[]) =>
    groupCharts(pastOf(columnsOf(times))).map(({ series, data }) =>
      Object.fromEntries(series.map(({ label }, at) => [label, data.columns[at + 1]])),
    );

  it('have its power between the limits that it had, both directions apart', () => {
    expect(linesOf(['12:00:00', '12:00:02', '12:00:04'])).to.deep.equal([
      { 'to the grid': [7, 4, -3], 'export limit': [8, 4, 4], 'import limit': [null, null, -3] },
      {
        generation: [7, 4, 0],
        consumption: [0, 0, -3],
        'generation limit': [9, null, null],
        'load limit': [null, null, -5],
      },
    ]);
  });

  it('begin where the clock was last set back', () => {
    const [net, devices] = linesOf(['12:00:00', '09:00:00', '09:00:02']);
    expect(net?.['to the grid']).to.deep.equal([4, -3]);
    expect(devices).to.not.have.property('generation limit');
  });
});

describe('bars of energy', () => {
  const startS = Date.UTC(2026, 5, 21, 12) / 1000;

  it('are of hours, each with both directions apart, a power holding until the next sample', () => {
    const minutes = [30, 60, 90, 120];
    const bars = energyOf(
      minutes.map((minute) => startS + minute * 60),
      [10, -4, 6, 100],
    );
    expect(bars).to.deep.equal({
      isByDay: false,
      starts: [startS, startS + 3600, startS + 7200],
      end: startS + 10_800,
      delivered: [5, 3, 0],
      absorbed: [0, -2, 0],
    });
  });

  it('share a sample between the hours that it reaches over', () => {
    const bars = energyOf([startS + 1800, startS + 5400], [10, null]);
    expect(bars.delivered).to.deep.equal([5, 5]);
  });

  it('leave out a gap, and are of days over more than two days', () => {
    const hours = [0, 1, 2, 30, 31, 60];
    const bars = energyOf(
      hours.map((hour) => startS + hour * 3600),
      hours.map(() => 1),
    );
    expect(bars.isByDay).to.equal(true);
    expect(bars.delivered).to.deep.equal([2, 1, 0, 0]);
  });

  it('begin at midnight of the zone of the clock, also where summer time ends', () => {
    const hour = (day: number, at: number) => Date.UTC(2026, 9, day, at) / 1000;
    // in Berlin the day of 25 October has 25 hours
    const hours = Array.from({ length: 60 }, (_none, at) => hour(24, 21 + at));
    const { starts, delivered, end } = energyOf(
      hours,
      hours.map(() => 1),
      'Europe/Berlin',
    );
    expect(starts).to.deep.equal([hour(23, 22), hour(24, 22), hour(25, 23), hour(26, 23)]);
    expect([delivered, end]).to.deep.equal([[1, 25, 24, 9], hour(27, 23)]);
    const [half] = energyOf([hour(24, 21), hour(24, 22)], [1, 1], 'Asia/Kolkata').starts;
    expect(half).to.equal(hour(24, 20) + 1800);
  });
});

describe('marks of the charts', () => {
  const [grid, trip] = new Daemon().exampleOf('GET', 'timeline').entries as readonly TimelineEntry[];
  if (grid === undefined || trip === undefined) throw new Error('the example has too few entries');
  const at = (second: number, id: number, devices: readonly number[]): TimelineEntry => ({
    ...trip,
    id,
    devices: [...devices],
    device_index: devices.length === 1 ? (devices[0] ?? null) : null,
    sim_time: `2026-06-21T12:00:0${second}.000Z`,
  });
  const sinceS = Date.UTC(2026, 5, 21, 12, 0, 2) / 1000;
  const [roof, barn] = [
    { device_index: 0, name: 'Roof' },
    { device_index: 1, name: 'Barn' },
  ];

  it('are the entries of the devices in view and of the whole site, from the start of the charts on', () => {
    const entries = [at(1, 1, [0]), at(3, 2, [0]), at(4, 3, [1]), at(5, 4, []), at(6, 5, [1, 0])];
    const lettersAndIds = (...shown: readonly (typeof roof)[]) =>
      marksOf(entries, shown, sinceS).map(({ letter, id }) => `${letter}${id}`);
    expect(lettersAndIds(roof)).to.deep.equal(['A2', 'B4', 'C5']);
    expect(lettersAndIds(roof, barn)).to.deep.equal(['A2', 'B3', 'C4', 'D5']);
  });

  it('name their device among several', () => {
    const titles = (...shown: readonly (typeof roof)[]) => marksOf([at(3, 2, [0])], shown, sinceS)[0]?.title;
    expect(titles(roof)).to.equal(`12:00:03 ${trip.title}`);
    expect(titles(roof, barn)).to.equal(`12:00:03 Roof: ${trip.title}`);
  });

  it('are in the order of simulated time, the newest 26', () => {
    const entries = [at(5, 1, [0]), ...Array.from({ length: 29 }, (_none, index) => at(4, 2 + index, [0]))];
    const marks = marksOf(entries, [roof], sinceS);
    expect(marks.map(({ letter }) => letter).join('')).to.equal('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    expect(marks.at(-1)?.id).to.equal(1);
  });
});

describe('charts', () => {
  before(startPage);
  let daemon: Daemon;
  beforeEach(async () => {
    localStorage.clear();
    daemon = new Daemon();
    answerForSite(daemon);
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

  /** Titles of the panels that stand, with the height of a chart, before the answer; then those behind it. */
  const whileRead = async (hash: string, operation: string, answerOf: (asked: Asked) => unknown) => {
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    daemon.on(operation, async (call) => {
      await asked;
      return answerOf(call);
    });
    await draw(hash);
    const heights = all('.chart.room > .block').map(({ style }) => style.height);
    const legends = all('.chart.room').map(({ textContent }) => textContent);
    const before = titles();
    answer?.();
    await settle();
    await pass(100);
    expect(all('[aria-busy]')).to.deep.equal([]);
    return { before, heights, legends, after: titles() };
  };

  it('have room for each chart and its legend while the samples of devices are read', async () => {
    const history = daemon.answerOf('GET history');
    const { devices, ...more } = daemon.exampleOf('GET', 'overview');
    const battery = { ...devices[0], device_index: 1, asset_type: 'battery', state_of_charge_pct: 60 };
    daemon.on('GET overview', () => ({ ...more, devices: [battery] }));
    const { before, heights, legends, after } = await whileRead(
      '#/charts?device=1&panels=p,soc,energy',
      'GET history',
      history,
    );
    expect(before).to.deep.equal(['Active power', 'State of charge', 'Energy']);
    expect(heights).to.deep.equal(['170px', '170px', '150px']);
    expect(legends[0]).to.contain('limit100.00 kW');
    expect(after).to.deep.equal(['Active power', 'Energy per hour']);
  });

  it('have room for the charts of the site and of a group while their samples are read', async () => {
    const site = await whileRead('#/charts?of=site', 'GET site/history', () => daemon.exampleOf('GET', 'site/history'));
    expect(site.before).to.deep.equal(['Net power', 'Power by kind', 'Voltage', 'Energy']);
    expect(site.heights).to.deep.equal(['190px', '190px', '190px', '150px']);
    expect(site.after.slice(0, 3)).to.deep.equal(site.before.slice(0, 3));
    await leave();
    const group = await whileRead('#/charts?of=group&panels=p', 'GET site/scopes/history', () => ({
      ...groupHistory,
      columns: columnsOf(['12:00:00', '12:00:02']),
    }));
    expect(group.before).to.deep.equal(group.after);
    expect(group.heights).to.deep.equal(['190px', '190px']);
  });

  it('say that no samples could be read, in the words of the daemon', async () => {
    daemon.on('GET history', () => refusal(503, 'the history is being restored'));
    await draw('#/charts?device=0&panels=p,plane');
    expect(textOf('.empty')).to.equal('No samples could be read.');
    expect(textOf('.problem')).to.contain('the history is being restored');
    expect(all('[aria-busy]')).to.deep.equal([]);
  });

  it('draw limits only for one device alone', async () => {
    const legend = () => all('.chart .u-label').map((each) => each.textContent);
    await draw('#/charts?device=0&panels=p');
    expect(legend()).to.deep.equal(['Time', 'P', 'limit', 'possible']);
    await draw('#/charts?devices=0,1&panels=p');
    expect(legend()).to.deep.equal(['Time', 'P 0 Device pv', 'P 1 Device battery']);
  });

  it('list what happened with the letters on the first chart, until the marks are switched off', async () => {
    daemon.on('GET timeline', () => {
      const reply = daemon.exampleOf('GET', 'timeline');
      const [entry] = reply.entries;
      return { ...reply, entries: [{ ...entry, devices: [], sim_time: '2026-06-21T12:00:01.000Z' }] };
    });
    await draw('#/charts?device=0&panels=p,v,marks');
    expect(all('.chart-flag').map((each) => each.getAttribute('aria-label')?.slice(0, 2))).to.deep.equal(['A:']);
    expect(all('.chart-marks li b').map((each) => each.textContent)).to.deep.equal(['A']);
    await press('Marks');
    expect(all('.chart-flag, .chart-marks')).to.deep.equal([]);
  });

  it('have the net power and each kind of the site, without the choice of devices', async () => {
    await draw('#/charts?of=site&panels=p,v,energy');
    expect(titles()).to.deep.equal(['Net power', 'Power by kind', 'Voltage', 'Energy per hour']);
    const legends = all('.chart').map((chart) =>
      [...chart.querySelectorAll('.u-label')].map(({ textContent }) => textContent),
    );
    expect(legends[0]).to.deep.equal(['Time', 'to the grid', 'export limit', 'possible']);
    expect(legends[1]).to.deep.equal(['Time', 'Solar']);
    await press('Devices');
    expect(titles()).to.include('Active power');
  });

  it('have all values of the site as a table, newest first', async () => {
    const example = daemon.exampleOf('GET', 'site/history');
    const timestamp = ['2026-06-21T12:00:00.000Z', '2026-06-21T12:00:02.000Z'];
    const lines = { net_power_kw: [1.234, null], possible_kw: [5, 6], voltage_pct: [99.5, 100], kinds: [] };
    const limits = { export_limit_kw: [null, null], import_limit_kw: [null, null] };
    daemon.on('GET site/history', () => ({ ...example, timestamp, ...lines, ...limits }));
    await draw('#/charts?of=site&panels=values');
    const cells = (row: Element) => [...row.children].map(({ textContent }) => textContent);
    const table = one('table[aria-label="Values of the site"]');
    expect([...table.querySelectorAll('tbody tr')].map(cells)).to.deep.equal([
      ['2026-06-21 12:00:02.000', '–', '6.00', '100.0'],
      ['2026-06-21 12:00:00.000', '1.23', '5.00', '99.5'],
    ]);
    expect(textOf('thead')).to.contain('to the grid, kW');
  });

  it('have a group that has or had limits, the first or that of the address', async () => {
    const asked = () => daemon.to('GET site/scopes/history').at(-1)?.query ?? {};
    daemon.on('GET site/scopes/history', () => ({ ...groupHistory, columns: columnsOf(['12:00:00', '12:00:02']) }));
    await draw('#/charts?device=0&panels=p,energy');
    await press('Group');
    expect(asked()).to.include({ devices: '0,5', seconds: '900' });
    expect(titles()).to.deep.equal(['Net power', 'Generation and consumption of the devices', 'Energy per hour']);
    await draw('#/charts?of=group&group=1,2&window=1h&panels=p');
    expect(asked()).to.include({ devices: '1,2', seconds: '3600' });
    expect(titles()).to.have.lengthOf(2);
    expect(all('option').map(({ textContent }) => textContent)).to.include.members(['Devices 0, 5', 'Devices 1, 2']);
    daemon.on('GET site/scopes/history', () => ({ ...groupHistory, columns: columnsOf([]) }));
    await draw('#/charts?of=group&group=1,3');
    expect(textOf('.empty')).to.equal('A group is recorded from its first limit on.');
    expect(all('button').map(({ textContent }) => textContent)).to.include('CSV');
  });

  it('say how a group is made while there is none', async () => {
    await leave();
    daemon.on('GET site/scopes', () => ({ ...daemon.exampleOf('GET', 'site/scopes'), recorded_groups: [] }));
    await draw('#/charts?of=group');
    expect(one('.empty a').getAttribute('href')).to.match(/^#\/inputs\/site/);
  });

  it('draw each kind of the site with dashes of its own, also in the key, whatever other kinds there are', async () => {
    const past = daemon.exampleOf('GET', 'site/history');
    const keysOf = async (...kinds: readonly string[]) => {
      daemon.on('GET site/history', () => ({
        ...past,
        kinds: kinds.map((kind) => ({ asset_type: kind, net_power_kw: [1, 2] })),
      }));
      await draw('#/charts?of=site&panels=p');
      const chart = all('.chart')[1];
      const keys = [...(chart?.querySelectorAll<HTMLElement>('.u-marker') ?? [])];
      // the first is that of the time
      return keys.slice(1).map(({ style }) => style.background);
    };
    const both = await keysOf('pv', 'battery', 'evse');
    expect(new Set(both).size).to.equal(3);
    await leave();
    expect(await keysOf('evse')).to.deep.equal([both[2]]);
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
