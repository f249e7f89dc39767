/** Converts between the power of a fuel cell stack and that of the AC terminals. */
import type { StackPower } from '../../contract/kinds/fuelcell.ts';
import type { DcLink } from '../inverter/dc-link.ts';
import type { DcSource } from '../source/source.ts';

/** null: not a fuel cell. */
export function stackPower({ stack }: DcSource, link: DcLink): StackPower | null {
  if (!stack) return null;
  return {
    acW: (stackW) => link.acOf(stack.dcW(stackW)),
    stackW: (acW) => stack.stackW(link.dcOf(acW)),
  };
}
