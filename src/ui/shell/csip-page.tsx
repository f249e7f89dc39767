import { Notice } from './notice';
import { CsipView } from '../views/csip/csip';
import { LostBanner } from './lost-banner';
import { setTheme, theme } from './theme';

/** The page of the CSIP client on its own port: a single view without the rest of the dashboard. */
export function CsipPage() {
  return (
    <div class="csip-page">
      <header class="row">
        <strong>derbench</strong>
        <button type="button" class="quiet" onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      <main id="content" class="view">
        <LostBanner />
        <CsipView />
      </main>
      <Notice />
    </div>
  );
}
