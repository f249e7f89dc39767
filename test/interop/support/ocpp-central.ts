/** A central system of other people, whichever it is, and one charge point of ours at it. */
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';
import type { LinePeer } from './peers.ts';
import { Stream } from './stream.ts';

/** A request of a station as the central system has read it. */
export interface Received {
  readonly action: string;
  readonly payload: Json;
  /** place among all requests, from 1 */
  readonly number: number;
}

export class StationAtCentral {
  readonly id: string;
  readonly simulator: RunningSimulator;
  readonly stream: Stream;
  readonly #central: LinePeer;
  /** requests up to this number are not looked at any more */
  #after = 0;

  private constructor(id: string, central: LinePeer, simulator: RunningSimulator, stream: Stream) {
    this.id = id;
    this.#central = central;
    this.simulator = simulator;
    this.stream = stream;
  }

  /** @param url of the central system, without the identity */
  static async open(
    id: string,
    central: LinePeer,
    url: string,
    flags: readonly string[] = [],
  ): Promise<StationAtCentral> {
    const simulator = await startSimulator([
      ...['--evse_profile', 'EVSE-AC-22kW-1port', '--tick', '0.1', '--ocpp_enable', 'yes', '--ocpp_csid', id],
      ...['--ocpp_csms_url', url, '--ocpp_auto_authorize', 'no', ...flags],
    ]);
    return new StationAtCentral(id, central, simulator, await Stream.open(simulator.httpPort));
  }

  async close(): Promise<number | null> {
    await this.stream.close();
    return this.simulator.stop();
  }

  /** The answer of the station to a call of the central system. @throws PeerError for a CALLERROR */
  call(action: string, payload: Json = {}): Promise<Json> {
    return this.#central.ask('call', { station: this.id, action, payload });
  }

  /**
   * The next request of the station, in order, whose members have these values.
   * @throws PeerError without one in 30 s
   */
  async next(action: string, where: Readonly<Record<string, unknown>> = {}): Promise<Received> {
    const found = (await this.#central.ask('wait', {
      station: this.id,
      action,
      where,
      after: this.#after,
    })) as Received;
    this.#after = found.number;
    return found;
  }

  async get(path: string): Promise<Json> {
    return (await ask(this.simulator.httpPort, `/api/sim/${path}`)).json;
  }

  /** @throws Error for an answer that is no success */
  async post(path: string, body: Json = {}): Promise<Json> {
    const { status, json } = await ask(this.simulator.httpPort, `/api/sim/${path}`, { method: 'POST', body });
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  connector(operation: string, body: Json = {}): Promise<Json> {
    return this.post(`evse/${this.id}/connectors/1/${operation}`, body);
  }

  /** 701.W of the device, negative while it charges. */
  async powerW(): Promise<number> {
    const { points } = await this.get('registers/701');
    return points.find(({ name }: Json) => name === 'W').value;
  }

  until<T>(what: string, answer: () => Promise<T | undefined>): Promise<T> {
    return this.stream.until(what, 30, answer);
  }
}
