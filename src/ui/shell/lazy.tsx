/** Components whose code is loaded when they are first shown, or before that while the browser has nothing to do. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, perform, Problem } from '../api/call';

/** Code that is not loaded yet. */
const pending = new Set<() => Promise<void>>();

/** Why code did not load: a daemon that answers has another build, which lacks the files of this page. */
async function reasonOfFailure(): Promise<string> {
  try {
    await perform(get('server-info'));
    return 'derbench was updated.';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `This part of the page is not loaded. ${error.message}`;
  }
}

function Failed({ reason }: { readonly reason: string }) {
  return (
    <p class="problem" role="alert">
      {reason}{' '}
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  );
}

const GreyBlock = () => <div class="part-loading" aria-busy="true" />;

/**
 * A component in a file of its own.
 * @param load such as `async () => (await import('./charts')).ChartsView`
 * @param Waiting stands in its place until then
 */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Waiting: ComponentType<P> = GreyBlock,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  const loadOnce = async () => {
    loaded ??= await load();
    pending.delete(loadOnce);
  };
  pending.add(loadOnce);
  return function Lazy(props: P) {
    const [reason, setReason] = useState<string | null>(null);
    const [, setDone] = useState(loaded !== null);
    useEffect(() => {
      // other code may have loaded it between the first drawing and this effect
      loadOnce().then(
        () => setDone(true),
        async () => setReason(await reasonOfFailure()),
      );
    }, []);
    const Loaded = loaded;
    if (Loaded !== null) return <Loaded {...props} />;
    if (reason !== null) return <Failed reason={reason} />;
    return <Waiting {...props} />;
  };
}

/** Loads the code that is not loaded yet, piece by piece. @param idle resolves when there is time for the next piece */
export async function loadPending(idle: () => Promise<void>): Promise<void> {
  for (const loadOnce of pending) {
    await idle();
    // the component reports the failure when it is shown
    await loadOnce().catch(() => undefined);
  }
}

/** Time after the start of the page before other views are loaded, ms. */
const startMs = 5000;

function whenIdle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such callback
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });
}

/** Loads the code of all views, so that a first visit does not wait. */
export function loadRest(): void {
  setTimeout(() => void loadPending(whenIdle), startMs);
}
