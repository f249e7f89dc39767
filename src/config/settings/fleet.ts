/** Settings of a shard: a simulator that is one of several processes of a fleet. */
import { fileAtStart, heldAtStart } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import { choice, fleetName, fleetPrefix, fleetServers, host, integer, natsUser, onOff, path } from './value-kinds.ts';

const membership = heldAtStart('A process is a member of one fleet from its start to its end.');

export const fleetSettings = {
  fleet: optionalSetting({
    flags: ['--fleet'],
    kind: fleetServers,
    changes: membership,
    doc: 'NATS server of the fleet that this simulator joins as a shard; several URLs are the servers of one cluster. Unset: no fleet.',
  }),
  shard: optionalSetting({
    flags: ['--shard'],
    kind: fleetName,
    changes: membership,
    doc: 'Name of this shard in its fleet; unset: the name of the machine.',
  }),
  fleet_room: optionalSetting({
    flags: ['--fleet_room'],
    kind: integer(1, 1_000_000),
    changes: membership,
    doc: 'Device indexes that this shard reserves from first_device on; unset: as many as it has devices.',
  }),
  shard_ordinal: optionalSetting({
    flags: ['--shard_ordinal'],
    kind: integer(0, 1_000_000),
    changes: membership,
    doc:
      'Number of this shard, from 0 on: its first device has the index shard_ordinal x fleet_room (without fleet_room: x N), ' +
      'as first_device would say it.',
  }),
  port_base: optionalSetting({
    flags: ['--port_base'],
    kind: choice(['shard', 'fleet'] as const, 'BASE'),
    changes: membership,
    doc:
      'Device with the first port, unit id and link address: shard is the first one of this process, fleet that with index 0; ' +
      'unset: shard with --fleet, else fleet.',
  }),
  advertise_host: optionalSetting({
    flags: ['--advertise_host'],
    kind: host,
    changes: membership,
    doc:
      'Host at which others reach this process, in place of 0.0.0.0 and :: in `devices` and in the fleet; unset: the name of ' +
      'the machine in the fleet.',
  }),
  fleet_prefix: setting({
    flags: ['--fleet_prefix'],
    kind: fleetPrefix,
    default: 'derbench',
    changes: membership,
    doc: 'First token of all NATS subjects of the fleet; two fleets on one server have two of them.',
  }),
  fleet_wait_s: setting({
    flags: ['--fleet_wait_s'],
    kind: integer(0, 3600),
    default: 30,
    changes: membership,
    doc: 'Time limit of the first connection to the fleet, and of the wait for an earlier process of this name, seconds.',
  }),
  fleet_pace: setting({
    flags: ['--fleet_pace'],
    kind: choice(['hold', 'free'] as const, 'PACE'),
    default: 'hold',
    changes: membership,
    doc:
      'Of a gateway: with hold all shards wait for one that is more than a tick late; with free a slow shard falls behind ' +
      'the others.',
  }),
  fleet_devices: setting({
    flags: ['--fleet_devices'],
    kind: onOff,
    default: false,
    changes: membership,
    doc: 'Sends each snapshot on a subject of its own as well (PREFIX.dev.INDEX), for other programs.',
  }),
  fleet_plain: setting({
    flags: ['--fleet_plain'],
    kind: onOff,
    default: false,
    changes: membership,
    doc: 'Permits nats:// to another machine, which sends everything in clear text.',
  }),
  fleet_creds: optionalSetting({
    flags: ['--fleet_creds'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'File with the credentials of the fleet (JWT and seed).',
  }),
  fleet_nkey: optionalSetting({
    flags: ['--fleet_nkey'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'File with the seed of an nkey for the fleet.',
  }),
  fleet_user: optionalSetting({
    flags: ['--fleet_user'],
    kind: natsUser,
    changes: membership,
    doc: 'User name for the fleet.',
  }),
  fleet_password_file: optionalSetting({
    flags: ['--fleet_password_file'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'File with the password of fleet_user.',
  }),
  fleet_ca: optionalSetting({
    flags: ['--fleet_ca'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'PEM file with the authorities that the NATS server is checked by; unset: those of the system.',
  }),
  fleet_cert: optionalSetting({
    flags: ['--fleet_cert'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'PEM file with the certificate of this process for the NATS server.',
  }),
  fleet_key: optionalSetting({
    flags: ['--fleet_key'],
    kind: path,
    mustExist: true,
    changes: fileAtStart,
    doc: 'PEM file with the key of fleet_cert.',
  }),
};
