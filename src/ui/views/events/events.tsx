/** The past: operator commands and the log. */
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { Commands } from './commands/commands';
import { LogsView } from './log/log';

const tabs: readonly Tab[] = [
  { path: 'log', title: 'Log', component: LogsView },
  { path: 'commands', title: 'Commands', component: Commands },
];

export default function Events() {
  return <TabbedView title="Events" path="events" tabs={tabs} />;
}
