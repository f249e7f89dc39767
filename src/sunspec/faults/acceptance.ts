/** Writes under faults of the acceptance layer. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ProposedFault } from '../../core/faults/kinds.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { KeptTimer, Timer } from '../../core/time/scheduler.ts';
import {
  alterWriteFault,
  exceptionCodeFault,
  ignoreWriteFault,
  lateWriteFault,
  lenientWritesFault,
  partialWriteFault,
  writeLockFault,
} from '../../fault-kinds/modbus-map.ts';
import type { PointBank } from '../map/bank.ts';
import { numberCodec } from '../map/codec.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { keptPoint, pointOf } from '../map/layout-table.ts';
import type { AnyPointValue } from '../map/types.ts';
import { pointName, readPoint } from '../map/view.ts';
import { writeSpan } from '../map/register-bank.ts';
import { holds, slotsUnder, targetSlots } from './targets.ts';
import { mapTargetOf } from '../../fault-kinds/rows.ts';

export interface AcceptanceOptions {
  readonly deviceIndex: number;
  readonly bank: PointBank;
  /** Calls `action` once after `delayS` simulated seconds, between steps of the device; a reset before cancels it. */
  readonly later: (delayS: number, action: () => void) => Timer;
  /** Sets a timer of an earlier process. */
  readonly again: (timer: KeptTimer, action: () => void) => Timer;
  /** logs dropped parts and acknowledged values that were refused later; limited: a master can cause many lines */
  readonly log: { info(message: string): void };
}

/** Maximum number of pending writes per device (acknowledged, not yet applied). */
export const maxPendingWrites = 1000;
const busy = 6;

/** Result of faults for one point of a write. */
interface PointOutcome {
  readonly slot: PointSlot;
  readonly written: AnyPointValue;
  lands: boolean;
  value: AnyPointValue;
  delayS: number;
}

type Landing = Pick<PointOutcome, 'slot' | 'written' | 'value'>;

/** A write that is acknowledged, and lands when its timer is due. */
interface DelayedWrite {
  readonly timer: Timer;
  readonly points: readonly Landing[];
  readonly by: Origin;
}

/** True if a fault acts on the write. */
type Decision = (fault: Pick<ActiveFault, 'strikes' | 'wouldStrike'>) => boolean;

/** The different delays of points that land later, s. */
function lateDelays(outcomes: readonly PointOutcome[]): readonly number[] {
  return [...new Set(outcomes.flatMap(({ lands, delayS }) => (lands && delayS > 0 ? delayS : [])))];
}

/** Error codes by the rules that `exception_code` names. */
const codesOfRule: Readonly<Record<string, readonly ErrorCode[]>> = {
  read_only: ['MAP_READ_ONLY'],
  not_implemented: ['MAP_NOT_IMPLEMENTED'],
  bad_value: ['MAP_BAD_VALUE', 'MAP_NOT_SUPPORTED'],
  illegal_address: ['MAP_ILLEGAL_ADDRESS'],
  partial_point: ['MAP_PARTIAL_POINT'],
};

const keptLanding = ({ slot, written, value }: Landing) => ({ slot: keptPoint(slot), written, value });

