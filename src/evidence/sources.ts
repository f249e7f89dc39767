/** The sources of the verifiers: the registers of the devices, reports of the adapters, and replies of REST. */
import type { CsipClient } from '../contract/csip-client.ts';
import type { Device } from '../contract/device.ts';
import type { Dnp3Outstations } from '../contract/dnp3.ts';
import type { RegisterWindow } from '../contract/modbus-report.ts';
import type { OcppStations } from '../contract/ocpp.ts';
import type { Plant } from '../contract/plant.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import type { ModbusMessages } from '../core/wire/modbus.ts';
import type { RestRead } from './consistency/model.ts';

export interface AnswerSources {
  readonly plant: Plant;
  readonly faults: FaultRegistry;
  readonly csipClient: CsipClient;
  readonly dnp3: Dnp3Outstations;
  readonly ocpp: OcppStations;
  readonly modbusMessages: ModbusMessages;
}

export interface Sources extends AnswerSources {
  /** The registers of a device at the first listener for masters that serves it; null: none does. */
  readonly window: (deviceIndex: number) => RegisterWindow | null;
  /** The reply of an operation of REST about one device, parsed. */
  readonly reply: (read: RestRead, device: Device) => unknown;
  /** The last message of the stream about a device, parsed; null: there is no stream. */
  readonly message: (device: Device) => unknown;
}
