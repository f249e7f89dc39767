/** Settings of Modbus: TCP, TLS, RTU, the proxy, and the SunSpec client. */
import { maxUnitId } from '../../contract/modbus-report.ts';
import { atStart, fileAtStart, heldAtStart, hostAtStart, live, restartOf } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import {
  choice,
  host,
  integer,
  number,
  onOff,
  port,
  cipherList,
  pemSource,
  tlsVersion,
  parity,
  serialDevice,
  pathOrName,
} from './value-kinds.ts';
import { secureSunSpecCiphers } from '../../core/tls/material.ts';
import { bundledProxyMapNames, isBundledProxyMap } from '../profile/bundled.ts';

const modbus = restartOf('modbus');
const rtu = restartOf('modbus-rtu');
const byProxy = restartOf('proxy');
const frames = atStart('The maps of the devices have an address (1.DA) where masters use RTU frames.');
const meter = atStart('The meter is a part of the plant, which is built once.');
const access = heldAtStart('It limits what requests may reach, so that no request may widen it.');

export const modbusSettings = {
  mb_enable: setting({
    flags: ['-mb', '--mb_enable'],
    kind: onOff,
    default: true,
    changes: modbus,
    doc: 'Serves the register maps over Modbus TCP.',
  }),
  mb_host: setting({
    flags: ['--mb_host'],
    kind: host,
    default: '127.0.0.1',
    changes: hostAtStart,
    doc: 'Address of the Modbus TCP server.',
  }),
  mb_port: setting({
    flags: ['-p', '--mb_port'],
    kind: port,
    default: 8502,
    changes: modbus,
    doc: 'Modbus TCP port of device 0; the ports of further devices follow by index. 0 = any free ports.',
  }),
  mb_shared_port: setting({
    flags: ['--mb_shared_port'],
    kind: onOff,
    default: false,
    changes: modbus,
    doc: 'Serves all devices on one Modbus TCP port, with unit id = 1 + index.',
  }),
  mb_framing: setting({
    flags: ['--mb_framing'],
    kind: choice(['tcp', 'rtu_over_tcp'], 'FRAMING'),
    default: 'tcp',
    changes: frames,
    doc: 'Framing on the Modbus TCP ports: Modbus TCP, or RTU frames with CRC as serial device servers forward them.',
  }),
  mb_foreign_unit: optionalSetting({
    flags: ['--mb_foreign_unit'],
    kind: choice(['silent', 'gateway'], 'POLICY'),
    changes: live,
    doc:
      'Answer to a unit id that no device has: silent is no answer, gateway is exception 0x0B. If not ' +
      'given: gateway, with RTU frames silent.',
  }),
  meter_unit: optionalSetting({
    flags: ['--meter_unit'],
    kind: integer(1, maxUnitId),
    changes: meter,
    doc:
      'Unit id of a meter of the connection point, on the serial line and on every Modbus port, or only on ' +
      'meter_port if that is given. If not given: 1 on meter_port; without meter_port there is no meter.',
  }),
  meter_port: optionalSetting({
    flags: ['--meter_port'],
    kind: port,
    changes: meter,
    doc: 'Separate Modbus TCP port of the meter of the connection point, instead of the ports of the devices. 0 = any free port.',
  }),
};

export const modbusLimits = {
  mb_max_connections: setting({
    kind: integer(1, 4096),
    default: 1024,
    changes: live,
    doc: 'Maximum number of simultaneous Modbus TCP connections.',
  }),
  mb_idle_timeout_s: setting({
    kind: number(0, 604_800),
    default: 3600,
    changes: live,
    doc: 'Seconds without a request after which a Modbus TCP connection is closed; 0 = never.',
  }),
  mb_frame_timeout_s: setting({
    kind: number(0.1, 3600),
    default: 30,
    changes: live,
    doc: 'Maximum seconds from the first to the last byte of a Modbus TCP frame.',
  }),
};

