/** A client of the REST interface, for scripts. */
import { checkedAddress, checkedNumber, checkedOptions, checkedWhole, deviceOf, encoded, refusal } from './checks.ts';
import { DerbenchError } from './error.ts';
import { sender } from './http.ts';
import type { Send } from './http.ts';
import type {
  ClientOptions,
  ConnectorOption,
  DeviceOption,
  Protocol,
  Query,
  RequestOptions,
  StepSpan,
  WaitOptions,
  ValueCondition,
} from './options.ts';
import type {
  Alarm,
  Authorization,
  Connector,
  Device,
  EndedFault,
  Environment,
  EnvironmentChange,
  Fault,
  Faults,
  GetReplies,
  Grid,
  GridChange,
  Json,
  Message,
  Overview,
  RegisterChange,
  RegisterModel,
  Session,
  Step,
  Time,
} from './replies.ts';
import { numberOf, sampleOf, wordOf, waitUntil } from './until.ts';
import type { Sample } from './until.ts';
import { instantOf, tickSeconds } from './time.ts';

type ReplyOf<P extends string> = P extends keyof GetReplies ? GetReplies[P] : Json;

/** Maximum of ticks in one request: more could exceed the timeout of `fetch`. */
const ticksPerRequest = 1000;
/** Minimum and maximum timeout of one attempt of `ready`; even a total of 0 allows one attempt. */
const minAttemptMs = 100;
const maxAttemptMs = 300_000;
/** The maximum of `Date`, ms. */
const lastInstantMs = 8.64e15;

/**
 * A running simulator. Paths are those of the API description after `/api/sim/`. Every method throws `DerbenchError`
 * with the problem of a refused request, or `not-reachable`.
 */
export class Client {
  /** address of the simulator, such as `http://127.0.0.1:8111` */
  readonly url: string;
  readonly #send: Send;

  /** @throws DerbenchError `validation` for an address without `http://` or `https://` */
  constructor(url = 'http://127.0.0.1:8111', options: ClientOptions = {}) {
    const { headers = {}, fetch = globalThis.fetch } = checkedOptions(options, ['headers', 'fetch']);
    this.url = checkedAddress(url);
    this.#send = sender(this.url, fetch, headers);
  }

