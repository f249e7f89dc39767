import '../../look/faults.css';
import { FaultLists } from './list';
import { InjectPanel } from './inject';
import { ProfilesPanel } from './profiles';
import { FaultTargetPicker } from './target';

/** Which faults of all protocols are in force, and how to inject and end them. */
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
