/** The past: the timeline, captures of disturbances, and the log. */
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { route } from '../../store/route';
import { CapturesView } from './captures/captures';
import { LogsView } from './log/log';
import { TimelineView } from './timeline/timeline';

const tabs: readonly Tab[] = [
  { path: 'timeline', title: 'Timeline', component: TimelineView },
  { path: 'captures', title: 'Captures', component: CapturesView },
  { path: 'log', title: 'Log', component: LogsView },
];

export default function Events() {
  const [, tab, id] = route.value.path;
  // a capture has the page for itself
  if (tab === 'captures' && id !== undefined) return <CapturesView />;
  return <TabbedView title="Events" path="events" tabs={tabs} />;
}
