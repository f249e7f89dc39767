/** Powers in sentences of the API, the timeline and reports. */

/** Power from which on it is in MW, kW. */
const fromKw = 10_000;

function inUnit(watts: number, unit: string): string {
  const kw = watts / 1000;
  // the size is that of the rounded number: 999.996 kW are 1000.0 kW
  const decimals = Number(kw.toFixed(2)) < 1000 ? 2 : 1;
  const text = kw.toFixed(decimals);
  return Number(text) < fromKw ? `${text} k${unit}` : `${(kw / 1000).toFixed(2)} M${unit}`;
}

/** `6.00 kW`, `12.50 MW` from 10,000 kW on. @param watts at least 0 */
export const powerText = (watts: number): string => inUnit(watts, 'W');

/** `6.00 kvar`, in the form of `powerText`. */
export const varText = (vars: number): string => inUnit(vars, 'var');
