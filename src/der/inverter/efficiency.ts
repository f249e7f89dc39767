// Efficiency of the PVWatts inverter as a polynomial of z = dc / dc0: (a z + b / z + c) etaNom / etaRef.
const quadratic = 0.0162;
const constant = 0.0059;
const linear = 0.9858;
const etaRef = 0.9637;

/**
 * AC power in W that an inverter makes of `dcW` (PVWatts curve). Clipped at `etaNom * dc0W`; 0 below the
 * DC power that the inverter needs for itself, for bad numbers and for negative power. Never above `dcW`.
 * @param dc0W DC power in W at which the nominal AC power is reached
 * @param etaNom nominal efficiency, 0 to 1
 */
export function acFromDc(dcW: number, dc0W: number, etaNom: number): number {
  if (!(dcW > 0) || !(dc0W > 0) || !(etaNom > 0)) return 0;
  const eta = Math.min(etaNom, 1);
  const z = Math.min(dcW / dc0W, 1);
  const ac = (eta / etaRef) * ((linear - quadratic * z) * z - constant) * dc0W;
  // Nominal efficiencies above 0.997 would lift the middle of the curve over 100 %.
  return Math.max(0, Math.min(ac, eta * dc0W, dcW));
}

/**
 * DC power in W that makes `acW`: the inverse of {@link acFromDc} in closed form, 0 for 0.
 * More than the nominal AC power gives `dc0W`, the DC power at which the curve ends.
 */
export function dcFromAc(acW: number, dc0W: number, etaNom: number): number {
  if (!(acW > 0) || !(dc0W > 0) || !(etaNom > 0)) return 0;
  const eta = Math.min(etaNom, 1);
  if (acW >= eta * dc0W) return dc0W;
  const rest = constant + (acW / dc0W) * (etaRef / eta);
  // The smaller root, in the form without cancellation.
  const z = (2 * rest) / (linear + Math.sqrt(linear * linear - 4 * quadratic * rest));
  return Math.min(Math.max(z * dc0W, acW), dc0W);
}
