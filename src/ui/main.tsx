import 'uplot/dist/uPlot.min.css';
import './look/base.css';
import './look/kit.css';
import './look/shell.css';
import './look/views.css';
import './look/scenarios.css';
import './look/device.css';
import './look/inputs.css';
import './look/overview.css';
import './look/loading.css';
import './look/events.css';
import './look/api.css';
import './look/fleet.css';
import './look/touch.css';
import './look/forced-colors.css';
import { render } from 'preact';
import { CsipPage, Shell } from './shell/shell';
import { loadRest } from './shell/lazy';
import { applyTheme } from './shell/theme';
import { followDaemon } from './store/site';
import { startLive } from './store/live';
import { startStream } from './store/stream';
import { startTimeline } from './store/timeline';
import { announceCaptures } from './views/events/captures/announce';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element with the id "app"');
applyTheme();
// the port of the CSIP client serves the same program without a telemetry stream
const isCsipPage = document.documentElement.dataset['page'] === 'csip';
if (!isCsipPage) {
  startStream();
  followDaemon();
  startTimeline();
  announceCaptures();
}
startLive(!isCsipPage);
if (!isCsipPage) loadRest();
render(isCsipPage ? <CsipPage /> : <Shell />, root);
