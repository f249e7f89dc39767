import { expect } from 'chai';
import type { DeviceEntry } from '../../../src/ui/store/site';
import { conditionOf } from '../../../src/ui/views/devices/condition';
import { CanvasCells } from '../../../src/ui/views/devices/map/canvas';
import { DeviceMap } from '../../../src/ui/views/devices/map/device-map';
import { filtered } from '../../../src/ui/views/devices/map/filter';
import { ownerLook, ownersOf } from '../../../src/ui/views/devices/map/groups';
import { afterKey, columnsOf, placeWithin } from '../../../src/ui/views/devices/map/layout';
import type { Place } from '../../../src/ui/views/devices/map/layout';
import { stubCanvas, strokes } from '../support/canvas.ts';
import { Daemon } from '../support/daemon.ts';
import { address, all, leave, one, press, show, textOf } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const example = new Daemon().exampleOf('GET', 'overview').devices[0] as DeviceEntry;
const count = 40;
/** Roofs, then batteries, of 1 kW each. */
const devices: readonly DeviceEntry[] = Array.from({ length: count }, (_none, index) => ({
  ...example,
  device_index: index,
  name: index < 30 ? `Roof ${index}` : `Store ${index}`,
  asset_type: index < 30 ? 'pv' : 'battery',
  power_kw: index < 30 ? 1 : -1,
  kind_state: index === 7 ? 'tripped' : index < 30 ? 'producing' : 'charging',
  limited_by: index >= 20 && index < 24 ? 'volt_watt' : null,
  alarm_count: index === 9 ? 1 : 0,
}));

describe('filter of devices', () => {
  const conditions = devices.map((device) => conditionOf(device, undefined));
  const hits = (filter: string) => filtered(conditions, filter).map(({ device }) => device.device_index);

  const cases: readonly (readonly [filter: string, indexes: readonly number[]])[] = [
    ['20-22', [20, 21, 22]],
    [':tripped', [7]],
    [':limited', [20, 21, 22, 23]],
    [':alarms', [9]],
    ['store 31-50 :charging', [31, 32, 33, 34, 35, 36, 37, 38, 39]],
    ['battery 30-30', [30]],
    ['roof :charging', []],
  ];
  for (const [filter, indexes] of cases)
    it(`"${filter}" picks ${indexes.length}`, () => {
      expect(hits(filter)).to.deep.equal(indexes);
    });

  it('picks all when it is empty', () => {
    expect(hits('')).to.have.lengthOf(count);
  });
});

describe('cells on a canvas', () => {
  /** Draws a cell for each device. */
  const draw = async (colour: 'power' | 'owner', local: readonly number[]) => {
    stubCanvas();
    strokes.length = 0;
    const sources = ['rest', 'modbus', 'csip'] as const;
    const members = devices.slice(0, 3).map((device, at) => {
      const lastWrite = { ...example.last_write, source: sources[at] } as DeviceEntry['last_write'];
      return conditionOf({ ...device, last_write: lastWrite }, undefined);
    });
    const nothing = () => undefined;
    await show(
      <CanvasCells
        {...{ members, colour }}
        owners={ownersOf(members)}
        local={new Set(local)}
        sizePx={18}
        widthPx={400}
        onReach={nothing}
        onPress={nothing}
      />,
    );
    await leave();
    return strokes.flatMap(([method, text]) => (method === 'fillText' ? [text] : method === 'arc' ? ['dot'] : []));
  };

  it('have the letter of their owner, and a dot under local control', async () => {
    expect(await draw('owner', [])).to.deep.equal(['C', 'B', 'A']);
    expect(await draw('power', [1])).to.deep.equal(['dot']);
  });

  it('have a letter for each of more owners than there are fills', () => {
    const owners = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(owners.map((owner) => ownerLook(owner, owners)[0]).join('')).to.equal('ABCDEFG');
  });
});

