import { expect } from 'chai';
import { createHistory, historyBytes } from '../../../src/api/history/history.ts';
import type { History } from '../../../src/api/history/history.ts';
import { metricsOf, numericNames } from '../../../src/api/history/metrics.ts';
import { tickColumn } from '../../../src/api/history/ring.ts';
import type { AssetType } from '../../../src/contract/device.ts';
import type { Published } from '../../../src/contract/snapshot.ts';
import type { Plant, TickEvent } from '../../../src/contract/plant.ts';
import type { Device } from '../../../src/contract/device.ts';
import { configuredDevices } from '../../support/configured.ts';
import { testPlant } from '../../support/plant.ts';

const typeOf: Readonly<Record<AssetType, string>> = {
  pv: 'PV-3Phase',
  battery: 'Batt-3Phase',
  wind: 'Wind-T3-3Phase',
  fuelcell: 'Fuelcell-3Phase',
  'hybrid-dc': 'HybridDC-3Phase',
  evse: 'EVSE',
};

/** Ticks by hand of any devices, with the snapshot of a real one. */
class Fleet {
  readonly #real = testPlant();
  readonly #works: ((event: TickEvent) => Iterable<undefined>)[] = [];
  readonly #changes: (() => void)[] = [];
  #tick = 0;
  #indexes: readonly number[];

  constructor(...indexes: readonly number[]) {
    this.#indexes = indexes;
  }

