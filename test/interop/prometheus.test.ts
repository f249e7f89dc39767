import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { metricFamilies } from '../../src/api/metrics/metrics.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

const oddName = 'Dach "Süd" \\ 1';

describeWith(['prometheus_client'], 'as a scraper', () => {
  let directory: string;
  let simulator: RunningSimulator;
  let reader: PythonPeer;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-'));
    const config = join(directory, 'site.json');
    const types = [
      'PV-3Phase',
      'PV-1Phase',
      'Batt-3Phase',
      'Wind-T4-3Phase',
      'Fuelcell-3Phase',
      'HybridDC-3Phase',
      'EVSE',
    ];
    writeFileSync(
      config,
      JSON.stringify({ devices: types.map((type, i) => ({ device_type: type, name: i === 0 ? oddName : type })) }),
    );
    simulator = await startSimulator(['--config', config, '--start_paused', 'yes']);
    reader = new PythonPeer('metrics_reader', simulator.httpPort);
  });
  after(async () => {
    await reader.stop();
    expect(await simulator.stop()).to.equal(0);
    rmSync(directory, { recursive: true });
  });

  it('finds every family with its type and help', async () => {
    const { type, families } = await reader.ask('scrape');
    expect(type).to.equal('text/plain; version=0.0.4; charset=utf-8');
    // the parser names counters without their ending
    const found = new Map<string, Json>(
      families.map((family: Json) => [`${family.name}${family.type === 'counter' ? '_total' : ''}`, family]),
    );
    expect([...found.keys()]).to.have.members(metricFamilies.map(({ name }) => name));
    for (const { name, type: wanted, help } of metricFamilies)
      expect(found.get(name)).to.include({ type: wanted, help });
  });

  it('reads the numbers that the devices show', async () => {
    const { families } = await reader.ask('scrape');
    const samples = families.flatMap((family: Json) => family.samples);
    const { json } = await ask(simulator.httpPort, '/api/sim/devices');
    const value = (name: string, device: number): number | undefined =>
      samples.find((each: Json) => each.name === name && each.labels.device === String(device))?.value;
    expect(json.devices).to.have.length(7);
    for (const { device_index: index, metrics } of json.devices) {
      expect(value('derbench_device_active_power_watts', index)).to.be.closeTo(metrics.power_kw * 1000, 1e-6);
      expect(value('derbench_device_voltage_line_to_neutral_volts', index)).to.equal(metrics.voltage_ln_v);
      expect(value('derbench_device_voltage_line_to_line_volts', index)).to.equal(metrics.voltage_ll_v ?? undefined);
      const soc = value('derbench_device_state_of_charge_ratio', index);
      expect(soc === undefined).to.equal(metrics.state_of_charge_pct === null);
    }
    expect(
      samples.find((each: Json) => each.name === 'derbench_device_info' && each.labels.device === '0').labels.name,
    ).to.equal(oddName);
    for (const each of samples) expect(Number.isFinite(each.value), each.name).to.equal(true);
  });
});
