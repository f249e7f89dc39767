/** Settings of Modbus where devices have addresses: the serial line, and RTU frames on TCP. */
import type { Issue } from '../../core/errors.ts';
import { highestUnitId } from '../../contract/modbus-report.ts';
import type { AppConfig } from './app-config.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf } from './settings.ts';
import type { Values } from './settings.ts';

/** The serial line that is asked for; null: none. */
export function rtuOf({
  rtu_enable: enabled,
  rtu_port: port,
  rtu_baud: baud,
  rtu_parity: parity,
  rtu_stopbits: stopBits,
}: Values): AppConfig['rtu'] {
  return enabled && port !== null ? { port, baud, parity, stopBits: stopBits === 2 ? 2 : 1 } : null;
}

/** Faults between these settings, and between them and the number of devices. */
export function lineIssues({ values, originOf }: Gathered, count: number): Issue[] {
  const issues: Issue[] = [];
  if (values.rtu_enable && values.rtu_port === null) {
    issues.push({
      name: flagOf('rtu_port'),
      detail: `not given, but ${originOf('rtu_enable')} is yes; allowed: a serial device, for example /dev/ttyUSB0 or COM10`,
    });
  }
  const last = values.first_device + count;
  if (values.rtu_enable && last > highestUnitId) {
    issues.push({
      name: originOf('rtu_enable'),
      detail: `given yes, so that the last device would have unit id ${last}; allowed: unit ids up to ${highestUnitId} on one line`,
    });
  }
  if (values.mb_enable && values.mb_framing === 'rtu_over_tcp') issues.push(...rtuOverTcpFaults(values, originOf));
  return issues;
}

function rtuOverTcpFaults(values: Values, originOf: Gathered['originOf']): Issue[] {
  const issues: Issue[] = [];
  if (values.mb_foreign_unit === 'gateway') {
    issues.push({
      name: originOf('mb_foreign_unit'),
      detail: `given gateway together with ${originOf('mb_framing')} rtu_over_tcp; allowed: silent`,
    });
  }
  if (values.mb_enc) {
    issues.push({
      name: originOf('mb_enc'),
      detail: `given yes together with ${originOf('mb_framing')} rtu_over_tcp; allowed: one of the two`,
    });
  }
  return issues;
}
