import { setParam } from '../store/route';

interface PartsProps {
  readonly label: string;
  /** name of the setting in the address; each view with parts has its own */
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly title: string }[];
  readonly chosen: string | undefined;
}

/** Buttons for the parts of a view; the address keeps the choice. */
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