  async get<P extends string>(path: P, options: Pick<RequestOptions, 'query'> = {}): Promise<ReplyOf<P>> {
    return (await this.#send('GET', path, checkedOptions(options, ['query']))) as ReplyOf<P>;
  }

  async post(path: string, options: RequestOptions = {}): Promise<Json> {
    return this.#send('POST', path, { body: {}, ...checkedOptions(options, ['query', 'body']) });
  }

  async patch(path: string, options: RequestOptions = {}): Promise<Json> {
    return this.#send('PATCH', path, { body: {}, ...checkedOptions(options, ['query', 'body']) });
  }

  async delete(path: string, options: Pick<RequestOptions, 'query'> = {}): Promise<Json> {
    return this.#send('DELETE', path, checkedOptions(options, ['query']));
  }

  /**
   * Waits until the simulator answers, for at most `timeoutS` real seconds (default 30). @throws DerbenchError
   * `timeout`
   */
  async ready(options: { readonly timeoutS?: number } = {}): Promise<void> {
    const timeoutS = checkedNumber('timeoutS', checkedOptions(options, ['timeoutS']).timeoutS ?? 30, 0);
    const endMs = performance.now() + timeoutS * 1000;
    for (;;) {
      try {
        const limitMs = Math.min(Math.max(endMs - performance.now(), minAttemptMs), maxAttemptMs);
        await this.#send('GET', 'health', { limitMs });
        return;
      } catch (error) {
        const isUnreachable = error instanceof DerbenchError && error.code === 'not-reachable';
        if (!isUnreachable) throw error;
        if (performance.now() >= endMs)
          throw new DerbenchError({ code: 'timeout', detail: `${error.detail} (for ${timeoutS} s)`, cause: error });
        await pause(Math.max(0, Math.min(100, endMs - performance.now())));
      }
    }
  }

  // the clock

  time(): Promise<Time> {
    return this.get('controls/time');
  }

  /** Pauses the clock: time passes only in steps. */
  pause(): Promise<Time> {
    return this.post('controls/time', { body: { mode: 'paused' } });
  }

  /** Starts the clock. @param rate simulated seconds per real second, 0.01 to 3600 */
  rate(rate: number): Promise<Time> {
    return this.post('controls/time', { body: { mode: 'accelerated', rate } });
  }

  /**
   * Runs ticks of the paused clock and waits for their end.
   * @param span number of ticks, or one of `ticks`, `seconds` and `to`; none: one tick
   * @throws DerbenchError `conflict` while the clock runs
   */
  async step(span: StepSpan | number = {}): Promise<Step> {
    const spanObject = typeof span === 'number' ? { ticks: span } : span;
    const { ticks, seconds, to, device } = checkedOptions<StepSpan>(spanObject, ['ticks', 'seconds', 'to', 'device']);
    if ([ticks, seconds, to].filter((each) => each !== undefined).length > 1)
      throw new DerbenchError({ code: 'validation', detail: 'a step takes one of ticks, seconds and to' });
    if (seconds === undefined && to === undefined) return this.#stepTicks(checkedWhole('ticks', ticks ?? 1), device);
    if (seconds !== undefined) checkedNumber('seconds', seconds);
    const time = await this.time();
    const endMs = to === undefined ? Date.parse(time.sim_time) + (seconds ?? 0) * 1000 : instantOf(to, time);
    if (Math.abs(endMs) > lastInstantMs) throw refusal(seconds, 'seconds to an instant that a `Date` can hold');
    const wholeTicks = Math.ceil((endMs - Date.parse(time.sim_time)) / (tickSeconds(time) * 1000)) - 1;
    // the request with `until` runs only the ticks that remain after full requests
    const fullTicks = Math.floor(wholeTicks / ticksPerRequest) * ticksPerRequest;
    if (fullTicks > 0) await this.#stepTicks(fullTicks, device);
    const body = { until: new Date(endMs).toISOString() };
    return (await this.post('controls/time/step', { query: { device }, body })) as Step;
  }

  async #stepTicks(ticks: number, device: number | undefined): Promise<Step> {
    const send = (count: number) =>
      this.post('controls/time/step', { query: { device }, body: { ticks: count } }) as Promise<Step>;
    let left = ticks;
    for (; left > ticksPerRequest; left -= ticksPerRequest) await send(ticksPerRequest);
    return send(left);
  }

  /** Steps to an instant such as `2026-06-21T12:05:00Z`, or to the next time of day such as `12:05`. */
  async stepTo(time: string, options: DeviceOption = {}): Promise<Step> {
    const device = deviceOf(options);
    return this.step({ to: time, ...(device !== undefined && { device }) });
  }

  // devices

  async overview(options: DeviceOption = {}): Promise<Overview> {
    return this.get('overview', { query: { device: deviceOf(options) } });
  }

  devices(): Promise<readonly Device[]> {
    return this.get('devices').then(({ devices }) => devices);
  }

  async device(index: number): Promise<Device> {
    const [device] = (await this.get('devices', { query: { device: index } })).devices;
    if (device === undefined)
      throw new DerbenchError({ code: 'unknown-device', detail: `there is no device ${index}` });
    return device;
  }

  /** A model of the map, or some of its points. */
  async registers(
    model: number | string,
    options: DeviceOption & { readonly points?: readonly string[] } = {},
  ): Promise<RegisterModel> {
    const { points, device } = checkedOptions(options, ['points', 'device']);
    return this.get(`registers/${model}`, { query: { points, device } }) as Promise<RegisterModel>;
  }

