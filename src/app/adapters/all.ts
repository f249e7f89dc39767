/** The adapters that a configuration enables. A `DeviceAdapter` loads the code of its protocol when it starts. */
import type { CsipClient } from '../../contract/csip-client.ts';
import type { CsipSettings } from '../../contract/csip-settings.ts';
import { disabledCsipClient } from '../../contract/csip-disabled.ts';
import type { Device } from '../../contract/device.ts';
import { disabledDnp3 } from '../../contract/dnp3.ts';
import type { Dnp3Outstations } from '../../contract/dnp3.ts';
import { disabledOcpp } from '../../contract/ocpp-disabled.ts';
import type { OcppStations } from '../../contract/ocpp.ts';
import type { SunSpecClient } from '../../contract/sunspec-client.ts';
import type { Adapter } from '../../core/adapter.ts';
import { DeviceAdapter } from '../../core/device-adapter.ts';
import type { ModbusMessages } from '../../core/wire/modbus.ts';
import { createModbusMessages } from '../../core/wire/modbus.ts';
import { createSunSpecClient } from '../../sunspec/client/client.ts';
import { composeModbus } from './modbus.ts';
import type { ModbusContext } from './modbus.ts';

type Context = Omit<ModbusContext, 'modbusMessages'>;

/** The adapters, and the interfaces that REST uses. */
interface Adapters {
  /** in the order in which they start */
  readonly adapters: readonly Adapter[];
  readonly modbusMessages: ModbusMessages;
  readonly sunspecClient: SunSpecClient;
  readonly csipClient: CsipClient;
  readonly ocpp: OcppStations;
  readonly dnp3: Dnp3Outstations;
}

export function composeAdapters(context: Context): Adapters {
  const { config, clock, later, logBook, seed, wireLog } = context;
  const modbusMessages = createModbusMessages(wireLog);
  const sunspecClient = createSunSpecClient({
    clock,
    later,
    logger: logBook.logger('Modbus'),
    seed,
    messages: modbusMessages,
    ptys: config.clientPty,
  });
  const csip = csipOf(context);
  const ocpp = ocppOf(context);
  const dnp3 = dnp3Of(context);
  const deviceAdapters = [csip, ocpp, dnp3].filter((adapter) => adapter !== null);
  return {
    adapters: [...composeModbus({ ...context, modbusMessages }), sunspecClient, ...deviceAdapters],
    modbusMessages,
    sunspecClient,
    csipClient: csip?.view ?? disabledCsipClient,
    ocpp: ocpp?.view ?? disabledOcpp,
    dnp3: dnp3?.view ?? disabledDnp3,
  };
}

function csipOf(context: Context): DeviceAdapter<Device, CsipClient> | null {
  const { config, inForce, plant, commAlarms } = context;
  const { csip: start } = config;
  if (start === null) return null;
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
    load: async () => (await import('../../csip/adapter.ts')).createCsip(settings, context),
  });
}

function ocppOf(context: Context): DeviceAdapter<Device, OcppStations> | null {
  const { config, plant, commAlarms } = context;
  const { ocpp: settings } = config;
  if (settings === null) return null;
  return new DeviceAdapter({
    module: 'OCPP',
    comm: 'ocpp',
    outbound: true,
    service: 'OCPP charge point',
    alarm: 'ocpp_connection_lost',
    commAlarms,
    devices: () => plant.devices,
    standIn: disabledOcpp,
    load: async () => (await import('../../ocpp/adapter.ts')).createOcpp(settings, context),
  });
}

function dnp3Of(context: Context): DeviceAdapter<Device, Dnp3Outstations> | null {
  const { config, plant, commAlarms } = context;
  const { dnp3: settings } = config;
  if (settings === null) return null;
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
    load: async () => (await import('../../dnp3/adapter.ts')).createDnp3(settings, context, config.stateDir !== null),
  });
}
