import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  readonly label: string;
  /** content of the button */
  readonly face: ComponentChildren;
  readonly disabled?: boolean;
  readonly primary?: boolean;
  readonly title?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a box below it. Escape, a press elsewhere and a followed link close the box. */
export function Menu({ label, face, disabled = false, primary = false, title, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = () => setOpen(false);
  useEffect(() => {
    if (!open) return undefined;
    const onPress = ({ target }: Event) => {
      if (!box.current?.contains(target as Node)) close();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      close();
      box.current?.querySelector('button')?.focus();
    };
    addEventListener('pointerdown', onPress);
    addEventListener('keydown', onKey);
    addEventListener('hashchange', close);
    return () => {
      removeEventListener('pointerdown', onPress);
      removeEventListener('keydown', onKey);
      removeEventListener('hashchange', close);
    };
  }, [open]);
  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        class={primary ? 'primary' : undefined}
        aria-label={label}
        aria-expanded={open}
        disabled={disabled}
        title={title ?? label}
        onClick={() => setOpen(!open)}
      >
        {face}
      </button>
      {open && <div class="menu-box">{children(close)}</div>}
    </div>
  );
}
