/** Samples of the settings of a fleet, as `flags.test.ts` needs them. */
import type { AppConfig } from '../../../src/config/settings/app-config.ts';

const on = ['--fleet', 'nats://lab:4222'];
const user = ['--fleet_user', 'lab'];
const password = ['--fleet_password_file', 'word.txt'];

/** Text, the value that it becomes, and what it needs beside it. */
const values = {
  fleet: ['nats://a:4222,tls://b:4222', ['nats://a:4222', 'tls://b:4222'], []],
  shard: ['b', 'b', on],
  fleet_room: ['1000', 1000, on],
  shard_ordinal: ['2', 4000, [...on, '--fleet_room', '2000']],
  port_base: ['shard', 4, ['--first_device', '4']],
  advertise_host: ['lab-2', 'lab-2', []],
  fleet_prefix: ['lab', 'lab', on],
  fleet_wait_s: ['5', 5, on],
  fleet_pace: ['free', 'free', on],
  fleet_devices: ['yes', true, on],
  fleet_plain: ['yes', true, on],
  fleet_creds: ['lab.creds', '/site/lab.creds', on],
  fleet_nkey: ['lab.nk', '/site/lab.nk', on],
  fleet_user: ['lab', 'lab', [...on, ...password]],
  fleet_password_file: ['word.txt', '/site/word.txt', [...on, ...user]],
  fleet_ca: ['ca.pem', '/site/ca.pem', on],
  fleet_cert: ['server.pem', '/site/server.pem', [...on, '--fleet_key', 'server.key']],
  fleet_key: ['server.key', '/site/server.key', [...on, '--fleet_cert', 'server.pem']],
} as const;

export const fleetSamples: Readonly<Record<string, readonly [text: string, value: unknown]>> = Object.fromEntries(
  Object.entries(values).map(([name, [text, value]]) => [name, [text, value]]),
);

export const fleetCompanions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(values).map(([name, [, , companions]]) => [name, companions]),
);

export const fleetFiles: Readonly<Record<string, string>> = {
  '/site/lab.creds': '',
  '/site/lab.nk': '',
  '/site/word.txt': 'word',
};

/** The part of a configuration that each setting shows in. */
export function fleetPlaces({ fleet, modbus, firstDevice }: AppConfig): Readonly<Record<keyof typeof values, unknown>> {
  return {
    fleet: fleet?.servers,
    shard: fleet?.shard,
    fleet_room: fleet?.room,
    shard_ordinal: firstDevice,
    port_base: modbus.countsFrom,
    advertise_host: modbus.advertisedHost,
    fleet_prefix: fleet?.prefix,
    fleet_wait_s: fleet?.waitS,
    fleet_pace: fleet?.pace,
    fleet_devices: fleet?.devices,
    fleet_plain: fleet?.plain,
    fleet_creds: fleet?.credsFile,
    fleet_nkey: fleet?.nkeyFile,
    fleet_user: fleet?.user,
    fleet_password_file: fleet?.passwordFile,
    fleet_ca: fleet?.caFile,
    fleet_cert: fleet?.certFile,
    fleet_key: fleet?.keyFile,
  };
}
