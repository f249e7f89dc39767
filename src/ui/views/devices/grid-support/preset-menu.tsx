import { Menu } from '../../../kit/menu';
import { ownCurves, presetsOf } from './curve-presets';
import type { Draft } from './points';
import type { FunctionEntry, Settings } from './functions';
import { useReference } from './live-point';

interface PresetMenuProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly draft: Draft;
  /** members of the edited set */
  readonly settings: Settings;
}

/** Takes the points of a preset, or of a curve that was applied before, into the draft. */
export function PresetMenu({ device, entry, draft, settings }: PresetMenuProps) {
  const referenceOf = useReference(device);
  // a curve of a device that absorbs has points there from the start
  const absorbs = draft.present.some(([x]) => x < 0);
  const presets = presetsOf(entry.name, { absorbs, deptRef: settings['dept_ref'], referenceOf });
  const last = ownCurves(draft.ownName);
  return (
    <Menu label="Presets" face="Presets" disabled={presets.length + last.length === 0}>
      {(close) => {
        const take = (points: Draft['points']) => {
          close();
          draft.take(points);
        };
        return (
          <div class="menu-list">
            {presets.map(({ title, clause, points, unable }) => (
              <button
                key={title}
                type="button"
                disabled={unable !== null}
                title={unable ?? clause}
                onClick={() => take(points)}
              >
                {title}
              </button>
            ))}
            {last.length > 0 && <p class="muted">Applied before in this browser</p>}
            {last.map(({ title, points }) => (
              <button key={title} type="button" onClick={() => take(points)}>
                {title}
              </button>
            ))}
          </div>
        );
      }}
    </Menu>
  );
}
