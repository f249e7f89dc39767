/** The charge points of a process as an adapter: its state, stations that join and leave, and lines at the start. */
import { disabledStatus, startLine } from '../core/adapter.ts';
import type { Adapter, AdapterStatus, CommState } from '../core/adapter.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import { errorText, SimError } from '../core/errors.ts';
import type { Device } from '../contract/device.ts';
import type { OcppStations, OcppStatus } from '../contract/ocpp.ts';
import { disabledOcpp } from '../contract/ocpp-disabled.ts';
import type { DeviceServer } from '../contract/plant.ts';
import type { Runtime } from './runtime.ts';

export interface OcppAdapterOptions {
  /** at the start */
  readonly devices: () => readonly Device[];
  readonly load: () => Promise<Runtime>;
  readonly commAlarms: CommAlarmSwitch;
  /** URL of the central system at the start, for people */
  readonly endpoint: string;
}

export class OcppAdapter implements Adapter, DeviceServer {
  readonly module = 'OCPP';
  readonly comm = 'ocpp';
  readonly outbound = true;
  readonly #options: OcppAdapterOptions;
  #runtime: Runtime | null = null;
  #state: CommState = 'stopped';
  #stopping: Promise<void> | null = null;

  constructor(options: OcppAdapterOptions) {
    this.#options = options;
  }

  /** What REST works with; before the start it shows that nothing runs. */
  get stations(): OcppStations {
    return this.#runtime ?? disabledOcpp;
  }

  async start(): Promise<void> {
    if (this.#runtime !== null) return;
    this.#state = 'starting';
    const runtime = await this.#options.load();
    this.#runtime = runtime;
    for (const device of this.#options.devices()) await runtime.join(device);
    runtime.connect();
  }

  stop(): Promise<void> {
    this.#stopping ??= (this.#runtime?.stop() ?? Promise.resolve()).then(() => {
      this.#state = 'stopped';
    });
    return this.#stopping;
  }

  startLines(): readonly string[] {
    const { length: count } = this.stations.list;
    return [startLine('OCPP', `${count} charge point${count === 1 ? '' : 's'} of ${this.#options.endpoint}`)];
  }

  async addDevice(device: Device): Promise<void> {
    if (this.#runtime === null) return;
    try {
      await this.#runtime.join(device);
      this.#runtime.connect();
    } catch (error) {
      throw new SimError('COMMAND_CONFLICT', `device ${device.index} has no OCPP charge point: ${errorText(error)}`);
    }
  }

  async removeDevice(index: number): Promise<void> {
    await this.#runtime?.leave(index);
    this.#options.commAlarms.end(index, 'ocpp_connection_lost');
  }

  status(): AdapterStatus {
    const stations = this.stations.list;
    if (this.#runtime === null) return { ...disabledStatus, enabled: true, state: this.#state };
    const states = stations.map(({ status }) => status);
    const connected = states.filter(({ connectionState }) => connectionState === 'connected').length;
    const { messages, lastContactMs, drops, callErrors } = this.stations.totals;
    const frames = (direction: 'in' | 'out') =>
      messages.reduce((sum, each) => sum + (each.direction === direction ? each.count : 0), 0);
    return {
      enabled: true,
      state: this.#stopping === null ? stateOf(states, this.#runtime.starting) : this.#state,
      detail: detailOf(states, connected),
      endpoint: this.#options.endpoint,
      peers: connected,
      lastActivityMs: lastContactMs,
      rxCount: frames('in'),
      txCount: frames('out'),
      errorCount: drops + callErrors,
    };
  }
}

/**
 * `connected` when all stations are that are to be connected.
 * @param starting stations that have not begun to connect yet
 */
function stateOf(states: readonly OcppStatus[], starting: number): CommState {
  const wanted = states.filter(
    ({ connectionState, reconnectInS }) => connectionState !== 'disconnected' || reconnectInS !== null,
  );
  if (wanted.length + starting === 0) return 'stopped';
  if (starting === 0 && wanted.every(({ connectionState }) => connectionState === 'connected')) return 'connected';
  return wanted.some(({ lastError }) => lastError !== null) ? 'retrying' : 'connecting';
}

function detailOf(states: readonly OcppStatus[], connected: number): string | null {
  if (connected === states.length) return null;
  const why = states.find(({ connectionState }) => connectionState !== 'connected')?.lastError ?? null;
  return states.length === 1 ? why : `${connected} of ${states.length}${why === null ? '' : `: ${why}`}`;
}
