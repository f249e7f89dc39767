/** Our own words for meters (201 to 204, in float 211 to 214): a quantity, and the phase of its points by rule. */

const wirings = [
  'Single-phase meter',
  'Split-phase meter',
  'Three-phase meter with neutral',
  'Three-phase meter without neutral',
];

/** Signs are those of the grid: positive is drawn from it. */
const quantities: Readonly<Record<string, string>> = {
  A: 'AC current, sum of the phases',
  PhV: 'Mean line-neutral voltage',
  PPV: 'Mean line-line voltage',
  Hz: 'Frequency',
  W: 'Active power, positive when drawn from the grid',
  VA: 'Apparent power, sum of the phases',
  VAR: 'Reactive power, positive when drawn from the grid',
  PF: 'Power factor, sign of the active power',
  TotWhExp: 'Active energy given to the grid',
  TotWhImp: 'Active energy drawn from the grid',
  TotVAhExp: 'Apparent energy while power is given to the grid',
  TotVAhImp: 'Apparent energy while power is drawn from the grid',
  TotVArhImpQ1: 'Reactive energy, quadrant 1: both powers drawn',
  TotVArhImpQ2: 'Reactive energy, quadrant 2: active power given, reactive power drawn',
  TotVArhExpQ3: 'Reactive energy, quadrant 3: both powers given',
  TotVArhExpQ4: 'Reactive energy, quadrant 4: active power drawn, reactive power given',
  Evt: 'Events of the meter',
};

/** Points of one phase, where they are more than the name of the quantity with the phase behind it. */
const ofPhases: Readonly<Record<string, string>> = {
  A: 'AC current',
  PhV: 'Line-neutral voltage',
  VA: 'Apparent power',
};

const scaled: Readonly<Record<string, string>> = {
  A: 'currents',
  V: 'voltages',
  Hz: 'frequency',
  W: 'active power',
  VA: 'apparent power',
  VAR: 'reactive power',
  PF: 'power factors',
  TotWh: 'active energy',
  TotVAh: 'apparent energy',
  TotVArh: 'reactive energy',
};

/** Label of a model of meters, or of one of its points; undefined: the model is none, or the rules of all models apply. */
export function meterLabel(modelId: number, path: string): string | undefined {
  const wiring = wirings[(modelId % 10) - 1];
  const isFloat = Math.trunc(modelId / 10) === 21;
  if (wiring === undefined || (!isFloat && Math.trunc(modelId / 10) !== 20)) return undefined;
  if (path === '') return isFloat ? `${wiring}, floating point` : wiring;
  const scale = scaled[/^(\w+)_SF$/.exec(path)?.[1] ?? ''];
  if (scale !== undefined) return `Scale factor of ${scale}`;
  const lines = /^P(?:h|P)Vph(AB|BC|CA)$/.exec(path)?.[1];
  if (lines !== undefined) return `Line-line voltage ${lines.charAt(0)}-${lines.charAt(1)}`;
  const [, name = path, phase] = /^(\w+?)[Pp]h([ABC])$/.exec(path) ?? [];
  return phase === undefined ? quantities[name] : `${ofPhases[name] ?? quantities[name] ?? ''}, phase ${phase}`;
}
