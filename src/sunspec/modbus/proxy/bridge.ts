import { AdapterLifecycle, startLine } from '../../../core/adapter.ts';
import type { Adapter, AdapterStatus, Exposure } from '../../../core/adapter.ts';
import type { CommAlarmSwitch } from '../../../core/comm-alarms.ts';
import { errorText, noSuchDevice, SimError } from '../../../core/errors.ts';
import type { Issue } from '../../../core/errors.ts';
import { hostAndPort, portRemedy } from '../../../core/net/listen.ts';
import { silentLogger } from '../../../core/log/log.ts';
import type { Logger } from '../../../core/log/log.ts';
import { defaultProxyPort, maxUnitId } from '../../../contract/modbus-report.ts';
import type { ModbusReport, ModbusReporter } from '../../../contract/modbus-report.ts';
import { factsOf, pointerIssues, withInput } from '../../../core/zod-issues.ts';
import type { DeviceServer } from '../../../contract/plant.ts';
import type { Layout } from '../../map/layout.ts';
import { countsStatus } from '../server/context.ts';
import type { ModbusContext } from '../server/context.ts';
import { createModbusContext, createModbusTcpServer } from '../server/server.ts';
import type { ModbusContextOptions, ModbusTcpServer } from '../server/server.ts';
import { createProxyDisturber, refusesPart } from './faults-bridge.ts';
import type { ProxyFaults } from './faults-bridge.ts';
import { checkProxyMap } from './check.ts';
import { bindMap } from './points-bridge.ts';
import { proxyMapSchema } from './schema.ts';
import type { ProxyMap } from './schema.ts';
import { imageOf, ProxyUnit } from './unit-bridge.ts';
import type { ProxyDevice } from './unit-bridge.ts';
import type { DeviceTime } from './watchdog.ts';

export interface ProxyAdapterOptions extends Omit<ModbusContextOptions, 'disturber' | 'portAlarm'> {
  /** absent: no fault injection */
  readonly faults?: ProxyFaults;
  /** shows a lost port as an alarm of its devices; absent: no alarm */
  readonly commAlarms?: CommAlarmSwitch;
  /** simulated time of a device; absent: heartbeats are not watched */
  readonly timeOf?: (deviceIndex: number) => DeviceTime;
  /** parsed map file */
  readonly map: unknown;
  /** name of the file, for messages */
  readonly mapLabel: string;
  /** the devices at the start */
  readonly devices: readonly ProxyDevice[];
  readonly host: string;
  /** 0: any free port; null: the port in the map */
  readonly port: number | null;
  /** device types whose maps pass a test, named in the error if the devices do not fit; default: none */
  readonly deviceTypesWhere?: (passes: (layout: Layout) => boolean) => readonly string[];
}

/** @throws SimError CONFIG_INVALID with every issue of the form as a JSON pointer into the map */
function parseMap(raw: unknown, label: string): ProxyMap {
  const parsed = proxyMapSchema.safeParse(raw, withInput);
  if (parsed.success) return parsed.data;
  const facts = factsOf(proxyMapSchema);
  throw notValid(
    label,
    parsed.error.issues.flatMap((issue) => pointerIssues(issue, 'a member of a proxy map', facts)),
  );
}

function notValid(label: string, issues: readonly Issue[], remedy = ''): SimError {
  const count = issues.length === 1 ? '1 issue' : `${issues.length} issues`;
  return new SimError('CONFIG_INVALID', `The proxy map ${label} is not valid, ${count}${remedy}:`, issues);
}

/** Issues of the map that do not depend on the device behind it. */
function pointIssues(map: ProxyMap, layouts: readonly Layout[]): Issue[] {
  const issues = layouts.flatMap((layout) => imageOf(map, layout).bound.issues);
  return [...new Map(issues.map((issue) => [`${issue.name} ${issue.detail}`, issue])).values()];
}

/** Points missing on every device; each point must exist on at least one. */
function missingPoints(map: ProxyMap, layouts: readonly Layout[], deviceCount: number): Issue[] {
  const bound = layouts.map((layout) => imageOf(map, layout).bound);
  const present = new Set(bound.flatMap((each) => [...each.present]));
  const missing = new Map(bound.flatMap((each) => [...each.lacking]).filter(([pointer]) => !present.has(pointer)));
  const whose = deviceCount === 1 ? 'the device does not have' : 'none of the devices has';
  return Array.from(missing, ([name, point]) => ({ name, detail: `${whose} ${point}` }));
}

/** End of an error message: device types that would fit; empty: none. */
function remedyFor(map: ProxyMap, { deviceTypesWhere }: ProxyAdapterOptions): string {
  const types = deviceTypesWhere?.((layout) => bindMap(map, layout).lacking.size === 0) ?? [];
  return types.length === 0 ? '' : ` (device types with all of its points: ${types.join(', ')})`;
}

