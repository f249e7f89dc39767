import { setParam } from '../store/route';

interface PartsProps {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly title: string }[];
  readonly chosen: string | undefined;
}

/** Buttons for the parts of a view; the choice stands in the address as `part`. */
export function Parts({ label, parts, chosen }: PartsProps) {
  return (
    <div class="row" role="group" aria-label={label}>
      {parts.map(({ name, title }) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => setParam('part', name)}>
          {title}
        </button>
      ))}
    </div>
  );
}
