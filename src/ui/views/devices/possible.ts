/** Operations that the present state of a connector refuses, with reasons. The daemon decides about all others. */
import type { Connector } from './connector-props';

export type Operation =
  | 'plug'
  | 'unplug'
  | 'authorize'
  | 'start'
  | 'stop'
  | 'suspend'
  | 'resume'
  | 'lock'
  | 'unlock'
  | 'clear-fault'
  | 'reserve'
  | 'cancel-reservation'
  | 'discharge'
  | 'ev';

/** The open session; the last one stays in the answer until the vehicle leaves. */
export function openSession({ session }: Connector): Connector['session'] {
  return session?.ended_at === null ? session : null;
}

function whyNotServed({ error_code: code, operative }: Connector): string | null {
  if (code !== 'NoError') return `${code} must be cleared first`;
  return operative ? null : 'It is out of operation';
}

function whyNotAuthorized(connector: Connector, central: boolean): string | null {
  // a central system takes a token in any state, since tokens also end sessions
  if (central) return null;
  if (openSession(connector) !== null) return 'A session is running';
  return connector.authorized ? 'It is authorised already' : whyNotServed(connector);
}

function whyNotStarted(connector: Connector): string | null {
  if (openSession(connector) !== null) return 'A session is running';
  const { ev_plugged: ev, evse_plugged: evse } = connector.cable;
  return ev && evse ? whyNotServed(connector) : 'No vehicle is plugged in';
}

function whyNotUnplugged(connector: Connector): string | null {
  const { status, cable } = connector;
  // an attached cable is always connected to the station
  if (!cable.ev_plugged && (!cable.evse_plugged || status === 'available')) return 'Nothing is plugged in';
  return cable.locked && openSession(connector) === null ? 'The cable is locked: unlock it first' : null;
}

/** True if energy flows or is suspended. */
function isPowered(connector: Connector): boolean {
  const state = openSession(connector)?.charging_state;
  return state === 'charging' || state === 'suspended_ev' || state === 'suspended_evse';
}

const noEnergy = 'No session in which energy may flow';

function whyNotLocked(connector: Connector): string | null {
  const { ev_plugged: ev, evse_plugged: evse, locked } = connector.cable;
  if (!ev || !evse) return 'No cable to lock';
  return locked ? 'The cable is locked already' : null;
}

function whyNotDischarged(connector: Connector): string | null {
  if (!connector.bidirectional) return 'The connector is not bidirectional';
  return openSession(connector) === null ? 'No session is running' : null;
}

/** Why an operation cannot act now. null: it can, or only the daemon knows. */
export function whyNot(operation: Operation, connector: Connector, central: boolean): string | null {
  const { cable, ev, status, authorized, reservation, error_code: code } = connector;
  switch (operation) {
    case 'plug':
      return cable.ev_plugged && cable.evse_plugged ? 'A vehicle is plugged in already' : null;
    case 'unplug':
      return whyNotUnplugged(connector);
    case 'authorize':
      return whyNotAuthorized(connector, central);
    case 'start':
      return whyNotStarted(connector);
    case 'stop':
      return openSession(connector) === null && !authorized ? 'No session is running' : null;
    case 'suspend':
      return isPowered(connector) ? null : noEnergy;
    case 'resume':
      if (!isPowered(connector)) return noEnergy;
      return status === 'charging' ? 'Nothing is suspended' : null;
    case 'lock':
      return whyNotLocked(connector);
    case 'unlock':
      return cable.locked ? null : 'The cable is not locked';
    case 'clear-fault':
      return code === 'NoError' ? 'No fault to clear' : null;
    case 'reserve':
      return status === 'available' || status === 'reserved' ? null : 'Only an available connector can be reserved';
    case 'cancel-reservation':
      return reservation === null ? 'No reservation to cancel' : null;
    case 'discharge':
      return whyNotDischarged(connector);
    case 'ev':
      return ev === null ? 'No vehicle is plugged in' : null;
  }
}