describe('map of devices', () => {
  const heads = () => all('.group-head').map(({ textContent }) => textContent.replace(/\s+/g, ' '));
  const key = async (name: string) => {
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
    await settle();
  };
  const focused = () => document.activeElement?.getAttribute('aria-label')?.split(':')[0];

  beforeEach(async () => {
    void new Daemon();
    await address('#/devices');
    await show(<DeviceMap devices={devices} />);
  });
  afterEach(async () => {
    await leave();
    await address('#/devices');
  });

  it('has a cell for each device in the group of its kind, with sums and states', () => {
    expect(all('[role=gridcell]')).to.have.lengthOf(count);
    expect(heads()).to.deep.equal([
      'Solar 3030.00 kW1 tripped, 4 limited by volt-watt, 25 producing',
      'Storage 10▼ 10.00 kW10 charging',
    ]);
    expect(all('.heat-map .cell.tripped, .heat-map .cell.limited')).to.have.lengthOf(5);
  });

  it('sums what the filter picks, and says so', async () => {
    await address('#/devices?filter=20-33');
    expect(textOf('h2')).to.equal('14 of 40 devices');
    expect(heads().map((text) => text.slice(0, 18))).to.deep.equal(['Solar 1010.00 kW4 ', 'Storage 4▼ 4.00 kW']);
    expect(textOf('.map-note')).to.contain('Sums are of the devices that the filter picks');
    await address('#/devices?filter=nothing');
    expect(textOf()).to.contain('No device matches the filter.');
  });

  it('keeps colour, groups and form in the address', async () => {
    await press('SoC');
    await press('Profile');
    expect(location.hash).to.equal('#/devices?colour=soc&group=profile');
    expect(heads()).to.have.lengthOf(1);
    await press('Table');
    expect(location.hash).to.contain('form=table');
    expect(one('[role=group][aria-label=Devices]')).not.to.equal(null);
  });

  it('is one stop of the tab key, moves with arrows, and opens with Enter', async () => {
    expect(all('[role=gridcell][tabindex="0"]')).to.have.lengthOf(1);
    one('[role=gridcell]').focus();
    await settle();
    await key('ArrowRight');
    expect(focused()).to.equal('1 Roof 1');
    await key('End');
    await key('ArrowRight');
    expect(focused()).to.equal('30 Store 30');
    expect(textOf('[role=tooltip]')).to.contain('30 Store 30');
    expect(all('[role=gridcell][tabindex="0"]')).to.have.lengthOf(1);
    (document.activeElement as HTMLElement).click();
    await settle();
    expect(location.hash).to.equal('#/devices/30/picture');
  });
});

