import { expect } from 'chai';
import FleetView, { slowestOf } from '../../../src/ui/views/fleet/fleet';
import { layoutOf, paintCells, placeOf, cellAfter, cellAt, labelPx } from '../../../src/ui/views/fleet/layout';
import { cellState, looksOf, missingLook } from '../../../src/ui/views/fleet/looks';
import type { FleetMap, MapShard } from '../../../src/ui/views/fleet/looks';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { settle } from '../support/settle.ts';

const daemonOfTypes = new Daemon();
const shardExample: Json = daemonOfTypes.exampleOf('GET', 'fleet/shards').shards[0];
const mapExample: FleetMap = daemonOfTypes.exampleOf('GET', 'fleet/map');

const shardOf = (name: string, changes: object) => Object.assign({}, shardExample, { shard: name }, changes);
/** A shard whose devices give 1 kW each, where a lost one has no columns. */
function mapShard(shard: string, first: number, count: number, isLost = false): MapShard {
  const column = (value: number) => (isLost ? [] : Array.from({ length: count }, () => value));
  return {
    shard,
    state: isLost ? 'lost' : 'live',
    first,
    count,
    tick: isLost ? null : 40,
    tick_age_s: isLost ? null : 0.5,
    index: isLost ? [] : Array.from({ length: count }, (_none, at) => first + at),
    power_kw: column(1),
    share_pct: column(50),
    inverter_state: column(3),
    alarm_severity: column(0),
  };
}
const mapOf = (...shards: MapShard[]): FleetMap => ({ codes: mapExample.codes, shards });

describe('fleet view', () => {
  let daemon: Daemon;
  const facts = () => textOf('section.panel');
  const key = async (name: string) => {
    one('.fleet-map').dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
    await settle();
  };

  beforeEach(async () => {
    daemon = new Daemon()
      .on('GET fleet/shards', () => ({
        shards: [
          shardOf('a', { state: 'lost', first: 0, room: 3, count: 3, seen_s: 12, tick: null, tick_age_s: null }),
          shardOf('b', { state: 'live', first: 3, room: 8, count: 4, tick: 40, tick_age_s: 0.5, http: '10.0.0.9:81' }),
          shardOf('c', { state: 'live', first: 11, room: 1, count: 1, tick: 38, tick_age_s: 61, http: null }),
        ],
        missing: [],
      }))
      .on('GET fleet/map', () => mapOf(mapShard('a', 0, 3, true), mapShard('b', 3, 4), mapShard('c', 11, 1)));
    await address('#/fleet');
    await show(<FleetView />);
  });
  afterEach(async () => {
    await leave();
    await address('#/devices');
  });

  it('has the sums of the gateway, and the shard that is the furthest behind', () => {
    expect(facts()).to.contain('1000').and.to.contain('7420.1');
    expect(facts()).to.contain('1 live, 1 lost').and.to.contain('derbench.*');
    expect(facts()).to.match(/Oldest tick\s*shard c, 1:01/);
    expect(slowestOf([])).to.equal(undefined);
  });

  it('names shards that are lost or late, and stops none that is lost', () => {
    const heads = all('.shard h3').map(({ textContent }) => textContent.trim());
    expect(heads).to.deep.equal(['a × lost', 'b ● live', 'c △ tick 1:01 old']);
    expect(all('.shard').map(({ className }) => className)).to.deep.equal(['shard bad', 'shard good', 'shard warn']);
    expect(all('.shard p').map(({ textContent }) => textContent)).to.include('devices 3 to 6, room for 8');
    const [lost] = all('.shard');
    expect(lost?.textContent).to.contain('Last seen');
    expect(['a', 'b'].map((name) => button(`Stop ${name}`).disabled)).to.deep.equal([true, false]);
    expect(button('Stop a').title).to.equal('The shard is lost.');
    expect(all('.shard a[href="http://10.0.0.9:81/"]')).to.have.lengthOf(1);
  });

  it('says that its values are old where the server is gone', async () => {
    daemon.on('GET fleet', () => Object.assign({}, daemon.exampleOf('GET', 'fleet'), { state: 'disconnected' }));
    await show(<FleetView />);
    expect(textOf('[role=alert]')).to.contain('no connection to the server of the fleet');
  });

  it('has a cell for each device in its map, and says what each of them shows', async () => {
    const panel = () => textOf('section.panel:last-of-type');
    expect(panel()).to.contain('Map of 8 devices');
    expect(all('.fleet-map .label').map(({ textContent }) => textContent.replaceAll('\u00a0', ' '))).to.deep.equal([
      'a: devices 0 to 2, lost: no values',
      'b: devices 3 to 6, 0.50 s old when read',
      'c: device 11, 0.50 s old when read',
    ]);
    await key('Home');
    expect(textOf('.where')).to.equal('Device 0, shard a: no values');
    await key('End');
    await key('ArrowRight');
    expect(textOf('.where')).to.equal('Device 3, shard b: 1.00 kW, running');
    await key('End');
    await key('ArrowRight');
    expect(textOf('.where')).to.contain('Device 11, shard c');
    await key('Enter');
    expect(location.hash).to.equal('#/devices/11/picture');
  });

  it('keeps its colours in the address', async () => {
    await press('Power');
    expect(location.hash).to.equal('#/fleet?colour=power');
    expect(textOf('.fleet-legend')).to.contain('takes power').and.to.contain('The darker');
  });

  const find = async (text: string) => {
    await type('fleet-find', text);
    one('.fleet-search').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    await settle();
  };

  it('opens a device by its index without a call, also one of a lost shard', async () => {
    await find(' 2 ');
    expect(location.hash).to.equal('#/devices/2/picture');
    expect(daemon.to('GET devices')).to.deep.equal([]);
  });

  it('lists what a name finds, and says what is left out or refused', async () => {
    const example = daemon.exampleOf('GET', 'devices').devices[0];
    const devices = [4, 5].map((index) => Object.assign({}, example, { device_index: index, name: `Roof ${index}` }));
    daemon.on('GET devices', () => ({ devices, total: 14 }));
    // index 7 is in a gap between shards: it may be a name
    await find('7');
    expect(daemon.to('GET devices')[0]?.query).to.deep.equal({ name: '7', limit: '10' });
    expect(all('.search-hits li').map(({ textContent }) => textContent)).to.deep.equal([
      '4 Roof 4',
      '5 Roof 5',
      'and 12 more',
    ]);
    daemon.on('GET devices', () => ({ devices: [], total: 0 }));
    await find('none');
    expect(textOf('.search-hits')).to.equal('No device has the name "none".');
    daemon.on('GET devices', () => refusal(503, 'A shard is lost.'));
    await find('none');
    expect(textOf('.fleet-search [role=alert]')).to.contain('A shard is lost.');
  });
});