/**
 * Writes to one bank, subject to the faults that concern its device. In this order, each kind in order of injection:
 * `write_lock` refuses; `lenient_writes` cuts off a partial point at the end; then the request is checked as usual, and
 * `exception_code` may replace the code of a refusal; of a valid request, `ignore_write` and `partial_write` remove
 * points, `alter_write` changes the remaining values, and `late_write` delays them. Values that land at one time land
 * in one commit, with the original writer. If the bank refuses them, the altered values are lost, and if it refuses the
 * unaltered ones too, all are; the request stays acknowledged.
 */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  #pending: readonly DelayedWrite[] = [];

  constructor(options: AcceptanceOptions) {
    this.#options = options;
  }

  /**
   * @param faults faults of any kind; only acceptance faults count
   * @param address address in the map of the bank
   * @returns the point cut by `lenient_writes`; null: none
   * @throws SimError as `Bank.write`, with `protocolCode` if a fault decides it; nothing has changed then
   */
  writeThrough(faults: readonly ActiveFault[], address: number, words: Buffer, by: Origin): PointSlot | null {
    const { bank, deviceIndex, log } = this.#options;
    const count = words.length / 2;
    const slots = slotsUnder(bank.layout, address, count);
    const touching = faults.filter((fault) => isAcceptance(fault) && touches(fault, bank, address, count, slots));
    if (touching.length === 0) {
      bank.write(address, words, by);
      return null;
    }
    refuseWhileLocked(touching, deviceIndex);
    const dropped = droppedBy(touching, deviceIndex, bank.layout, cutAtEnd(slots, address, count));
    const remainingWords = dropped === null ? words : words.subarray(0, 2 * (dropped.address - address));
    try {
      bank.check(address, remainingWords, by);
    } catch (error) {
      throw withFaultCode(error, touching, deviceIndex);
    }
    const { points } = writeSpan(bank.layout, address, remainingWords.length / 2);
    const outcomesBy = (decide: Decision) => this.#outcomesOf(points, touching, address, remainingWords, decide);
    // a write refused for lack of room is no occasion, like other refused ones: the room is checked before any strike
    if (touching.some((fault) => fault.isOf(lateWriteFault)))
      this.#checkRoom(lateDelays(outcomesBy((fault) => fault.wouldStrike(deviceIndex))).length);
    const outcomes = outcomesBy((fault) => fault.strikes(deviceIndex));
    if (outcomes.every(asWritten)) bank.write(address, remainingWords, by);
    else
      this.#land(
        outcomes.filter(({ lands }) => lands),
        by,
      );
    if (dropped !== null) {
      log.info(`a fault drops the part of ${pointName(dropped)} at the end of a write of ${by.peer ?? by.source}`);
    }
    return dropped;
  }

  #outcomesOf(
    slots: readonly PointSlot[],
    touching: readonly ActiveFault[],
    address: number,
    words: Buffer,
    decide: Decision,
  ): readonly PointOutcome[] {
    const {
      bank: { layout },
    } = this.#options;
    const image = Buffer.alloc(layout.imageSize * 2);
    words.copy(image, (address - layout.base) * 2);
    const outcomes = slots.map((slot): PointOutcome => {
      const written = readPoint(layout, image, slot);
      return { slot, written, value: written, lands: true, delayS: 0 };
    });
    const applyFaults = (apply: (fault: ActiveFault, targets: readonly PointOutcome[], decide: Decision) => void) => {
      for (const fault of touching) {
        const targetPoints = targetSlots(layout, fault.facts.target);
        apply(
          fault,
          outcomes.filter(({ slot, lands }) => lands && (targetPoints === null || targetPoints.has(slot))),
          decide,
        );
      }
    };
    applyFaults(dropPoints);
    applyFaults(alter);
    applyFaults(delayPoints);
    return outcomes;
  }

  #land(outcomes: readonly PointOutcome[], by: Origin): void {
    const atOnce = outcomes.filter(({ delayS }) => delayS === 0);
    if (atOnce.length > 0) this.#commit(atOnce, by);
    for (const delayS of lateDelays(outcomes)) {
      const group = outcomes.filter((outcome) => outcome.delayS === delayS);
      this.#delay(group, by, (land) => this.#options.later(delayS, land));
    }
  }

  #delay(points: readonly Landing[], by: Origin, setTimer: (land: () => void) => Timer): void {
    const timer = setTimer(() => {
      this.#commit(points, by);
    });
    this.#pending = [...this.#pending, { timer, points, by }];
  }

  /** State that a restart keeps, restored after the device: writes that are still to land. */
  kept(): Kept {
    return keptRecord(
      () => ({
        pending: this.#pending.flatMap(({ timer, points, by }) =>
          timer.waiting ? [{ ...keptTimer(timer), by: plainOrigin(by), points: points.map(keptLanding) }] : [],
        ),
      }),
      ({ pending }) => {
        this.#pending = [];
        const { bank, again } = this.#options;
        for (const { by, points, ...timer } of pending) {
          const landing = points.flatMap(({ slot: point, ...values }) => {
            const slot = pointOf(bank.layout, point);
            return slot ? [{ slot, ...values }] : [];
          });
          this.#delay(landing, by, (land) => again(timer, land));
        }
      },
    );
  }

  /** @throws SimError COMMAND_QUEUE_FULL, answered as busy */
  #checkRoom(count: number): void {
    if (count === 0) return;
    // applied writes, and those dropped by a reset of the device, no longer count
    this.#pending = this.#pending.filter(({ timer }) => timer.waiting);
    if (this.#pending.length + count > maxPendingWrites) {
      throw new SimError('COMMAND_QUEUE_FULL', `${maxPendingWrites} delayed writes are pending already`, [], busy);
    }
  }

  /** Commits all values; if the bank refuses, only the unaltered ones; if it refuses again, none. */
  #commit(outcomes: readonly Landing[], by: Origin): void {
    const { bank, log } = this.#options;
    const unaltered = outcomes.filter(({ value, written }) => Object.is(value, written));
    const attempts = [outcomes, ...(unaltered.length > 0 && unaltered.length < outcomes.length ? [unaltered] : [])];
    for (const attempt of attempts) {
      try {
        bank.assign(by, attempt);
        return;
      } catch (error) {
        if (!(error instanceof SimError)) throw error;
        log.info(`a write of ${by.peer ?? by.source} that a fault changed or delayed is refused: ${error.message}`);
      }
    }
  }
}

const asWritten = ({ lands, delayS, value, written }: PointOutcome) =>
  lands && delayS === 0 && Object.is(value, written);

const kinds = [
  ignoreWriteFault,
  writeLockFault,
  lateWriteFault,
  alterWriteFault,
  partialWriteFault,
  lenientWritesFault,
  exceptionCodeFault,
];

/** True if `Acceptance` carries out the fault. */
export function isAcceptance(fault: ActiveFault): boolean {
  return kinds.some((kind) => (kind as unknown) === fault.facts.kind);
}

