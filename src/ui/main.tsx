import 'uplot/dist/uPlot.min.css';
import './look/base.css';
import './look/kit.css';
import './look/shell.css';
import { render } from 'preact';
import { Shell } from './shell/shell';
import { applyTheme } from './shell/theme';
import { startLive } from './store/live';
import { openStream } from './store/stream';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element with the id "app"');
applyTheme();
openStream();
startLive(true);
render(<Shell />, root);
