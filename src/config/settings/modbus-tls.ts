/** Settings of Modbus TCP over TLS. */
import { secureSunSpecCiphers } from '../../core/tls/material.ts';
import { setting, unset } from './setting.ts';
import { cipherList, onOff, path, tlsVersion } from './value-kinds.ts';

export const modbusTlsSettings = {
  mb_enc: setting({
    flags: ['-e', '--mb_enc'],
    kind: onOff,
    default: false,
    doc: 'Modbus TCP inside TLS (Secure SunSpec Modbus): clients show a certificate, whose role says what they may write. There is no port in clear beside it.',
  }),
  mb_cert: unset({
    flags: ['-mbc', '--mb_cert'],
    kind: path,
    needs: 'mb_enc',
    doc: 'Certificate of the Modbus server, PEM; those of intermediate CAs may follow in the file. Read anew when it changes, as the next two.',
  }),
  mb_key: unset({
    flags: ['-mbk', '--mb_key'],
    kind: path,
    needs: 'mb_enc',
    doc: 'Private key of mb_cert, PEM without passphrase.',
  }),
  mb_root_cert: unset({
    flags: ['-mbr', '--mb_root_cert'],
    kind: path,
    needs: 'mb_enc',
    doc: 'Certificates of the CAs whose Modbus clients are served, PEM.',
  }),
  mb_ciphers: unset({
    flags: ['-mbx', '--mb_ciphers'],
    kind: cipherList,
    needs: 'mb_enc',
    doc: `Cipher suites of Modbus over TLS: OpenSSL names with a colon between, those of TLS 1.3 among them; no other is offered. Without it those of Secure SunSpec: ${secureSunSpecCiphers.join(', ')}.`,
  }),
  mb_tls_version: setting({
    flags: ['-mbv', '--mb_tls_version'],
    kind: tlsVersion,
    default: '1.2',
    doc: 'Least TLS version of Modbus: with 1.2 a client that can gets 1.3, with 1.3 only those.',
  }),
};
