/** A central system of other people, whichever it is, and one charge point of ours at it. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { freePorts } from '../../support/ports.ts';
import { startSimulator } from '../../support/process.ts';
import type { RunningSimulator } from '../../support/process.ts';
import { PythonPeer } from './peers.ts';
import type { LinePeer } from './peers.ts';
import { Stream } from './stream.ts';

/** What both programs take. */
export interface CentralOptions {
  /** default 1.6; ocpp-go has no 2.1 */
  readonly version?: '1.6' | '2.0.1' | '2.1';
  /** a further version that it speaks, of which one is 1.6; not at ocpp-go */
  readonly and?: '1.6' | '2.0.1' | '2.1';
  /** files of the server, PEM: TLS */
  readonly cert?: string;
  readonly key?: string;
  /** file, PEM: clients need a certificate of this CA */
  readonly ca?: string;
  /** clients may do without; not at ocpp-go */
  readonly any_client?: boolean;
  /** basic authentication */
  readonly user?: string;
  /** octets, hexadecimal */
  readonly password?: string;
}

/** A request of a station as the central system has read it. */
export interface Received {
  readonly action: string;
  readonly payload: Json;
  /** place among all requests, from 1 */
  readonly number: number;
  /** s since the epoch; not at ocpp-go */
  readonly at: number;
}

/** The sampled value of a measurand in MeterValues, summed over the phases where it has them. */
export function sampled({ payload }: { readonly payload: Json }, measurand: string): number | undefined {
  const values: readonly Json[] = payload.meterValue.flatMap((one: Json) => one.sampledValue);
  const own = values.filter((one) => (one.measurand ?? 'Energy.Active.Import.Register') === measurand);
  if (own.length === 0) return undefined;
  const total = own.filter(({ phase }) => phase === undefined);
  return (total.length > 0 ? total : own).reduce<number>((sum, { value }) => sum + Number(value), 0);
}

