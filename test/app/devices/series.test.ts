import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AssetType } from '../../../src/contract/device.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { DeviceConfig } from '../../../src/config/settings/app-config.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import type { DeviceSeries } from '../../../src/der/plant/create-plant.ts';
import { deviceSeriesReader } from '../../../src/app/devices/plant.ts';

let folder = '';
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const typeOf: Readonly<Record<AssetType, string>> = {
  pv: 'PV-3Phase',
  battery: 'Batt-3Phase',
  wind: 'Wind-T4-3Phase',
  fuelcell: 'Fuelcell-3Phase',
  'hybrid-dc': 'HybridDC-3Phase',
  evse: 'EVSE',
};

interface Given {
  readonly dc?: string;
  readonly load?: string;
  readonly vehicles?: string;
  readonly end?: 'loop' | 'hold';
  readonly windTimeScale?: number;
}

function deviceOf(asset: AssetType, { dc, load, vehicles }: Given): DeviceConfig {
  const loaded = loadConfig(['-d', typeOf[asset]], {});
  if (loaded.kind !== 'run') throw new Error('no configuration');
  const [device] = loaded.config.devices;
  if (!device) throw new Error('no device');
  return { ...device, series: { dc: dc ?? null, load: load ?? null, vehicles: vehicles ?? null } };
}

function read(asset: AssetType, given: Given = {}): DeviceSeries {
  return deviceSeriesReader({ seriesEnd: given.end ?? 'loop', windTimeScale: given.windTimeScale ?? 1 })(
    deviceOf(asset, given),
  );
}

function issuesOf(asset: AssetType, given: Given): readonly string[] {
  try {
    read(asset, given);
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    expect(error.code).to.equal('CONFIG_INVALID');
    for (const path of [given.dc, given.load, given.vehicles])
      if (path !== undefined) expect(error.message).to.include(path);
    return error.issues.map(({ detail }) => detail);
  }
  return [];
}

const sun = 'time_s,irradiance_w_m2\n0,0\n100,500\n200,1000\n';
const wind = 'time_s,wind_speed_m_s,wind_direction_deg\n0,4,180\n100,8,190\n200,12,200\n';
const load = 'time_s,load_kw\n0,1\n100,3\n200,5\n';
const cars = 'time_s,connector,stay_s\n0,1,100\n200,1,50\n';

