/** Power of a stack for a power of the plant, and back, without touching the stack that runs. */
import type { FuelCellParameters } from '../../../contract/kinds/fuelcell.ts';
import type { StackPort } from '../source.ts';
import { Stack } from './stack.ts';

const halvings = 50;

export class StackConversion implements StackPort {
  readonly #stack: Stack;
  readonly #temperatureC: () => number;

  /** @param temperatureC of the stack that runs */
  constructor(parameters: FuelCellParameters, temperatureC: () => number) {
    this.#stack = new Stack(parameters);
    this.#temperatureC = temperatureC;
  }

  stackW(dcW: number): number {
    const stack = this.#stack;
    stack.solve(Math.max(-stack.ratedElDcW, Math.min(stack.ratedDcW, dcW)), this.#temperatureC());
    return stack.grossW;
  }

  /** The power of the stack rises with that of the plant, so halving finds it. */
  dcW(stackW: number): number {
    if (stackW === 0) return 0;
    const { ratedDcW, ratedElDcW } = this.#stack;
    // the lower end keeps less power than wanted, the upper one more
    let [low, high] = [0, stackW > 0 ? ratedDcW : -ratedElDcW];
    if (Math.abs(this.stackW(high)) <= Math.abs(stackW)) return high;
    for (let i = 0; i < halvings; i += 1) {
      const middle = (low + high) / 2;
      if (Math.abs(this.stackW(middle)) <= Math.abs(stackW)) low = middle;
      else high = middle;
    }
    return low;
  }
}
