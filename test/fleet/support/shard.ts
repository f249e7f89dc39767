/** Settings of a shard on a server in memory. */
import type { FleetSettings } from '../../../src/contract/fleet-settings.ts';

export const shardSettings: FleetSettings = {
  servers: ['memory'],
  prefix: 'lab',
  shard: null,
  room: null,
  advertisedHost: null,
  waitS: 0,
  plain: false,
  pace: 'hold',
  devices: false,
  credsFile: null,
  nkeyFile: null,
  user: null,
  passwordFile: null,
  caFile: null,
  certFile: null,
  keyFile: null,
};