/** True if a request meets the target of a fault. Registers of a target count even if they hold no point. */
export function touches(
  fault: ActiveFault,
  bank: PointBank,
  address: number,
  count: number,
  slots: readonly PointSlot[],
): boolean {
  const { target, when } = fault.facts;
  const { registers } = mapTargetOf(target);
  const targetPoints = targetSlots(bank.layout, target);
  const isTouched =
    targetPoints === null ||
    slots.some((slot) => targetPoints.has(slot)) ||
    (registers !== undefined && address < registers.address + registers.count && registers.address < address + count);
  return isTouched && holds(bank, when);
}

function refuseWhileLocked(touching: readonly ActiveFault[], deviceIndex: number): void {
  for (const fault of touching) {
    if (fault.isOf(writeLockFault) && fault.strikes(deviceIndex)) {
      throw new SimError('MAP_READ_ONLY', `writes are locked by fault ${fault.facts.id}`, [], fault.parameters.code);
    }
  }
}

/**
 * The point of which a write has only the first part, after whole points. A point that could not be written whole is
 * refused anyway, and so is a write of one partial point alone.
 */
function cutAtEnd(slots: readonly PointSlot[], address: number, count: number): PointSlot | undefined {
  const last = slots.at(-1);
  const isCut = last?.writable === true && last.address > address && last.address + last.def.size > address + count;
  return isCut ? last : undefined;
}

function droppedBy(
  touching: readonly ActiveFault[],
  deviceIndex: number,
  layout: Layout,
  cut: PointSlot | undefined,
): PointSlot | null {
  if (cut === undefined) return null;
  const drops = (fault: ActiveFault) =>
    fault.isOf(lenientWritesFault) &&
    targetSlots(layout, fault.facts.target)?.has(cut) !== false &&
    fault.strikes(deviceIndex);
  return touching.some(drops) ? cut : null;
}

/** A refusal with the code set by `exception_code`; other errors stay unchanged. */
export function withFaultCode(error: unknown, faults: readonly ActiveFault[], deviceIndex: number): unknown {
  if (!(error instanceof SimError)) return error;
  for (const fault of faults) {
    if (
      fault.isOf(exceptionCodeFault) &&
      codesOfRule[fault.parameters.rule]?.includes(error.code) === true &&
      fault.strikes(deviceIndex)
    ) {
      return new SimError(error.code, error.message, error.issues, fault.parameters.code);
    }
  }
  return error;
}

function dropPoints(fault: ActiveFault, targets: readonly PointOutcome[], decide: Decision): void {
  const landing = fault.isOf(ignoreWriteFault)
    ? 0
    : fault.isOf(partialWriteFault)
      ? fault.parameters.landing_points
      : Infinity;
  if (targets.length <= landing || !decide(fault)) return;
  for (const outcome of targets.slice(landing)) outcome.lands = false;
}

function alter(fault: ActiveFault, targets: readonly PointOutcome[], decide: Decision): void {
  if (!fault.isOf(alterWriteFault)) return;
  const { factor = 1, offset = 0, value } = fault.parameters;
  const isAlterable = ({ slot: { def }, written }: PointOutcome) =>
    numberCodec(def.type) !== undefined &&
    (value !== undefined || (typeof written === 'number' && def.symbols === undefined));
  const numbers = targets.filter(isAlterable);
  if (numbers.length === 0 || !decide(fault)) return;
  for (const outcome of numbers) outcome.value = value ?? Number(outcome.value) * factor + offset;
}

function delayPoints(fault: ActiveFault, targets: readonly PointOutcome[], decide: Decision): void {
  if (!fault.isOf(lateWriteFault) || targets.length === 0 || !decide(fault)) return;
  for (const outcome of targets) outcome.delayS += fault.parameters.delay_s;
}

/**
 * Checks that the target of a fault of this layer has a writable point, which the catalogue cannot check. Faults that
 * refuse writes pass, since they may answer a write of another point.
 * @throws SimError COMMAND_BAD_VALUE
 */
export function checkAcceptance({ kind, request: { target = {}, parameters } }: ProposedFault, layout: Layout): void {
  const targetPoints = targetSlots(layout, target);
  if (targetPoints === null && kind.kind === alterWriteFault.kind && parameters?.['value'] !== undefined) {
    throw new SimError('COMMAND_BAD_VALUE', 'one value cannot land in every point', [
      { name: '/target/points', detail: 'is required with a value' },
    ]);
  }
  const changing: readonly { readonly kind: string }[] = [
    ignoreWriteFault,
    lateWriteFault,
    alterWriteFault,
    partialWriteFault,
    lenientWritesFault,
  ];
  if (!changing.some((each) => each.kind === kind.kind) || targetPoints === null || targetPoints.size === 0) return;
  if ([...targetPoints].some(({ writable }) => writable)) return;
  const name = target.points === undefined ? '/target/registers' : '/target/points';
  throw new SimError('COMMAND_BAD_VALUE', 'the target has no point that can be written', [
    { name, detail: 'none of these points is writable in the device' },
  ]);
}
