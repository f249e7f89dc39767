/** Commands of peers that were answered positively, and what the device holds of them now. */
import type { Provenance } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { tidy } from '../consistency/model.ts';
import type { Value } from '../consistency/model.ts';
import type { Device } from '../../contract/device.ts';
import { isFloat } from '../../sunspec/map/codec.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { pointName } from '../../sunspec/map/view.ts';
import { slotOf } from '../consistency/registers.ts';

export type { Value } from '../consistency/model.ts';

export const answerProtocols = ['modbus', 'csip', 'ocpp', 'dnp3'] as const;
export type AnswerProtocol = (typeof answerProtocols)[number];

/**
 * Effect of a command on a device. `done`: its value; `rounding`: its value but for a step of the encoding;
 * `superseded`: the value of a later command or writer; `expired`: another value after the end of its time; `not_done`:
 * another value without such a reason, also by a fault; `unknown`: nothing in the device shows the value.
 */
export const answerCauses = ['done', 'rounding', 'superseded', 'expired', 'not_done', 'unknown'] as const;
export type AnswerCause = (typeof answerCauses)[number];

/** A command and its positive answer. */
export interface Exchange {
  readonly protocol: AnswerProtocol;
  /** id of the command in the message journal; null: the journal does not have it */
  readonly messageId: number | null;
  /** id of the answer in the message journal */
  readonly answerId: number;
  /** name of the peer in messages */
  readonly peer: string;
  /** name of the peer in the provenance of its writes; absent: `peer` */
  readonly writerPeer?: string;
  /** name of the peer in a sentence: `Modbus master 127.0.0.1:40312` */
  readonly peerName: string;
  /** command in the words of the protocol: `write multiple registers`, `SetChargingProfile` */
  readonly command: string;
  /** `success`, `Accepted` */
  readonly answer: string;
  /** wall time of the command, ms since the epoch */
  readonly wallMs: number;
  /** wall time of the answer, ms since the epoch */
  readonly answeredWallMs: number;
  /** simulated time of the answer */
  readonly at: SimTime;
}

/** The value by which a device shows the effect of a command, and its place. */
export interface ActualValue {
  /** `704.WMaxLimPct`, `connector 1`, `AO87` */
  readonly place: string;
  /** holder of the value in a sentence: `the register`, `the station` */
  readonly holder: string;
  readonly value: Value;
  /** value in force on the device, if a fault keeps the last write from it; absent: the value of the register */
  readonly followed?: Value;
  /** last writer; null: unknown */
  readonly writer: Provenance | null;
}

/** One effect that a command must have. */
export interface Claim {
  readonly name: string;
  readonly value: Value;
  readonly unit: string | null;
  /** action of the peer in a sentence: `wrote 704.WMaxLimPct = 50` */
  readonly did: string;
  /** null: nothing shows it, see `reason` */
  readonly actual: ActualValue | null;
  /** subject; a later command with the same subject supersedes the claim */
  readonly subject: string;
  /** true: the command also supersedes earlier commands of other subjects */
  readonly takesOver?: (subject: string) => boolean;
  /** true: the actual value fulfils the command; absent: it must be equal */
  readonly holds?: boolean;
  /** step of the encoding, in the unit of the value; absent: none */
  readonly resolution?: number;
  /** reason why the claim no longer applies; absent: it applies */
  readonly ended?: string;
  /** reason why the claim cannot be judged */
  readonly reason?: string;
}

export interface Answered {
  readonly exchange: Exchange;
  readonly claim: Claim;
}

/** Value of a command / value of its point, unless a protocol scales it. */
const defaultFactor = 1;

function inUnitOf(value: unknown, factor: number): Value {
  if (typeof value === 'number') return tidy(value * factor);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** The present value of a register. */
export function registerPlace(device: Device, slot: PointSlot, factor = defaultFactor): ActualValue {
  const { bank } = device;
  const held = device.heldValue(slot);
  return {
    place: pointName(slot),
    holder: 'the register',
    value: inUnitOf(bank.value(slot), factor),
    ...(held !== undefined && { followed: inUnitOf(held, factor) }),
    writer: bank.provenance(slot) ?? null,
  };
}

/** Step of a point in its unit x `factor`; undefined: a float, an enumeration or text. */
export function stepOf({ def, sf }: PointSlot, factor = defaultFactor): number | undefined {
  const isNumber = !isFloat(def.type) && def.symbols === undefined && def.type !== 'string';
  return isNumber ? Math.abs(Number(`1e${sf}`) * factor) : undefined;
}

/** The slot of a name such as `704.WMaxLimPct`; undefined: the device does not implement it. */
export function slotNamed(device: Device, name: string): PointSlot | undefined {
  return slotOf(device.bank.layout, name);
}
