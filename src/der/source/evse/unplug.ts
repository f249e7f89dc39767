/** Taking a cable out: by side, within and outside of a session. */
import type { EvseCommand } from '../../../contract/kinds/evse-commands.ts';
import { conflict } from './conflict.ts';
import { flagsOf } from './connector.ts';
import type { Connector } from './connector.ts';
import { cutPower, fire } from './machine.ts';
import { phaseTraits } from './phases.ts';
import type { Station } from './station.ts';
import { change } from './tell.ts';

type Unplug = Extract<EvseCommand, { readonly kind: 'evse.unplug' }>;

/** The ends of the cable that come out. */
interface Ends {
  readonly ev: boolean;
  readonly evse: boolean;
}

function release(c: Connector, { ev, evse }: Ends): void {
  if (ev) {
    c.evPlugged = false;
    c.vehicle = null;
  }
  if (evse && !c.p.attachedCable) {
    c.evsePlugged = false;
    c.cableLeft = false;
  }
}

/** The ends that a request without a session takes out: those named, or all that are in. */
function freeEnds(c: Connector, { evSide, evseSide }: Unplug): Ends {
  const loose = c.evsePlugged && !c.p.attachedCable;
  if (evSide === true && !c.evPlugged) throw conflict(c, 'the cable is not in the vehicle');
  if (evseSide === true && !loose) throw conflict(c, 'the cable cannot be taken out of the station');
  const ends = { ev: c.evPlugged && evSide !== false, evse: loose && evseSide !== false };
  if (!ends.ev && !ends.evse) throw conflict(c, 'that end of the cable is not plugged in');
  return ends;
}

/** A session locks the cable in the station; the vehicle can always let go of its end. */
function unplugInSession(station: Station, c: Connector, { evSide, evseSide }: Unplug): void {
  const { endOnEvDisconnect, unlockOnEvDisconnect } = station.behaviour;
  if (!c.evPlugged || evSide === false) throw conflict(c, 'the session locks the cable in the station');
  const freed = endOnEvDisconnect && unlockOnEvDisconnect;
  if (evseSide === true && (!freed || c.p.attachedCable)) throw conflict(c, 'the cable stays in the station');
  cutPower(c);
  if (!endOnEvDisconnect) {
    c.evHeldByCommand = false;
    release(c, { ev: true, evse: false });
    fire(station, c, 'ev_unplugged');
    return;
  }
  const evse = freed && evseSide !== false;
  release(c, { ev: true, evse });
  c.lockedByCommand = !freed && !c.p.attachedCable;
  fire(station, c, 'unplugged', 'EVDisconnected');
}

/** @throws SimError COMMAND_CONFLICT */
export function unplug(station: Station, c: Connector, command: Unplug): void {
  if (!flagsOf(c).cableIn) throw conflict(c, 'nothing is plugged in');
  if (c.lockedByCommand) throw conflict(c, 'the cable is locked; unlock it first');
  if (phaseTraits[c.phase].session) {
    unplugInSession(station, c, command);
    return;
  }
  const ends = freeEnds(c, command);
  const connected = c.evPlugged && c.evsePlugged;
  if (!connected) {
    change(station, c, 'cable', () => {
      release(c, ends);
    });
    return;
  }
  release(c, ends);
  c.cableLeft = c.phase === 'finishing' && c.evsePlugged && !c.p.attachedCable;
  fire(station, c, 'unplugged');
}
