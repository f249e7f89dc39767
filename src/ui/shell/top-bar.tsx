/** The bar at the top of each page: name, clock, protocols, what needs attention, search, API switch. */
import { apiMode, toggleApiMode } from '../store/api-mode';
import { useOverview } from '../store/site';
import { AttentionPill } from './attention';
import { Clock } from './clock';
import { Lamps } from './lamps';
import { NameMenu } from './name-menu';
import { Search } from './search';
import { Help, helpOpen, searchOpen } from './shortcuts';

export function TopBar() {
  const overview = useOverview();
  return (
    <header class="top">
      <NameMenu />
      <Clock />
      {overview && <Lamps overview={overview} />}
      <div class="top-end">
        <AttentionPill />
        <button
          type="button"
          class="small wide-only"
          title="Search a device, a view or a point (/)"
          onClick={() => (searchOpen.value = true)}
        >
          Search <kbd>/</kbd>
        </button>
        <button
          type="button"
          class="small wide-only"
          aria-pressed={apiMode.value}
          title="Show the calls of this page (a)"
          onClick={toggleApiMode}
        >
          API
        </button>
      </div>
      {helpOpen.value && <Help />}
      {searchOpen.value && <Search />}
    </header>
  );
}
