/** The size of an element, for drawings in pixels of the page. */
import { useEffect, useState } from 'preact/hooks';

interface Box {
  readonly widthPx: number;
  readonly heightPx: number;
}

/** Size of an element, in whole pixels; 0: not laid out yet. */
export function useBox(ref: { readonly current: HTMLElement | null }): Box {
  const [box, setBox] = useState<Box>({ widthPx: 0, heightPx: 0 });
  useEffect(() => {
    if (ref.current === null || !('ResizeObserver' in globalThis)) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry?.contentRect ?? { width: 0, height: 0 };
      setBox({ widthPx: Math.floor(width), heightPx: Math.floor(height) });
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return box;
}
