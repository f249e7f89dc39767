interface SegmentsProps<V extends string | number> {
  readonly label: string;
  readonly options: readonly (readonly [value: V, title: string])[];
  /** null: none of the options is in force */
  readonly value: V | null;
  readonly disabled?: boolean;
  readonly onChoice: (value: V) => void;
}

/** One choice of a few as joined buttons. */
export function Segments<V extends string | number>({
  label,
  options,
  value,
  disabled = false,
  onChoice,
}: SegmentsProps<V>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([option, title]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          disabled={disabled}
          onClick={() => onChoice(option)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
