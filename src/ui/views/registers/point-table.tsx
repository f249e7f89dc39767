import type { Problem } from '../../api/perform';
import { copyText } from '../../kit/table';
import { useClock } from '../../store/site';
import { param, setParam } from '../../store/route';
import { words } from '../../look/format';
import type { RegisterPoint, Registers } from './calls';
import { ageText, Flashing, rawText, valueText } from './point-text';

interface PointTableProps {
  readonly model: Registers;
  readonly points: readonly RegisterPoint[];
  readonly chosen: string | null;
  /** texts by point; null: read only */
  readonly typed: Readonly<Record<string, string>> | null;
  readonly problem: Problem | null;
  readonly onTyped: (name: string, text: string) => void;
}

/** `Crv[0].Pt[2]` of `Crv[0].Pt[2].V`; empty for a point of the model itself. */
function groupOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(0, dot);
}

const isInside = (name: string, group: string) => name === group || name.startsWith(`${group}.`);

function csvOf(points: readonly RegisterPoint[]): string {
  const field = (value: string | number | null | undefined) => {
    const text = String(value ?? '');
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = points.map((point) =>
    [
      point.name,
      point.label,
      point.value,
      point.symbol,
      point.unit,
      rawText(point.raw),
      point.address,
      point.access,
      point.source,
      point.source_detail,
      point.changed_at,
    ]
      .map(field)
      .join(','),
  );
  return ['name,label,value,symbol,unit,raw,address,access,source,source_detail,changed_at', ...lines].join('\n');
}

/** The points of a model in the order of its registers, with collapsible groups. */
export function PointTable({ model, points, chosen, typed, problem, onTyped }: PointTableProps) {
  const simTime = useClock()?.sim_time;
  const closed = (param('closed') ?? '').split(' ').filter((name) => name !== '');
  const toggle = (group: string) =>
    setParam(
      'closed',
      (closed.includes(group) ? closed.filter((name) => name !== group) : [...closed, group]).join(' '),
    );
  let last = '';
  return (
    <div class="scroller points" tabIndex={0} role="region" aria-label={`Points of model ${model.id}`}>
      <table aria-label={`Points of model ${model.id}`}>
        <thead>
          <tr>
            {['Point', 'Label', 'Value', 'Raw', 'Address', 'Access', 'Source', 'Age'].map((title) => (
              <th key={title} scope="col" class={title === 'Address' ? 'num' : undefined}>
                {title}
                {title === 'Age' && (
                  <button
                    type="button"
                    class="quiet curl"
                    aria-label={`Copy model ${model.id} as CSV`}
                    onClick={() => void copyText(csvOf(points), 'CSV')}
                  >
                    CSV
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map((point) => {
            const group = groupOf(point.name);
            const isNew = group !== last;
            last = group;
            const outer = closed.some((name) => name !== group && isInside(group, name));
            return (
              <>
                {isNew && group !== '' && !outer && (
                  <tr key={`group ${group}`} class="group">
                    <th colSpan={8} scope="rowgroup">
                      <button
                        type="button"
                        class="sort"
                        aria-expanded={!closed.includes(group)}
                        onClick={() => toggle(group)}
                      >
                        {closed.includes(group) ? '▸' : '▾'} {group}
                      </button>
                    </th>
                  </tr>
                )}
                {!closed.some((name) => isInside(group, name)) && (
                  <PointRow
                    key={point.name}
                    point={point}
                    now={simTime}
                    isChosen={point.name === chosen}
                    typed={typed === null || point.access === 'R' ? null : (typed[point.name] ?? '')}
                    problem={problem}
                    onTyped={onTyped}
                  />
                )}
              </>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface PointRowProps {
  readonly point: RegisterPoint;
  readonly now: string | undefined;
  readonly isChosen: boolean;
  /** null: read only */
  readonly typed: string | null;
  readonly problem: Problem | null;
  readonly onTyped: (name: string, text: string) => void;
}

function PointRow({ point, now, isChosen, typed, problem, onTyped }: PointRowProps) {
  const pointer = `/points/${point.name}`;
  const issue = problem?.about(pointer) ?? null;
  const allowed = problem?.issues.find(({ name }) => name === pointer)?.allowed ?? [];
  const list = `names-${point.name}`;
  return (
    <tr
      class={point.implemented ? 'choosable' : 'choosable absent'}
      aria-selected={isChosen}
      data-point={point.name}
      onClick={() => setParam('point', point.name)}
    >
      <td>
        <button type="button" class="sort" onClick={() => setParam('point', point.name)}>
          {point.name}
        </button>
      </td>
      <td>{point.label}</td>
      <td class="value">
        <Flashing text={valueText(point)} />
        {typed !== null && (
          <div>
            <input
              type="text"
              aria-label={`New value of ${point.name}`}
              aria-invalid={issue !== null}
              list={allowed.length > 0 ? list : undefined}
              placeholder={String(point.symbol ?? point.value ?? 'null')}
              value={typed}
              onInput={(event) => onTyped(point.name, event.currentTarget.value)}
            />
            {allowed.length > 0 && (
              <datalist id={list}>
                {allowed.map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            )}
          </div>
        )}
        {issue !== null && (
          <small class="issue" role="alert">
            {issue}
          </small>
        )}
      </td>
      <td class="mono raw">{rawText(point.raw)}</td>
      <td class="num">{point.address}</td>
      <td>{point.access}</td>
      <td title={point.source_detail ?? undefined}>{words(point.source)}</td>
      <td class="num">{ageText(point.changed_at, now)}</td>
    </tr>
  );
}
