/** What was drawn on any canvas: name of the method and its arguments. */
export const strokes: (readonly [method: string, ...args: readonly unknown[]])[] = [];

/** A context without pixels: methods are noted, and a text is as wide as its characters. */
function contextOf(canvas: HTMLCanvasElement): object {
  const kept: Record<string | symbol, unknown> = { canvas };
  return new Proxy(kept, {
    get: (target, name) => {
      if (name in target) return target[name];
      if (name === 'measureText') return (text: string) => ({ width: text.length * 6 });
      return (...args: readonly unknown[]) => void strokes.push([String(name), ...args]);
    },
  });
}

/** Gives canvases a context, and uPlot the paths that it draws. */
export function stubCanvas(): void {
  const contexts = new WeakMap<HTMLCanvasElement, object>();
  Object.assign(HTMLCanvasElement.prototype, {
    getContext(this: HTMLCanvasElement) {
      const context = contexts.get(this) ?? contextOf(this);
      contexts.set(this, context);
      return context;
    },
  });
  function Path2D(): object {
    const noted =
      (name: string | symbol) =>
      (...args: readonly unknown[]) =>
        void strokes.push([`path.${String(name)}`, ...args]);
    return new Proxy({}, { get: (_none, name) => noted(name) });
  }
  Object.assign(globalThis, { Path2D });
}
