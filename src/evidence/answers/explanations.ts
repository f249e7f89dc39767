/** Faults by which a device answers positively and does not do what it was told. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { wrongStatusFault, wrongSubjectFault } from '../../fault-kinds/csip.ts';
import {
  adoptionFault,
  enableEdgeFault,
  ignoreEffectFault,
  lateEffectFault,
  rebootFault,
  silentRevertFault,
} from '../../fault-kinds/device-effect.ts';
import {
  alterWriteFault,
  ignoreWriteFault,
  lateWriteFault,
  lenientWritesFault,
  partialWriteFault,
} from '../../fault-kinds/modbus-map.ts';
import { ignoreCallFault } from '../../fault-kinds/ocpp.ts';
import { targetOf } from '../../fault-kinds/rows.ts';
import type { AnswerProtocol } from './model.ts';

type Kind = Pick<FaultKind, 'protocol' | 'kind'>;

/** Of the device: whatever the protocol. */
const ofDevice: readonly Kind[] = [
  ignoreEffectFault,
  lateEffectFault,
  enableEdgeFault,
  adoptionFault,
  silentRevertFault,
  rebootFault,
];

/** Kinds that can make a positive answer of a protocol untrue. */
export const falseAnswerKinds: Readonly<Record<AnswerProtocol, readonly Kind[]>> = {
  modbus: [ignoreWriteFault, lateWriteFault, alterWriteFault, partialWriteFault, lenientWritesFault, ...ofDevice],
  csip: [wrongStatusFault, wrongSubjectFault, ...ofDevice],
  ocpp: [ignoreCallFault, ...ofDevice],
  dnp3: ofDevice,
};

/** A fault that struck while a command was under way or since. */
export interface Explanation {
  readonly fault: ActiveFault;
  readonly isOn: boolean;
}

const has = (kinds: readonly Kind[], { protocol, facts }: ActiveFault): boolean =>
  kinds.some((kind) => kind.protocol === protocol && kind.kind === facts.kind.kind);

/** The target of a fault may have a point. A place that is no point is not looked up. */
function mayConcern(fault: ActiveFault, place: string): boolean {
  const { points } = targetOf(fault.facts.target);
  const dot = place.indexOf('.');
  if (points === undefined || !/^\d+\./.test(place)) return true;
  const model = place.slice(0, dot);
  // an adoption request stands for the set in force
  const isRequest = /\.Adpt(Crv|Ctl)/.test(place);
  return points.some(
    (name) => name === place || name === model || place.startsWith(`${name}.`) || (isRequest && name.startsWith(model)),
  );
}

/**
 * The faults that can explain why a device does not have what it said.
 * @param sinceMs wall time of the command
 * @param answeredMs wall time of its answer
 */
export function faultsExplaining(
  registry: Pick<FaultRegistry, 'active' | 'ended'>,
  protocol: AnswerProtocol,
  { deviceIndex, place, sinceMs }: { readonly deviceIndex: number; readonly place: string; readonly sinceMs: number },
): readonly Explanation[] {
  const kinds = falseAnswerKinds[protocol];
  const fits = (fault: ActiveFault) =>
    has(kinds, fault) && fault.strikeCount > 0 && fault.concerns(deviceIndex) && mayConcern(fault, place);
  const inForce = registry.active.filter(fits).map((fault) => ({ fault, isOn: true }));
  const over = registry.ended.filter(({ fault, endedAtMs }) => endedAtMs >= sinceMs && fits(fault));
  return [...inForce, ...over.map(({ fault }) => ({ fault, isOn: false }))];
}
