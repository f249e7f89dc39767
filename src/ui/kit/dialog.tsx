import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A modal dialog; Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog
      ref={box}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === box.current && box.current?.close()}
    >
      <div class="stack">
        <div class="row">
          <h2>{title}</h2>
          <button type="button" class="quiet" onClick={() => box.current?.close()}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
