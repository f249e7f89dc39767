/** How well peers and protocols agree with the simulator and with their standards. */
import { DevicePicker } from '../../kit/choices';
import { TabbedView } from '../../kit/tabs';
import type { Tab } from '../../kit/tabs';
import { Answered, ShortAnswered } from './answered';
import { Recorder } from './recorder';
import { WorstCard, WorstSequence } from './report-cards/card';
import { PeersView } from './report-cards/peers';
import { Rules } from './rules';
import { SaveReport } from './save-report';
import { ShortComparison, SideBySide } from './side-by-side';

/** The main part of each tab. */
function All() {
  return (
    <div class="compare two">
      <div class="stack">
        <ShortComparison />
        <WorstSequence />
      </div>
      <div class="stack">
        <WorstCard />
        <ShortAnswered />
      </div>
    </div>
  );
}

const tabs: readonly Tab[] = [
  { path: 'all', title: 'All', component: All },
  { path: 'side-by-side', title: 'Side by side', component: SideBySide },
  { path: 'answered', title: 'Answered and done', component: Answered },
  { path: 'report-cards', title: 'Report cards', component: PeersView },
  { path: 'rules', title: 'Rules', component: Rules },
];

export default function Compare() {
  return (
    <TabbedView title="Compare" path="compare" tabs={tabs}>
      <div class="tools">
        <DevicePicker />
        <Recorder />
        <SaveReport />
      </div>
    </TabbedView>
  );
}
