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

/** Values from here on are not written as zero. */
const leastValue = 0.005;

const isVisible = ({ value }: Part) => value >= leastValue;

/** Parts of a sum side by side. Parts of zero are left out; thin ones keep 5 px. */
export function Bar({ label, parts, scale, text }: BarProps) {
  const visible = parts.filter(isVisible);
  const words = visible.map(({ name, value }) => `${name} ${text(value)}`).join(', ');
  return (
    <div class="bar" role="img" aria-label={`${label}: ${words || 'nothing'}`}>
      {visible.map(({ name, value, look }) => (
        <i key={name} class={look} title={`${name} ${text(value)}`} style={{ flexGrow: value / scale }} />
      ))}
    </div>
  );
}

/** Names, colours and values of the parts of a bar. */
export function BarKey({ parts, text }: Pick<BarProps, 'parts' | 'text'>) {
  return (
    <div class="key">
      {parts.filter(isVisible).map(({ name, value, look }) => (
        <span key={name} class={look}>
          {name} {text(value)}
        </span>
      ))}
    </div>
  );
}
