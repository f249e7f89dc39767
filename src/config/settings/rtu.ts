/** Settings of the Modbus RTU server on a serial line. */
import { setting, unset } from './setting.ts';
import { integer, onOff, parity, serialDevice } from './value-kinds.ts';

export const rtuSettings = {
  rtu_enable: setting({
    flags: ['-rtu', '--rtu_enable'],
    kind: onOff,
    default: false,
    doc: 'Serves all devices over Modbus RTU on one serial line, with unit id = 1 + index.',
  }),
  rtu_port: unset({
    flags: ['--rtu_port'],
    kind: serialDevice,
    needs: 'rtu_enable',
    doc: 'Serial device of the RTU server, for example /dev/ttyUSB0 or COM10; required with rtu_enable.',
  }),
  rtu_baud: setting({
    flags: ['--rtu_baud'],
    kind: integer(110, 4_000_000),
    default: 9600,
    doc: 'Bit rate of the serial line.',
  }),
  rtu_parity: setting({
    flags: ['--rtu_parity'],
    kind: parity,
    default: 'none',
    doc: 'Parity bit of the serial line.',
  }),
  rtu_stopbits: setting({
    flags: ['--rtu_stopbits'],
    kind: integer(1, 2),
    default: 1,
    doc: 'Stop bits of the serial line.',
  }),
};
