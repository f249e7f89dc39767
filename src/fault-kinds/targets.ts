/** Targets of faults of Modbus and of the register map, beside devices. */
import type { Issue } from '../core/errors.ts';
import type { FaultTarget } from '../core/faults/kinds.ts';

/** An absent member is no restriction. The `targets` of a kind name the members that it takes. */
export type MapTarget = {
  /** points by name, `704.WMaxLimPct` or `705.Crv[1].Pt[0].V`; a model alone, `704`, means all of its points */
  readonly points?: readonly string[];
  /** raw registers, PDU addresses */
  readonly registers?: { readonly address: number; readonly count: number };
  /** Modbus function codes */
  readonly functions?: readonly number[];
};
export type MapTargetName = keyof MapTarget;

/** Targets that select Modbus requests: by function, or by the registers and points that a request touches. */
export const wireTargets = ['functions', 'registers', 'points'] as const satisfies readonly MapTargetName[];
/** Targets that select the registers and points of a write or read. */
export const mapTargets = ['registers', 'points'] as const satisfies readonly MapTargetName[];

/** The target of a fault whose kind is one of these. */
export function mapTargetOf(target: FaultTarget): MapTarget {
  return target;
}

/** Registers that addresses of Modbus can name. */
const registerSpace = 0x1_0000;

/** Issues of a target that do not depend on the device, by pointers into the request. */
export function mapTargetIssues(target: FaultTarget): Issue[] {
  const { registers } = mapTargetOf(target);
  if (registers === undefined || registers.address + registers.count <= registerSpace) return [];
  return [
    {
      name: '/target/registers/count',
      detail: `must be at most ${registerSpace - registers.address} from address ${registers.address} on`,
    },
  ];
}