describe('map of more devices than buttons', () => {
  const many: readonly DeviceEntry[] = Array.from({ length: 302 }, (_none, index) => ({
    ...example,
    device_index: index,
    name: index < 300 ? `Roof ${index}` : `Store ${index}`,
    asset_type: index < 300 ? 'pv' : 'battery',
    power_kw: index,
    kind_state: index === 300 ? 'charging' : 'producing',
    limited_by: index === 1 ? 'volt_watt' : null,
    alarm_count: 0,
  }));
  const map = () => one('[role=application]');
  const spoken = () => textOf('[role=application] [role=status]');
  const key = async (name: string) => {
    map().dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
    await settle();
  };

  beforeEach(async () => {
    void new Daemon();
    stubCanvas();
    await address('#/devices');
    await show(<DeviceMap devices={many} />);
  });
  afterEach(async () => {
    await leave();
    await address('#/devices');
  });

  it('is a canvas for each group and one stop of the tab key, with a table for readers beside it', () => {
    expect(all('.heat-map canvas')).to.have.lengthOf(2);
    expect(all('.heat-map button, .heat-map [role=gridcell]')).to.have.lengthOf(0);
    expect(all('.heat-map, .heat-map [tabindex]').map(({ tabIndex }) => tabIndex)).to.deep.equal([0]);
    const [solar, storage] = all('caption + tbody td').map(({ textContent }) => textContent.split('; '));
    expect(solar).to.have.lengthOf(300);
    expect(solar?.[1]).to.match(/^1 Roof 1: 1\.00\u00a0kW, .*producing, volt-watt$/);
    expect(storage).to.have.lengthOf(2);
    // an application has no table for readers
    expect(all('[role=application] table')).to.have.lengthOf(0);
  });

  it('says the device of the chosen cell from the focus on, and opens it with Enter', async () => {
    expect(spoken()).to.equal('');
    await key('Enter');
    expect(location.hash).to.equal('#/devices');
    map().focus();
    await settle();
    expect(spoken()).to.contain('0 Roof 0');
    await key('ArrowRight');
    expect(spoken()).to.contain('1 Roof 1').and.to.contain('volt-watt');
    expect(textOf('[role=tooltip]')).to.contain('1 Roof 1');
    await key('End');
    await key('ArrowRight');
    expect(spoken()).to.contain('300 Store 300').and.to.contain('charging');
    expect(all('.chosen-cell')).to.have.lengthOf(1);
    await key('Escape');
    expect(spoken()).to.equal('');
    await key('ArrowRight');
    await key('Enter');
    expect(location.hash).to.equal('#/devices/301/picture');
  });

  it('scrolls to the cell that a key chose', async () => {
    const reached: string[] = [];
    map().focus();
    await settle();
    const before = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollIntoView') ?? {};
    Element.prototype.scrollIntoView = function note(this: Element) {
      reached.push(this.className);
    };
    try {
      await key('ArrowDown');
    } finally {
      Object.defineProperty(Element.prototype, 'scrollIntoView', before);
    }
    expect(reached).to.deep.equal(['chosen-cell']);
  });
});

describe('table of devices', () => {
  const titles = () => all('th').map((each) => each.textContent.replace(/ ?[↑↓]|CSV/g, ''));
  const first = () => textOf('tbody tr:first-child a');
  const box = (key: string) => one(`[name=column-${key}]`);
  const toggle = async (key: string) => {
    box(key).click();
    await settle();
  };
  const sortBy = async (title: string) => {
    all('.sort')
      .find((each) => each.textContent.startsWith(title))
      ?.click();
    await settle();
  };
  const usual = [
    '#',
    'Name',
    'Alarms',
    'Kind',
    'State',
    'P, kW',
    'Q, kvar',
    'V, %',
    'SoC, %',
    'Limited by',
    'Last write',
  ];

  beforeEach(async () => {
    void new Daemon();
    await address('#/devices?form=table');
    await show(<DeviceMap devices={devices} />);
  });
  afterEach(async () => {
    localStorage.clear();
    await leave();
    await address('#/devices');
  });

  it('has the chosen columns in their order, which this browser keeps', async () => {
    expect(titles()).to.deep.equal(usual);
    await press('Columns');
    await toggle('rating');
    await toggle('kind');
    expect(titles()).to.deep.equal(['#', 'Name', 'Alarms', 'State', 'P, kW', 'Rating, kW', ...usual.slice(6)]);
    // volts and frequency are columns of the list of a small site, and stay chosen there
    expect(localStorage.getItem('device-columns')?.split(' ')).to.include.members(['rating', 'voltage', 'frequency']);
    expect(localStorage.getItem('device-columns')).not.to.contain('kind');
    expect(box('name').disabled).to.equal(true);
    await press('Usual columns');
    expect(titles()).to.deep.equal(usual);
    expect(localStorage.getItem('device-columns')).to.equal(null);
  });

  it('has the charge of a vehicle, and the last write with its interface, and its point as a title', async () => {
    const write = { ...devices[0]?.last_write, source: 'rest', name: '706.Ena', changed_at: '2026-06-21T12:00:55Z' };
    const vehicle = { name: 'EV-7', soc_pct: 40.1 };
    const charger = { ...devices[0], state_of_charge_pct: null, vehicle, last_write: write } as DeviceEntry;
    await show(<DeviceMap devices={[charger]} />);
    expect(textOf('tbody tr')).to.contain('40.1').and.to.contain('REST, 12:00:55').and.not.to.contain('706.Ena');
    expect(one('tbody [title="706.Ena"]').textContent).to.contain('REST');
  });

  it('sorts by each of its columns, and keeps the order in the address', async () => {
    expect(all('.sort')).to.have.lengthOf(usual.length);
    await sortBy('Alarms');
    expect(location.hash).to.equal('#/devices?form=table&sort=alarms');
    await sortBy('Alarms');
    expect(location.hash).to.equal('#/devices?form=table&sort=-alarms');
    expect(first()).to.equal('Roof 9');
    await address('#/devices?form=table&sort=power');
    expect(first()).to.equal('Store 30');
    await sortBy('P, kW');
    await sortBy('P, kW');
    expect(location.hash).to.equal('#/devices?form=table');
    expect(first()).to.equal('Roof 0');
  });

  it('keeps the order by a column when others come and go', async () => {
    await address('#/devices?form=table&sort=-name');
    await press('Columns');
    await toggle('index');
    await press('Columns');
    expect([titles()[0], first()]).to.deep.equal(['Name', 'Store 39']);
    await press('Columns');
    await press('Usual columns');
  });
});

