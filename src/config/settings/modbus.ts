/** Settings of the Modbus TCP server. */
import { maxUnitId } from '../../contract/modbus-report.ts';
import { setting, unset } from './setting.ts';
import { choice, host, integer, number, onOff, port } from './value-kinds.ts';

export const modbusSettings = {
  mb_enable: setting({
    flags: ['-mb', '--mb_enable'],
    kind: onOff,
    default: true,
    doc: 'Serves the register maps over Modbus TCP.',
  }),
  mb_host: setting({
    flags: ['--mb_host'],
    kind: host,
    default: '127.0.0.1',
    doc: 'Address of the Modbus TCP server.',
  }),
  mb_port: setting({
    flags: ['-p', '--mb_port'],
    kind: port,
    default: 8502,
    doc: 'Modbus TCP port of the first device; each further device has the next port. 0 = any free ports.',
  }),
  mb_shared_port: setting({
    flags: ['--mb_shared_port'],
    kind: onOff,
    default: false,
    doc: 'Serves all devices on one Modbus TCP port, with unit id = 1 + index.',
  }),
  mb_framing: setting({
    flags: ['--mb_framing'],
    kind: choice(['tcp', 'rtu_over_tcp'], 'FRAMING'),
    default: 'tcp',
    doc: 'Framing on the Modbus TCP ports: Modbus TCP, or RTU frames with CRC as serial device servers forward them.',
  }),
  mb_foreign_unit: unset({
    flags: ['--mb_foreign_unit'],
    kind: choice(['silent', 'gateway'], 'POLICY'),
    doc:
      'Answer to a unit id that no device has: silent gives none, gateway gives exception 0x0B. If not ' +
      'given: gateway, with RTU frames silent.',
  }),
  meter_unit: unset({
    flags: ['--meter_unit'],
    kind: integer(1, maxUnitId),
    doc:
      'Unit id of a meter of the connection point, on every Modbus port and on the serial line; with ' +
      'meter_port at its own port. If not given: no meter.',
  }),
  meter_port: unset({
    flags: ['--meter_port'],
    kind: port,
    doc: 'Modbus TCP port of its own for the meter of the connection point, in the place of the ports of devices. 0 = any free port.',
  }),
};

export const modbusLimits = {
  mb_max_connections: setting({
    kind: integer(1, 4096),
    default: 1024,
    doc: 'Maximum number of simultaneous Modbus TCP connections.',
  }),
  mb_idle_timeout_s: setting({
    kind: number(0, 604_800),
    default: 3600,
    doc: 'Seconds without a request after which a Modbus TCP connection is closed; 0 = never.',
  }),
  mb_frame_timeout_s: setting({
    kind: number(0.1, 3600),
    default: 30,
    doc: 'Maximum seconds from the first to the last byte of a Modbus TCP frame.',
  }),
};
