/**
 * The mixed site as pictures of the dashboard show it: the clock stands after an hour in which a Modbus master, a central
 * system of OCPP and an operator were at work, and the grid had a sag that tripped the wind turbine.
 */
import { Central } from '../test/ocpp/central/central.ts';
import { adu, RawClient, readRequest } from '../test/support/modbus-client.ts';
import { startSimulator } from '../test/support/process.ts';
import type { RunningSimulator } from '../test/support/process.ts';

/** Station of the first charger. */
const station = 'SIM-CP-1';
/** Places of the devices in `config/examples/mixed-site.yaml`. */
export const deviceIndex = { pv: 0, battery: 1, wind: 2, charger: 5 } as const;

export interface Scene {
  readonly origin: string;
  stop(): Promise<void>;
}

interface Point {
  readonly name: string;
  readonly address: number;
}

/** Reports what the pictures do without. */
function report(problem: unknown): void {
  process.stderr.write(`screenshots: ${String(problem)}\n`);
}

class Site {
  readonly origin: string;
  readonly #simulator: RunningSimulator;
  readonly #central: Central;
  #master: RawClient | undefined;

  constructor(simulator: RunningSimulator, central: Central) {
    this.origin = `http://127.0.0.1:${simulator.httpPort}`;
    this.#simulator = simulator;
    this.#central = central;
  }

  async ask<T>(path: string, body?: unknown): Promise<T> {
    const headers = { 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.origin}/api/sim/${path}`, init);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async step(ticks: number): Promise<void> {
    const mostAtOnce = 1000;
    for (let rest = ticks; rest > 0; rest -= mostAtOnce)
      await this.ask('controls/time/step', { ticks: Math.min(rest, mostAtOnce) });
  }

  /** The master reads the measurements of the PV device and switches volt-watt on. */
  async master(): Promise<void> {
    const client = await RawClient.open(this.#simulator.modbusPort);
    this.#master = client;
    const { points } = await this.ask<{ points: readonly Point[] }>(`registers/706?device=${deviceIndex.pv}`);
    const enabled = points.find(({ name }) => name === 'Ena');
    if (enabled === undefined) throw new Error('model 706 has no point Ena');
    await client.request(readRequest(1, 40_000, 4));
    await client.request(readRequest(2, enabled.address, 2));
    const address = enabled.address.toString(16).padStart(4, '0');
    await client.request(adu(3, 1, `06${address}0001`));
  }

  /** The central system limits the vehicle at the first charger. */
  async limitVehicle(): Promise<void> {
    const reply = await this.#central.station(station).call('SetChargingProfile', {
      connectorId: 1,
      csChargingProfiles: {
        chargingProfileId: 7,
        stackLevel: 1,
        chargingProfilePurpose: 'TxDefaultProfile',
        chargingProfileKind: 'Relative',
        chargingSchedule: { chargingRateUnit: 'W', chargingSchedulePeriod: [{ startPeriod: 0, limit: 6000 }] },
      },
    });
    if (reply.kind !== 'result') report(JSON.stringify(reply));
  }

  async stop(): Promise<void> {
    this.#master?.destroy();
    await this.#simulator.stop();
    await this.#central.close();
  }
}

/** Trip times of category II in place of III: 45 % for 0.16 s trips the turbine. */
const categoryTwo = {
  enabled: true,
  must_trip: {
    points: [
      { v_pct: 0, time_s: 0.16 },
      { v_pct: 45, time_s: 0.16 },
      { v_pct: 45, time_s: 10 },
      { v_pct: 70, time_s: 10 },
      { v_pct: 88, time_s: 21 },
    ],
  },
};

async function makeThingsHappen(site: Site): Promise<void> {
  const { pv, battery, wind } = deviceIndex;
  await site.ask('controls/grid', { voltage_pu: 1.03 });
  await site.step(1800);
  await site.ask(`evse/${station}/connectors/1/plug`, { ev: { id: 'EV-7', soc_pct: 40, max_charge_kw: 11 } });
  await site.ask(`controls/battery?device=${battery}`, { mode: 'charge', power_kw: 103, duration_s: 3600 });
  await site.ask(`grid-support/lv-trip?device=${wind}`, categoryTwo).catch(report);
  await site.step(1200);
  await site.master();
  await site.ask('controls/grid', { voltage_pu: 1.064 });
  await site.step(200);
  await site.limitVehicle();
  await site.step(180);
  await site.ask('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } });
  await site.step(30);
  await site.ask(`registers?device=${pv}`);
}

/** Starts the site and its peers, and lets the hour pass. */
export async function startScene(): Promise<Scene> {
  const central = await Central.open({ wrong: report });
  const simulator = await startSimulator([
    ...['--config', 'mixed-site', '--start_paused', 'yes'],
    ...['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', station],
  ]);
  const site = new Site(simulator, central);
  try {
    await makeThingsHappen(site);
  } catch (error) {
    await site.stop();
    throw error;
  }
  return site;
}
