import { Notice } from './notice';
import { href, route } from '../store/route';
import { unreadElsewhere } from '../store/live';
import { staleSinceMs } from '../store/stream';
import { LostBanner, MissingDevice } from './lost-banner';
import { TopBar } from './top-bar';
import { views } from './views';
import { useShortcuts } from './shortcuts';
import { useEffect } from 'preact/hooks';

const [home] = views;

/** Top bar, list of views, and the current view. */
export function Shell() {
  const [name = home?.path] = route.value.path;
  const view = views.find(({ path }) => path === name) ?? home;
  useShortcuts();
  useEffect(() => {
    document.title = view === undefined ? 'derbench' : `${view.title} · derbench`;
  }, [view]);
  const View = view?.component;
  // `old-controls-time`: content from this answer only becomes grey
  const old = unreadElsewhere.value.map(({ path: of }) => `old-${of.replaceAll('/', '-')}`);
  return (
    <div class={['shell', ...(staleSinceMs.value === null ? [] : ['old']), ...old].join(' ')}>
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
        <MissingDevice />
        <div class="view" key={view?.path}>
          {View && <View />}
        </div>
      </main>
      <Notice />
    </div>
  );
}
