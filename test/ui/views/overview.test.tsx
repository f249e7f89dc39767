import { expect } from 'chai';
import type { DeviceEntry } from '../../../src/ui/store/site';
import Overview from '../../../src/ui/views/overview/overview';
import { feedersOf, speedOf } from '../../../src/ui/views/overview/feeders';
import { reasonIn, readAnswers, rowsOf } from '../../../src/ui/views/overview/control';
import type { Why } from '../../../src/ui/views/overview/control';
import { axisOf, flagPlaces, labelPlaces, pathOf, timeTicks } from '../../../src/ui/views/overview/strip';
import { conditionOf } from '../../../src/ui/views/devices/condition';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';

import { address, all, leave, press, show, textOf } from '../support/page.tsx';
import { answerForSite, kinds } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

describe('overview', () => {
  let daemon: Daemon;

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    const site = daemon.exampleOf('GET', 'site');
    const byKind = { pv: { delivered_kw: 412.6, absorbed_kw: 0 }, battery: { delivered_kw: 0, absorbed_kw: 103 } };
    daemon.on('GET site', () => ({ ...site, net_power_kw: 301.3, load_kw: 8.3, by_kind: byKind }));
    await accept();
    await address('#/overview');
  });

  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  it('shows the figures of one answer: net power, bars with one scale, and a feeder for each kind', async () => {
    await show(<Overview />);
    expect(textOf('.net')).to.contain('To the grid ▲301.30 kW');
    expect(all('.bar').map((bar) => bar.getAttribute('aria-label'))).to.deep.equal([
      'In: Solar 412.60\u00a0kW',
      'Out: Grid 301.30\u00a0kW, Storage 103.00\u00a0kW, Load 8.30\u00a0kW',
    ]);
    expect(all('.in-out strong').map(({ textContent }) => textContent)).to.deep.equal([
      '412.60\u00a0kW',
      '412.60\u00a0kW',
    ]);
    expect(all('.feeder h3').map(({ textContent }) => textContent)).to.deep.equal([
      'Solar1',
      'Wind1',
      'Storage1',
      'Hybrid, cell2',
      'Chargers1',
      'Load',
    ]);
    expect(textOf('[data-test="feeder-Storage"] .value')).to.equal('103.00 kW');
    expect(textOf('[data-test="feeder-Storage"] .note')).to.contain('▼ charging');
    expect(all('h1')).to.have.lengthOf(1);
  });

  it('has the energies of today also where a limit is set, and the voltage in percent of what it shows', async () => {
    await show(<Overview />);
    expect(all('.net .note').map(({ textContent }) => textContent.replaceAll('\u00a0', ' '))).to.deep.equal([
      'To the grid ▲',
      'Today 24.90 kWh out, 2.20 kWh in',
      'Export limit 5.00 kW (rest), reached',
    ]);
    const overview = daemon.answerOf('GET overview')({ query: {} } as never) as { metrics: object };
    daemon.on('GET overview', () => ({ ...overview, metrics: { ...overview.metrics, voltage_ll_v: 456 } }));
    await pass(6000);
    expect(textOf('.grid-node')).to.contain('456.0 V 95.0 %');
  });

  it('has the time left of a battery that is forced', async () => {
    const overview = daemon.answerOf('GET overview')({ query: {} } as never) as { devices: readonly DeviceEntry[] };
    const forced = { kind_state: 'charging, forced', state_of_charge_pct: 60.1 };
    const devices = overview.devices.map((each) => (each.asset_type === 'battery' ? { ...each, ...forced } : each));
    daemon.on('GET overview', () => ({ ...overview, devices }));
    daemon.on('GET controls/battery', () => ({ ...daemon.exampleOf('GET', 'controls/battery'), remaining_s: 1620 }));
    await show(<Overview />);
    await pass(6000);
    expect(textOf('[data-test="feeder-Storage"] li')).to.contain('charging, forced, 60.1 %, 27 min left');
  });

  it('lists the devices at a gateway, which has no site, and does not ask again for what it refuses', async () => {
    daemon.on('GET site', () => refusal(501, 'Ask a shard.', [], 'fleet-unsupported'));
    await show(<Overview />);
    expect(textOf('.overview > p')).to.equal('Devices of a fleet. Ask a shard.');
    expect(all('[role=gridcell]')).to.have.lengthOf(kinds.length);
    await pass(20_000);
    expect(daemon.to('GET site')).to.have.lengthOf(1);
  });

  it('has three things to look at where the window is low, the others on demand', async () => {
    const { items, ...attention } = daemon.exampleOf('GET', 'attention');
    const five = [1, 2, 3, 4, 5].map((n) => ({ ...items[0], id: `trip/${n}`, title: `Trip ${n}` }));
    daemon.on('GET attention', () => ({ ...attention, items: five, count: 5 }));
    const { innerHeight: heightPx } = globalThis;
    Object.assign(globalThis, { innerHeight: 800 });
    await show(<Overview />);
    const titles = () => all('[aria-label="Needs attention"] .what').map(({ textContent }) => textContent);
    expect(titles()).to.deep.equal(['Trip 1', 'Trip 2', 'Trip 3']);
    await press('2 more');
    Object.assign(globalThis, { innerHeight: heightPx });
    expect(titles()).to.have.lengthOf(5);
  });

  it('says where power comes from the grid, and when nothing flows', async () => {
    const site = daemon.exampleOf('GET', 'site');
    daemon.on('GET site', () => ({ ...site, net_power_kw: -5, load_kw: 5, by_kind: {} }));
    await show(<Overview />);
    expect(textOf('.net')).to.contain('From the grid ▼5.00 kW');
    daemon.on('GET site', () => ({ ...site, net_power_kw: 0, load_kw: 0, by_kind: {} }));
    await pass(6000);
    expect(textOf('.net')).to.contain('No power at the grid');
  });

  it('has the picture of the only device with its controls in place of the feeders', async () => {
    const overview = daemon.exampleOf('GET', 'overview');
    daemon.on('GET overview', () => ({ ...overview, devices: overview.devices.slice(0, 1) }));
    await show(<Overview />);
    expect(all('.feeder')).to.deep.equal([]);
    expect(textOf('[aria-label=Controls], .panel')).not.to.equal('');
    expect(all('.node').length).to.be.greaterThan(1);
  });

  it('has a map in place of the feeders above 30 devices', async () => {
    const overview = daemon.exampleOf('GET', 'overview');
    const devices = Array.from({ length: 31 }, (_none, index) => ({ ...overview.devices[0], device_index: index }));
    daemon.on('GET overview', () => ({ ...overview, devices }));
    await show(<Overview />);
    expect(all('[role=gridcell]')).to.have.lengthOf(31);
    expect(all('.feeder')).to.deep.equal([]);
    // the next test has a small site again
    daemon.on('GET overview', () => overview);
    await pass(20_000);
    await accept();
  });
});