describe('chosen place', () => {
  it('stays in a map with fewer cells', () => {
    expect(placeWithin({ group: 1, at: 3 }, [5, 4])).to.deep.equal({ group: 1, at: 3 });
    expect(placeWithin({ group: 1, at: 3 }, [5, 2])).to.deep.equal({ group: 1, at: 1 });
    expect(placeWithin({ group: 1, at: 3 }, [2])).to.deep.equal({ group: 0, at: 1 });
    expect(placeWithin({ group: 1, at: 3 }, [])).to.deep.equal({ group: 0, at: 0 });
  });

  it('is a stop of the tab key also after a filter has taken its device away', async () => {
    void new Daemon();
    await address('#/devices');
    await show(<DeviceMap devices={devices} />);
    all('[role=gridcell]')[39]?.focus();
    await settle();
    await address('#/devices?filter=roof');
    const stops = all('[role=gridcell][tabindex="0"]').map((each) => each.getAttribute('aria-label')?.split(':')[0]);
    expect(stops).to.deep.equal(['9 Roof 9']);
    await leave();
    await address('#/devices');
  });
});

describe('steps of the arrow keys', () => {
  const sizes = [12, 0, 3];
  const columns = columnsOf(142, 26);
  const walk = (from: Place, ...names: readonly string[]) =>
    names.reduce((place, name) => afterKey(name, place, sizes, columns) ?? place, from);

  it('go through rows and over groups without cells', () => {
    expect(columns).to.equal(5);
    expect(walk({ group: 0, at: 3 }, 'ArrowDown')).to.deep.equal({ group: 0, at: 8 });
    // the last row is shorter
    expect(walk({ group: 0, at: 8 }, 'ArrowDown')).to.deep.equal({ group: 0, at: 11 });
    expect(walk({ group: 0, at: 11 }, 'ArrowDown')).to.deep.equal({ group: 2, at: 1 });
    expect(walk({ group: 2, at: 2 }, 'ArrowUp')).to.deep.equal({ group: 0, at: 11 });
    expect(walk({ group: 2, at: 0 }, 'ArrowLeft')).to.deep.equal({ group: 0, at: 11 });
    expect(walk({ group: 2, at: 2 }, 'ArrowRight', 'ArrowDown')).to.deep.equal({ group: 2, at: 2 });
    expect(afterKey('x', { group: 0, at: 0 }, sizes, columns)).to.equal(null);
  });
});
