/** Settings of the Modbus TCP server. */
import { setting, unset } from './setting.ts';
import { choice, host, integer, number, onOff, port } from './value-kinds.ts';

export const modbusSettings = {
  mb_enable: setting({
    flags: ['-mb', '--mb_enable'],
    kind: onOff,
    default: true,
    doc: 'Modbus TCP server.',
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
    doc: 'Modbus TCP port of the first device, counting up by device; 0 = any free ports.',
  }),
  mb_shared_port: setting({
    flags: ['--mb_shared_port'],
    kind: onOff,
    default: false,
    doc: 'One Modbus TCP port for all devices, unit id = 1 + index.',
  }),
  mb_framing: setting({
    flags: ['--mb_framing'],
    kind: choice(['tcp', 'rtu_over_tcp'], 'FRAMING'),
    default: 'tcp',
    doc: 'Frames on the Modbus TCP ports: those of Modbus TCP, or RTU frames with CRC as serial servers pass them on.',
  }),
  mb_foreign_unit: unset({
    flags: ['--mb_foreign_unit'],
    kind: choice(['silent', 'gateway'], 'POLICY'),
    doc: 'Answer to a unit id that is not served: none, or exception 0x0B as a gateway gives it. Without it gateway on a shared port, silent on ports of their own; RTU frames are never answered then.',
  }),
};

export const modbusLimits = {
  mb_max_connections: setting({
    kind: integer(1, 4096),
    default: 1024,
    doc: 'Modbus TCP connections at a time.',
  }),
  mb_idle_timeout_s: setting({
    kind: number(0, 604_800),
    default: 3600,
    doc: 'Seconds without a request after which a Modbus TCP connection is closed; 0 = never.',
  }),
  mb_frame_timeout_s: setting({
    kind: number(0.1, 3600),
    default: 30,
    doc: 'Seconds in which a Modbus TCP frame that has begun must be complete.',
  }),
};
