/** The clients of IEEE 2030.5 as an adapter: its state, devices that join and leave, and lines at the start. */
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import { disabledStatus, startLine } from '../core/adapter.ts';
import type { Adapter, AdapterStatus, CommState } from '../core/adapter.ts';
import { errorText, SimError } from '../core/errors.ts';
import type { Device } from '../contract/device.ts';
import type { DeviceServer } from '../contract/plant.ts';
import type { CsipClient } from '../contract/csip-client.ts';
import { disabledCsipClient } from '../contract/csip-disabled.ts';
import type { Runtime } from './runtime.ts';

/** The parts of a process with CSIP, which are loaded when it starts. */
export interface CsipParts {
  readonly runtime: Runtime;
  readonly client: CsipClient;
}

export interface CsipAdapterOptions {
  /** at the start */
  readonly devices: () => readonly Device[];
  readonly load: () => Promise<CsipParts>;
  readonly commAlarms: CommAlarmSwitch;
  /** address of the server at the start, for people */
  readonly endpoint: string;
}

export class CsipAdapter implements Adapter, DeviceServer {
  readonly module = 'CSIP';
  readonly comm = 'csip';
  readonly outbound = true;
  readonly #options: CsipAdapterOptions;
  #parts: CsipParts | null = null;
  #state: CommState = 'stopped';
  #stopping: Promise<void> | null = null;

  constructor(options: CsipAdapterOptions) {
    this.#options = options;
  }

  /** What REST works with; before the start it shows that nothing runs. */
  get client(): CsipClient {
    return this.#parts?.client ?? disabledCsipClient;
  }

  async start(): Promise<void> {
    if (this.#parts !== null) return;
    this.#state = 'starting';
    const parts = await this.#options.load();
    parts.runtime.add(this.#options.devices());
    await parts.runtime.listen();
    parts.runtime.watch();
    parts.runtime.connect();
    this.#parts = parts;
  }

  stop(): Promise<void> {
    this.#stopping ??= (this.#parts?.runtime.stop() ?? Promise.resolve()).then(() => {
      this.#state = 'stopped';
    });
    return this.#stopping;
  }

  readonly reload = (): void => this.#parts?.runtime.reload();

  startLines(): readonly string[] {
    const { connections = [], notifications } = this.#parts?.runtime ?? {};
    const count = connections.length;
    const clients = startLine('CSIP', `${count} client${count === 1 ? '' : 's'} of ${this.#options.endpoint}`);
    const base = notifications?.base ?? null;
    return base === null ? [clients] : [clients, startLine('CSIP', `notifications at ${base}`)];
  }

  async addDevice(device: Device): Promise<void> {
    if (this.#parts === null) return;
    try {
      await this.#parts.runtime.join(device);
    } catch (error) {
      throw new SimError('COMMAND_CONFLICT', `there is no CSIP client for device ${device.index}: ${errorText(error)}`);
    }
  }

  async removeDevice(index: number): Promise<void> {
    await this.#parts?.runtime.leave(index);
    this.#options.commAlarms.end(index, 'csip_connection_lost');
  }

  status(): AdapterStatus {
    if (this.#parts === null) return { ...disabledStatus, enabled: true, state: this.#state };
    const clients = this.#parts.runtime.connections.map(({ client }) => client);
    const running = clients.filter(({ state }) => state === 'running').length;
    const sum = (of: (client: (typeof clients)[number]) => number) =>
      clients.reduce((total, each) => total + of(each), 0);
    const contacts = clients.flatMap(({ line }) => line.lastContactMs ?? []);
    return {
      enabled: true,
      state: this.#stopping === null ? stateOf(clients) : this.#state,
      detail: detailOf(clients, running),
      endpoint: clients[0]?.line.origin || this.#options.endpoint,
      peers: running,
      lastActivityMs: contacts.length === 0 ? null : Math.max(...contacts),
      rxCount: sum(({ line }) => line.received),
      txCount: sum(({ line }) => line.sent),
      errorCount: sum(({ line }) => line.failed),
    };
  }
}

type ClientState = Runtime['connections'][number]['client']['state'];

/** The state of several clients in one: all must be at work to be `connected`, but for those that were ended. */
function stateOf(clients: readonly { readonly state: ClientState; readonly ceased: boolean }[]): CommState {
  const states = clients.map(({ state }) => state).filter((state) => state !== 'stopped');
  if (states.length === 0) return clients.some(({ ceased }) => ceased) ? 'error' : 'stopped';
  if (states.every((state) => state === 'running')) return 'connected';
  return states.includes('retrying') ? 'retrying' : 'connecting';
}

function detailOf(
  clients: readonly { readonly state: ClientState; readonly line: { readonly lastError: string | null } }[],
  running: number,
): string | null {
  if (running === clients.length) return null;
  const [first] = clients.filter(({ state }) => state !== 'running');
  const why = first?.line.lastError ?? first?.state ?? null;
  return clients.length === 1 ? why : `${running} of ${clients.length} are running: ${why}`;
}
