/** Settings of a simulator that is one shard of a fleet. */
export interface FleetSettings {
  /** `nats://host:port` or `tls://host:port` of the servers of one cluster */
  readonly servers: readonly string[];
  /** name of the shard; null: that of the machine */
  readonly shard: string | null;
  readonly prefix: string;
  /** indexes that the shard reserves from its first device on; null: as many as it has devices */
  readonly room: number | null;
  /** host of its listeners for others, in place of a wildcard; null: the name of the machine */
  readonly advertisedHost: string | null;
  /** time limit of the first connection, and of the wait for an earlier process of this name */
  readonly waitS: number;
  /** true: `nats://` to another machine is permitted */
  readonly plain: boolean;
  /** `hold`: all shards wait for a slow one */
  readonly pace: 'hold' | 'free';
  /** true: each snapshot has a message of its own as well */
  readonly devices: boolean;
  readonly credsFile: string | null;
  readonly nkeyFile: string | null;
  readonly user: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}
