import type { Connection } from './connection.ts';

/** A connection that tells of each restart of the station before it closes. */
export function tellingRestarts(
  connection: Connection,
  restarted: (reason: string, bootReason: string | undefined) => void,
): Connection {
  return {
    get securityProfile() {
      return connection.securityProfile;
    },
    reconnect: (reason) => {
      connection.reconnect(reason);
    },
    restart: (reason, bootReason) => {
      restarted(reason, bootReason);
      connection.restart(reason, bootReason);
    },
    setPassword: (password) => {
      connection.setPassword(password);
    },
    setSecurityProfile: (profile) => {
      connection.setSecurityProfile(profile);
    },
    setCertificates: (pem) => {
      connection.setCertificates(pem);
    },
    setPingInterval: (seconds) => {
      connection.setPingInterval(seconds);
    },
  };
}
