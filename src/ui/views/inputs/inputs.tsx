/** Causes that the operator sets: grid, weather, limits of the site, faults, clock. */
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { ClockTab } from './clock';
import { FaultsView } from './faults/faults';
import { GridTab } from './grid';
import { SiteTab } from './site';
import { WeatherTab } from './weather';

const tabs: readonly Tab[] = [
  { path: 'grid', title: 'Grid', component: GridTab },
  { path: 'weather', title: 'Weather & load', component: WeatherTab },
  { path: 'site', title: 'Site limits', component: SiteTab },
  { path: 'faults', title: 'Faults', component: FaultsView },
  { path: 'clock', title: 'Clock', component: ClockTab },
];

export default function Inputs() {
  return <TabbedView title="Inputs" path="inputs" tabs={tabs} />;
}