  /**
   * The number in a point such as `701.W`, in engineering units, or in a member of the snapshot such as
   * `metrics.power_kw`.
   * @throws DerbenchError `not-a-number`, also if the device does not have the quantity
   */
  async point(name: string, options: DeviceOption = {}): Promise<number> {
    return numberOf(name, await this.#sample(name, deviceOf(options)));
  }

  /**
   * The name of an enumeration value such as `701.InvSt`, or a text such as `1.Mn`. @throws DerbenchError `not-a-text`
   */
  async text(name: string, options: DeviceOption = {}): Promise<string> {
    return wordOf(name, await this.#sample(name, deviceOf(options)));
  }

  #sample(name: string, device: number | undefined): Promise<Sample> {
    return sampleOf(name, {
      registers: (model, point) => this.registers(model, { points: [point], ...(device !== undefined && { device }) }),
      snapshot: () => this.overview(device === undefined ? {} : { device }),
    });
  }

  /** Writes points of a model, all or none: numbers in engineering units, enumerations by name or number. */
  async write(
    model: number | string,
    points: Readonly<Record<string, number | string>>,
    options: DeviceOption = {},
  ): Promise<RegisterModel> {
    const query = { device: deviceOf(options) };
    return this.post(`registers/${model}`, { query, body: { points } }) as Promise<RegisterModel>;
  }

  /**
   * Waits until a point such as `701.W`, or a member of the snapshot such as `status.inverter_state`, has the expected
   * value. While the clock is paused it steps by ticks, otherwise it checks twice per tick. A test may be `async`.
   * @returns the value: for an expected word its name or text, otherwise its number (NaN for a text)
   * @throws DerbenchError `timeout` with the last value; `validation` for null, NaN and unknown options
   */
  until(name: string, condition: string, options?: WaitOptions): Promise<string>;
  until(name: string, condition: Exclude<ValueCondition, string>, options?: WaitOptions): Promise<number>;
  async until(name: string, condition: ValueCondition, options: WaitOptions = {}): Promise<number | string> {
    checkedOptions(options, ['timeoutS', 'simulated', 'device']);
    const sim = {
      sample: () => this.#sample(name, options.device),
      time: () => this.time(),
      step: async (until: string | null) => {
        const body = until === null ? { ticks: 1 } : { until };
        return ((await this.post('controls/time/step', { body })) as Step).time;
      },
      nowMs: () => performance.now(),
      pause,
    };
    const { value, symbol } = await waitUntil(name, condition, sim, options);
    return typeof condition === 'string' ? (symbol ?? String(value)) : Number(value);
  }

  /** Points that differ from the start, with their writers. */
  async changes(options: DeviceOption = {}): Promise<readonly RegisterChange[]> {
    return (await this.get('registers/changes', { query: { device: deviceOf(options) } })).changes;
  }

  /** Active alarms of one device or of all. */
  async alarms(options: DeviceOption = {}): Promise<readonly Alarm[]> {
    const device = deviceOf(options);
    const { alarms } = device === undefined ? await this.overview() : await this.device(device);
    return alarms.active;
  }

  // surroundings

  /** Changes the grid of one device or the common grid; an empty change only reads. */
  async grid(change: GridChange = {}, options: DeviceOption = {}): Promise<Grid> {
    return this.#set('controls/grid', change, deviceOf(options));
  }

  /** Starts an event of `GET grid-events`; null stops the active one. */
  async gridEvent(
    event: string | null,
    parameters: Readonly<Record<string, number | string>> = {},
    options: DeviceOption = {},
  ): Promise<Grid> {
    const body = { event, ...(event !== null && { parameters }) };
    return this.post('controls/grid/event', { query: { device: deviceOf(options) }, body }) as Promise<Grid>;
  }

  /** Changes irradiance, temperatures and load; an empty change only reads. */
  async environment(change: EnvironmentChange = {}, options: DeviceOption = {}): Promise<Environment> {
    return this.#set('controls/environment', change, deviceOf(options));
  }

  #set<P extends 'controls/grid' | 'controls/environment'>(
    path: P,
    change: object,
    device: number | undefined,
  ): Promise<ReplyOf<P>> {
    const query = { device };
    if (Object.keys(change).length === 0) return this.get(path, { query });
    return this.post(path, { query, body: change }) as Promise<ReplyOf<P>>;
  }

