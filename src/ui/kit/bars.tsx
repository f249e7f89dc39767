export interface Part {
  readonly name: string;
  /** not negative */
  readonly value: number;
  /** class that sets `--k`; `difference` is hatched */
  readonly look: string;
}

interface BarProps {
  readonly label: string;
  readonly parts: readonly Part[];
  /** value of the whole width; bars that belong together share it */
  readonly scale: number;
  readonly text: (value: number) => string;
}

/** Parts of a sum side by side. Parts of zero are left out; thin ones keep 5 px. */
export function Bar({ label, parts, scale, text }: BarProps) {
  const visible = parts.filter(({ value }) => value > 0);
  const words = visible.map(({ name, value }) => `${name} ${text(value)}`).join(', ');
  return (
    <div class="bar" role="img" aria-label={`${label}: ${words || 'nothing'}`}>
      {visible.map(({ name, value, look }) => (
        <i key={name} class={look} title={`${name} ${text(value)}`} style={{ width: `${(value / scale) * 100}%` }} />
      ))}
    </div>
  );
}
