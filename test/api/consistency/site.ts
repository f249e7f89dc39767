/** A PV inverter and a charging station with every protocol on, and a peer at each of them. */
import { WebSocket } from 'ws';
import type { Json } from '../../support/http.ts';
import { ask } from '../../support/http.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import { Site } from '../../csip/whole/site.ts';
import { hex } from '../../dnp3/rig/frames.ts';
import { TestMaster } from '../../dnp3/rig/master.ts';
import { Central } from '../../ocpp/central/central.ts';
import type { CentralStation } from '../../ocpp/central/station.ts';

export const [pv, station] = [0, 1];

const metered = [
  'Energy.Active.Import.Register',
  'Power.Active.Import',
  'Current.Import',
  'Voltage',
  'Frequency',
  'SoC',
].join(',');

/** The site, its devices some minutes at work. */
export class MixedSite {
  readonly site: Site;
  readonly #central: Central;

  private constructor(site: Site, central: Central) {
    this.site = site;
    this.#central = central;
  }

  static async open(flags: readonly string[] = []): Promise<MixedSite> {
    const central = await Central.open();
    const site = await Site.open({
      types: ['PV-3Phase', 'EVSE'],
      deviceFlags: ['--map_layout', 'both'],
      flags: [
        ...['--dnp3_enable', 'yes', '--dnp3_port', '0', '--ocpp_enable', 'yes'],
        ...['--ocpp_csms_url', central.url, '--ocpp_csid', 'CP-1', '--csip_register', 'yes'],
        ...flags,
      ],
      prepare(headEnd, lfdis) {
        for (const lfdi of lfdis) headEnd.register(lfdi);
        headEnd.program({ primacy: 5 });
      },
    });
    const mixed = new MixedSite(site, central);
    await mixed.charger.next('BootNotification');
    return mixed;
  }

  async close(): Promise<void> {
    await this.site.close();
    await this.#central.close();
  }

  get charger(): CentralStation {
    return this.#central.station('CP-1');
  }

  consistency(device: number, ...quantities: readonly string[]): Promise<Json> {
    const filter = quantities.length === 0 ? '' : `&quantity=${quantities.join(',')}`;
    return this.site.get(`consistency?device=${device}${filter}`);
  }

  /** The presentations of one quantity, by protocol; the last one of each. */
  async presentations(device: number, quantity: string): Promise<Record<string, Json>> {
    const { quantities } = await this.consistency(device, quantity);
    const [{ presentations }] = quantities as [Json];
    return Object.fromEntries((presentations as Json[]).map((each) => [each.protocol, each]));
  }

  /** Registers as a master reads them. */
  async registers(device: number, address: number, count: number): Promise<Buffer> {
    const { port, unitId } = modbusEndpoint(this.site.app, device);
    const client = await RawClient.open(port);
    client.send(readRequest(1, address, count, unitId));
    const answer = await client.answer();
    client.destroy();
    return answer.subarray(9);
  }

  /** An analog input of DNP3, g30v1. */
  async analogInput(device: number, index: number): Promise<{ readonly flags: number; readonly value: number }> {
    const endpoints = this.site.app.adapters.map((adapter) => adapter.endpointOf?.(device));
    const endpoint = endpoints.find((each) => each?.protocol === 'dnp3');
    if (endpoint?.protocol !== 'dnp3') throw new Error('no outstation');
    const master = await TestMaster.connect({ port: endpoint.port, outstation: endpoint.outstation });
    const [low, high] = [index & 0xff, index >> 8].map((octet) => octet.toString(16).padStart(2, '0'));
    const { objects } = await master.ask(1, hex(`1e 01 01 ${low} ${high} ${low} ${high}`));
    await master.close();
    // behind group, variation, qualifier, start and stop
    return { flags: objects.readUInt8(7), value: objects.readInt32LE(8) };
  }

  /** The next message of the stream about a device. */
  async message(device: number): Promise<Json> {
    const { port } = this.site.app.api.server.address() as { port: number };
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry?device=${device}`);
    const text = await new Promise<string>((resolve, reject) => {
      socket.once('message', (data: Buffer) => resolve(data.toString()));
      socket.once('error', reject);
    });
    socket.close();
    return JSON.parse(text);
  }

  /** What the charging station tells about a connector when it is asked for its meter values. */
  async meterValues(connectorId: number): Promise<readonly Json[]> {
    await this.charger.call('ChangeConfiguration', { key: 'MeterValuesSampledData', value: metered });
    await this.charger.call('TriggerMessage', { requestedMessage: 'MeterValues', connectorId });
    const { payload } = await this.charger.next('MeterValues', (values) => {
      const { meterValue, connectorId: about } = values;
      return about === connectorId && meterValue[0].sampledValue[0].context === 'Trigger';
    });
    return payload.meterValue[0].sampledValue as Json[];
  }

  /** The last reading of the mirror of a device: value x 10^multiplier by unit and phase. */
  reading(device: number, uom: number, phase: number | null = null): number {
    const lfdi = this.site.lfdis[device];
    const mirror = this.site.headEnd.mirrors.find(({ deviceLfdi }) => deviceLfdi === lfdi);
    const found = this.site.headEnd.readings.findLast(
      ({ mup, type }) => mup === mirror?.id && type['uom'] === uom && (phase === null || type['phase'] === phase),
    );
    return (found?.value ?? NaN) * 10 ** (found?.type['powerOfTenMultiplier'] ?? 0);
  }

  async post(path: string, body: unknown): Promise<Json> {
    return this.site.post(path, body);
  }

  async status(path: string): Promise<Json> {
    const { port } = this.site.app.api.server.address() as { port: number };
    const { status, json } = await ask(port, `/api/sim/${path}`);
    return { status, json };
  }
}