  // faults

  /**
   * Injects a fault of `GET faults/kinds`, such as `fault('scale', { points: ['701.W'], factor: 0.5 })`. For protocols
   * other than Modbus the parameter `protocol` is required.
   */
  async fault(
    kind: string,
    parameters: Readonly<Record<string, unknown>> = {},
    options: DeviceOption = {},
  ): Promise<Fault> {
    const body = { inject: [{ kind, ...parameters }] };
    const { faults } = (await this.post('faults', { query: { device: deviceOf(options) }, body })) as Faults;
    return faults.reduce((newest, each) => (each.id > newest.id ? each : newest));
  }

  /** Ends all faults. @returns the faults that have ended since the start, with their strikes */
  async clearFaults(): Promise<readonly EndedFault[]> {
    return ((await this.post('faults', { body: { clear: true } })) as Faults).ended;
  }

  // charging stations

  #connector(where: ConnectorOption): string {
    const { chargePoint = 'SIM-CP-1', connector = 1 } = checkedOptions(where, ['chargePoint', 'connector']);
    return `evse/${encoded(chargePoint)}/connectors/${connector}`;
  }

  async connector(where: ConnectorOption = {}): Promise<Connector> {
    return this.get(this.#connector(where)) as Promise<Connector>;
  }

  /** Plugs a vehicle in. @param ev members that differ from the profile's vehicle, such as `{ soc_pct: 40 }` */
  async plug(ev: Readonly<Record<string, unknown>> = {}, where: ConnectorOption = {}): Promise<Connector> {
    return this.post(`${this.#connector(where)}/plug`, { body: { ev } }) as Promise<Connector>;
  }

  async unplug(where: ConnectorOption = {}): Promise<Connector> {
    return this.post(`${this.#connector(where)}/unplug`) as Promise<Connector>;
  }

  /** Presents a token; with OCPP the central system decides. */
  async authorize(idToken: string, where: ConnectorOption = {}): Promise<Authorization> {
    const body = { id_token: idToken };
    return this.post(`${this.#connector(where)}/authorize`, { body }) as Promise<Authorization>;
  }

  /** Starts a session. @param idToken optional if plugging in authorises */
  async startCharging(idToken?: string, where: ConnectorOption = {}): Promise<Session> {
    const body = idToken === undefined ? {} : { id_token: idToken };
    return this.post(`${this.#connector(where)}/start`, { body }) as Promise<Session>;
  }

  /** Ends the session. @returns null if only an authorisation was withdrawn */
  async stopCharging(where: ConnectorOption = {}): Promise<Session | null> {
    return this.post(`${this.#connector(where)}/stop`) as Promise<Session | null>;
  }

  // messages

  /** Starts or stops recording the messages of a protocol; those of OCPP are always recorded. */
  record(protocol: Exclude<Protocol, 'ocpp'>, enabled = true): Promise<Json> {
    return this.post(`${protocol}/messages`, { body: { enabled } });
  }

  /** The recorded messages, oldest first. @param query of the API description: `limit`, `after_id`, ... */
  async messages(
    protocol: Protocol,
    { chargePoint = 'SIM-CP-1', ...query }: Query & { readonly chargePoint?: string } = {},
  ): Promise<readonly Message[]> {
    const path = protocol === 'ocpp' ? `ocpp/${encoded(chargePoint)}/messages` : `${protocol}/messages`;
    return ((await this.get(path, { query })) as { messages: readonly Message[] }).messages;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
