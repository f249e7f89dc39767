/** Options of the connection of a fleet. */
import type { Logger } from '../core/log/log.ts';

/** The one user of a connection; files are read again for each attempt to connect. */
export interface FleetCredentials {
  /** file of a JWT and its seed, as `nsc` writes it */
  readonly credsFile?: string;
  /** file of the seed of an nkey */
  readonly nkeyFile?: string;
  readonly user?: string;
  readonly password?: string;
  /** of the server that a gateway starts itself */
  readonly token?: string;
}

export interface FleetTls {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** Members of `$SRV.INFO`, by which NATS tools show the process. */
export interface FleetService {
  readonly name: string;
  /** semantic version */
  readonly version: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface LinkOptions {
  /** `nats://host:port` or `tls://host:port` of the servers of one cluster */
  readonly servers: readonly string[];
  /** first token of all subjects, and of the names of the buckets */
  readonly prefix: string;
  /** name of the connection in the pages of the server */
  readonly name: string;
  readonly log: Pick<Logger, 'info' | 'warning'>;
  /** time limit of the first connection, ms */
  readonly waitMs: number;
  /** permits `nats://` to another machine, which sends everything in clear text */
  readonly plain?: boolean;
  readonly credentials?: FleetCredentials;
  readonly tls?: FleetTls;
  /** first token of the subjects of answers; it needs a permission of its own */
  readonly inboxPrefix?: string;
  /** default: the endpoints are not announced */
  readonly service?: FleetService;
}