const namedDevices = 5;
const namedPoints = 10;

function listed(names: readonly (string | number)[], max: number): string {
  const rest = names.length - max;
  return names.slice(0, max).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** The warnings about missing points: one for all devices that lack the same points. */
function warningsAbout(
  map: ProxyMap,
  devices: readonly ProxyDevice[],
): { readonly message: string; readonly deviceIndex: number | undefined }[] {
  const lacking = new Map<string, number[]>();
  for (const { index, bank } of devices) {
    const { lacking: unknown, empty } = imageOf(map, bank.layout).bound;
    const points = listed([...new Set([...unknown.values(), ...empty])], namedPoints);
    if (points === '') continue;
    const alike = lacking.get(points) ?? [];
    alike.push(index);
    lacking.set(points, alike);
  }
  return Array.from(lacking, ([points, indexes]) => {
    const [first, second] = indexes;
    const subject = second === undefined ? `device ${first ?? ''} does` : `devices ${listed(indexes, namedDevices)} do`;
    const message =
      `proxy: ${subject} not have ${points}, which the map ${map.name} shows: registers that need them ` +
      'read as absent and refuse writes';
    return { message, deviceIndex: second === undefined ? first : undefined };
  });
}

/**
 * Serves the register map of another manufacturer in front of the SunSpec maps of the devices, over Modbus TCP.
 * @throws SimError CONFIG_INVALID if the map is not valid or does not fit the devices
 */
export function createProxyAdapter(options: ProxyAdapterOptions): ProxyAdapter {
  const map = parseMap(options.map, options.mapLabel);
  const served = options.devices.filter((device) => isServed(map, device));
  checkFit(map, served, options);
  return new ProxyAdapter(map, served, options);
}

/** True if the map serves a device: any, or the one that it names. */
function isServed({ device: only }: ProxyMap, { index }: ProxyDevice): boolean {
  return only === undefined || index === only;
}

/** @throws SimError CONFIG_INVALID with every issue of the map and of its fit to the devices */
function checkFit(map: ProxyMap, served: readonly ProxyDevice[], options: ProxyAdapterOptions): void {
  const layouts = [...new Set(served.map(({ bank }) => bank.layout))];
  const missing = missingPoints(map, layouts, served.length);
  const issues = [
    ...checkProxyMap(map),
    ...pointIssues(map, layouts),
    ...missing,
    ...(served.length === 0 ? [unknownDevice(map, options.devices)] : lackOfRoom(map, served)),
  ];
  if (issues.length > 0) throw notValid(options.mapLabel, issues, missing.length === 0 ? '' : remedyFor(map, options));
}

export class ProxyAdapter implements Adapter, DeviceServer, ModbusReporter {
  readonly module = 'Modbus';
  readonly comm = 'modbus_proxy';
  readonly exposure: Exposure;
  readonly #map: ProxyMap;
  /** the devices at the start */
  readonly #served: readonly ProxyDevice[];
  readonly #options: ProxyAdapterOptions;
  readonly #logger: Logger;
  readonly #context: ModbusContext;
  readonly #lifecycle = new AdapterLifecycle();
  /** units by device index */
  readonly #units: Map<number, ProxyUnit>;
  /** the served devices by index */
  readonly #devices: Map<number, ProxyDevice>;
  #server: ModbusTcpServer | null = null;

  constructor(map: ProxyMap, served: readonly ProxyDevice[], options: ProxyAdapterOptions) {
    this.#map = map;
    this.#served = served;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#units = new Map();
    this.#devices = new Map(served.map((device) => [device.index, device]));
    const { faults, commAlarms: alarms } = options;
    this.#context = createModbusContext({
      ...options,
      ...(alarms && { portAlarm: { alarms, code: 'proxy_port_lost', devices: () => this.#devices.keys() } }),
      ...(faults && {
        disturber: createProxyDisturber(map, faults, {
          indexes: () => [...this.#devices.keys()],
          bankOf: (index) => this.#devices.get(index)?.bank,
        }),
      }),
    });
    for (const device of served) this.#units.set(device.index, this.#unitOf(device));
    this.exposure = { what: 'the Modbus proxy', host: options.host };
  }

  get mapName(): string {
    return this.#map.name;
  }

  /** port in use; 0 while not listening */
  get port(): number {
    return this.#server?.port ?? 0;
  }

  start(): Promise<void> {
    return this.#lifecycle.start(() => this.#open());
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(async () => {
      await this.#server?.close();
      this.#server = null;
    });
  }

  async switchOff(): Promise<void> {
    await this.stop();
    for (const index of [...this.#units.keys()]) await this.removeDevice(index);
  }

  status(): AdapterStatus {
    return this.#lifecycle.status({
      ...countsStatus(this.#context),
      detail: this.#mapInWords,
      endpoint: this.#endpoint,
      peers: this.#server?.connectionCount ?? 0,
      ...this.#context.ports.trouble,
    });
  }

  startLines(): readonly string[] {
    return [startLine('Proxy', `${hostAndPort(this.#options.host, this.port)} (${this.#mapInWords})`)];
  }

  report(): ModbusReport {
    const { foreignUnit, limits, counters } = this.#context;
    return {
      foreignUnit,
      limits,
      counters,
      listeners: [
        {
          transport: 'tcp',
          endpoint: this.#endpoint,
          deviceIndex: this.#map.device ?? null,
          accepting: this.#server?.isAccepting ?? false,
          clients: this.#server?.clients() ?? [],
        },
      ],
    };
  }

  addDevice(device: ProxyDevice): Promise<void> {
    if (!isServed(this.#map, device)) return Promise.resolve();
    const [lack] = lackOfRoom(this.#map, [device]);
    if (lack) return Promise.reject(new SimError('COMMAND_CONFLICT', `Modbus proxy: ${lack.detail}`));
    this.#devices.set(device.index, device);
    this.#units.set(device.index, this.#unitOf(device));
    this.#context.ports.joined(device.index);
    this.#warnAbout([device]);
    return Promise.resolve();
  }

  removeDevice(index: number): Promise<void> {
    this.#units.get(index)?.release();
    this.#units.delete(index);
    this.#devices.delete(index);
    return Promise.resolve();
  }

  get #mapInWords(): string {
    return `map ${this.#map.name}`;
  }

  get #endpoint(): string | null {
    return this.#server !== null && this.#lifecycle.state === 'listening'
      ? `tcp://${hostAndPort(this.#options.host, this.#server.port)}`
      : null;
  }

  async #open(): Promise<void> {
    const { host, port } = this.#options;
    this.#server = createModbusTcpServer({
      host,
      port: port ?? this.#map.port ?? defaultProxyPort,
      units: (unitId) => this.#unitAt(unitId),
      unitOf: (index) => this.#units.get(index),
      context: this.#context,
      ...(this.#map.device !== undefined && { deviceIndex: this.#map.device }),
    });
    try {
      const inUse = await this.#server.listen();
      const devices = `${this.#units.size} ${this.#units.size === 1 ? 'device' : 'devices'}`;
      this.#logger.info(`Modbus proxy with map ${this.#map.name} on ${hostAndPort(host, inUse)}, ${devices}`);
      this.#warnAbout(this.#served);
    } catch (error) {
      this.#server = null;
      throw error instanceof SimError
        ? new SimError(error.code, `Modbus proxy: ${error.message}${portRemedy(error, '--proxy_port')}`, error.issues)
        : error;
    }
  }

  #unitOf(device: ProxyDevice): ProxyUnit {
    const { index, bank } = device;
    const { faults: { registry } = {}, timeOf } = this.#options;
    return new ProxyUnit(
      this.#map,
      device,
      (name) => {
        this.#logger.warning(
          `proxy: ${name} is beyond the range of its type, and shows the nearest end of the range`,
          index,
        );
      },
      {
        refusesPart: (address) => registry !== undefined && refusesPart(this.#map, registry, index, bank, address),
        ...(timeOf && { time: timeOf(index) }),
        onLossRefused: (error) => {
          this.#logger.warning(`proxy: the settings for a missing heartbeat were refused: ${errorText(error)}`, index);
        },
      },
    );
  }

  #unitAt(unitId: number): ProxyUnit | undefined {
    const { device: only, unit_id: onlyUnitId = 1 } = this.#map;
    if (only === undefined) return this.#units.get(unitId - 1);
    // 0 and 255 mean the device at the other end of the connection (Modbus Messaging on TCP/IP 1.0b, unit identifier)
    return unitId === onlyUnitId || unitId === 0 || unitId === 255 ? this.#units.get(only) : undefined;
  }

  #warnAbout(devices: readonly ProxyDevice[]): void {
    for (const { message, deviceIndex } of warningsAbout(this.#map, devices))
      this.#logger.warning(message, deviceIndex);
  }
}

function unknownDevice({ device = 0 }: ProxyMap, devices: readonly ProxyDevice[]): Issue {
  return {
    name: '/device',
    detail: noSuchDevice(
      device,
      devices.map(({ index }) => index),
    ),
  };
}

/** Issue of a shared map whose devices exceed the unit ids. */
function lackOfRoom({ device }: ProxyMap, devices: readonly ProxyDevice[]): Issue[] {
  const [first, ...more] = devices.filter(({ index }) => 1 + index > maxUnitId);
  if (device !== undefined || first === undefined) return [];
  const last = more.at(-1);
  const subject =
    last === undefined
      ? `device ${first.index} would have unit id ${1 + first.index}`
      : `devices ${first.index} to ${last.index} would have unit ids from ${1 + first.index} on`;
  return [{ name: '/device', detail: `${subject}; the highest is ${maxUnitId}: name the device that is served` }];
}