describe('last hour of the site', () => {
  let daemon: Daemon;
  const sizeOf = globalThis.ResizeObserver;
  let widthPx = 900;

  before(startPage);

  beforeEach(async () => {
    daemon = new Daemon();
    answerForSite(daemon);
    // the window of tests lays nothing out
    globalThis.ResizeObserver = class {
      readonly #call: ResizeObserverCallback;
      constructor(call: ResizeObserverCallback) {
        this.#call = call;
      }
      observe() {
        const contentRect = { width: widthPx, height: 190 };
        this.#call([{ contentRect } as ResizeObserverEntry], this as unknown as ResizeObserver);
      }
      disconnect() {
        return undefined;
      }
    } as unknown as typeof ResizeObserver;
    await accept();
    await address('#/overview');
  });

  afterEach(async () => {
    await leave();
    globalThis.ResizeObserver = sizeOf;
    await pass(3000);
  });

  /** Draws samples of the last minutes. */
  const drawPast = async (columns: Readonly<Record<string, readonly (number | null)[]>>) => {
    const past = daemon.exampleOf('GET', 'site/history');
    const timestamp = [0, 1, 2, 3].map((minute) => `2026-06-21T12:0${minute}:00.000Z`);
    const none = timestamp.map(() => null);
    daemon.on('GET site/history', () => ({
      ...past,
      sim_time: timestamp[3],
      timestamp,
      possible_kw: [9, 9, 9, 9],
      voltage_pct: [100, 100, 100, 100],
      export_limit_kw: none,
      import_limit_kw: none,
      ...columns,
    }));
    await show(<Overview />);
    await pass(100);
  };
  const lines = () => all('.site-chart path.line').map((each) => each.getAttribute('class'));
  const labels = () => all('.site-chart .label').map(({ textContent }) => textContent);
  /** Heights of a line in kW, by the labels of the axis. */
  const heightsOf = (look: string) => {
    const ticks = all('.site-chart text[text-anchor=end]').map((each) => [
      Number(each.textContent.replace('−', '-')),
      Number(each.getAttribute('y')) - 4,
    ]);
    const [[low = 0, lowY = 0] = [], [high = 0, highY = 0] = []] = [ticks[0], ticks.at(-1)];
    const path = all(`.site-chart path.${look}`)[0]?.getAttribute('d') ?? '';
    const places = [...path.matchAll(/(?:M[\d.]+ |V)([\d.]+)/g)].map(([, y]) => Number(y));
    return places.map((y) => Math.round(low + ((y - lowY) / (highY - lowY)) * (high - low)));
  };

  it('has the limits in front of the power that they hold, the import below zero', async () => {
    await drawPast({
      net_power_kw: [8, 6, 6, -4],
      export_limit_kw: [null, 6, 6, null],
      import_limit_kw: [null, null, 4, 4],
    });
    expect(lines()).to.deep.equal(['line possible', 'line power', 'line limit export', 'line limit import']);
    expect(heightsOf('power')).to.deep.equal([8, 6, 6, -4]);
    expect(heightsOf('export')).to.deep.equal([6, 6]);
    expect(heightsOf('import')).to.deep.equal([-4, -4]);
    // the limit of export has ended
    expect(labels()).to.deep.equal(['could give', 'to the grid', 'import limit']);
    expect(all('.line-keys')).to.deep.equal([]);
  });

  it('names its lines below where it is too narrow for names beside them', async () => {
    widthPx = 330;
    await drawPast({ net_power_kw: [8, 6, 6, -4], export_limit_kw: [null, 6, 6, 6] });
    widthPx = 900;
    expect(labels()).to.deep.equal([]);
    const keys = all('.line-keys > span').map((each) => [
      each.textContent.trim(),
      each.querySelector('line')?.getAttribute('class'),
    ]);
    expect(keys).to.deep.equal([
      ['could give', 'line possible'],
      ['to the grid', 'line power'],
      ['export limit', 'line limit export'],
    ]);
  });

  it('has no line of a limit that was not in force, and scales all lines to MW alike', async () => {
    await drawPast({ net_power_kw: [20_000, 20_000, 8000, 8000], export_limit_kw: [null, null, 8000, 8000] });
    expect(lines()).to.deep.equal(['line possible', 'line power', 'line limit export']);
    expect(heightsOf('power')).to.deep.equal([20, 20, 8, 8]);
    expect(heightsOf('export')).to.deep.equal([8, 8]);
    expect(labels()).to.deep.equal(['could give', 'to the grid', 'export limit']);
  });
});