describe('series of a device', () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'series-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('only kinds driven by sun or wind have weather, bundled by default', () => {
    expect(read('pv').dc).to.include({ name: 'pv-clear-day', timeScale: 1 });
    expect(read('hybrid-dc').dc).to.include({ name: 'pv-clear-day', timeScale: 1 });
    expect(read('wind').dc).to.include({ name: 'wind-week', timeScale: 1 });
    for (const asset of ['battery', 'fuelcell', 'evse'] as const) expect(read(asset).dc, asset).to.equal(null);
    for (const asset of Object.keys(typeOf) as AssetType[])
      expect([read(asset).load, read(asset).visits], asset).to.deep.equal([null, null]);
  });

  it('a file of the user is named by its base name; wind alone has the time scale', () => {
    expect(read('pv', { dc: file('roof.csv', sun), windTimeScale: 10 }).dc).to.include({
      name: 'roof.csv',
      timeScale: 1,
    });
    expect(read('wind', { dc: file('mast.csv', wind), windTimeScale: 10 }).dc).to.include({
      name: 'mast.csv',
      timeScale: 10,
    });
  });

  for (const [asset, column, text, mid, last, second] of [
    ['pv', 'irradiance_w_m2', sun, 250, 1000, 500],
    ['hybrid-dc', 'irradiance_w_m2', sun, 250, 1000, 500],
    ['wind', 'wind_speed_m_s', wind, 6, 12, 8],
  ] as const) {
    it(`${asset}: straight lines between rows; hold keeps the last row, loop starts over`, () => {
      const path = file(`${asset}.csv`, text);
      const held = read(asset, { dc: path, end: 'hold' }).dc?.series;
      const looped = read(asset, { dc: path, end: 'loop' }).dc?.series;
      expect([held?.at(column, 50), looped?.at(column, 50)]).to.deep.equal([mid, mid]);
      expect([held?.at(column, 300), held?.at(column, 1e6)]).to.deep.equal([last, last]);
      expect([looped?.at(column, 300), looped?.at(column, 700)]).to.deep.equal([second, second]);
    });
  }

  it('load of any kind: hold and loop', () => {
    const path = file('load.csv', load);
    for (const asset of Object.keys(typeOf) as AssetType[]) {
      expect(read(asset, { load: path, end: 'hold' }).load?.at('load_kw', 1000), asset).to.equal(5);
      expect(read(asset, { load: path, end: 'loop' }).load?.at('load_kw', 250), asset).to.equal(2);
    }
  });

  it('vehicles: once or day by day', () => {
    const path = file('cars.csv', cars);
    expect(read('evse', { vehicles: path, end: 'hold' }).visits).to.include({ periodS: null });
    const daily = read('evse', { vehicles: path, end: 'loop' }).visits;
    expect([daily?.periodS, daily?.visits.length]).to.deep.equal([86_400, 2]);
  });

  it('a file is read once, however many devices use it; one file may be weather and load', () => {
    const reader = deviceSeriesReader({ seriesEnd: 'loop', windTimeScale: 1 });
    const given = {
      dc: file('shared.csv', sun),
      load: file('shared-load.csv', load),
      vehicles: file('shared-cars.csv', cars),
    };
    const [one, two] = [reader(deviceOf('pv', given)), reader(deviceOf('pv', given))];
    expect(one.dc?.series).to.equal(two.dc?.series);
    expect(one.load).to.equal(two.load);
    expect(one.visits).to.equal(two.visits);
    expect(reader(deviceOf('hybrid-dc', given)).dc?.series).to.equal(one.dc?.series);
  });

  for (const [asset, key, what, text, expected] of [
    [
      'pv',
      'dc',
      'a wind table',
      wind,
      ['line 1: there is no column "wind_direction_deg"', 'line 1: column irradiance_w_m2 is missing'],
    ],
    [
      'hybrid-dc',
      'dc',
      'no column of irradiance',
      '# roof\ntime_s,ambient_temperature_c\n0,20\n',
      ['line 2: column irradiance_w_m2 is missing'],
    ],
    [
      'wind',
      'dc',
      'a weather table',
      sun,
      ['line 1: there is no column "irradiance_w_m2"', 'line 1: column wind_speed_m_s is missing'],
    ],
    [
      'wind',
      'dc',
      'a negative wind',
      'time_s,wind_speed_m_s\n0,5\n10,-1\n',
      ['line 3: wind_speed_m_s is -1, outside 0 to 60'],
    ],
    [
      'wind',
      'dc',
      'a bad direction',
      'time_s,wind_speed_m_s,wind_direction_deg\n0,5,361\n',
      ['line 2: wind_direction_deg is 361, outside 0 to 360'],
    ],
    [
      'pv',
      'dc',
      'too much sun',
      'time_s,irradiance_w_m2\n# noon\n0,1501\n',
      ['line 3: irradiance_w_m2 is 1501, outside 0 to 1500'],
    ],
    [
      'battery',
      'load',
      'no column of load',
      'time_s,load_w\n0,1\n',
      ['line 1: there is no column "load_w"', 'line 1: column load_kw is missing'],
    ],
    ['battery', 'load', 'a short row', 'time_s,load_kw\n0,1\n5\n', ['line 3: 1 values for 2 columns']],
    ['battery', 'load', 'a negative load', 'time_s,load_kw\n0,-1\n', ['line 2: load_kw is -1, outside 0 to 1000000']],
    ['evse', 'vehicles', 'no stay', 'time_s,connector\n0,1\n', ['line 1: column stay_s is missing']],
    [
      'evse',
      'vehicles',
      'a connector in words',
      'time_s,connector,stay_s\n0,left,10\n',
      ['line 2: connector is "left", not a number'],
    ],
    ['pv', 'dc', 'nothing at all', '', ['line 1: there is no header row']],
  ] as const) {
    it(`${asset}: ${what} is refused with the line`, () => {
      expect(issuesOf(asset, { [key]: file(`bad-${asset}.csv`, text) })).to.deep.equal(expected);
    });
  }
});
