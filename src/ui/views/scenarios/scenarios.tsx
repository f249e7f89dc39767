import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { lazy } from '../../shell/lazy';
import { Library } from './library/library';
import { Runs } from './runs/runs';

const Editor = lazy(async () => (await import('./editor/editor')).Editor);

const tabs: readonly Tab[] = [
  { path: 'library', title: 'Library', component: Library },
  { path: 'runs', title: 'Runs', component: Runs },
  { path: 'editor', title: 'Editor', component: Editor },
];

/** Scenarios: the library and the user's own ones, their runs, and an editor. */
export default function Scenarios() {
  return <TabbedView title="Scenarios" path="scenarios" tabs={tabs} />;
}