export const modbusTlsSettings = {
  mb_enc: setting({
    flags: ['-e', '--mb_enc'],
    kind: onOff,
    default: false,
    changes: modbus,
    doc: 'Serves Modbus TCP over TLS only (Secure SunSpec Modbus). Clients need a certificate; its role decides what they may write.',
  }),
  mb_cert: optionalSetting({
    flags: ['-mbc', '--mb_cert'],
    kind: pemSource,
    needs: 'mb_enc',
    changes: modbus,
    doc:
      'Certificate of the Modbus server, PEM, optionally followed by intermediate CAs. This file, mb_key ' +
      'and mb_root_cert are reloaded when they change.',
  }),
  mb_key: optionalSetting({
    flags: ['-mbk', '--mb_key'],
    kind: pemSource,
    needs: 'mb_enc',
    changes: modbus,
    doc: 'Private key for mb_cert, PEM without passphrase.',
  }),
  mb_root_cert: optionalSetting({
    flags: ['-mbr', '--mb_root_cert'],
    kind: pemSource,
    needs: 'mb_enc',
    changes: modbus,
    doc: 'CA certificates that the certificates of Modbus clients are checked against, PEM.',
  }),
  mb_ciphers: optionalSetting({
    flags: ['-mbx', '--mb_ciphers'],
    kind: cipherList,
    needs: 'mb_enc',
    changes: modbus,
    doc:
      'Cipher suites of Modbus over TLS, also of TLS 1.3, as OpenSSL names separated by colons; no others ' +
      `are offered. If not given: those of Secure SunSpec: ${secureSunSpecCiphers.join(', ')}.`,
  }),
  mb_tls_version: setting({
    flags: ['-mbv', '--mb_tls_version'],
    kind: tlsVersion,
    default: '1.2',
    changes: modbus,
    doc: 'Minimum TLS version of Modbus: 1.2 accepts 1.2 and 1.3; 1.3 refuses 1.2.',
  }),
};

export const rtuSettings = {
  rtu_enable: setting({
    flags: ['-rtu', '--rtu_enable'],
    kind: onOff,
    default: false,
    changes: frames,
    doc: 'Serves all devices over Modbus RTU on one serial line, with unit id = 1 + index.',
  }),
  rtu_port: optionalSetting({
    flags: ['--rtu_port'],
    kind: serialDevice,
    needs: 'rtu_enable',
    changes: fileAtStart,
    doc: 'Serial device of the RTU server, for example /dev/ttyUSB0 or COM10; required with rtu_enable.',
  }),
  rtu_baud: setting({
    flags: ['--rtu_baud'],
    kind: integer(110, 4_000_000),
    default: 9600,
    unit: 'bit/s',
    changes: rtu,
    doc: 'Bit rate of the serial line.',
  }),
  rtu_parity: setting({
    flags: ['--rtu_parity'],
    kind: parity,
    default: 'none',
    changes: rtu,
    doc: 'Parity bit of the serial line.',
  }),
  rtu_stopbits: setting({
    flags: ['--rtu_stopbits'],
    kind: integer(1, 2),
    default: 1,
    changes: rtu,
    doc: 'Stop bits of the serial line.',
  }),
};

export const proxySettings = {
  proxy: optionalSetting({
    flags: ['--proxy'],
    kind: pathOrName(isBundledProxyMap, `a bundled map (${bundledProxyMapNames.join(', ')}) or a path`),
    changes: byProxy,
    doc:
      'Proxy that serves the devices with the register map of another maker: a bundled map ' +
      `(${bundledProxyMapNames.join(', ')}) or a file.`,
  }),
  proxy_host: setting({
    flags: ['--proxy_host'],
    kind: host,
    default: '127.0.0.1',
    changes: hostAtStart,
    doc: 'Address of the proxy.',
  }),
  proxy_port: optionalSetting({
    flags: ['--proxy_port'],
    kind: port,
    changes: byProxy,
    doc: 'Port of the proxy; 0 = any free port. If not given: the port in the map, else 5020.',
  }),
};

export const clientSettings = {
  client_pty: setting({
    flags: ['--client_pty'],
    kind: onOff,
    default: false,
    changes: access,
    doc:
      'Lets REST clients connect the SunSpec client to pseudo terminals (/dev/pts/N), for example those of ' +
      'socat. They then can also reach the terminals of open shells.',
  }),
};
