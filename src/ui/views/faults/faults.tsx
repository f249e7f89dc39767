import '../../look/faults.css';
import { FaultLists } from './list';
import { InjectPanel } from './inject';
import { ProfilesPanel } from './profiles';
import { FaultTargetPicker } from './target';

/** Faults of all protocols: those in force, injection and removal. */
export function FaultsView() {
  return (
    <>
      <div class="title">
        <h1>Faults</h1>
        <FaultTargetPicker />
      </div>
      <div class="split">
        <InjectPanel />
        <ProfilesPanel />
      </div>
      <FaultLists />
    </>
  );
}
