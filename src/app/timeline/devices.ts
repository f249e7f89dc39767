/**
 * Changes of the devices for the timeline, compared at each tick: service state, alarms, the limit that wins, and commands
 * of peers. A device without a change costs some comparisons and no memory.
 */
import type { Override } from '../../contract/device.ts';
import type { EvseConnectorDetail, EvseLimitSource } from '../../contract/kinds/evse.ts';
import type { DeviceDetail } from '../../contract/kinds/table.ts';
import { tripCauseText } from '../../contract/grid-trace.ts';
import type { ActiveDecider, ServiceTransition } from '../../contract/grid-trace.ts';
import { powerText } from '../../contract/power-text.ts';
import { isLater } from '../../core/origin.ts';
import type { Source } from '../../core/origin.ts';
import { inParts } from '../../core/turns.ts';
import type { TimelineLevel } from '../../core/timeline/entry.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import { followDevices } from './follow-devices.ts';
import type { SimDevice } from '../../der/device/device.ts';
import type { SimPlant } from '../../der/plant/plant.ts';

interface Words {
  readonly level: TimelineLevel;
  readonly title: string;
  readonly text: string;
}

const info = (title: string, text: string): Words => ({ level: 'info', title, text });

/** A change of the service state in words. */
export function serviceWords({ from, to, cause }: ServiceTransition): Words {
  switch (to) {
    case 'tripped': {
      const title = `Tripped on ${tripCauseText(cause)}`;
      return { level: 'bad', title, text: `${title} and left the grid.` };
    }
    case 'momentary_cessation':
      return {
        level: 'warn',
        title: 'Momentary cessation',
        text: 'Ceases to energize until the grid is back in range.',
      };
    case 'in_service':
      return from === 'momentary_cessation'
        ? info('Cessation over', 'Gives power again after momentary cessation.')
        : info('In service', 'Is in service.');
    case 'ramping':
      return info('Enters service', 'Enters service and ramps up.');
    case 'waiting':
      return info('Waits to enter service', 'Waits to enter service.');
    case 'shutting_down':
      return info('Shuts down', 'Shuts down.');
    default:
      return info('Out of service', `Is out of service: ${to.replaceAll('_', ' ')}.`);
  }
}

/** Alarms that a change of the service state tells already. */
const toldByService: ReadonlySet<string> = new Set([
  'ac_under_volt',
  'ac_over_volt',
  'under_frequency',
  'over_frequency',
  'grid_disconnect',
  'lvrt_active',
  'hvrt_active',
  'frt_active',
  'manual_shutdown',
]);

type Limit = Exclude<ActiveDecider, 'source' | 'idle' | 'ramp' | 'enter_service' | 'out_of_service' | 'cessation'>;

const limitNames: Readonly<Record<Limit, string>> = {
  w_max: 'Maximum active power (702.WMax)',
  charge_limit: 'Charge limit (702.WChaRteMax)',
  discharge_limit: 'Discharge limit (702.WDisChaRteMax)',
  max_power: 'Limit of active power',
  active_power: 'Set-point of active power',
  freq_droop: 'Frequency droop',
  volt_watt: 'Volt-watt',
  second_limiter: 'A limit without a register',
  site: 'Limit of the site',
  apparent_power: 'Rating in kVA',
};

/** The limit behind a decider; null: nothing limits; undefined: on the way between two states. */
function limitOf(decider: ActiveDecider): Limit | null | undefined {
  switch (decider) {
    case 'source':
    case 'idle':
      return null;
    case 'ramp':
    case 'enter_service':
    case 'out_of_service':
    case 'cessation':
      return undefined;
    default:
      return decider;
  }
}

type ConnectorLimit = Exclude<EvseLimitSource, 'none' | 'hardware' | 'ev'>;

const connectorLimitNames: Readonly<Record<ConnectorLimit, string>> = {
  charging_profile: 'A charging profile',
  local: 'A local limit',
  sharing: 'Sharing between connectors',
  der: 'A limit of the device',
  site: 'A limit of the site',
};

