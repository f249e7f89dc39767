/** Carries out the faults of an outstation. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultSource } from '../../core/faults/registry.ts';
import {
  badCrcFault,
  bufferOverflowFault,
  noConfirmFault,
  noResponseFault,
  restartBitFault,
  timeLostFault,
  wrongSequenceFault,
} from '../../fault-kinds/dnp3.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import { iin } from '../stack/application/types.ts';
import type { Disturber } from '../stack/outstation/types.ts';

const undisturbed = { dropped: false, badCrc: false, sequenceShift: 0 };

/** The bit of IIN that a fault sets; 0: none. */
function indicationOf(fault: ActiveFault): number {
  if (fault.isOf(restartBitFault)) return iin.deviceRestart;
  if (fault.isOf(bufferOverflowFault)) return iin.eventBufferOverflow;
  return fault.isOf(timeLostFault) ? iin.needTime : 0;
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
      response(functionCode) {
        if (faults.length === 0) return undisturbed;
        const matchingFaults = present(functionCode);
        if (matchingFaults.some((fault) => fault.isOf(noResponseFault) && fault.strikes(deviceIndex)))
          return { ...undisturbed, dropped: true };
        const badCrc = matchingFaults.some((fault) => fault.isOf(badCrcFault) && fault.strikes(deviceIndex));
        let sequenceShift = 0;
        for (const fault of matchingFaults)
          if (fault.isOf(wrongSequenceFault) && fault.strikes(deviceIndex)) sequenceShift += fault.parameters.shift;
        return { dropped: false, badCrc, sequenceShift };
      },
      isTimeLost: () => faults.length > 0 && present().some((fault) => fault.isOf(timeLostFault)),
    };
  };
}
