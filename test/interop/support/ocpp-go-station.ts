/** A charging station of OCPP 2.0.1 at the CSMS of ocpp-go. */
import { expect } from 'chai';
import { freePorts } from '../../support/ports.ts';
import { StationAtCentral } from './ocpp-central.ts';
import type { CentralOptions } from './ocpp-central.ts';
import { startGoCentral } from './ocpp-go.ts';
import type { LinePeer } from './peers.ts';

export const goOptions = { version: '2.0.1' } as const;
/** of the station */
export const goFlags = ['--ocpp_version', 'ocpp2.0.1j'];

export class GoStation {
  readonly station: StationAtCentral;
  readonly #central: LinePeer;

  private constructor(central: LinePeer, station: StationAtCentral) {
    this.#central = central;
    this.station = station;
  }

  /** Starts both. */
  static async open(id: string, options: CentralOptions = {}, flags: readonly string[] = []): Promise<GoStation> {
    const port = await freePorts(1);
    const central = startGoCentral(port, { ...options, ...goOptions });
    await central.ask('ready');
    const scheme = options.cert === undefined ? 'ws' : 'wss';
    const url = `${scheme}://127.0.0.1:${port}`;
    return new GoStation(central, await StationAtCentral.open(id, central, url, [...goFlags, ...flags]));
  }

  /** Closes both; the package has refused nothing of the station. */
  async close(): Promise<void> {
    expect(await this.#central.ask('refused')).to.deep.equal([]);
    expect(await this.station.brokenRules()).to.deep.equal([]);
    expect(await this.station.close()).to.equal(0);
    await this.#central.stop();
  }
}
