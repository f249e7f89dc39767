/** Samples of the settings of DNP3, as `flags.test.ts` needs them. */
import type { AppConfig } from '../../../src/config/settings/app-config.ts';

const on = ['--dnp3_enable', 'yes'];
const cert = ['--dnp3_cert', 'server.pem'];
const key = ['--dnp3_key', 'server.key'];
const root = ['--dnp3_root_cert', 'ca.pem'];
const enc = [...on, '--dnp3_enc', 'yes'];

/** Text, the value that it becomes, and what it needs beside it. */
const values = {
  dnp3_enable: ['yes', true, []],
  dnp3_port: ['21000', 21000, on],
  dnp3_host: ['::1', '::1', on],
  dnp3_outstation_addr: ['7', 7, on],
  dnp3_remote_addr: ['4,5', [4, 5], on],
  dnp3_profile: ['ieee1815.2', 'ieee1815.2', on],
  dnp3_points: ['map.json', '/site/map.json', on],
  dnp3_unsolicited: ['yes', true, on],
  dnp3_shared_port: ['yes', true, on],
  dnp3_enc: ['yes', true, [...on, ...cert, ...key, ...root]],
  dnp3_cert: ['server.pem', '/site/server.pem', [...enc, ...key, ...root]],
  dnp3_key: ['server.key', '/site/server.key', [...enc, ...cert, ...root]],
  dnp3_root_cert: ['ca.pem', '/site/ca.pem', [...enc, ...cert, ...key]],
  dnp3_allowed_peers: [
    'CN=a,O=b@4;c',
    [
      { kind: 'subject', value: 'CN=a,O=b', masterAddress: 4 },
      { kind: 'subject', value: 'c', masterAddress: null },
    ],
    [...enc, ...cert, ...key, ...root],
  ],
} as const;

export const dnp3Samples: Readonly<Record<string, readonly [text: string, value: unknown]>> = Object.fromEntries(
  Object.entries(values).map(([name, [text, value]]) => [name, [text, value]]),
);

export const dnp3Companions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(values).map(([name, [, , companions]]) => [name, companions]),
);

export const dnp3Files: Readonly<Record<string, string>> = {
  '/site/map.json': '{"points": [{"type": "AI", "index": 0, "name": "Active power", "bind": "701.W"}]}',
};

/** The part of a configuration that each setting shows in. */
export function dnp3Places({ dnp3 }: AppConfig): Readonly<Record<keyof typeof values, unknown>> {
  return {
    dnp3_enable: dnp3 !== null,
    dnp3_port: dnp3?.port,
    dnp3_host: dnp3?.host,
    dnp3_outstation_addr: dnp3?.outstationAddress,
    dnp3_remote_addr: dnp3?.masterAddresses,
    dnp3_profile: dnp3?.profile,
    dnp3_points: dnp3?.pointsFile,
    dnp3_unsolicited: dnp3?.unsolicited,
    dnp3_shared_port: dnp3?.sharedPort,
    dnp3_enc: dnp3 !== null && dnp3.tls !== null,
    dnp3_cert: dnp3?.tls?.cert,
    dnp3_key: dnp3?.tls?.key,
    dnp3_root_cert: dnp3?.tls?.rootCert,
    dnp3_allowed_peers: dnp3?.tls?.allowedPeers,
  };
}
