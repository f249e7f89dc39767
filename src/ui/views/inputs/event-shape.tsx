/** Small drawings of grid events, as deep as their numbers say. */

/** Size of the drawing, px. */
const [width, height] = [132, 44];
/** Largest voltage of the drawing, per unit, and largest distance of a frequency from nominal, Hz. */
const [topPu, topHz] = [1.3, 2];

export type ShapeKind = 'level' | 'one-phase' | 'outage' | 'frequency-step' | 'frequency-ramp' | 'angle';

/** Time as a share of the width, level as a share of the height from below. */
type Corner = readonly [time: number, level: number];

const clamp = (value: number) => Math.min(1, Math.max(0, value));

const voltage = (pu: number) => clamp(pu / topPu);
const frequency = (offsetHz: number) => clamp(0.5 + offsetHz / (2 * topHz));

/** There and back, with edges as long as `edge` of the width. */
const excursion = (from: number, to: number, edge: number): readonly Corner[] => [
  [0, from],
  [0.28, from],
  [0.28 + edge, to],
  [0.72 - edge, to],
  [0.72, from],
  [1, from],
];

/** Half a wave that jumps by an angle in the middle. */
function wave(deg: number): readonly Corner[] {
  const jump = (deg * Math.PI) / 180;
  return Array.from({ length: 67 }, (_none, index) => {
    const time = index / 66;
    return [time, 0.5 + 0.4 * Math.sin(time * 4 * Math.PI + (time < 0.5 ? 0 : jump))] as const;
  });
}

/** Lines of a drawing, the undisturbed ones first. @param number pu, distance from nominal in Hz, or degrees */
function linesOf(kind: ShapeKind, number: number): readonly (readonly Corner[])[] {
  const nominal = voltage(1);
  switch (kind) {
    case 'level':
      return [excursion(nominal, voltage(number), 0)];
    case 'one-phase':
      return [excursion(nominal, nominal, 0), excursion(nominal, voltage(number), 0)];
    case 'outage':
      return [excursion(nominal, 0, 0)];
    case 'frequency-step':
      return [excursion(0.5, frequency(number), 0)];
    case 'frequency-ramp':
      return [excursion(0.5, frequency(number), 0.16)];
    case 'angle':
      return [wave(0), wave(number)];
  }
}

const baseOf = (kind: ShapeKind) => (kind.startsWith('frequency') || kind === 'angle' ? 0.5 : voltage(1));

const spare = 3;
const xOf = (time: number) => (time * width).toFixed(1);
const yOf = (level: number) => (height - spare - level * (height - 2 * spare)).toFixed(1);

export function EventShape({ kind, number }: { readonly kind: ShapeKind; readonly number: number }) {
  const lines = linesOf(kind, Number.isFinite(number) ? number : 0);
  return (
    <svg class="event-shape" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <line class="base" x1="0" x2={width} y1={yOf(baseOf(kind))} y2={yOf(baseOf(kind))} />
      {lines.map((corners, index) => (
        <polyline
          key={index}
          class={index < lines.length - 1 ? 'calm' : undefined}
          points={corners.map(([time, level]) => `${xOf(time)},${yOf(level)}`).join(' ')}
        />
      ))}
    </svg>
  );
}
