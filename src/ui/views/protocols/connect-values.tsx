/** Values to give to the other side, with buttons that copy them. */
import { CopyButton } from '../../kit/copies';
import { Chip, Facts } from '../../kit/panel';
import { dash } from '../../look/format';

/** An endpoint without its scheme: `127.0.0.1:8502`. */
export const addressText = (endpoint: string | null | undefined): string | null =>
  endpoint?.replace(/^\w+:\/\//, '') ?? null;

interface CopyFactsProps {
  /** null: there is no value now */
  readonly rows: readonly (readonly [name: string, text: string | null])[];
}

export function CopyFacts({ rows }: CopyFactsProps) {
  return (
    <Facts
      rows={rows.map(([name, text]) => [
        name,
        text === null ? (
          dash
        ) : (
          <span key={text} class="row">
            <code>{text}</code>
            <CopyButton text={text} name={name} />
          </span>
        ),
      ])}
    />
  );
}

/** Masters that are connected, or that none is yet. */
export function Connected({ names }: { readonly names: readonly string[] }) {
  return (
    <p class="row" data-test="connected">
      <Chip tone={names.length > 0 ? 'good' : 'off'}>
        {names.length > 0 ? `connected: ${names.join(', ')}` : 'no master is connected yet'}
      </Chip>
    </p>
  );
}
