import { notice } from '../store/notices';
import { href, route } from '../store/route';
import { link } from '../store/stream';
import { TopBar } from './top-bar';
import { views } from './views';
import { useShortcuts } from './shortcuts';
import { useEffect, useState } from 'preact/hooks';

const [home] = views;

/** Top bar, list of views, and the view of the address. */
export function Shell() {
  const [name = home?.path] = route.value.path;
  const view = views.find(({ path }) => path === name) ?? home;
  useShortcuts();
  useEffect(() => {
    document.title = view === undefined ? 'derbench' : `${view.title} · derbench`;
  }, [view]);
  const View = view?.component;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
      >
        To the view
      </a>
      <TopBar />
      <nav class="side" aria-label="Views">
        <div class="views">
          {views.map(({ path, title, key }) => (
            <a key={path} href={href(path)} aria-current={path === view?.path ? 'page' : undefined} title={`g ${key}`}>
              {title}
            </a>
          ))}
          <hr />
          <a href="/docs/">API browser</a>
          <a href="/redoc">API reference</a>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        <LostBanner />
        <div class="view" key={view?.path}>
          {View && <View />}
        </div>
      </main>
      {notice.value !== null && (
        <div class="notice" role="status">
          {notice.value}
        </div>
      )}
    </div>
  );
}

/** Says that the daemon is gone, since when, and when the page tries again. */
function LostBanner() {
  const state = link.value;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (state.state !== 'lost') return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [state]);
  if (state.state !== 'lost') return null;
  const retryS = Math.max(0, Math.ceil((state.retryAtMs - now) / 1000));
  return (
    <p class="banner" role="alert">
      No connection to the daemon since {new Date(state.sinceMs).toLocaleTimeString()}: what is shown is old. Next
      attempt in {retryS} s.
    </p>
  );
}
