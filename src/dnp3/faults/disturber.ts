/** Carries out the faults of an outstation. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultSource } from '../../core/faults/registry.ts';
import {
  badCrcFault,
  bufferOverflowFault,
  confirmAskedFault,
  delayFault,
  iinBitsFault,
  noConfirmFault,
  noResponseFault,
  restartBitFault,
  timeLostFault,
  unknownObjectFault,
  wrongSequenceFault,
} from '../../fault-kinds/dnp3.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import { functionCodes, iin } from '../stack/application/types.ts';
import { undisturbed } from '../stack/outstation/types.ts';
import type { Disturbance, Disturber } from '../stack/outstation/types.ts';

/** `IIN2.5` as a mask. */
const maskOf = (name: string): number => 1 << (8 * (Number(name[3]) - 1) + Number(name[5]));

/** An object with a count and one octet; without knowledge of its type, its length is unknown. */
const unknownObject = (group: number, variation: number): Buffer => Buffer.from([group, variation, 0x07, 1, 0]);

/** The bits of IIN that a fault sets; 0: none. */
function indicationOf(fault: ActiveFault): number {
  if (fault.isOf(restartBitFault)) return iin.deviceRestart;
  if (fault.isOf(bufferOverflowFault)) return iin.eventBufferOverflow;
  if (fault.isOf(iinBitsFault)) return fault.parameters.bits.reduce((bits, name) => bits | maskOf(name), 0);
  return fault.isOf(timeLostFault) ? iin.needTime : 0;
}

const unknownObjectBytes = unknownObject(0, 0).length;

/** A response without a fault. */
interface ResponseFacts {
  readonly functionCode: number;
  readonly asksForConfirm: boolean;
  readonly freeBytes: number;
}

/** The fate of a response after one more fault. */
function disturbed(
  fate: Disturbance,
  fault: ActiveFault,
  { functionCode, asksForConfirm, freeBytes }: ResponseFacts,
  deviceIndex: number,
): Disturbance {
  const addsObject = functionCode === functionCodes.read && freeBytes >= unknownObjectBytes;
  if (fault.isOf(badCrcFault)) return fault.strikes(deviceIndex) ? { ...fate, badCrc: true } : fate;
  if (fault.isOf(confirmAskedFault) && asksForConfirm) return fate;
  if (fault.isOf(confirmAskedFault)) return fault.strikes(deviceIndex) ? { ...fate, asksForConfirm: true } : fate;
  if (fault.isOf(wrongSequenceFault) && fault.strikes(deviceIndex))
    return { ...fate, sequenceShift: fate.sequenceShift + fault.parameters.shift };
  if (fault.isOf(delayFault) && fault.strikes(deviceIndex))
    return { ...fate, delayMs: fate.delayMs + fault.parameters.delay_ms };
  if (fault.isOf(unknownObjectFault) && addsObject && fault.strikes(deviceIndex))
    return { ...fate, addedOctets: unknownObject(fault.parameters.group, fault.parameters.variation) };
  return fate;
}

/** Fault decisions for the outstation of one device. */
export interface DeviceDisturber extends Disturber {
  /** the time of masters counts as not written */
  isTimeLost(): boolean;
}

/** Makes the disturber of each device; all of them look at one list of faults. */
export function dnp3Disturbers({ registry, holds }: FaultSource): (deviceIndex: number) => DeviceDisturber {
  let faults: readonly ActiveFault[] = [];
  const sort = () => {
    faults = registry.active.filter(({ protocol }) => protocol === 'dnp3');
  };
  registry.onChange(sort);
  sort();
  return (deviceIndex) => {
    const present = (functionCode?: number) =>
      faults.filter((fault) => {
        if (fault.isOver || !fault.concerns(deviceIndex)) return false;
        const { functions } = targetOf(fault.facts.target);
        if (functions !== undefined && (functionCode === undefined || !functions.includes(functionCode))) return false;
        return holds(fault, deviceIndex);
      });
    return {
      iin(isSent) {
        if (faults.length === 0) return 0;
        let bits = 0;
        for (const fault of present()) {
          const bit = indicationOf(fault);
          // Reading the state must not consume `count`.
          if (bit !== 0 && (!isSent || fault.strikes(deviceIndex))) bits |= bit;
        }
        return bits;
      },
      ignoresConfirm: () =>
        faults.length > 0 && present().some((fault) => fault.isOf(noConfirmFault) && fault.strikes(deviceIndex)),
      response(functionCode, facts) {
        if (faults.length === 0) return undisturbed;
        const matchingFaults = present(functionCode);
        if (matchingFaults.some((fault) => fault.isOf(noResponseFault) && fault.strikes(deviceIndex)))
          return { ...undisturbed, dropped: true };
        return matchingFaults.reduce(
          (fate, fault) => disturbed(fate, fault, { functionCode, ...facts }, deviceIndex),
          undisturbed,
        );
      },
      isTimeLost: () => faults.length > 0 && present().some((fault) => fault.isOf(timeLostFault)),
    };
  };
}
