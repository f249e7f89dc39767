/** A filter that the address keeps. */
import { param, setParam } from '../../store/route';

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly options: readonly (readonly [value: string, title: string])[];
}

export function Choice({ name, label, all, options }: ChoiceProps) {
  return (
    <select
      name={name}
      aria-label={label}
      value={param(name) ?? ''}
      onChange={(event) => setParam(name, event.currentTarget.value)}
    >
      <option value="">{all}</option>
      {options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}
