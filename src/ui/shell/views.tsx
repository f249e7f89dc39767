/** The views by first part of the address. */
import type { ComponentType } from 'preact';
import { DevicesView } from '../views/devices/devices';
import { FaultsView } from '../views/faults/faults';
import { GridSupportView } from '../views/grid-support/grid-support';
import { InputsView } from '../views/inputs/inputs';
import { LogsView } from '../views/logs/logs';
import { OverviewView } from '../views/overview/overview';
import { PeersView, ViolationCount } from '../views/peers/peers';
import { ProtocolsView } from '../views/protocols/protocols';
import { RegistersView } from '../views/registers/registers';
import { ScenariosView } from '../views/scenarios/scenarios';
import { SettingsView } from '../views/settings/settings';
import { StateView } from '../views/state/state';
import { lazy } from './lazy';

const ChartsView = lazy(async () => (await import('../views/charts/charts')).ChartsView);

export interface View {
  readonly path: string;
  readonly title: string;
  /** key after `g` */
  readonly key: string;
  readonly component: ComponentType;
  /** beside the title in the list of views */
  readonly badge?: ComponentType;
}

export const views: readonly View[] = [
  { path: 'overview', title: 'Overview', key: 'o', component: OverviewView },
  { path: 'devices', title: 'Device', key: 'd', component: DevicesView },
  { path: 'charts', title: 'Charts', key: 'c', component: ChartsView },
  { path: 'inputs', title: 'Grid & inputs', key: 'i', component: InputsView },
  { path: 'grid-support', title: 'Grid support', key: 's', component: GridSupportView },
  { path: 'faults', title: 'Faults', key: 'f', component: FaultsView },
  { path: 'protocols', title: 'Protocols', key: 'p', component: ProtocolsView },
  { path: 'peers', title: 'Peers', key: 'v', component: PeersView, badge: ViolationCount },
  { path: 'registers', title: 'Registers', key: 'r', component: RegistersView },
  { path: 'scenarios', title: 'Scenarios', key: 't', component: ScenariosView },
  { path: 'settings', title: 'Settings', key: 'e', component: SettingsView },
  { path: 'state', title: 'State', key: 'k', component: StateView },
  { path: 'logs', title: 'Logs', key: 'l', component: LogsView },
];
