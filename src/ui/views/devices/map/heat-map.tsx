/** Devices as cells in groups: one tab stop, moved through with arrow keys. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { useBox } from '../../../kit/box';
import { ChosenCell } from '../../../kit/chosen-cell';
import { Icon } from '../../../kit/icons';
import { kindOf } from '../../../kit/kind-icons';
import { Figure } from '../../../kit/rows';
import { show, sourceName, timeOfDay } from '../../../look/format';
import { isHeld, limitWords } from '../condition';
import type { Condition } from '../condition';
import { CanvasCells } from './canvas';
import { Cell } from './cell';
import { cellText, countsText, ownersOf } from './groups';
import type { Colour, Group } from './groups';
import { afterKey, canvasDevices, cellPx, columnsOf, gapPx, placeWithin } from './layout';
import type { Place } from './layout';

interface HeatMapProps {
  readonly groups: readonly Group[];
  readonly colour: Colour;
  /** indexes of the devices under local control */
  readonly local: ReadonlySet<number>;
  readonly onOpen: (index: number) => void;
}

function GroupHead({ group: { title, kind, members } }: { readonly group: Group }) {
  const sumKw = members.reduce((sum, { powerKw }) => sum + powerKw, 0);
  const { icon, look } = kindOf(kind ?? '');
  return (
    <div class={`group-head ${kind === null ? '' : look}`}>
      <h3>
        {kind !== null && <Icon name={icon} />}
        {title} <small>{members.length}</small>
      </h3>
      <strong>
        {sumKw < 0 && <span class="arrow">▼ </span>}
        <Figure text={show(Math.abs(sumKw), 'activePower')} />
      </strong>
      <small>{countsText(members)}</small>
    </div>
  );
}

/** The device of the chosen cell, beside it. */
function Tip({ condition, left, top }: { readonly condition: Condition; readonly left: number; readonly top: number }) {
  const { device, powerKw, limitedBy, state } = condition;
  const { last_write: write } = device;
  return (
    <div class="tip" role="tooltip" style={{ left: `${left}px`, top: `${top}px` }}>
      <strong>
        {device.device_index} {device.name}
      </strong>
      <br />
      {isHeld(condition) && limitedBy !== null
        ? `${show(Math.abs(powerKw), 'activePower')} of ${show(Math.abs(device.possible_kw), 'activePower')}, ${limitWords[limitedBy]}`
        : `${show(Math.abs(powerKw), 'activePower')}, ${state}`}
      {write !== null && (
        <>
          <br />
          Last write: {sourceName(write.source)}, {timeOfDay(write.changed_at)}
        </>
      )}
    </div>
  );
}

const tipPx = 240;

/** The content of a canvas, for readers. */
function HiddenTable({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <div class="visually-hidden">
      <table>
        <caption>Devices of the map</caption>
        <tbody>
          {groups.map(({ title, members }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>{members.map(cellText).join('; ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function HeatMap({ groups, colour, local, onOpen }: HeatMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const firstCells = useRef<HTMLDivElement>(null);
  const { widthPx } = useBox(firstCells);
  const [reached, setReached] = useState<Place>({ group: 0, at: 0 });
  const [isByKey, setByKey] = useState(false);
  const [isShown, setShown] = useState(false);
  const sizes = groups.map(({ members }) => members.length);
  const place = placeWithin(reached, sizes);
  const all = groups.flatMap(({ members }) => members);
  const isCanvas = all.length > canvasDevices;
  const sizePx = cellPx(all.length);
  const columns = columnsOf(widthPx, sizePx);
  // the canvas is drawn again when its owners are other ones
  const owners = useMemo(() => ownersOf(all), [groups]);
  const chosen = groups[place.group]?.members[place.at];
  const cellsOf = (group: number) => box.current?.querySelectorAll<HTMLElement>('.cells')[group];
  const reach = (next: Place, byKey = false) => {
    setReached(next);
    setByKey(byKey);
    setShown(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setShown(false);
    if (isCanvas && event.key === 'Enter' && isShown && chosen) onOpen(chosen.device.device_index);
    const next = afterKey(event.key, place, sizes, columns);
    if (next === null) return;
    event.preventDefault();
    reach(next, true);
    if (!isCanvas) cellsOf(next.group)?.querySelectorAll('button')[next.at]?.focus();
  };
  /** Left and upper edge of the chosen cell in the map. */
  const cellAt = () => {
    const cells = cellsOf(place.group);
    const [outer, inner] = [box.current?.getBoundingClientRect(), cells?.getBoundingClientRect()];
    if (!outer || !inner) return { left: 0, top: 0 };
    const step = sizePx + gapPx;
    const left = inner.left - outer.left + (place.at % columns) * step;
    return { left, top: inner.top - outer.top + Math.floor(place.at / columns) * step };
  };
  const { left, top } = isShown ? cellAt() : { left: 0, top: 0 };
  const roomPx = (box.current?.clientWidth ?? 0) - tipPx;
  const map = (
    <div
      ref={box}
      class="heat-map"
      style={{ '--cell': `${sizePx}px` }}
      {...(isCanvas ? { role: 'application', tabIndex: 0, 'aria-label': 'Map of devices' } : {})}
      onFocusIn={() => isCanvas && setShown(true)}
      onKeyDown={onKeyDown}
      onPointerLeave={() => setShown(false)}
      onFocusOut={() => setShown(false)}
    >
      <div {...(isCanvas ? {} : { role: 'grid', 'aria-label': 'Map of devices' })}>
        {groups.map((group, at) => (
          <div key={group.title} class="group" {...(isCanvas ? {} : { role: 'row' })}>
            <div {...(isCanvas ? {} : { role: 'rowheader' })}>
              <GroupHead group={group} />
            </div>
            <div class="cells" role="presentation" ref={at === 0 ? firstCells : null}>
              {isCanvas ? (
                <CanvasCells
                  members={group.members}
                  {...{ colour, owners, local, sizePx, widthPx }}
                  onReach={(next) => {
                    if (!isShown || place.group !== at || place.at !== next) reach({ group: at, at: next });
                  }}
                  onPress={(next) => {
                    const pressed = group.members[next];
                    if (pressed) onOpen(pressed.device.device_index);
                  }}
                />
              ) : (
                group.members.map((condition, position) => (
                  <Cell
                    key={condition.device.device_index}
                    role="gridcell"
                    {...{ condition, colour, owners }}
                    isLocal={local.has(condition.device.device_index)}
                    isStop={chosen === condition}
                    onPress={() => onOpen(condition.device.device_index)}
                    onReach={() => reach({ group: at, at: position })}
                  />
                ))
              )}
            </div>
          </div>
        ))}
      </div>
      {isCanvas && (
        <span class="visually-hidden" role="status">
          {isShown && chosen ? cellText(chosen) : ''}
        </span>
      )}
      {isCanvas && isShown && chosen && <ChosenCell {...{ left, top, sizePx, isByKey }} />}
      {isShown && chosen && (
        <Tip condition={chosen} left={Math.max(0, Math.min(left + sizePx + 8, roomPx))} top={top + sizePx / 2} />
      )}
    </div>
  );
  // readers reach no table inside an application
  return (
    <>
      {map}
      {isCanvas && <HiddenTable groups={groups} />}
    </>
  );
}
