/** The menu of the name: the simulator as a whole, documents, colours, keys. */
import { signal } from '@preact/signals';
import { get } from '../api/call';
import { Menu } from '../kit/menu';
import { Facts } from '../kit/panel';
import { duration, show } from '../look/format';
import { useLive } from '../store/live';
import { apiMode, toggleApiMode } from '../store/api-mode';
import { href } from '../store/route';
import { useClock } from '../store/site';
import { helpOpen, searchOpen } from './shortcuts';
import { setTheme, theme } from './theme';
import { menuViews } from './views';

const storedAs = 'site-name';
const unnamed = 'Site';

/** Name of the site, a setting of this browser; empty: none. */
const siteName = signal(localStorage.getItem(storedAs) ?? '');

function rename(name: string): void {
  siteName.value = name;
  localStorage.setItem(storedAs, name);
}

export function NameMenu() {
  return (
    <Menu
      label={`derbench ${siteName.value || unnamed}`}
      title="Menu of the simulator"
      face={
        <span class="brand">
          <strong>derbench</strong> <small>{siteName.value || unnamed}</small>
        </span>
      }
    >
      {(close) => (
        <div class="stack">
          <label class="field">
            <span>Name of the site, in this browser</span>
            <input value={siteName.value} onInput={(event) => rename(event.currentTarget.value)} />
          </label>
          <SimulatorFacts />
          <nav class="menu-list" aria-label="Menu of the simulator">
            {menuViews.map(({ path, title }) => (
              <a key={path} href={href(path)} onClick={close}>
                {title}
              </a>
            ))}
            <a href="/docs/">API browser</a>
            <a href="/redoc">API reference</a>
            <button type="button" class="narrow-only" onClick={() => (close(), (searchOpen.value = true))}>
              Search
            </button>
            <button
              type="button"
              class="narrow-only"
              aria-pressed={apiMode.value}
              onClick={() => {
                close();
                toggleApiMode();
              }}
            >
              Calls of this page (API)
            </button>
            <button type="button" onClick={() => (close(), (helpOpen.value = true))}>
              Keys
            </button>
            <button type="button" onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>
              {theme.value === 'dark' ? 'Light' : 'Dark'}
            </button>
          </nav>
        </div>
      )}
    </Menu>
  );
}

const infoPaceMs = 5000;

function SimulatorFacts() {
  const { data } = useLive(get('server-info'), infoPaceMs);
  const clock = useClock();
  if (data === undefined) return null;
  return (
    <Facts
      rows={[
        ['Version', data.version],
        ['Process', data.pid],
        ['Runs for', duration(data.uptime_s)],
        ['Tick', `${show(data.tick_interval_s, 'seconds')}${clock === undefined ? '' : `, number ${clock.tick}`}`],
      ]}
    />
  );
}
