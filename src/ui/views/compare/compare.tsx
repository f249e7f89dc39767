/** How well peers and protocols agree with the simulator and with their standards. */
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { PeersView } from './report-cards/peers';

const tabs: readonly Tab[] = [{ path: 'report-cards', title: 'Report cards', component: PeersView }];

export default function Compare() {
  return <TabbedView title="Compare" path="compare" tabs={tabs} />;
}
