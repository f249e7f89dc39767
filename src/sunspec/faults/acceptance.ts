/** What a write leaves in the registers while faults of the acceptance layer are in force. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { ProposedFault } from '../../core/faults/kinds.ts';
import type { Timer } from '../../core/time/scheduler.ts';
import {
  alterWriteFault,
  exceptionCodeFault,
  ignoreWriteFault,
  lateWriteFault,
  partialWriteFault,
  writeLockFault,
} from '../../fault-kinds/modbus-acceptance.ts';
import type { Bank } from '../map/bank.ts';
import { numberCodec } from '../map/codec.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import type { AnyPointValue } from '../map/types.ts';
import { readPoint } from '../map/view.ts';
import { holds } from './condition.ts';
import { slotsUnder, targetSlots } from './targets.ts';
import { mapTargetOf } from '../../fault-kinds/targets.ts';

export interface AcceptanceOptions {
  readonly deviceIndex: number;
  readonly bank: Bank;
  /** Calls `act` once after so many simulated seconds, between the steps of the device; or never, when it is reset before. */
  readonly later: (delayS: number, act: () => void) => Timer;
  /** told of values that were acknowledged and could not land; a master can cause such lines at will */
  readonly log: { info(message: string): void };
}

/** Writes of one device that are acknowledged and have not landed yet. */
export const maxPendingWrites = 1000;
const busy = 6;

/** What becomes of one point of a write. */
interface Fate {
  readonly slot: PointSlot;
  readonly written: AnyPointValue;
  lands: boolean;
  value: AnyPointValue;
  delayS: number;
}

/** Error codes behind the reasons that `exception_code` names. */
const codesOfRule: Readonly<Record<string, readonly ErrorCode[]>> = {
  read_only: ['MAP_READ_ONLY'],
  not_implemented: ['MAP_NOT_IMPLEMENTED'],
  bad_value: ['MAP_BAD_VALUE', 'MAP_NOT_SUPPORTED'],
  illegal_address: ['MAP_ILLEGAL_ADDRESS'],
  partial_point: ['MAP_PARTIAL_POINT'],
};

/**
 * Writes to one bank past the faults that concern its device. In this order, each kind in order of injection:
 * `write_lock` refuses; then the request is checked as always, and `exception_code` has its say in a refusal; of a
 * request that is sound, `ignore_write` and `partial_write` take points out, `alter_write` changes what is left, and
 * `late_write` holds it back. What lands at one time lands in one commit, under the name of whoever wrote it. Values
 * that the bank does not take alone or altered are lost, and the request stays acknowledged.
 */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  /** of what is held back */
  #pending: readonly Timer[] = [];

  constructor(options: AcceptanceOptions) {
    this.#options = options;
  }

  /**
   * @param faults of any kind; those of other kinds are left alone
   * @param address in the bank's own map
   * @throws SimError as `Bank.write`, with `protocolCode` where a fault decides it; nothing has changed then
   */
  writeThrough(faults: readonly ActiveFault[], address: number, words: Buffer, by: Origin): void {
    const { bank, deviceIndex } = this.#options;
    const count = words.length / 2;
    const slots = slotsUnder(bank.layout, address, count);
    const acting = faults.filter((fault) => isAcceptance(fault) && touches(fault, bank, address, count, slots));
    if (acting.length === 0) {
      bank.write(address, words, by);
      return;
    }
    refuseWhileLocked(acting, deviceIndex);
    try {
      bank.check(address, words, by);
    } catch (error) {
      throw renamed(error, acting, deviceIndex);
    }
    const fates = this.#fatesOf(slots, acting, address, words);
    if (fates.every(asWritten)) bank.write(address, words, by);
    else
      this.#land(
        fates.filter(({ lands }) => lands),
        by,
      );
  }

  #fatesOf(
    slots: readonly PointSlot[],
    acting: readonly ActiveFault[],
    address: number,
    words: Buffer,
  ): readonly Fate[] {
    const {
      bank: { layout },
      deviceIndex,
    } = this.#options;
    const image = Buffer.alloc(layout.size * 2);
    words.copy(image, (address - layout.base) * 2);
    const fates = slots.map((slot): Fate => {
      const written = readPoint(layout, image, slot);
      return { slot, written, value: written, lands: true, delayS: 0 };
    });
    const each = (strike: (fault: ActiveFault, targets: readonly Fate[], deviceIndex: number) => void) => {
      for (const fault of acting) {
        const set = targetSlots(layout, fault.facts.target);
        strike(
          fault,
          fates.filter(({ slot, lands }) => lands && (set === null || set.has(slot))),
          deviceIndex,
        );
      }
    };
    each(takeOut);
    each(alter);
    each(holdBack);
    return fates;
  }

  #land(fates: readonly Fate[], by: Origin): void {
    const delays = new Set(fates.map(({ delayS }) => delayS));
    const late = [...delays].filter((delayS) => delayS > 0);
    this.#makeRoom(late.length);
    if (delays.has(0))
      this.#commit(
        fates.filter(({ delayS }) => delayS === 0),
        by,
      );
    for (const delayS of late) {
      const group = fates.filter((fate) => fate.delayS === delayS);
      this.#pending = [
        ...this.#pending,
        this.#options.later(delayS, () => {
          this.#commit(group, by);
        }),
      ];
    }
  }

  /** @throws SimError COMMAND_QUEUE_FULL, to be answered with busy */
  #makeRoom(wanted: number): void {
    if (wanted === 0) return;
    // some have landed, or never will since the device was reset
    this.#pending = this.#pending.filter(({ waiting }) => waiting);
    if (this.#pending.length + wanted > maxPendingWrites) {
      throw new SimError('COMMAND_QUEUE_FULL', `${maxPendingWrites} writes wait to land late`, [], busy);
    }
  }

  /** All of them, or those that are as written, or none: whatever the bank takes first. */
  #commit(fates: readonly Fate[], by: Origin): void {
    const { bank, log } = this.#options;
    const unaltered = fates.filter(({ value, written }) => Object.is(value, written));
    const attempts = [fates, ...(unaltered.length > 0 && unaltered.length < fates.length ? [unaltered] : [])];
    for (const attempt of attempts) {
      try {
        bank.assign(by, attempt);
        return;
      } catch (error) {
        if (!(error instanceof SimError)) throw error;
        log.info(`a value that ${by.peer ?? by.source} wrote and a fault kept apart cannot land: ${error.message}`);
      }
    }
  }
}

