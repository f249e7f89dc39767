/** Peers of a mixed site that send commands and take the answers. */
import { expect } from 'chai';
import { adu, RawClient } from '../../support/modbus-client.ts';
import { modbusEndpoint } from '../../support/running-app.ts';
import type { App } from '../../../src/app/start-stop.ts';
import { hex } from '../../dnp3/rig/frames.ts';
import { TestMaster } from '../../dnp3/rig/master.ts';

/** A Modbus master that writes points by name. */
export class WritingMaster {
  readonly #client: RawClient;
  readonly #app: App;
  readonly #device: number;

  private constructor(client: RawClient, app: App, device: number) {
    this.#client = client;
    this.#app = app;
    this.#device = device;
  }

  static async open(app: App, device: number): Promise<WritingMaster> {
    return new WritingMaster(await RawClient.open(modbusEndpoint(app, device).port), app, device);
  }

  /** Writes registers from a point on with function 16. @returns the PDU of the answer in hex */
  async write(point: string, ...words: readonly number[]): Promise<string> {
    const [model = '', ...path] = point.split('.');
    const slot = this.#app.plant.device(this.#device).bank.layout.slot(Number(model), path.join('.'));
    const pdu = Buffer.alloc(6 + 2 * words.length);
    pdu.writeUInt8(16, 0);
    pdu.writeUInt16BE(slot?.address ?? 0, 1);
    pdu.writeUInt16BE(words.length, 3);
    pdu.writeUInt8(2 * words.length, 5);
    words.forEach((word, n) => pdu.writeUInt16BE(word, 6 + 2 * n));
    const { unitId } = modbusEndpoint(this.#app, this.#device);
    return (await this.#client.request(adu(7, unitId, pdu.toString('hex')))).slice(14);
  }

  close(): void {
    this.#client.destroy();
  }
}

const octet = (value: number) => (value & 0xff).toString(16).padStart(2, '0');

/** A DNP3 master that operates outputs directly. */
export class OperatingMaster {
  readonly #master: TestMaster;

  private constructor(master: TestMaster) {
    this.#master = master;
  }

  static async open({ adapters }: App, device: number): Promise<OperatingMaster> {
    const endpoints = adapters.map((adapter) => adapter.endpointOf?.(device));
    const endpoint = endpoints.find((each) => each?.protocol === 'dnp3');
    if (endpoint?.protocol !== 'dnp3') throw new Error('no outstation');
    return new OperatingMaster(await TestMaster.connect({ port: endpoint.port, outstation: endpoint.outstation }));
  }

  /** g41v2. @returns status of the answer */
  async analog(index: number, value: number): Promise<number> {
    const object = `29 02 28 01 00 ${octet(index)} ${octet(index >> 8)} ${octet(value)} ${octet(value >> 8)} 00`;
    return (await this.#master.ask(5, hex(object))).objects.at(-1) ?? -1;
  }

  /** g12v1, latch on or off. @returns status of the answer */
  async binary(index: number, on: boolean): Promise<number> {
    const code = on ? '03' : '04';
    const object = `0c 01 28 01 00 ${octet(index)} ${octet(index >> 8)} ${code} 01 64 00 00 00 64 00 00 00 00`;
    return (await this.#master.ask(5, hex(object))).objects.at(-1) ?? -1;
  }

  async close(): Promise<void> {
    await this.#master.close();
  }
}

export const accepted = (answer: unknown): void => {
  expect(answer).to.deep.include({ payload: { status: 'Accepted' } });
};
