/** Texts to take elsewhere: identities and PEM, copied or as a file. */
import { download } from './download';
import { copyText } from './table';

interface CopyProps {
  readonly text: string;
  /** for the button and the message */
  readonly name: string;
}

export function CopyButton({ text, name }: CopyProps) {
  return (
    <button type="button" onClick={() => void copyText(text, name)}>
      Copy <span class="visually-hidden">{name}</span>
    </button>
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
