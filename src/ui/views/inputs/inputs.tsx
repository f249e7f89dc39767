/** Causes that the operator sets: grid, weather, limits of the site, faults, clock. */
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { TimePanel } from './clock';
import { EnvironmentPanel, ShadingPanel, WindPanel } from './environment';
import { FaultsView } from './faults/faults';
import { EventPanel, GridPanel } from './grid';
import { SitePanel } from './site';

function Grid() {
  return (
    <div class="inputs">
      <GridPanel />
      <EventPanel />
    </div>
  );
}

function Weather() {
  return (
    <div class="inputs">
      <EnvironmentPanel />
      <WindPanel />
      <ShadingPanel />
    </div>
  );
}

const tabs: readonly Tab[] = [
  { path: 'grid', title: 'Grid', component: Grid },
  { path: 'weather', title: 'Weather & load', component: Weather },
  { path: 'site', title: 'Site limits', component: SitePanel },
  { path: 'faults', title: 'Faults', component: FaultsView },
  { path: 'clock', title: 'Clock', component: TimePanel },
];

export default function Inputs() {
  return <TabbedView title="Inputs" path="inputs" tabs={tabs} />;
}