function connectorLimitOf({ limitSource }: EvseConnectorDetail): ConnectorLimit | null {
  return limitSource === 'none' || limitSource === 'hardware' || limitSource === 'ev' ? null : limitSource;
}

/** Limits whose value a peer or a person sets. */
const hasSetValue = (limit: ConnectorLimit) => limit === 'charging_profile' || limit === 'local';

/** Limits nearer than this are the same. */
const toleranceW = 1;

/** Sources whose commands to a device no request and no message tells. */
const tellingSources: ReadonlySet<Source> = new Set(['modbus', 'csip', 'dnp3']);

interface ConnectorState {
  limit: ConnectorLimit | null;
  limitW: number;
}

interface DeviceState {
  transition: ServiceTransition | undefined;
  alarmCodes: readonly string[];
  /** alarms whose begin was told */
  readonly toldAlarms: Set<string>;
  limit: Limit | null;
  commandCount: number;
  override: Override | undefined;
  connectors: ConnectorState[];
}

const noConnectors: readonly EvseConnectorDetail[] = [];
const connectorsOf = (detail: DeviceDetail) => (detail.kind === 'evse' ? detail.connectors : noConnectors);

const connectorState = (connector: EvseConnectorDetail): ConnectorState => ({
  limit: connectorLimitOf(connector),
  limitW: connector.limitW,
});

function stateOf(device: SimDevice): DeviceState {
  return {
    transition: device.trace.transitions.at(-1),
    alarmCodes: device.alarmCodes,
    toldAlarms: new Set(device.alarmCodes.filter((code) => !toldByService.has(code))),
    limit: limitOf(device.trace.activeDecider) ?? null,
    commandCount: device.commandCount,
    override: device.overrides[0],
    connectors: connectorsOf(device.detail).map(connectorState),
  };
}

class DeviceChanges {
  readonly #timeline: TimelineSink;
  readonly #states = new Map<number, DeviceState>();

  constructor(timeline: TimelineSink) {
    this.#timeline = timeline;
  }

  enter(device: SimDevice): void {
    this.#states.set(device.index, stateOf(device));
  }

  leave(index: number): void {
    this.#states.delete(index);
  }

  /** @param detail of the tick */
  look(device: SimDevice, detail: DeviceDetail): void {
    const state = this.#states.get(device.index);
    if (state === undefined) return;
    const { transitions } = device.trace;
    if (transitions[transitions.length - 1] !== state.transition) this.#tellService(device, state);
    if (device.alarmCodes !== state.alarmCodes) this.#tellAlarms(device, state);
    this.#followLimit(device, state);
    if (device.commandCount !== state.commandCount) this.#tellCommands(device, state);
    if (detail.kind === 'evse') this.#followConnectors(device, detail.connectors, state);
  }

