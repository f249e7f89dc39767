/** Settings of Modbus TCP over TLS. */
import { secureSunSpecCiphers } from '../../core/tls/material.ts';
import { setting, unset } from './setting.ts';
import { cipherList, onOff, path, tlsVersion } from './value-kinds.ts';

export const modbusTlsSettings = {
  mb_enc: setting({
    flags: ['-e', '--mb_enc'],
    kind: onOff,
    default: false,
    doc: 'Serves Modbus TCP over TLS only (Secure SunSpec Modbus). Clients need a certificate; its role decides what they may write.',
  }),
  mb_cert: unset({
    flags: ['-mbc', '--mb_cert'],
    kind: path,
    needs: 'mb_enc',
    doc:
      'Certificate of the Modbus server, PEM, optionally followed by intermediate CAs. This file, mb_key ' +
      'and mb_root_cert are reloaded when they change.',
  }),
  mb_key: unset({
    flags: ['-mbk', '--mb_key'],
    kind: path,
    needs: 'mb_enc',
    doc: 'Private key for mb_cert, PEM without passphrase.',
  }),
  mb_root_cert: unset({
    flags: ['-mbr', '--mb_root_cert'],
    kind: path,
    needs: 'mb_enc',
    doc: 'CA certificates that the certificates of Modbus clients are checked against, PEM.',
  }),
  mb_ciphers: unset({
    flags: ['-mbx', '--mb_ciphers'],
    kind: cipherList,
    needs: 'mb_enc',
    doc:
      'Cipher suites of Modbus over TLS, as OpenSSL names separated by colons, TLS 1.3 included; no others ' +
      `are offered. If not given: those of Secure SunSpec: ${secureSunSpecCiphers.join(', ')}.`,
  }),
  mb_tls_version: setting({
    flags: ['-mbv', '--mb_tls_version'],
    kind: tlsVersion,
    default: '1.2',
    doc: 'Minimum TLS version of Modbus: 1.2 accepts 1.2 and 1.3; 1.3 refuses 1.2.',
  }),
};