describe('map of a fleet', () => {
  it('has the state of each device as its look, and no look of a device for a lost shard', () => {
    const live = mapShard('b', 3, 4);
    const columns = { inverter_state: [3, 4, 0, 3], alarm_severity: [0, 0, 0, 3] };
    const looks = looksOf(mapOf(mapShard('a', 0, 3, true), Object.assign(live, columns)), 'state');
    expect([...looks.subarray(0, 3)]).to.deep.equal([missingLook, missingLook, missingLook]);
    expect(new Set(looks).size).to.equal(5);
    expect(['running', 'throttled', 'off', 'fault'].map((state) => cellState(state, 'none'))).to.deep.equal([
      'plain',
      'warning',
      'idle',
      'fault',
    ]);
    expect(cellState('running', 'error')).to.equal('fault');
    expect(cellState('running', 'warning')).to.equal('warning');
  });

  it('tells giving from taking, and keeps faults, where power is the colour', () => {
    const shard = mapShard('b', 0, 4);
    const columns = { power_kw: [5, -5, 5, 0], share_pct: [100, 100, 0, 0], inverter_state: [3, 3, 3, 6] };
    const map = mapOf(Object.assign(shard, columns));
    const [gives = 0, takes = 0, little = 0, fault] = looksOf(map, 'power');
    expect([gives, takes, little]).to.deep.equal([4, 9, 0]);
    expect(fault).to.equal(looksOf(map, 'state')[3]);
  });

  it('finds each cell again at its place, shard below shard', () => {
    const layout = layoutOf([7, 0, 30, 1], 100);
    for (let at = 0; at < 38; at += 1) {
      const place = placeOf(layout, at);
      expect(place && cellAt(layout, place.left + 1, place.top + 1)).to.equal(at);
    }
    expect(placeOf(layout, 38)).to.equal(null);
    expect(cellAt(layout, 1, labelPx - 1)).to.equal(null);
    expect(cellAfter('ArrowDown', 6, layout)).to.equal(7);
    expect(cellAfter('End', 37, layout)).to.equal(37);
    expect(cellAfter('a', 0, layout)).to.equal(null);
  });

  it('paints as many pixels as cells have, each in the look of its device', () => {
    const layout = layoutOf([5, 4], 40);
    const { cellPx, widthPx, heightPx } = layout;
    const stamps = [1, 2].map((ink) => new Uint32Array(cellPx * cellPx).fill(ink));
    const pixels = new Uint32Array(widthPx * heightPx);
    paintCells(pixels, layout, Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 1), stamps);
    expect(pixels.filter((ink) => ink === 1)).to.have.lengthOf(7 * cellPx * cellPx);
    const place = placeOf(layout, 8);
    expect(place && pixels[place.top * widthPx + place.left]).to.equal(2);
  });
});
