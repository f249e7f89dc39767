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
/** Address of the first register of a map. */
const sunspecBase = 40_000;
/** Places of the devices in `config/examples/mixed-site.yaml`. */
export const deviceIndex = { pv: 0, battery: 1, wind: 2, charger: 5 } as const;

export interface Scene {
  readonly origin: string;
  /** capture of the sag */
  readonly capture: number;
  /** Lets the turbine come back, which ends the capture. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

interface Device {
  readonly modbus: { readonly port: number };
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

  /** The master reads volt-watt of the PV device, and switches it on. */
  async master(): Promise<void> {
    const { devices } = await this.ask<{ devices: readonly Device[] }>('devices');
    const client = await RawClient.open(devices[deviceIndex.pv]?.modbus.port ?? 0);
    this.#master = client;
    const { points } = await this.ask<{ points: readonly Point[] }>(`registers/706?device=${deviceIndex.pv}`);
    const [model, enabled] = ['ID', 'Ena'].map((each) => points.find(({ name }) => name === each)?.address ?? 0);
    await client.request(readRequest(1, sunspecBase, 4));
    await client.request(readRequest(2, model ?? 0, 88));
    await client.request(adu(3, 1, `06${enabled?.toString(16).padStart(4, '0')}0001`));
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

/** The turbine trips as soon as its category allows: 1 s below 50 % is the time that it must ride through. */
const trip = {
  must_trip: {
    points: [
      { v_pct: 50, time_s: 1.1 },
      { v_pct: 88, time_s: 21 },
    ],
  },
};

/** Lets the hour pass; the number of the newest capture. */
async function makeThingsHappen(site: Site): Promise<number> {
  const { battery, charger, wind } = deviceIndex;
  await site.ask('controls/grid', { voltage_pu: 1.03 });
  await site.step(1800);
  await site.ask(`evse/${station}/connectors/1/plug`, { ev: { id: 'EV-7', soc_pct: 40, max_charge_kw: 11 } });
  await site.ask(`controls/battery?device=${battery}`, { mode: 'charge', power_kw: 103, duration_s: 3600 });
  await site.ask(`grid-support/lv-trip?device=${wind}`, trip);
  await site.ask(`grid-support/enter-service?device=${wind}`, { v_hi_pct: 110 });
  await site.step(1200);
  await site.master();
  await site.ask('controls/grid', { voltage_pu: 1.064 });
  await site.step(200);
  await site.limitVehicle();
  await site.ask('modbus/fault', { kind: 'scale', device: charger, points: ['701.W'], factor: 2 });
  await site.step(180);
  await site.ask('controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.42, duration_s: 1.2 } });
  await site.step(30);
  const { captures } = await site.ask<{ captures: readonly { readonly id: number }[] }>('captures');
  return captures[0]?.id ?? 0;
}

/** Starts the site and its peers. */
export async function startScene(): Promise<Scene> {
  const central = await Central.open({ wrong: report });
  const simulator = await startSimulator([
    ...['--config', 'mixed-site', '--start_paused', 'yes'],
    ...['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', station],
  ]);
  const site = new Site(simulator, central);
  try {
    const capture = await makeThingsHappen(site);
    return { origin: site.origin, capture, settle: () => site.step(600), stop: () => site.stop() };
  } catch (error) {
    await site.stop();
    throw error;
  }
}
