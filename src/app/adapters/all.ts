/** The adapters of a simulator. A `DeviceAdapter` loads the code of its protocol when it starts. */
import type { CsipClient } from '../../contract/csip-client.ts';
import type { CsipEvent } from '../../contract/csip-reports.ts';
import type { CsipSettings } from '../../contract/csip-settings.ts';
import { disabledCsipClient } from '../../contract/csip-disabled.ts';
import type { Device } from '../../contract/device.ts';
import { disabledDnp3 } from '../../contract/dnp3.ts';
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import { disabledOcpp } from '../../contract/ocpp-disabled.ts';
import type { OcppStations } from '../../contract/ocpp.ts';
import type { RestartableAdapter } from '../../contract/settings.ts';
import type { SunSpecClient } from '../../contract/sunspec-client.ts';
import { DeviceAdapter } from '../../core/device-adapter.ts';
import { endableSource } from '../../core/faults/registry.ts';
import { Late } from '../../core/lazy.ts';
import type { ModbusMessages } from '../../core/wire/modbus.ts';
import { createModbusMessages } from '../../core/wire/modbus.ts';
import { createSunSpecClient } from '../../sunspec/client/client.ts';
import { composeModbus } from './modbus.ts';
import type { ModbusContext } from './modbus.ts';
import { AdapterSeats } from './seats.ts';

type Context = Omit<ModbusContext, 'modbusMessages'>;

/** The adapters, and the interfaces that REST uses. */
interface Adapters {
  readonly seats: AdapterSeats;
  readonly modbusMessages: ModbusMessages;
  readonly sunspecClient: SunSpecClient;
  readonly csipClient: CsipClient;
  readonly ocpp: OcppStations;
  readonly dnp3: Dnp3Outstations;
}

export function composeAdapters(context: Context): Adapters {
  const { clientPty, clock, later, logBook, seed, wireLog } = context;
  const modbusMessages = createModbusMessages(wireLog);
  const sunspecClient = createSunSpecClient({
    clock,
    later,
    logger: logBook.logger('Modbus'),
    seed,
    messages: modbusMessages,
    ptys: clientPty,
  });
  const seats = new AdapterSeats(logBook.logger('Lab'), later);
  composeModbus(seats, { ...context, modbusMessages });
  seats.add({ name: null, make: () => sunspecClient });
  const csipFollowers: CsipFollowers = new Set();
  return {
    seats,
    modbusMessages,
    sunspecClient,
    csipClient: viewIn(seats, 'csip', disabledCsipClient, () => csipOf(context, csipFollowers)),
    // its transactions end when it closes
    ocpp: viewIn(seats, 'ocpp', disabledOcpp, () => ocppOf(context), { restartsLast: true }),
    dnp3: viewIn(seats, 'dnp3', disabledDnp3, () => dnp3Of(context)),
  };
}

/** The interface of an adapter to REST, which outlives a restart; it is the stand-in while there is no adapter. */
function viewIn<V extends object>(
  seats: AdapterSeats,
  name: RestartableAdapter,
  standIn: V,
  make: () => DeviceAdapter<Device, V> | null,
  { restartsLast = false } = {},
): V {
  const view = new Late(standIn);
  seats.add({
    name,
    make,
    restartsLast,
    placed: (adapter) => {
      view.set(adapter?.view ?? standIn);
    },
  });
  return view.proxy;
}

/** Parts for one adapter, whose subscriptions to faults end when it closes. */
function scopeOf(context: Context): { readonly scoped: Context; readonly closed: () => void } {
  const faults = endableSource(context.faults);
  return { scoped: { ...context, faults }, closed: faults.end };
}

/** Listeners to events of IEEE 2030.5, which last over restarts of the clients. */
type CsipFollowers = Set<(event: CsipEvent) => void>;

function csipOf(context: Context, followers: CsipFollowers): DeviceAdapter<Device, CsipClient> | null {
  const { inForce, plant, commAlarms } = context;
  const { csip: start } = inForce();
  if (start === null) return null;
  const { scoped, closed } = scopeOf(context);
  const settings: CsipSettings = {
    ...start,
    get rates() {
      return (inForce().csip ?? start).rates;
    },
  };
  return new DeviceAdapter({
    module: 'CSIP',
    comm: 'csip',
    outbound: true,
    reloads: true,
    service: 'CSIP client',
    alarm: 'csip_connection_lost',
    commAlarms,
    devices: () => plant.devices,
    standIn: disabledCsipClient,
    load: async () => (await import('../../csip/adapter.ts')).createCsip(settings, scoped, followers),
    closed,
  });
}

function ocppOf(context: Context): DeviceAdapter<Device, OcppStations> | null {
  const { inForce, plant, commAlarms } = context;
  const { ocpp: settings } = inForce();
  if (settings === null) return null;
  const isReplaced = () => inForce().ocpp !== null;
  const { scoped, closed } = scopeOf(context);
  return new DeviceAdapter({
    module: 'OCPP',
    comm: 'ocpp',
    outbound: true,
    service: 'OCPP charge point',
    alarm: 'ocpp_connection_lost',
    commAlarms,
    devices: () => plant.devices,
    standIn: disabledOcpp,
    load: async () => (await import('../../ocpp/adapter.ts')).createOcpp(settings, scoped, { isReplaced }),
    closed,
  });
}

function dnp3Of(context: Context): DeviceAdapter<Device, Dnp3Outstations> | null {
  const { inForce, isKept, plant, commAlarms } = context;
  const { dnp3: settings } = inForce();
  if (settings === null) return null;
  const { scoped, closed } = scopeOf(context);
  return new DeviceAdapter({
    module: 'DNP3',
    comm: 'dnp3',
    exposure: settings.tls === null ? { what: 'DNP3', host: settings.host } : null,
    reloads: true,
    service: 'DNP3 outstation',
    alarm: 'dnp3_master_lost',
    commAlarms,
    devices: () => plant.devices,
    standIn: disabledDnp3,
    load: async () => (await import('../../dnp3/adapter.ts')).createDnp3(settings, scoped, isKept),
    closed,
  });
}
