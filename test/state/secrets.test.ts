import { expect } from 'chai';
import type { JsonValue } from '../../src/core/store.ts';
import { withoutSecrets } from '../../src/state/secrets.ts';

interface Case {
  readonly slot: string;
  readonly value: JsonValue;
  /** undefined: left out */
  readonly clean: JsonValue | undefined;
}

const key = '-----BEGIN PRIVATE KEY-----\nMIG...\n-----END PRIVATE KEY-----\n';

const cases: readonly Case[] = [
  {
    slot: 'ocpp/CP-1/station/line',
    value: { password: '616263', profile: { slot: 1, access: { url: 'wss://u:p@ss@host/x', password: '64' } } },
    clean: { profile: { slot: 1, access: { url: 'wss://host/x' } } },
  },
  {
    slot: 'ocpp/CP-1/station/network-profiles',
    value: [1, { url: 'ws://host', password: 'secret' }],
    clean: [1, { url: 'ws://host' }],
  },
  {
    slot: 'ocpp/CP-1/station/certificates',
    value: { kind: 'pending', use: 'station', key: 'MIG...', requestId: 2 },
    clean: { kind: 'pending', use: 'station', requestId: 2 },
  },
  { slot: 'ocpp/CP-1/ocpp1.6/keys', value: ['AuthorizationKey', '616263'], clean: undefined },
  { slot: 'ocpp/CP-1/ocpp1.6/keys', value: ['HeartbeatInterval', '60'], clean: ['HeartbeatInterval', '60'] },
  { slot: 'ocpp/CP-1/ocpp2.0.1/variables', value: ['SecurityCtrlr', 'BasicAuthPassword', 0, 'x'], clean: undefined },
  {
    slot: 'ocpp/CP-1/station/network-variables',
    value: ['NetworkConfiguration', 'BasicAuthPassword[1]', 0, 'x'],
    clean: undefined,
  },
  {
    slot: 'ocpp/CP-1/ocpp2.0.1/firmware',
    value: { location: 'ftp://u:p@host/f.bin?token=1#x' },
    clean: { location: 'ftp://host/f.bin' },
  },
  { slot: 'csip/AB/events', value: { href: 'https://u:p@host/a?s=0&l=1' }, clean: { href: 'https://host/a?s=0&l=1' } },
  { slot: 'csip/AB/events', value: { href: 'https://host/a?mail=a@b' }, clean: { href: 'https://host/a?mail=a@b' } },
  { slot: 'x/later', value: [1, key, 2], clean: [1, null, 2] },
  { slot: 'x/later', value: { clientSecret: 5, key: 'name', privateKey: {} }, clean: { key: 'name' } },
  { slot: 'x/later', value: { password: null, n: 0 }, clean: { password: null, n: 0 } },
  { slot: 'x/later', value: 'plain', clean: 'plain' },
  {
    slot: 'plant/shared/settings',
    value: { csip_pin: { value: 111_115, under: null }, mb_port: { value: 0, under: 502 } },
    clean: { mb_port: { value: 0, under: 502 } },
  },
  {
    slot: 'plant/shared/changes',
    value: { joined: [{ index: 1, entry: { csip: { pin: 111_115, nmi: '1' } } }] },
    clean: { joined: [{ index: 1, entry: { csip: { nmi: '1' } } }] },
  },
  { slot: 'lab/content', value: { csip_pin: 111_115, ocpp_password: 'x', seed: 1 }, clean: { seed: 1 } },
];

describe('secrets of slots', () => {
  for (const { slot, value, clean } of cases)
    it(`${slot}: ${JSON.stringify(value).slice(0, 60)}`, () => {
      const { values, hasLeftOut } = withoutSecrets(slot, [value, 1]);
      expect(values).to.deep.equal(clean === undefined ? [1] : [clean, 1]);
      expect(hasLeftOut).to.equal(JSON.stringify(clean) !== JSON.stringify(value));
    });
});
