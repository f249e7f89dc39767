import { Dialog } from '../kit/dialog';
import { Facts } from '../kit/panel';
import { helpOpen } from './shortcuts';
import { views } from './views';

/** The keyboard shortcuts of the page. */
export function Help() {
  return (
    <Dialog title="Keys" onClose={() => (helpOpen.value = false)}>
      <Facts
        rows={[
          ['/', 'search a device or a point'],
          ['space', 'pause or run the simulated clock'],
          ['.', 'one tick while the clock is paused'],
          ['?', 'this list'],
          ...views.map(({ key, title }) => [`g ${key}`, title] as const),
        ]}
      />
      <p class="muted">Every control has a button "curl", which copies the call that it makes.</p>
    </Dialog>
  );
}