  #tellService({ index, trace: { transitions } }: SimDevice, state: DeviceState): void {
    // the last one told may have left the list
    const last = state.transition === undefined ? -1 : transitions.lastIndexOf(state.transition);
    for (const transition of transitions.slice(last + 1))
      this.#timeline.add({ kind: 'service', ...serviceWords(transition), at: transition.at, deviceIndex: index });
    state.transition = transitions.at(-1);
  }

  #tellAlarms(device: SimDevice, state: DeviceState): void {
    state.alarmCodes = device.alarmCodes;
    const { index: deviceIndex } = device;
    for (const { code, severity, message } of device.alarms) {
      if (!state.alarmCodes.includes(code) || state.toldAlarms.has(code)) continue;
      // in service the alarm has no cause but a fault
      if (toldByService.has(code) && state.transition?.to !== 'in_service') continue;
      state.toldAlarms.add(code);
      const level = ({ info: 'info', warning: 'warn', error: 'bad' } as const)[severity];
      const text = `Alarm ${code}: ${message}.`;
      this.#timeline.add({ kind: 'alarm', level, title: `Alarm ${code}`, text, deviceIndex });
    }
    for (const code of state.toldAlarms) {
      if (state.alarmCodes.includes(code)) continue;
      state.toldAlarms.delete(code);
      this.#timeline.add({ kind: 'alarm', title: `Alarm ended: ${code}`, text: `Alarm ${code} is over.`, deviceIndex });
    }
  }

  #followLimit({ index: deviceIndex, trace }: SimDevice, state: DeviceState): void {
    const limit = limitOf(trace.activeDecider);
    if (limit === undefined || limit === state.limit) return;
    state.limit = limit;
    this.#timeline.add(
      limit === null
        ? { kind: 'limit', title: 'Nothing limits', text: 'No limit holds the active power any more.', deviceIndex }
        : {
            kind: 'limit',
            title: `${limitNames[limit]} limits`,
            text: `${limitNames[limit]} holds the active power.`,
            deviceIndex,
          },
    );
  }

  #followConnectors(
    device: SimDevice,
    connectors: readonly EvseConnectorDetail[],
    { connectors: states }: DeviceState,
  ) {
    for (let i = 0; i < connectors.length; i += 1) {
      const [connector, state] = [connectors[i], states[i]];
      if (connector === undefined || state === undefined) continue;
      const limit = connectorLimitOf(connector);
      const hasNewValue =
        limit !== null && hasSetValue(limit) && Math.abs(connector.limitW - state.limitW) > toleranceW;
      if (limit === state.limit && !hasNewValue) continue;
      state.limit = limit;
      state.limitW = connector.limitW;
      this.#tellConnector(device.index, connector, limit);
    }
  }

  #tellConnector(deviceIndex: number, { connectorId, limitW }: EvseConnectorDetail, limit: ConnectorLimit | null) {
    if (limit === null) {
      const text = `No limit holds the power of connector ${connectorId} any more.`;
      this.#timeline.add({ kind: 'limit', title: 'Nothing limits', text, deviceIndex });
      return;
    }
    const name = connectorLimitNames[limit];
    const value = hasSetValue(limit) ? ` at ${powerText(limitW)}` : '';
    const text = `${name} holds the power of connector ${connectorId}${value}.`;
    this.#timeline.add({ kind: 'limit', title: `${name} limits`, text, deviceIndex });
  }

  #tellCommands(device: SimDevice, state: DeviceState): void {
    const earlier = state.override;
    const [newest] = device.overrides;
    state.commandCount = device.commandCount;
    state.override = newest;
    const fresh = device.overrides.filter((override) => earlier === undefined || isLater(override, earlier));
    for (const { name, connectorId, source, peer, at } of fresh.reverse()) {
      if (!tellingSources.has(source)) continue;
      const what = name.replaceAll('_', ' ');
      const where = connectorId === null ? '' : connectorId === 0 ? ' of the station' : ` of connector ${connectorId}`;
      this.#timeline.add({
        kind: 'peer',
        title: `Command: ${what}`,
        text: `Commanded ${what}${where}.`,
        deviceIndex: device.index,
        by: { source, ...(peer !== undefined && { peer }) },
        at,
      });
    }
  }
}

/** Tells the timeline what changes in the devices. @returns function that ends it */
export function tellDeviceChanges(plant: SimPlant, timeline: TimelineSink): () => void {
  const changes = new DeviceChanges(timeline);
  const endDevices = followDevices(plant, {
    enter: (device) => {
      changes.enter(device);
    },
    leave: (index) => {
      changes.leave(index);
    },
  });
  const endTicks = plant.onTickInParts(({ published }) =>
    inParts(plant.devices, (device, at) => {
      const of = published[at];
      if (of !== undefined) changes.look(device, of.detail);
    }),
  );
  return () => {
    endDevices();
    endTicks();
  };
}