describe('feeders', () => {
  const daemon = new Daemon();
  const example = daemon.exampleOf('GET', 'overview').devices[0] as DeviceEntry;
  const site = { ...daemon.exampleOf('GET', 'site'), load_kw: 3, by_kind: {} };
  const titles = (present: readonly string[]) =>
    feedersOf(
      present.map((kind) => ({ ...example, asset_type: kind }) as DeviceEntry),
      site,
      undefined,
    ).map(({ title }) => title);

  it('share one for hybrids and fuel cells only where there would be more than six', () => {
    expect(titles(kinds)).to.deep.equal(['Solar', 'Wind', 'Storage', 'Hybrid, cell', 'Chargers', 'Load']);
    expect(titles(['evse', 'fuelcell', 'hybrid-dc', 'pv'])).to.deep.equal([
      'Solar',
      'Hybrid',
      'Fuel cell',
      'Chargers',
      'Load',
    ]);
  });

  it('have marks in three speeds, and none around zero', () => {
    expect([0.5, -0.5, 0.51, 9.9, -10, 49, -50, 100].map((kw) => speedOf(kw, 100))).to.deep.equal([
      null,
      null,
      'slow',
      'slow',
      'medium',
      'medium',
      'fast',
      'fast',
    ]);
    expect(speedOf(1, 0)).to.equal(null);
  });
});