const asWritten = ({ lands, delayS, value, written }: Fate) => lands && delayS === 0 && Object.is(value, written);

const kinds = [
  ignoreWriteFault,
  writeLockFault,
  lateWriteFault,
  alterWriteFault,
  partialWriteFault,
  exceptionCodeFault,
];

/** Whether a fault is one that `Acceptance` carries out. */
export function isAcceptance(fault: ActiveFault): boolean {
  return kinds.some((kind) => (kind as unknown) === fault.facts.kind);
}

/** Registers count by themselves, so that a fault can also be aimed at what is no point. */
export function touches(
  fault: ActiveFault,
  bank: Bank,
  address: number,
  count: number,
  slots: readonly PointSlot[],
): boolean {
  const { target, when } = fault.facts;
  const { registers } = mapTargetOf(target);
  const set = targetSlots(bank.layout, target);
  const hit =
    set === null ||
    slots.some((slot) => set.has(slot)) ||
    (registers !== undefined && address < registers.address + registers.count && registers.address < address + count);
  return hit && holds(bank, when);
}

function refuseWhileLocked(acting: readonly ActiveFault[], deviceIndex: number): void {
  for (const fault of acting) {
    if (fault.isOf(writeLockFault) && fault.strikes(deviceIndex)) {
      throw new SimError('MAP_READ_ONLY', `writes are locked by fault ${fault.facts.id}`, [], fault.parameters.code);
    }
  }
}

/** A refusal as `exception_code` wants it answered; whatever is none stays as it is. */
export function renamed(error: unknown, faults: readonly ActiveFault[], deviceIndex: number): unknown {
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

function takeOut(fault: ActiveFault, targets: readonly Fate[], deviceIndex: number): void {
  const landing = fault.isOf(ignoreWriteFault)
    ? 0
    : fault.isOf(partialWriteFault)
      ? fault.parameters.landing_points
      : Infinity;
  if (targets.length <= landing || !fault.strikes(deviceIndex)) return;
  for (const fate of targets.slice(landing)) fate.lands = false;
}

function alter(fault: ActiveFault, targets: readonly Fate[], deviceIndex: number): void {
  if (!fault.isOf(alterWriteFault)) return;
  const { factor = 1, offset = 0, value } = fault.parameters;
  const takes = ({ slot: { def }, written }: Fate) =>
    numberCodec(def.type) !== undefined &&
    (value !== undefined || (typeof written === 'number' && def.symbols === undefined));
  const numbers = targets.filter(takes);
  if (numbers.length === 0 || !fault.strikes(deviceIndex)) return;
  for (const fate of numbers) fate.value = value ?? Number(fate.value) * factor + offset;
}

function holdBack(fault: ActiveFault, targets: readonly Fate[], deviceIndex: number): void {
  if (!fault.isOf(lateWriteFault) || targets.length === 0 || !fault.strikes(deviceIndex)) return;
  for (const fate of targets) fate.delayS += fault.parameters.delay_s;
}

/**
 * What the rows of the catalogue cannot tell of a fault of this layer: whether there is anything to write under its
 * target. A refusal needs nothing writable: it may be the answer to a write of something else.
 * @throws SimError COMMAND_BAD_VALUE
 */
export function checkAcceptance({ kind, request: { target = {}, parameters } }: ProposedFault, layout: Layout): void {
  const set = targetSlots(layout, target);
  if (set === null && kind.kind === alterWriteFault.kind && parameters?.['value'] !== undefined) {
    throw new SimError('COMMAND_BAD_VALUE', 'one value cannot land in every point', [
      { name: '/target/points', detail: 'is required with a value' },
    ]);
  }
  const changing: readonly { readonly kind: string }[] = [
    ignoreWriteFault,
    lateWriteFault,
    alterWriteFault,
    partialWriteFault,
  ];
  if (!changing.some((each) => each.kind === kind.kind) || set === null || set.size === 0) return;
  if ([...set].some(({ writable }) => writable)) return;
  const name = target.points === undefined ? '/target/registers' : '/target/points';
  throw new SimError('COMMAND_BAD_VALUE', 'nothing there can be written', [
    { name, detail: 'no point among these is writable in the device' },
  ]);
}
