/** Samples of the settings of OCPP, as `flags.test.ts` needs them. */
import type { AppConfig } from '../../../src/config/settings/app-config.ts';

const ws = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://csms.example'];
const wss = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'wss://csms.example', '--ocpp_security_profile', '3'];
const root = ['--ocpp_root_cert', 'own/root.pem'];
const cert = ['--ocpp_cert', 'own/cert.pem'];
const key = ['--ocpp_key', 'own/key.pem'];
const password = 'sixteen octets, or more';

/** Text, the value that it becomes, and what it needs beside it. */
const values = {
  ocpp_enable: ['yes', true, ['--ocpp_csms_url', 'ws://csms.example']],
  // so far the default is the only version that can be used
  ocpp_version: ['ocpp2.1', true, []],
  ocpp_csms_url: ['ws://other.example/', 'ws://other.example', ['--ocpp_enable', 'yes']],
  ocpp_csid: ['CP 7', 'CP 7', []],
  ocpp_security_profile: ['1', 1, [...ws, '--ocpp_password_file', 'own/password']],
  ocpp_password_file: ['own/password', password, [...ws, '--ocpp_security_profile', '1']],
  ocpp_password: [password, password, [...ws, '--ocpp_security_profile', '1']],
  ocpp_cert: ['own/cert.pem', '/site/own/cert.pem', [...wss, ...root, ...key]],
  ocpp_key: ['own/key.pem', '/site/own/key.pem', [...wss, ...root, ...cert]],
  ocpp_root_cert: ['own/root.pem', '/site/own/root.pem', [...wss, ...cert, ...key]],
  ocpp_auto_authorize: ['no', false, ws],
} as const;

export const ocppSamples: Readonly<Record<string, readonly [text: string, value: unknown, deviceType: string]>> =
  Object.fromEntries(Object.entries(values).map(([name, [text, value]]) => [name, [text, value, 'EVSE']]));

export const ocppCompanions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(values).map(([name, [, , companions]]) => [name, companions]),
);

export const ocppFiles: Readonly<Record<string, string>> = { '/site/own/password': password };

/** The part of a configuration that each setting shows in. */
export function ocppPlaces({ ocpp, chargePointId, unused }: AppConfig): Readonly<Record<keyof typeof values, unknown>> {
  return {
    ocpp_enable: ocpp !== null,
    ocpp_version: unused.some((line) => line.startsWith('ocpp_version ')),
    ocpp_csms_url: ocpp?.url,
    ocpp_csid: chargePointId,
    ocpp_security_profile: ocpp?.securityProfile,
    ocpp_password_file: ocpp?.password?.toString(),
    ocpp_password: ocpp?.password?.toString(),
    ocpp_cert: ocpp?.pem?.own?.cert,
    ocpp_key: ocpp?.pem?.own?.key,
    ocpp_root_cert: ocpp?.pem?.rootCert,
    ocpp_auto_authorize: ocpp?.autoAuthorize,
  };
}
