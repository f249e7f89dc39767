import { SimError } from '../../core/errors.ts';

/** The error for a span of registers that the map does not have as a whole. */
export function notInMap(address: number, count: number): SimError {
  const end = address + count - 1;
  const text =
    count > 1 ? `registers ${address}..${end} are not all in the map` : `register ${address} is not in the map`;
  return new SimError('MAP_ILLEGAL_ADDRESS', text);
}
