/** The views by first part of the address: eight entries, and those in the menu of the name. */
import type { ComponentType } from 'preact';
import type { IconName } from '../kit/icons';
import { ViolationCount } from '../views/compare/report-cards/violation-count';
import Devices from '../views/devices/devices';
import { BadCount } from '../views/events/bad-count';
import Overview from '../views/overview/overview';
import { lazy } from './lazy';

const Inputs = lazy(async () => (await import('../views/inputs/inputs')).default);
const Events = lazy(async () => (await import('../views/events/events')).default);
const Charts = lazy(async () => (await import('../views/charts/charts')).default);
const Protocols = lazy(async () => (await import('../views/protocols/protocols')).default);
const Compare = lazy(async () => (await import('../views/compare/compare')).default);
const Scenarios = lazy(async () => (await import('../views/scenarios/scenarios')).default);
const Fleet = lazy(async () => (await import('../views/fleet/fleet')).default);
const Settings = lazy(async () => (await import('../views/settings/settings')).default);
const State = lazy(async () => (await import('../views/state/state')).default);
const Changes = lazy(async () => (await import('../views/changes/changes')).default);
const Simulator = lazy(async () => (await import('../views/simulator/simulator')).default);

export interface View {
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType;
}

interface Entry extends View {
  /** key after `g` */
  readonly key: string;
  readonly icon: IconName;
  /** beside the title in the list of views */
  readonly badge?: ComponentType;
}

/** The side bar, from top to bottom. */
export const entries: readonly Entry[] = [
  { path: 'overview', title: 'Overview', key: 'o', icon: 'overview', component: Overview },
  { path: 'devices', title: 'Devices', key: 'd', icon: 'devices', component: Devices },
  { path: 'inputs', title: 'Inputs', key: 'i', icon: 'inputs', component: Inputs },
  { path: 'events', title: 'Events', key: 'e', icon: 'events', component: Events, badge: BadCount },
  { path: 'charts', title: 'Charts', key: 'c', icon: 'charts', component: Charts },
  { path: 'protocols', title: 'Protocols', key: 'p', icon: 'protocols', component: Protocols },
  { path: 'compare', title: 'Compare', key: 'm', icon: 'compare', component: Compare, badge: ViolationCount },
  { path: 'scenarios', title: 'Scenarios', key: 't', icon: 'scenarios', component: Scenarios },
];

/** The entry behind them at the gateway of a fleet. */
export const fleetEntry: Entry = { path: 'fleet', title: 'Fleet', key: 'f', icon: 'fleet', component: Fleet };

/** The views that the menu of the name opens. */
export const menuViews: readonly View[] = [
  { path: 'settings', title: 'Settings', component: Settings },
  { path: 'state', title: 'State', component: State },
  { path: 'changes', title: 'Changes since the start', component: Changes },
  { path: 'simulator', title: 'Simulator', component: Simulator },
];

export const views: readonly View[] = [...entries, fleetEntry, ...menuViews];