/** A time stamp so many seconds from now. */
export const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

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
    profile = 'EVSE-AC-22kW-1port-EU',
  ): Promise<StationAtCentral> {
    const simulator = await startSimulator([
      // a vehicle needs some seconds before it charges, which pass faster here
      ...['--evse_profile', profile, '--tick', '0.1', '--time_rate', '10'],
      ...['--ocpp_enable', 'yes', '--ocpp_csid', id, '--ocpp_csms_url', url, '--ocpp_auto_authorize', 'no', ...flags],
    ]);
    return new StationAtCentral(id, central, simulator, await Stream.open(simulator.httpPort));
  }

  /** The same station at another central system, of which it has to be told. */
  at(central: LinePeer): StationAtCentral {
    return new StationAtCentral(this.id, central, this.simulator, this.stream);
  }

  async close(): Promise<number | null> {
    await this.stream.close();
    return this.simulator.stop();
  }

  /**
   * The answer of the station to a call of the central system.
   * @param timeout s
   * @throws PeerError for a CALLERROR, and without an answer
   */
  call(action: string, payload: Json = {}, timeout = 30): Promise<Json> {
    return this.#central.ask('call', { station: this.id, action, payload, timeout });
  }

  /** A call whose answer has this status. */
  async expectStatus(status: string, action: string, payload: Json = {}): Promise<Json> {
    const answer = await this.call(action, payload);
    expect(answer.status, `${action} ${JSON.stringify(payload)}`).to.equal(status);
    return answer;
  }

  /** Waits until the central system has accepted the station, which refuses calls before. */
  registered(): Promise<true> {
    return this.until('its registration is accepted', async () => {
      const { boot_status: boot } = await this.get(`ocpp/${this.id}`);
      return boot === 'accepted' || undefined;
    });
  }

  configure(key: string, value: string): Promise<Json> {
    return this.expectStatus('Accepted', 'ChangeConfiguration', { key, value });
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

  /** As `next`, wherever it stands among all requests. */
  ever(action: string, where: Readonly<Record<string, unknown>>): Promise<Received> {
    return this.#central.ask('wait', { station: this.id, action, where });
  }

  status(status: string, connectorId = 1): Promise<Received> {
    return this.next('StatusNotification', { connectorId, status });
  }

  async get(path: string): Promise<Json> {
    return (await ask(this.simulator.httpPort, `/api/sim/${path}`)).json;
  }

  /** Rules of the catalogue that the central system has broken, each with its last case. */
  async brokenRules(): Promise<readonly string[]> {
    const { findings } = await this.get('findings?protocol=ocpp');
    return findings.map(({ rule, text }: Json) => `${rule}: ${text}`).toSorted();
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

  /** Plugs a vehicle in and presents a tag, which starts a transaction. @returns StartTransaction */
  async start(idTag: string): Promise<Received> {
    await this.connector('plug', { ev: { soc_pct: 20 } });
    await this.connector('authorize', { id_token: idTag });
    const started = await this.next('StartTransaction', { idTag });
    await this.status('Charging');
    return started;
  }

  until<T>(what: string, answer: () => Promise<T | undefined>): Promise<T> {
    return this.stream.until(what, 30, answer);
  }
}

/** The central system on the package `ocpp`, with a station at it. */
/** Values of `--ocpp_version`. */
const flagOf = { '1.6': 'ocpp1.6j', '2.0.1': 'ocpp2.0.1j', '2.1': 'ocpp2.1' } as const;

export class PythonCentral {
  readonly peer: PythonPeer;
  /** without the identity */
  readonly url: string;
  readonly station: StationAtCentral;

  private constructor(peer: PythonPeer, url: string, station: StationAtCentral) {
    this.peer = peer;
    this.url = url;
    this.station = station;
  }

  /** @param rules before the station connects */
  static async open(
    id: string,
    {
      options = {},
      flags = [],
      rules = {},
      profile,
    }: {
      readonly options?: CentralOptions;
      readonly flags?: readonly string[];
      readonly rules?: Json;
      /** of the station */
      readonly profile?: string;
    } = {},
  ): Promise<PythonCentral> {
    const port = await freePorts(1);
    const peer = new PythonPeer('central_system', port, JSON.stringify(options));
    try {
      await peer.ask('ready');
      await peer.ask('rule', rules);
      const scheme = options.cert === undefined ? 'ws' : 'wss';
      const { version = '1.6', and } = options;
      const offered = [version, ...(and === undefined ? [] : [and])].map((each) => flagOf[each]).join();
      const spoken = offered === flagOf['1.6'] ? [] : ['--ocpp_version', offered];
      const url = `${scheme}://127.0.0.1:${port}`;
      return new PythonCentral(peer, url, await StationAtCentral.open(id, peer, url, [...spoken, ...flags], profile));
    } catch (error) {
      await peer.stop();
      throw error;
    }
  }

  /**
   * Closes both; the package has refused nothing of the station.
   * @param broken rules that a test makes the package break
   */
  async close(broken: readonly string[] = []): Promise<void> {
    expect(await this.peer.ask('refused')).to.deep.equal([]);
    expect(await this.station.brokenRules()).to.deep.equal(broken);
    expect(await this.station.close()).to.equal(0);
    await this.peer.stop();
  }

  rule(rules: Json): Promise<Json> {
    return this.peer.ask('rule', rules);
  }

  /** All requests of the station of an action, oldest first. */
  async requests(action: string): Promise<readonly Received[]> {
    const all: readonly Received[] = await this.peer.ask('requests');
    return all.filter((one) => one.action === action);
  }

  /** Ends the connection without a close frame, and takes no new one until `reopen`. */
  async cut(): Promise<void> {
    await this.rule({ open: false });
    await this.peer.ask('cut', { station: this.station.id });
    await this.station.until('the station is offline', async () => {
      const { connection_state: state } = await this.station.get(`ocpp/${this.station.id}`);
      return state === 'connected' ? undefined : true;
    });
  }

  async reopen(): Promise<void> {
    await this.rule({ open: true });
    await this.station.next('(connected)');
  }
}
