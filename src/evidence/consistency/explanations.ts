/** Faults that make one protocol present something else than the device has. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultProtocol } from '../../core/faults/kinds.ts';
import { malformedXmlFault, missingElementFault, staleFault, wrongMultiplierFault } from '../../fault-kinds/csip.ts';
import { strictPointsFault } from '../../fault-kinds/modbus-map.ts';
import { meterJumpFault } from '../../fault-kinds/ocpp.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import type { Presented, Presenter } from './model.ts';

/** Protocols that have faults of their own, by presenter. */
export const faultProtocolOf: Readonly<Partial<Record<Presenter, FaultProtocol>>> = {
  modbus: 'modbus',
  dnp3: 'dnp3',
  ocpp: 'ocpp',
  csip: 'csip',
};

const spoilers = [malformedXmlFault, missingElementFault, staleFault, wrongMultiplierFault] as const;

/** A fault can change values, as opposed to keeping answers back or garbling them. */
export function changesValues(fault: ActiveFault): boolean {
  switch (fault.protocol) {
    case 'modbus':
      return fault.layer === 'reading' && !fault.isOf(strictPointsFault);
    case 'ocpp':
      return fault.isOf(meterJumpFault);
    case 'csip':
      return spoilers.some((kind) => fault.facts.kind.kind === kind.kind);
    default:
      return false;
  }
}

/** The target of a fault may have a register. Registers by address are not looked up. */
function mayConcern(fault: ActiveFault, place: string): boolean {
  const { points } = targetOf(fault.facts.target);
  if (points === undefined) return true;
  // a scale factor is named by itself and changes the points that use it
  const model = place.slice(0, place.indexOf('.'));
  return points.some(
    (name) =>
      name === place ||
      name === model ||
      place.startsWith(`${name}.`) ||
      (name.startsWith(`${model}.`) && name.endsWith('_SF')),
  );
}

/** The faults in force that can explain what a protocol presents. */
export function faultsExplaining(
  faults: readonly ActiveFault[],
  { presenter, place }: Presented,
): readonly ActiveFault[] {
  const protocol = faultProtocolOf[presenter];
  const changing = faults.filter((fault) => fault.protocol === protocol && changesValues(fault));
  if (presenter === 'modbus') return changing.filter((fault) => mayConcern(fault, place));
  // the meter of OCPP lies about its energy registers alone
  return presenter === 'ocpp' && !place.startsWith('Energy.') ? [] : changing;
}
