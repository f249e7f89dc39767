/** Texts to take elsewhere: identities and PEM, copied or as a file. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { download } from './download';
import { say } from './notice';

/** Copies a text and says so. @param orElse called where the browser does not allow it: on pages of other hosts without TLS */
export async function copyOr(text: string, message: string, orElse: () => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(message);
  } catch {
    orElse();
  }
}

/** A text for the copy key of the browser: it is selected when it appears. */
export function SelectedText({ text }: { readonly text: string }) {
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) getSelection()?.selectAllChildren(box.current);
  }, [text]);
  return (
    <code ref={box} class="selected-text">
      {text}
    </code>
  );
}

interface CopyProps {
  readonly text: string;
  /** for the button and the message */
  readonly name: string;
}

export function CopyButton({ text, name }: CopyProps) {
  const [isSelected, setSelected] = useState(false);
  return (
    <>
      <button type="button" onClick={() => void copyOr(text, `${name} copied`, () => setSelected(true))}>
        Copy <span class="visually-hidden">{name}</span>
      </button>
      {isSelected && <SelectedText text={text} />}
    </>
  );
}

/** A text of several lines, folded, to copy or to download. @prop file name of the file */
export function TextToTake({ text, name, file }: CopyProps & { readonly file: string }) {
  return (
    <div class="stack">
      <div class="row">
        <span>{name}</span>
        <CopyButton text={text} name={name} />
        <button type="button" onClick={() => download(new Blob([text], { type: 'application/x-pem-file' }), file)}>
          Download <span class="visually-hidden">{name}</span>
        </button>
      </div>
      <details>
        <summary>
          Show the text <span class="visually-hidden">{name}</span>
        </summary>
        <pre class="scroller raw" tabIndex={0} aria-label={name}>
          {text}
        </pre>
      </details>
    </div>
  );
}