  /** Devices join or leave. */
  set indexes(indexes: readonly number[]) {
    this.#indexes = indexes;
    for (const listener of this.#changes) listener();
  }

  get latest(): TickEvent {
    const [real] = this.#real.latest.published;
    const published = this.#indexes.map(
      (index): Published => ({
        ...real!,
        detail: real!.detail,
        snapshot: { ...real!.snapshot, device_index: index, tick: this.#tick },
      }),
    );
    return { ...this.#real.latest, tick: this.#tick, published };
  }

  get plant(): Plant {
    const latest = () => this.latest;
    return {
      get latest() {
        return latest();
      },
      device: () => this.#real.device(0),
      devices: [],
      site: this.#real.site,
      siteGroups: [],
      dateMs: this.#real.dateMs.bind(this.#real),
      onDevices: (listener: () => void) => {
        this.#changes.push(listener);
        return () => undefined;
      },
      onTick: () => () => undefined,
      onTickInParts: (work: (event: TickEvent) => Iterable<undefined>) => {
        this.#works.push(work);
        return () => undefined;
      },
    } as unknown as Plant;
  }

  run(ticks: number): void {
    for (let i = 0; i < ticks; i += 1) {
      this.#tick += 1;
      const event = this.latest;
      for (const work of this.#works) Array.from(work(event));
    }
  }

  device(index: number): Device {
    return { index, detail: this.#real.device(0).detail } as unknown as Device;
  }

  ticksOf(history: History, index: number): number[] {
    const { runs, width } = history.of(this.device(index)).cut();
    return runs.flatMap(({ values, from, to }) =>
      Array.from({ length: to - from }, (_, i) => values[(from + i) * width + tickColumn]!),
    );
  }
}

const pvSampleBytes = 8 * (3 + 16 + 3 + 2 + 2);
const row = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('history of a plant', () => {
  it('begins with the present snapshot and adds one sample per tick', () => {
    const fleet = new Fleet(0, 1);
    const history = createHistory(fleet.plant, { samplesPerDevice: 100 });
    expect(fleet.ticksOf(history, 1)).to.deep.equal([0]);
    fleet.run(150);
    expect(fleet.ticksOf(history, 0)).to.deep.equal(row(51, 150));
    expect(history.depth).to.equal(100);
  });

  it('follows devices that come and go; the depth is shared by those that are there', () => {
    const fleet = new Fleet(4, 5);
    const history = createHistory(fleet.plant, {
      samplesPerDevice: 50,
      bytes: 25 * 4 * pvSampleBytes,
    });
    fleet.run(60);
    expect(fleet.ticksOf(history, 4)).to.deep.equal(row(11, 60));
    fleet.indexes = [4, 5, 9, 10];
    expect(history.depth).to.equal(25);
    expect(fleet.ticksOf(history, 5), 'at once').to.deep.equal(row(36, 60));
    expect(fleet.ticksOf(history, 10), 'its first snapshot').to.deep.equal([60]);
    fleet.run(1);
    expect(fleet.ticksOf(history, 5)).to.deep.equal(row(37, 61));
    expect(fleet.ticksOf(history, 10)).to.deep.equal([60, 61]);
    fleet.indexes = [5, 10, 11];
    expect(history.depth).to.equal(33);
    expect(fleet.ticksOf(history, 4), 'what has left is forgotten').to.deep.equal([]);
    fleet.run(30);
    expect(fleet.ticksOf(history, 5)).to.deep.equal(row(59, 91));
    expect(fleet.ticksOf(history, 11)).to.deep.equal(row(61, 91));
    fleet.indexes = [];
    fleet.run(1);
    expect(history.depth).to.equal(50);
  });

  it('begins anew with the columns of another device that takes the place', async () => {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const history = createHistory(plant, { samplesPerDevice: 50 });
    await plant.step(2);
    const [battery] = configuredDevices('-d', 'Batt-3Phase');
    await plant.replace(battery!, 0, () => Promise.resolve());
    await plant.step(1);
    const recorded = history.of(plant.device(0));
    expect(recorded.metrics.map(({ name }) => name))
      .to.include('state_of_charge_pct')
      .and.not.include('irradiance_w_m2');
    expect(recorded.count).to.equal(2);
  });

  it('of a device that is not there is empty, with the names of its metrics', () => {
    const fleet = new Fleet(0);
    const recorded = createHistory(fleet.plant, { samplesPerDevice: 50 }).of(fleet.device(7));
    expect(recorded.count).to.equal(0);
    expect(recorded.cut()).to.include({ gone: null }).and.to.have.property('runs').that.deep.equals([]);
    expect(recorded.metrics.map(({ name }) => name)).to.include.members(['power_kw', 'irradiance_w_m2']);
  });

  it('has room for 4 h at the default tick of a hundred devices of any kind', () => {
    const samplesIn4h = (4 * 3600) / 1.5;
    for (const [kind, type] of Object.entries(typeOf)) {
      const [device] = testPlant({ types: [type] }).devices;
      const { metrics } = metricsOf(device!.detail);
      expect(Math.floor(historyBytes / (100 * 8 * (3 + metrics.length))), kind).to.be.at.least(samplesIn4h);
    }
  });
});

describe('interface 4.2: metrics', () => {
  const own: Readonly<Record<AssetType, readonly string[]>> = {
    pv: ['irradiance_w_m2', 'cell_temperature_c'],
    battery: ['battery_temperature_c', 'cell_voltage_min_v', 'cell_voltage_max_v'],
    wind: ['wind_speed_m_s', 'rotor_rpm', 'pitch_deg', 'cp'],
    fuelcell: ['stack_voltage_v', 'stack_current_a', 'h2_flow_kg_h', 'tank_level_pct', 'stack_temperature_c'],
    'hybrid-dc': ['pv_power_kw', 'battery_power_kw', 'bus_voltage_v'],
    evse: ['connector_1_power_kw', 'connector_1_soc_pct'],
  };
  const shared = [...numericNames, 'service_state', 'inverter_state', 'connection_state'];

  it('has every numeric member of the snapshot', () => {
    const { timestamp, ...numbers } = testPlant().latest.published[0]!.snapshot.metrics;
    expect(timestamp).to.be.a('string');
    expect([...numericNames]).to.have.members(Object.keys(numbers));
  });

  for (const [kind, names] of Object.entries(own)) {
    it(`${kind} has those of all kinds and its own`, () => {
      const [device] = testPlant({ types: [typeOf[kind as AssetType]] }).devices;
      expect(metricsOf(device!.detail).metrics.map(({ name }) => name)).to.deep.equal([
        ...shared,
        ...names,
        'limit_kw',
        'possible_kw',
      ]);
    });
  }
});