describe('who controls what', () => {
  const daemon = new Daemon();
  const example = daemon.exampleOf('GET', 'overview').devices[0] as DeviceEntry;
  const conditions = [0, 1, 2].map((index) =>
    conditionOf({ ...example, device_index: index, name: `Roof ${index}`, limited_by: 'max_power' }, undefined),
  );
  const why = (port: number, kw: number): Why =>
    ({
      ...daemon.exampleOf('GET', 'controls/why'),
      basis: { key: 'available', kw: 11, text: 'all that the sun gives' },
      chain: [
        {
          key: 'max_power',
          state: 'wins',
          by: { source: 'modbus', source_detail: `10.0.0.21:${port}`, changed_at: '' },
        },
      ],
      delivered_kw: kw,
      sentence: '6.00 kW of 11.00 kW: limit of active power, written by Modbus 10.0.0.21 at 12:06:19.',
    }) as Why;

  it('has one row for each function, writer and value, whatever the port of the writer', () => {
    const answers = conditions.map((condition, index) => ({
      members: [condition],
      why: why(index, index < 2 ? 6 : 7),
    }));
    expect(rowsOf(answers, conditions).map(({ title, value }) => [title, value])).to.deep.equal([
      ['2 of 3 solar', '6.00 of 11.00\u00a0kW each'],
      ['Roof 2', '7.00 of 11.00\u00a0kW'],
    ]);
  });

  it('has both powers in one unit', () => {
    const large = { ...why(1, 9800), basis: { key: 'available', kw: 12_000, text: '' } } as Why;
    const [row] = rowsOf([{ members: conditions.slice(0, 1), why: large }], conditions);
    expect(row?.value).to.equal('9.80 of 12.00\u00a0MW');
  });

  it('asks about the connector of a station that the limit holds, whichever it is', async () => {
    const asked = new Daemon();
    const station = asked.exampleOf('GET', 'evse/{id}');
    const [connector] = station.connectors;
    const [ev, local] = [connector.ev ?? {}, { limit_source: 'local', limit_kw: 5, wanted_kw: 7.4 }];
    const connectors = [
      { ...connector, connector_id: 1, ev: null, limit_source: 'local', limit_kw: 0, wanted_kw: 0 },
      { ...connector, connector_id: 2, ev, ...local, wanted_kw: 4 },
      { ...connector, connector_id: 3, ev, ...local },
    ];
    asked.on('GET evse/CP-5', () => ({ ...station, connectors }));
    const held = { ...example, asset_type: 'evse', limited_by: 'local', charge_point_id: 'CP-5' } as DeviceEntry;
    const answers = await readAnswers([[conditionOf(held, undefined)]]);
    expect(asked.to('GET controls/why').map(({ query }) => query['connector'])).to.deep.equal(['3']);
    expect(rowsOf(answers, []).map((row) => row.connector)).to.deep.equal([3]);
  });

  it('takes the reason from the sentence of the daemon', () => {
    expect(reasonIn(why(1, 6).sentence)).to.equal('Limit of active power, written by Modbus 10.0.0.21 at 12:06:19.');
    expect(reasonIn('Rests.')).to.equal('Rests.');
  });
});

describe('strip chart', () => {
  it('has axes of whole steps around its values', () => {
    expect(axisOf([0, 472], 3)).to.deep.equal({ min: 0, max: 600, ticks: [0, 200, 400, 600], decimals: 0 });
    expect(axisOf([0, 0], 3)).to.include({ min: 0, max: 0.05, decimals: 2 });
  });

  it('draws steps, and a gap where samples are missing', () => {
    const same = (value: number) => value;
    expect(
      pathOf(
        [
          [0, 1],
          [5, 2],
          [10, 3],
          [100, 4],
        ],
        same,
        same,
      ),
    ).to.equal('M0.0 1.0H5.0V2.0H10.0V3.0M100.0 4.0');
  });

  it('moves flags that are close to the left', () => {
    expect(flagPlaces([10, 95, 100])).to.deep.equal([10, 82, 100]);
  });

  it('parts labels of lines that end close to each other, in the order of the lines', () => {
    expect(labelPlaces([100, 40])).to.deep.equal([100, 40]);
    expect(labelPlaces([50, 50])).to.deep.equal([43.5, 56.5]);
    expect(labelPlaces([55, 49, 20, 49])).to.deep.equal([64, 38, 20, 51]);
  });

  it('labels whole minutes at least 80 px apart', () => {
    const ticks = timeTicks(60_000, 3_660_000, 800);
    expect(ticks).to.have.lengthOf(6);
    expect(new Set(ticks.map((at) => at % 600_000))).to.deep.equal(new Set([0]));
  });
});
