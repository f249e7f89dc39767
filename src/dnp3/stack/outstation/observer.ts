/** Observer of what one master says and hears, for judges of masters. */
import type { Buffer } from 'node:buffer';
import type { AppControl, Request } from '../application/types.ts';
import type { Cast, Control, ControlStatus } from './types.ts';

/** All members are called in the order of the wire, and never throw. */
export interface MasterObserver {
  /** A connection begins. @param peer `4@127.0.0.1:50123` */
  opened(peer: string): void;
  /** The connection ends. */
  closed(): void;
  /** The association restarts: DEVICE_RESTART is set again. */
  restarted(): void;
  /** A fragment is dropped without an answer, because it is no request. */
  dropped(fragment: Buffer): void;
  /** A request that is no CONFIRM has come; called before it is carried out. */
  requested(request: Request, cast: Cast): void;
  /** A control of the present request has got its status. */
  controlled(control: Control, status: ControlStatus): void;
  /** The request is carried out. @param iin2 bits of IIN2 that refuse it, or parts of it */
  answered(request: Request, iin2: number): void;
  /** A response or an unsolicited response goes out; called before faults act on it. */
  sent(fragment: Buffer): void;
  /** A confirm has come; called before it has an effect. */
  confirmed(control: AppControl): void;
}
