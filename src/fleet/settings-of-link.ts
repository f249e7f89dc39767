/** Options of a connection from the settings of a process. */
import type { FleetSettings } from '../contract/fleet-settings.ts';
import { readTextFile } from '../core/text-file.ts';
import type { FleetCredentials, FleetTls, LinkOptions } from './link-options.ts';

const maxPasswordBytes = 4096;

function credentialsOf({ credsFile, nkeyFile, user, passwordFile }: FleetSettings): FleetCredentials {
  return {
    ...(credsFile !== null && { credsFile }),
    ...(nkeyFile !== null && { nkeyFile }),
    ...(user !== null && { user }),
    ...(passwordFile !== null && { password: readTextFile(passwordFile, maxPasswordBytes).trim() }),
  };
}

function tlsOf({ caFile, certFile, keyFile }: FleetSettings): FleetTls {
  return {
    ...(caFile !== null && { caFile }),
    ...(certFile !== null && { certFile }),
    ...(keyFile !== null && { keyFile }),
  };
}

/** The options that settings decide. @throws Error for a password file that cannot be read */
export function linkOptionsOf(
  settings: FleetSettings,
): Pick<LinkOptions, 'servers' | 'prefix' | 'waitMs' | 'plain' | 'credentials' | 'tls'> {
  const { servers, prefix, waitS, plain } = settings;
  return {
    servers,
    prefix,
    waitMs: waitS * 1000,
    plain,
    credentials: credentialsOf(settings),
    tls: tlsOf(settings),
  };
}
