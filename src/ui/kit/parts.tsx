import { setParam } from '../store/route';

interface PartsProps {
  readonly label: string;
  /** of the setting in the address: views that have parts each have their own */
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly title: string }[];
  readonly chosen: string | undefined;
}

/** Buttons for the parts of a view; the choice stands in the address. */
export function Parts({ label, name: setting, parts, chosen }: PartsProps) {
  return (
    <div class="row" role="group" aria-label={label}>
      {parts.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => setParam(setting, name)}>
          {title}
        </button>
      ))}
    </div>
  );
}
