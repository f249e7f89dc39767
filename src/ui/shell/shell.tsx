/** The page of the dashboard, and that of the CSIP client on its own port. */
import { useEffect, useState } from 'preact/hooks';
import { CallDrawer } from '../kit/api-switch';
import { Notice } from '../kit/notice';
import { href, route, param } from '../store/route';
import { lazy } from './lazy';
import { SideBar } from './side-bar';
import { outdatedElsewhere } from '../store/live';
import { link, retryNow, staleSinceMs } from '../store/stream';
import { TopBar } from './top-bar';
import { views } from './views';
import { useShortcuts } from './shortcuts';
import { setTheme, theme } from './theme';
import { unreachableSinceMs } from '../api/call';
import { NotRead } from '../kit/panel';
import { duration } from '../look/format';
import { isOutdatedPage, useDevicesAround } from '../store/site';
import { AtGateway, MissingShards } from './gateway';

/** The wall time, ms, updated while `counts` is true. */
function useNow(counts: boolean): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    if (!counts) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [counts]);
  return nowMs;
}

const clockOf = (ms: number) => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

/** Announces outdated content: since when, and when the page retries. */
function LostBanner() {
  const state = link.value;
  // while the stream works, the daemon runs, and each panel reports its own failures
  const oldSince = staleSinceMs.value ?? (state.state === 'open' ? null : unreachableSinceMs.value);
  const nowMs = useNow(state.state === 'lost' || oldSince !== null);
  if (state.state === 'lost') {
    const retryS = Math.max(0, Math.ceil((state.retryAtMs - nowMs) / 1000));
    return (
      <p class="banner" role="alert">
        No connection since {clockOf(state.sinceMs)}. Next try in {retryS} s.{' '}
        <button type="button" class="small" onClick={retryNow}>
          Try now
        </button>
      </p>
    );
  }
  if (oldSince === null) return <NotRead outdated={outdatedElsewhere.value} named />;
  return (
    <p class="banner" role="alert">
      Values are from {clockOf(oldSince)}, {duration(Math.round((nowMs - oldSince) / 1000))} old
    </p>
  );
}

/** Asks for a reload when another build answers: its calls and names may differ. */
function UpdateBanner() {
  if (!isOutdatedPage.value) return null;
  return (
    <p class="banner" role="alert">
      derbench was updated.{' '}
      <button type="button" class="small" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  );
}

/** Announces that the device of the address was removed, or never existed. */
function MissingDevice() {
  const devices = useDevicesAround();
  const deviceParam = param('device');
  if (devices === undefined || deviceParam === null) return null;
  if (devices.some(({ device_index }) => String(device_index) === deviceParam)) return null;
  return (
    <p class="banner" role="alert">
      There is no device {deviceParam}. <a href={href('devices')}>All devices</a>
    </p>
  );
}

const [home] = views;
const CsipView = lazy(async () => (await import('../views/protocols/csip/csip')).CsipView);

/** Top bar, list of views, and the current view. */
export function Shell() {
  const [name = home?.path] = route.value.path;
  const view = views.find(({ path }) => path === name) ?? home;
  useShortcuts();
  useEffect(() => {
    document.title = view === undefined ? 'derbench' : `${view.title} · derbench`;
  }, [view]);
  const View = view?.component;
  // `old-controls-time`, for example: only content from this answer is grey
  const old = outdatedElsewhere.value.map(({ path }) => `old-${path.replaceAll('/', '-')}`);
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
        Skip to the view
      </a>
      <TopBar />
      <SideBar chosen={view?.path} />
      <main id="content" tabIndex={-1}>
        <LostBanner />
        <UpdateBanner />
        <MissingDevice />
        <MissingShards />
        <div class="view" key={view?.path}>
          {View && (
            <AtGateway title={view.title}>
              <View />
            </AtGateway>
          )}
        </div>
      </main>
      <Notice />
      <CallDrawer />
    </div>
  );
}

/** The page of the CSIP client on its own port: a single view without the rest of the dashboard. */
export function CsipPage() {
  return (
    <div class="csip-page">
      <header class="row">
        <h1>IEEE 2030.5 client</h1>
        <button type="button" class="quiet" onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      <main id="content" class="view">
        <LostBanner />
        <CsipView />
      </main>
      <Notice />
      <CallDrawer />
    </div>
  );
}
