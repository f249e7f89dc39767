/** Parts of the API switch: the call of each control, and the last calls of the page. */
import { useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { curlOf, lineOf, pythonOf, typescriptOf } from '../api/call-text';
import { commandOf } from '../api/command-text';
import { madeCalls } from '../api/made-calls';
import { fixed } from '../look/format';
import { apiMode } from '../store/api-mode';
import { copyOr, SelectedText } from './copies';
import { Menu } from './menu';

const languages = [
  ['curl', curlOf],
  ['Python', pythonOf],
  ['TypeScript', typescriptOf],
] as const;

/** The call of a control in one line, to copy; nothing while the switch is off. */
export function CallLine({ call }: { readonly call: Call }) {
  return apiMode.value ? <Line call={call} /> : null;
}

type TextOf = (call: Call) => string;

function Line({ call }: { readonly call: Call }) {
  // the function, not its text: the call may change while the text is shown
  const [textOf, setTextOf] = useState<{ readonly of: TextOf } | null>(null);
  const copy = (language: string, of: TextOf) => {
    setTextOf(null);
    void copyOr(of(call), `Copied as ${language}`, () => setTextOf({ of }));
  };
  const command = commandOf(call);
  return (
    <div class="call">
      <button type="button" class="call-line" title={curlOf(call)} onClick={() => copy('curl', curlOf)}>
        <span class="visually-hidden">Copy as curl: </span>
        <code>{lineOf(call)}</code>
      </button>
      <Menu label={`Copy in a language: ${call.method} ${call.address}`} face="⋯">
        {(close) => (
          <div class="menu-list">
            {languages.map(([language, of]) => (
              <button
                key={language}
                type="button"
                onClick={() => {
                  close();
                  copy(language, of);
                }}
              >
                Copy as {language}
              </button>
            ))}
          </div>
        )}
      </Menu>
      {command !== null && (
        <button type="button" class="call-line command" title={command} onClick={() => copy('command', () => command)}>
          <span class="visually-hidden">Copy as command: </span>
          <code>{command}</code>
        </button>
      )}
      {textOf !== null && <SelectedText text={textOf.of(call)} />}
    </div>
  );
}

/** The last calls of the page with their status; nothing while the switch is off. */
export function CallDrawer() {
  return apiMode.value ? <Drawer /> : null;
}

function Drawer() {
  return (
    <aside class="calls" aria-label="Calls of this page">
      <details>
        <summary>Calls of this page</summary>
        <div class="scroller" role="region" aria-label="Last calls" tabIndex={0}>
          <ol>
            {madeCalls.value.map(({ id, method, address, status, tookMs, count }) => (
              <li key={id}>
                <strong class={status !== null && status < 400 ? 'good' : 'bad'}>{status ?? 'no answer'}</strong>{' '}
                <code>
                  {method} {address}
                </code>{' '}
                <span class="muted">
                  {`${fixed(tookMs, 0)}\u00a0ms`}
                  {count > 1 && `, ×${count}`}
                </span>
              </li>
            ))}
          </ol>
        </div>
      </details>
    </aside>
  );
}
